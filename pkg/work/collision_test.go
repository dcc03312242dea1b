package work_test

import (
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// planned is a workstream whose plan was accepted so many minutes after noon.
func planned(id string, status work.Status, minutes int, change func(*work.Plan)) *work.Workstream {
	w := named(id, status)
	w.Plan, w.PlannedAt = plan(1), noon.Add(time.Duration(minutes)*time.Minute)
	w.Plan.Files.Modify = []string{id + ".go"}
	if change != nil {
		change(w.Plan)
	}
	return w
}

func touches(paths ...string) func(*work.Plan) {
	return func(p *work.Plan) { p.Files.Create = paths }
}

func contract(c work.Contracts) func(*work.Plan) { return func(p *work.Plan) { p.Contracts = &c } }

func TestWhatCollides(t *testing.T) {
	areas := []string{"db/migrations/**", "*.proto"}
	for _, c := range []struct {
		name         string
		mine, theirs func(*work.Plan)
		want         string
	}{
		{"nothing", touches("x"), touches("y"), ""},
		{"a file", touches("x", "y"), touches("z", "y"), "y"},
		{"a file of an increment", touches("y"), func(p *work.Plan) { p.Increments = []work.Increment{{Title: "one", Files: []string{"y"}}} }, "y"},
		{"one to be deleted", touches("y"), func(p *work.Plan) { p.Files.Delete = []string{"y"} }, "y"},
		{"a file below a folder", touches("docs/a.md"), touches("docs/"), "docs/a.md"},
		{"a folder above a file", touches("docs/"), touches("docs/a.md"), "docs/"},
		{"a folder of a like name", touches("docs/"), touches("docs2/a.md"), ""},
		{"an exclusive area", touches("db/migrations/1.sql"), touches("db/migrations/2.sql"), "the exclusive area db/migrations/**"},
		{"another exclusive area", touches("a/x.proto"), touches("b/y.proto"), "the exclusive area *.proto"},
		{"two exclusive areas", touches("a/x.proto"), touches("db/migrations/2.sql"), ""},
		{"a contract", contract(work.Contracts{DB: "adds a column", Events: "none"}), contract(work.Contracts{DB: "drops a table"}), "the contract db"},
		{"two contracts", contract(work.Contracts{DB: "adds a column"}), contract(work.Contracts{OpenAPI: "adds a path"}), ""},
		{"contracts that stay", contract(work.Contracts{DB: "None", OpenAPI: " "}), contract(work.Contracts{DB: "none ", OpenAPI: ""}), ""},
		{"a contract on one side", contract(work.Contracts{Events: "a new one"}), func(*work.Plan) {}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, first := planned("w", work.Building, 2, c.mine), planned("first", work.Building, 1, c.theirs)
			other, what := on(w, first).Collision(w, areas)
			if what != c.want || (other == first) != (c.want != "") {
				t.Errorf("collides with %v in %q, want %q", other, what, c.want)
			}
			if other, what := on(w, first).Collision(first, areas); other != nil || what != "" {
				t.Errorf("the earlier one waits for the later: %q", what)
			}
		})
	}
}

func TestWhoStandsInTheWay(t *testing.T) {
	y := touches("y")
	for _, c := range []struct {
		name  string
		first *work.Workstream
		want  bool
	}{
		{"building", planned("a", work.Building, 1, y), true},
		{"in QA", planned("a", work.QA, 1, y), true},
		{"ready", planned("a", work.ReadyToMerge, 1, y), true},
		{"interrupted while building", planned("a", work.PausedBudget, 1, y), true},
		{"asked while building", planned("a", work.AwaitingInput, 1, y), true},
		{"planning anew", planned("a", work.Planning, 1, y), false},
		{"not approved yet", planned("a", work.AwaitingApproval, 1, y), false},
		{"merged", planned("a", work.Merged, 1, y), false},
		{"failed", planned("a", work.Failed, 1, y), false},
		{"closed", planned("a", work.Closed, 1, y), false},
		{"later", planned("a", work.Building, 3, y), false},
		{"at the same moment, first by name", planned("a", work.Building, 2, y), true},
		{"at the same moment, last by name", planned("z", work.Building, 2, y), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := planned("w", work.Building, 2, y)
			if other, _ := on(w, c.first).Collision(w, nil); (other != nil) != c.want {
				t.Errorf("it waits for %v", other)
			}
		})
	}
	w, waits := planned("w", work.Building, 2, y), planned("a", work.Blocked, 1, y)
	waits.Reason = "collision_detected"
	if other, _ := on(w, waits).Collision(w, nil); other != nil {
		t.Error("it waits for one that waits itself")
	}
	elsewhere := planned("a", work.Building, 1, y)
	elsewhere.Repository = "attic"
	if other, _ := on(w, elsewhere).Collision(w, nil); other != nil {
		t.Error("it waits for work on another repository")
	}
	w.Plan = nil
	if other, _ := on(w, planned("a", work.Building, 1, y)).Collision(w, nil); other != nil {
		t.Error("it waits though nothing is planned")
	}
}

// TestAPersonAdmitsACollision with a retry, until the plan is another.
func TestAPersonAdmitsACollision(t *testing.T) {
	w, first := planned("w", work.Building, 2, touches("y")), planned("a", work.Building, 1, touches("y"))
	b := on(w, first)
	must(t, w.Move(work.Blocked, work.Reason{Code: "collision_detected"}, noon))
	retry(t, w, "")
	if other, _ := b.Collision(w, nil); other != nil || w.Status != work.Building {
		t.Fatalf("%s, it waits for %v", w.Status, other)
	}
	must(t, w.Move(work.Planning, work.Reason{}, noon))
	task := add(w, work.MakePlan, work.TaskRunning)
	o := good(work.MakePlan)
	o.Result.Plan.Files.Create = []string{"y"}
	finish(t, w, task, o, gated())
	w.PlannedAt = noon.Add(time.Hour)
	if other, _ := b.Collision(w, nil); other != first {
		t.Errorf("the new plan was not admitted, and waits for %v", other)
	}
}

// TestStuckWorkIsEscalated is rule 6.
func TestStuckWorkIsEscalated(t *testing.T) {
	w := stopped(work.Building, "gate_failed:fast", built)()
	tick := func(dispatched bool) bool {
		if dispatched {
			w.ExecutionSeq++
		}
		return w.CountStuck(limits.EscalateAfter, noon)
	}
	if tick(false) || w.Rounds.StuckMark != "" {
		t.Error("a tick in which nothing ran was counted")
	}
	for n := range 8 {
		if !tick(true) || tick(false) {
			t.Fatalf("tick %d is not counted once", n)
		}
		if escalated := n >= limits.EscalateAfter; (w.Escalated != "") != escalated {
			t.Fatalf("after %d ticks without a change: escalated %q", n, w.Escalated)
		}
	}
	if len(w.Outbox) != 1 || w.Outbox[0].Event != "escalated" || !strings.Contains(w.Outbox[0].Text, "backburner retry login") {
		t.Errorf("said %+v", w.Outbox)
	}
	for name, change := range map[string]func(){
		"tree": func() { moved(w) }, "reason": func() { w.Reason = "no_progress" }, "status": func() { w.Status = work.Building },
	} {
		w.Escalated = "before"
		change()
		if tick(true); w.Escalated != "" || w.Rounds.Stuck != 0 {
			t.Errorf("another %s: escalated %q, stuck for %d", name, w.Escalated, w.Rounds.Stuck)
		}
	}
}
