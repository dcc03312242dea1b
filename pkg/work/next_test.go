package work_test

import (
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// brief is a step in a line: what it does, and to what.
func brief(s work.Step) string {
	switch s.Act {
	case work.RunAgent:
		line := "make " + string(s.Kind)
		if s.Task != nil {
			line = "run " + s.Task.ID + " " + string(s.Kind)
		}
		if s.Task == nil && s.Context.Gate != "" {
			line += " for " + s.Context.Gate
		}
		return line
	case work.RunGate:
		return "gate " + s.Gate
	case work.MoveOn:
		return "move " + string(s.To) + " " + s.Reason.Code
	case work.Nothing:
		return "wait"
	}
	return string(s.Act)
}

// situation is one row of a table of what comes next.
type situation struct {
	name string
	w    func() *work.Workstream
	p    work.Policy
	want string // as brief puts it
	why  string // part of the clause for people
}

func in(status work.Status, changes ...func(*work.Workstream)) func() *work.Workstream {
	return func() *work.Workstream {
		w := stream(status)
		for _, change := range changes {
			change(w)
		}
		return w
	}
}

func waiting(kind work.TaskKind) func(*work.Workstream) {
	return func(w *work.Workstream) { add(w, kind, work.TaskPending) }
}

func after(kind work.TaskKind, status work.TaskStatus) func(*work.Workstream) {
	return func(w *work.Workstream) { add(w, kind, status) }
}

func heldUntil(t time.Time) func(*work.Workstream) {
	return func(w *work.Workstream) {
		w.Pending().Held = &work.TaskHold{Reason: "backoff", Detail: "the network was down", NextEligibleAt: t}
	}
}

func green(gate string) func(*work.Workstream) {
	return func(w *work.Workstream) { judged(w, gate, true) }
}
func red(gate string) func(*work.Workstream) {
	return func(w *work.Workstream) { judged(w, gate, false) }
}

func verified(w *work.Workstream) { w.Verified = w.Tree }

func published(w *work.Workstream) { w.Published = w.Head }

// moved brings the branch to a tree that nothing has judged.
func moved(w *work.Workstream) {
	w.AddCheckpoint(work.Checkpoint{Commit: "c9", Tree: "t9", DiffHash: "d9", NetNew: true})
}

func steps(n, at int) func(*work.Workstream) {
	return func(w *work.Workstream) { w.Plan, w.Increment = plan(n), at }
}

func repairs(n int) func(*work.Workstream) {
	return func(w *work.Workstream) { w.Rounds.Repairs = n }
}

func check(t *testing.T, table []situation) {
	for _, c := range table {
		t.Run(c.name, func(t *testing.T) {
			w := c.w()
			before := record(t, w)
			s := work.Next(w, c.p, noon)
			if got := brief(s); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if s.Why == "" || !strings.Contains(s.Why, c.why) || strings.HasSuffix(s.Why, ".") {
				t.Errorf("it says %q, want %q", s.Why, c.why)
			}
			if string(record(t, w)) != string(before) {
				t.Error("deciding changed the workstream")
			}
			if s.Act == work.MoveOn {
				must(t, w.Move(s.To, s.Reason, noon))
			}
		})
	}
}

func TestNextByStatus(t *testing.T) {
	p := gated()
	off, auto, required := gated(), gated(), gated()
	off.Discovery, auto.Discovery, required.Discovery = "off", "auto", "required"
	check(t, []situation{
		{"held", in(work.Building, func(w *work.Workstream) { w.Held = &work.Hold{By: "kim"} }), p, "wait", "held by kim; go on with: backburner resume login"},
		{"held by nobody known", in(work.Building, func(w *work.Workstream) { w.Held = &work.Hold{} }), p, "wait", "held; go on"},
		{"running", in(work.Building, after(work.Implement, work.TaskRunning), waiting(work.Implement)), p, "wait", "builder is running"},
		{"a failure nobody judged", in(work.Building, after(work.Implement, work.TaskFailed), func(w *work.Workstream) { w.Last(work.Implement).Unread = true }), p, "wait", "the failure of the builder is looked at first"},
		{"new", in(work.New), p, "wait", "queued for a place"},
		{"intake", in(work.Intake), p, "move planning admitted", "go on to planning"},
		{"intake, off", in(work.Intake), off, "move planning admitted", ""},
		{"intake, auto", in(work.Intake), auto, "make analyze_issue", "the planner looks at the issue"},
		{"intake, auto, waiting", in(work.Intake, waiting(work.AnalyzeIssue)), auto, "run t1 analyze_issue", ""},
		{"intake, auto, proposed", in(work.Intake, after(work.AnalyzeIssue, work.TaskCompleted)), auto, "move planning proposed", ""},
		{"intake, auto, failed", in(work.Intake, after(work.AnalyzeIssue, work.TaskFailed)), auto, "make analyze_issue", ""},
		{"intake, required", in(work.Intake), required, "make analyze_issue", ""},
		{"planning", in(work.Planning), p, "make plan", "the planner makes a plan"},
		{"planning, waiting", in(work.Planning, waiting(work.MakePlan)), p, "run t1 plan", ""},
		{"planning, with work of another phase left over", in(work.Planning, waiting(work.Implement)), p, "make plan", ""},
		{"a plan waits", in(work.AwaitingApproval), p, "wait", "plan 1 waits for you: backburner approve login, or --reject"},
		{"a proposal waits", in(work.AwaitingApproval, func(w *work.Workstream) { w.Plan = nil }), p, "wait", "the proposal waits for you: backburner approve login"},
		{"asked", in(work.AwaitingInput), p, "wait", "waits for your answer: backburner answer login"},
		{"ready", in(work.ReadyToMerge, published), p, "wait", "backburner merge login"},
		{"ready, merge asked for", in(work.ReadyToMerge, published, func(w *work.Workstream) { w.Intend(work.Intent{ID: "merge:c0", Kind: "merge", New: "c0"}) }), p, "merge", "merge backburner/login"},
		{"ready, merge asked for an older commit", in(work.ReadyToMerge, published, func(w *work.Workstream) { w.Intend(work.Intent{ID: "merge:b", Kind: "merge", New: "b"}) }), p, "wait", "backburner merge"},
		{"ready, another intent", in(work.ReadyToMerge, published, func(w *work.Workstream) { w.Intend(work.Intent{ID: "publish:c0", Kind: "publish", New: "c0"}) }), p, "wait", ""},
		{"ready, and its branch has moved on", in(work.ReadyToMerge), p, "move qa evidence_stale", ""},
		{"paused", in(work.PausedBudget), p, "wait", "backburner resume login"},
		{"failed", in(work.Failed), p, "wait", "backburner retry login"},
		{"closed", in(work.Closed), p, "wait", "backburner retry login"},
		{"merged", in(work.Merged), p, "wait", "landed"},
		{"blocked for good", in(work.Blocked, func(w *work.Workstream) { w.Reason, w.Detail = "workspace:blocked_dirty", "it is dirty" }), p, "wait", "blocked: it is dirty; then: backburner retry login"},
	})
}

func TestNextHeldTasks(t *testing.T) {
	p := gated()
	for phase, kind := range map[work.Status]work.TaskKind{work.Planning: work.MakePlan, work.Building: work.Implement, work.QA: work.Verify} {
		run := "run t2 "
		if phase == work.Planning {
			run = "run t1 "
		}
		check(t, []situation{
			{string(phase) + ", later", in(phase, waiting(kind), heldUntil(noon.Add(time.Minute))), p, "wait", "tried again after 2026-03-14T12:01:00Z: the network was down"},
			{string(phase) + ", now", in(phase, waiting(kind), heldUntil(noon)), p, run + string(kind), "(the network was down)"},
			{string(phase) + ", until its cause is gone", in(phase, waiting(kind), heldUntil(time.Time{})), p, "wait", "the network was down"},
			{string(phase) + ", for a reason", in(phase, waiting(kind), func(w *work.Workstream) { w.Pending().Held = &work.TaskHold{Reason: "no_slot"} }), p, "wait", "held back: no_slot"},
		})
	}
}

func TestNextInBuilding(t *testing.T) {
	p, assessed, fastless, strict := gated(), gated(), gated(), gated()
	assessed.Assess = true
	delete(fastless.Gates, work.GateFast)
	strict.Limits.RepairRounds = 0
	check(t, []situation{
		{"nothing built", in(work.Building), p, "make implement", "the builder builds"},
		{"nothing ever done", in(work.Building, func(w *work.Workstream) { w.Tasks = nil }), p, "make implement", ""},
		{"waiting", in(work.Building, waiting(work.Implement)), p, "run t2 implement", ""},
		{"failed before, and asked for again", in(work.Building, after(work.Implement, work.TaskFailed)), p, "make implement", ""},
		{"built by hand before planning", in(work.Building, func(w *work.Workstream) { w.Tasks = nil }, built, after(work.MakePlan, work.TaskCompleted)), p, "make implement", ""},
		{"built before the plan was broken down anew", in(work.Building, built, after(work.BreakDownPlan, work.TaskCompleted)), p, "make implement", ""},
		{"another increment built", in(work.Building, built, steps(2, 1)), p, "make implement", ""},
		{"built", in(work.Building, built), p, "gate fast", "run the fast gate"},
		{"a review addressed", in(work.Building, built, after(work.AddressReview, work.TaskCompleted)), p, "gate fast", ""},
		{"a review addressed before anything was built", in(work.Building, after(work.AddressReview, work.TaskCompleted)), p, "make implement", ""},
		{"built, and more is asked for", in(work.Building, built, waiting(work.Implement)), p, "run t3 implement", ""},
		{"evidence of another tree", in(work.Building, built, green(work.GateFast), moved), p, "gate fast", ""},
		{"green", in(work.Building, built, green(work.GateFast)), p, "move qa built", ""},
		{"red", in(work.Building, built, red(work.GateFast)), p, "make implement for fast", "hand the red fast gate back to the builder"},
		{"red, and its repair waits", in(work.Building, built, red(work.GateFast), func(w *work.Workstream) {
			w.AddTask(work.Implement, work.TaskContext{Gate: work.GateFast, GateLog: "login.0001"}, noon)
		}), p, "run t3 implement", "the builder repairs the red fast gate"},
		{"red, repaired once", in(work.Building, built, red(work.GateFast), repairs(1)), p, "make implement for fast", ""},
		{"red, repaired as often as allowed", in(work.Building, built, red(work.GateFast), repairs(2)), p, "move blocked gate_failed:fast", ""},
		{"red, and no repair allowed", in(work.Building, built, red(work.GateFast)), strict, "move blocked gate_failed:fast", ""},
		{"no fast gate", in(work.Building, built), fastless, "move qa built", ""},
		{"no fast gate any more", in(work.Building, built, red(work.GateFast), repairs(2)), fastless, "move qa built", ""},
		{"green, more to build", in(work.Building, built, green(work.GateFast), steps(3, 0)), p, "advance", "begin increment 2 of 3"},
		{"green, last increment", in(work.Building, steps(3, 2), built, green(work.GateFast)), p, "move qa built", ""},
		{"green, an assessor looks", in(work.Building, built, green(work.GateFast), steps(2, 0)), assessed, "make assess_increment", "the assessor assesses"},
		{"green, an assessor is due", in(work.Building, built, green(work.GateFast), steps(2, 0), waiting(work.Assess)), assessed, "run t3 assess_increment", ""},
		{"green, assessed", in(work.Building, built, green(work.GateFast), steps(2, 0), after(work.Assess, work.TaskCompleted)), assessed, "advance", ""},
		{"green, the increment before was assessed", in(work.Building, steps(3, 0), after(work.Assess, work.TaskCompleted), steps(3, 1), built, green(work.GateFast)), assessed, "make assess_increment", ""},
		{"green, assessed for an earlier plan", in(work.Building, after(work.Assess, work.TaskCompleted), after(work.MakePlan, work.TaskCompleted), steps(2, 0), built, green(work.GateFast)), assessed, "make assess_increment", ""},
		{"green, last increment: nobody assesses", in(work.Building, steps(2, 1), built, green(work.GateFast)), assessed, "move qa built", ""},
	})
}

func TestNextInQA(t *testing.T) {
	p, fullless := gated(), gated()
	delete(fullless.Gates, work.GateFull)
	check(t, []situation{
		{"not verified", in(work.QA, built), p, "make verify", "the qa agent verifies the work"},
		{"waiting", in(work.QA, built, waiting(work.Verify)), p, "run t3 verify", ""},
		{"verified another tree", in(work.QA, built, verified, moved), p, "make verify", ""},
		{"verified", in(work.QA, built, verified), p, "gate full", "run the full gate"},
		{"red", in(work.QA, built, verified, red(work.GateFull)), p, "make verify for full", "hand the red full gate back to the qa agent"},
		{"red, repaired as often as allowed", in(work.QA, built, verified, red(work.GateFull), repairs(2)), p, "move blocked gate_failed:full", ""},
		{"green", in(work.QA, built, verified, green(work.GateFull)), p, "publish", "publish backburner/login"},
		{"green, an older commit published", in(work.QA, published, built, verified, green(work.GateFull)), p, "publish", ""},
		{"published", in(work.QA, built, verified, green(work.GateFull), published), p, "move ready_to_merge published", ""},
		{"no full gate", in(work.QA, built, verified), fullless, "publish", ""},
		{"no full gate, published", in(work.QA, built, verified, published), fullless, "move ready_to_merge published", ""},
	})
}

// TestNextSaysWhatWasTested holds for the sentence of a move.
func TestNextSaysWhatWasTested(t *testing.T) {
	w := in(work.QA, built, verified, green(work.GateFull), published)()
	if s := work.Next(w, gated(), noon); s.Reason.Detail != "backburner/login is published and the full gate is green" {
		t.Errorf("it says %q", s.Reason.Detail)
	}
	if s := work.Next(w, work.Policy{}, noon); s.Reason.Detail != "backburner/login is published; no full gate is configured, so nothing was tested" {
		t.Errorf("it says %q", s.Reason.Detail)
	}
}

// TestNextTellsRepairs hands the log of the red gate over.
func TestNextTellsRepairs(t *testing.T) {
	w := in(work.Building, steps(3, 1), built, red(work.GateFast))()
	s := work.Next(w, gated(), noon)
	if want := (work.TaskContext{Increment: 1, Gate: work.GateFast, GateLog: "login.0001"}); s.Context != want {
		t.Errorf("context %+v", s.Context)
	}
}

// TestNextTellsTheStandIn has a task that is made in place of one that failed
// know what that one was told.
func TestNextTellsTheStandIn(t *testing.T) {
	w := stream(work.Planning)
	w.Revision = 4
	failed := add(w, work.MakePlan, work.TaskFailed)
	failed.Context.Words = "smaller, please"
	if s := work.Next(w, gated(), noon); s.Context != (work.TaskContext{Words: "smaller, please", Revises: 4}) {
		t.Errorf("context %+v", s.Context)
	}
	failed.Status = work.TaskCancelled
	if s := work.Next(w, gated(), noon); s.Context != (work.TaskContext{Revises: 4}) {
		t.Errorf("context after one that was cancelled %+v", s.Context)
	}
}
