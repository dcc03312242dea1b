package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/report"
	"github.com/backburner-cli/backburner/pkg/work"
)

var update = flag.Bool("update", false, "write the golden files anew; read them afterwards")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func at(hour, minute int) time.Time { return time.Date(2026, 3, 4, hour, minute, 0, 0, time.UTC) }

var now = at(15, 30)

// asking waits for answers and has seen a lot.
func asking() *work.Workstream {
	return &work.Workstream{
		ID: "fix-login", Kind: work.KindSpec, Repository: "shop", Title: "Fix the login page for people who come from the old domain",
		Status: work.AwaitingInput, Phase: work.Building, Reason: "questions", Detail: "the builder asks 2 questions",
		CreatedAt: at(9, 0), ChangedAt: at(13, 10), Revision: 2, Increment: 1,
		Spec: work.Spec{Source: ".backburner/specs/fix-login.md", Hash: "sha256:aa"},
		Plan: &work.Plan{
			Summary:            "Send visitors of the old domain to the new one.\nKeep their session.",
			Files:              work.PlanFiles{Create: []string{"redirect.go", "redirect_test.go"}, Modify: []string{"main.go"}},
			AcceptanceCriteria: []string{"old links work", "nobody is logged out"},
			Increments:         []work.Increment{{Title: "redirect"}, {Title: "keep the session"}},
		},
		Approval: &work.Approval{By: "ann", At: at(10, 0), Revision: 2, SpecHash: "sha256:aa"},
		Questions: []*work.Question{
			{ID: "q1", Text: "Which domain?", AskedAt: at(9, 10), Answer: "shop.example", AnsweredAt: at(9, 30)},
			{ID: "q2", Text: "How long are redirects kept?\nA year would be usual.", AskedAt: at(13, 10)},
			{ID: "q3", Text: "May cookies be shared?\x1b[31m\u202e", AskedAt: at(13, 10)},
		},
		Tasks: []*work.Task{
			{ID: "t1", Kind: work.MakePlan, Status: work.TaskCompleted, Executions: []string{"fix-login.0001"}},
			{ID: "t2", Kind: work.Implement, Status: work.TaskFailed, Class: work.ClassTimeout, Attempts: 1, Executions: []string{"fix-login.0002"}},
			{ID: "t3", Kind: work.Implement, Status: work.TaskPending, Held: &work.TaskHold{Reason: "quota", Detail: "claude is at its limit", NextEligibleAt: at(18, 0)}},
		},
		Branch: "backburner/fix-login", Head: "0123456789abcdef0123456789abcdef01234567", Tree: "t9",
		Evidence: map[string]work.Evidence{
			"fast": {Gate: "fast", Green: true, Tree: "t9", Execution: "fix-login.0004", At: at(12, 50)},
			"full": {Gate: "full", Reason: "step_failed", Detail: "test: exit code 1\nFAIL shop/redirect", Tree: "t8", Execution: "fix-login.0003", At: at(11, 0)},
		},
		Blockers:   []work.Blocker{{Task: "t3", Capability: "tracker", Handle: "linear", Resolution: "waiting_for_user", DetectedAt: at(14, 0)}},
		Recoveries: []work.Recovery{{At: at(12, 0), Outcome: "recovered", Salvage: "refs/backburner/salvage/fix-login/t2"}},
		Conflict:   &work.Conflict{Ours: "0123456789abcdef", Base: "fedcba9876543210", Files: []string{"main.go"}},
		Spending:   work.Spending{CostUSD: 3.204, UnknownCost: 1, InputTokens: 118_000, OutputTokens: 4_300, Sessions: 4, Wall: 72 * time.Minute},
	}
}

func view() report.View {
	w := func(id, title string, status work.Status, cost float64, changed time.Time) *work.Workstream {
		return &work.Workstream{ID: id, Kind: work.KindIssue, Repository: "shop", Title: title, Status: status, Branch: "backburner/" + id,
			Spending: work.Spending{CostUSD: cost, Sessions: int(cost)}, CreatedAt: at(8, 0), ChangedAt: changed}
	}
	cart := w("cart", "Show the cart", work.Building, 2, at(15, 29))
	held := w("newsletter", "Send a newsletter", work.Planning, 1, at(3, 0).AddDate(0, 0, -5))
	held.Held = &work.Hold{By: "ann", Reason: "legal looks at it", At: at(12, 0)}
	broken := w("search", "検索を速くする: make the search fast, also for people with very many orders", work.Blocked, 8, at(14, 0))
	broken.Reason, broken.Detail = "gate_failed:full", "the full gate is red: test: exit code 1\nFAIL shop/search\npanic: out of range"
	broken.Escalated = "nothing changed in 3 ticks"
	return report.View{
		Workstreams: []report.Item{
			report.ItemOf(cart, "the builder repairs the red fast gate", ""),
			report.ItemOf(w("audit", "Log every login", work.New, 0, at(15, 0)), "", "queued for a place in the active set"),
			report.ItemOf(asking(), "", `waits for your answer: backburner answer fix-login "..."`),
			report.ItemOf(held, "", "held by ann; go on with: backburner resume newsletter"),
			report.ItemOf(broken, "", "blocked: "+broken.Detail+"; then: backburner retry search"),
			report.ItemOf(w("footer", "Show the year", work.Merged, 1, at(10, 0)), "", "landed"),
		},
		LastTick: &report.LastTick{ID: "20260304T151800Z-1a2b", StartedAt: at(15, 18), EndedAt: at(15, 18), Outcome: "done"},
		Now:      now,
	}
}

func tick() work.Tick {
	return work.Tick{
		ID: "20260304T151800Z-1a2b", StartedAt: at(15, 0), EndedAt: at(15, 18), Outcome: "done",
		Agents: 3, Gates: 2, Failed: 1, CostUSD: 1.25, UnknownCost: 1, Recoveries: map[string]int{"recovered": 1, "skipped": 2},
		TookOver: "20260304T140000Z-9f9f (pid 4711 is gone)",
		Changes: []work.Change{
			{ID: "fix-login", From: work.Planning, To: work.AwaitingApproval, Reason: "plan_ready", Detail: "plan 1 needs approval",
				Steps: []string{"planner (claude): ok", "awaiting_approval: plan 1 needs approval"},
				Next:  `plan 1 waits for you: backburner approve fix-login, or --reject "what should change"`},
			{ID: "cart", From: work.Building, To: work.Building, Steps: []string{"builder (codex): ok", "fast gate: red: test: exit code 1\nFAIL shop"},
				Next: "the builder repairs the red fast gate"},
			{ID: "search", From: work.QA, To: work.Blocked, Reason: "gate_failed:full", Detail: "the full gate is red: test: exit code 1\n::error::FAIL",
				Steps: []string{"full gate: red"}, Next: "blocked: the full gate is red; then: backburner retry search"},
			{ID: "audit", To: work.New, Next: "queued for a place in the active set"},
		},
		Notices: []string{"spec .backburner/specs/x.md is empty: write what should be done into it, or remove it"},
	}
}
