package work_test

import (
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/work"
)

// homes are the statuses in which tasks of a kind run.
var homes = map[work.TaskKind]work.Status{
	work.AnalyzeIssue: work.Intake, work.MakePlan: work.Planning, work.BreakDownPlan: work.Planning, work.Implement: work.Building,
	work.Assess: work.Building, work.AddressReview: work.Building, work.Verify: work.QA, work.Reconcile: work.Blocked,
	work.ReviewPR: work.QA, work.Respond: work.Building, work.PreparePR: work.ReadyToMerge,
}

// atWork is a workstream in which a task of a kind runs.
func atWork(t *testing.T, kind work.TaskKind) (*work.Workstream, *work.Task) {
	t.Helper()
	w := stream(homes[kind])
	if kind == work.Reconcile {
		w.Reason, w.Conflict = "mainline_conflict", &work.Conflict{Base: "b1"}
	}
	task := w.AddTask(kind, work.TaskContext{Words: "before"}, noon)
	must(t, w.Begin(task, noon))
	return w, task
}

// good is an outcome that is accepted for a kind.
func good(kind work.TaskKind) work.Outcome {
	o := work.Outcome{Execution: "login.0001", Result: work.Result{Status: work.ResultDone, Summary: "done"}}
	switch kind {
	case work.MakePlan, work.BreakDownPlan:
		o.Result.Plan = plan(1)
	case work.Assess:
		o.Result.Assessment = &work.Assessment{Continue: true}
	case work.ReviewPR:
		o.Result.Review = &work.Review{Verdict: "comment"}
	}
	if kind.Writes() {
		o.Checkpoint = &work.Checkpoint{Commit: "c1", Tree: "t1", DiffHash: "d1", NetNew: true}
	}
	return o
}

// accepted is where a result that is accepted brings the workstream.
var accepted = map[work.TaskKind]work.Status{
	work.AnalyzeIssue: work.Intake, work.MakePlan: work.Building, work.BreakDownPlan: work.Building, work.Implement: work.Building,
	work.Assess: work.Building, work.AddressReview: work.Building, work.Verify: work.QA, work.Reconcile: work.Building,
	work.ReviewPR: work.QA, work.Respond: work.Building, work.PreparePR: work.ReadyToMerge,
}

func TestFinishAcceptsGoodResults(t *testing.T) {
	for _, kind := range taskKinds {
		w, task := atWork(t, kind)
		task.Resends, task.Class, task.RecoveryNeeded = 1, work.ClassOutputInvalid, true
		must(t, w.Finish(task, good(kind), gated(), noon))
		if task.Status != work.TaskCompleted || task.Reason != work.ResultDone || w.Status != accepted[kind] {
			t.Errorf("%s: task %s (%s), workstream %s, want %s", kind, task.Status, task.Reason, w.Status, accepted[kind])
		}
		if task.Class != "" || task.Held != nil || task.RecoveryNeeded || task.Unread || task.Resends != 0 {
			t.Errorf("%s: %+v", kind, task)
		}
		if kind.Writes() != (w.Head == "c1") {
			t.Errorf("%s: head %s", kind, w.Head)
		}
	}
}

func TestFinishEveryFailure(t *testing.T) {
	for _, kind := range taskKinds {
		for _, class := range work.Classes {
			for _, left := range []bool{false, true} {
				w, task := atWork(t, kind)
				o := good(kind)
				if o.Class, o.Detail = class, "why"; !left {
					o.Checkpoint = nil
				}
				must(t, w.Finish(task, o, gated(), noon))
				want, unread := work.TaskFailed, true
				if class == work.ClassInterrupted {
					want, unread = work.TaskPending, false
				}
				if task.Status != want || task.Unread != unread || w.Status != homes[kind] {
					t.Errorf("%s, %s: task %s, unread %v, workstream %s", kind, class, task.Status, task.Unread, w.Status)
				}
				if dirty := kind.Writes() && kind != work.PreparePR && o.Checkpoint == nil; task.RecoveryNeeded != dirty {
					t.Errorf("%s, %s, checkpoint %v: recovery needed %v", kind, class, o.Checkpoint != nil, task.RecoveryNeeded)
				}
				if class != work.ClassInterrupted && (task.Class != class || w.Detail != "why" || task.Reason != string(class)) {
					t.Errorf("%s, %s: %s, %s, %s", kind, class, task.Class, w.Detail, task.Reason)
				}
				if kept := o.Checkpoint != nil; kept != (w.Head == "c1") {
					t.Errorf("%s, %s: head %s", kind, class, w.Head)
				}
			}
		}
	}
}

// TestFinishRefuses is about runs that ended well and are not accepted.
func TestFinishRefuses(t *testing.T) {
	unchanged := &work.Checkpoint{Commit: "c0", Tree: "t0"}
	for _, c := range []struct {
		name   string
		kind   work.TaskKind
		set    func(*work.Workstream, *work.Task, *work.Outcome)
		class  work.Class // "" when it is accepted
		detail string
	}{
		{"no plan", work.MakePlan, func(_ *work.Workstream, _ *work.Task, o *work.Outcome) { o.Result.Plan = nil }, work.ClassOutputInvalid, "plan: missing"},
		{"a plan that asks nothing", work.MakePlan, func(_ *work.Workstream, _ *work.Task, o *work.Outcome) {
			o.Result.Plan = &work.Plan{Questions: []string{" "}}
		},
			work.ClassOutputInvalid, "plan: summary: missing; plan: files"},
		{"no status", work.Implement, func(_ *work.Workstream, _ *work.Task, o *work.Outcome) { o.Result = work.Result{} }, work.ClassOutputInvalid, "status: missing"},
		{"gave up", work.Implement, func(_ *work.Workstream, _ *work.Task, o *work.Outcome) {
			o.Result = work.Result{Status: work.ResultBlocked, Summary: "no compiler"}
		}, work.ClassNoWork, "the builder gave up: no compiler"},
		{"a planner gave up", work.MakePlan, func(_ *work.Workstream, _ *work.Task, o *work.Outcome) {
			o.Result = work.Result{Status: work.ResultBlocked, Summary: "no idea"}
		}, work.ClassNoWork, "the planner gave up: no idea"},
		{"an unusable checkpoint", work.Implement, func(_ *work.Workstream, _ *work.Task, o *work.Outcome) {
			o.Problem, o.Checkpoint = "another branch is checked out", nil
		}, work.ClassOrdinary, "another branch is checked out"},
		{"nothing built", work.Implement, func(_ *work.Workstream, _ *work.Task, o *work.Outcome) { o.Checkpoint = unchanged }, work.ClassNoWork, "the builder changed nothing"},
		{"nothing to build in the first increment", work.Implement, func(_ *work.Workstream, _ *work.Task, o *work.Outcome) {
			o.Checkpoint, o.Result.Status = unchanged, work.ResultNoChange
		}, work.ClassNoWork, "the builder changed nothing"},
		{"nothing to build in a later one", work.Implement, func(_ *work.Workstream, task *work.Task, o *work.Outcome) {
			task.Context.Increment, o.Checkpoint, o.Result.Status = 1, unchanged, work.ResultNoChange
		}, "", ""},
		{"nothing left to build after an answer", work.Implement, func(w *work.Workstream, task *work.Task, o *work.Outcome) {
			w.AddCheckpoint(work.Checkpoint{Commit: "half", Tree: "halftree", Task: task.ID, NetNew: true})
			o.Checkpoint = unchanged
		}, "", ""},
		{"nothing built, others did", work.Implement, func(w *work.Workstream, _ *work.Task, o *work.Outcome) {
			w.AddCheckpoint(work.Checkpoint{Commit: "half", Tree: "halftree", Task: "t99", NetNew: true})
			o.Checkpoint = unchanged
		}, work.ClassNoWork, "the builder changed nothing"},
		{"nothing built in a later one, but done", work.Implement, func(_ *work.Workstream, task *work.Task, o *work.Outcome) {
			task.Context.Increment, o.Checkpoint = 1, unchanged
		}, work.ClassNoWork, "the builder changed nothing"},
		{"no repair of a red gate", work.Implement, func(_ *work.Workstream, task *work.Task, o *work.Outcome) {
			task.Context.Increment, task.Context.Gate, o.Checkpoint, o.Result.Status = 1, work.GateFast, unchanged, work.ResultNoChange
		}, work.ClassNoWork, "the builder changed nothing"},
		{"nothing to verify away", work.Verify, func(_ *work.Workstream, _ *work.Task, o *work.Outcome) { o.Checkpoint = unchanged }, "", ""},
		{"a review that needs no change", work.AddressReview, func(_ *work.Workstream, _ *work.Task, o *work.Outcome) { o.Checkpoint = unchanged }, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, task := atWork(t, c.kind)
			o := good(c.kind)
			c.set(w, task, &o)
			must(t, w.Finish(task, o, gated(), noon))
			if c.class == "" {
				if task.Status != work.TaskCompleted {
					t.Errorf("task %s, %s: %s", task.Status, task.Class, w.Detail)
				}
				return
			}
			if task.Status != work.TaskFailed || task.Class != c.class || !task.Unread || !strings.HasPrefix(w.Detail, c.detail) {
				t.Errorf("task %s, %s: %s; want %s: %s", task.Status, task.Class, w.Detail, c.class, c.detail)
			}
			if task.RecoveryNeeded != (o.Problem != "") {
				t.Errorf("recovery needed %v", task.RecoveryNeeded)
			}
		})
	}
}

func TestFinishAsks(t *testing.T) {
	for _, kind := range taskKinds {
		for name, result := range map[string]work.Result{
			"needs input":      {Status: work.ResultNeedsInput, Questions: []string{"Which one?", " ", "When?"}},
			"done, but asks":   {Status: work.ResultDone, Questions: []string{"Which one?", "When?"}},
			"asks in a plan":   {Status: work.ResultNeedsInput, Plan: &work.Plan{Questions: []string{"Which one?", "When?"}}},
			"blocked and asks": {Status: work.ResultBlocked, Summary: "stuck", Questions: []string{"Which one?", "When?"}},
		} {
			w, task := atWork(t, kind)
			o := good(kind)
			o.Result.Status, o.Result.Questions = result.Status, result.Questions
			if o.Result.Summary = result.Summary; result.Plan != nil {
				o.Result.Plan = result.Plan
			}
			must(t, w.Finish(task, o, gated(), noon))
			if result.Status == work.ResultBlocked {
				if task.Status != work.TaskFailed {
					t.Errorf("%s, %s: task %s", kind, name, task.Status)
				}
				continue
			}
			open := w.OpenQuestions()
			if task.Status != work.TaskPending || len(open) != 2 || open[0].ID != "q1" || open[1].ID != "q2" || open[1].Text != "When?" || open[0].Task != task.ID {
				t.Errorf("%s, %s: task %s, %d questions", kind, name, task.Status, len(open))
			}
			want := work.AwaitingInput
			if !homes[kind].Active() {
				want = homes[kind]
			}
			if w.Status != want {
				t.Errorf("%s, %s: %s, want %s", kind, name, w.Status, want)
			}
			if len(w.Outbox) != 1 || !strings.Contains(w.Outbox[0].Text, "- q1: Which one?\n- q2: When?") || !strings.Contains(w.Outbox[0].Then, "backburner answer --question q2 login") {
				t.Errorf("%s, %s: said %+v", kind, name, w.Outbox)
			}
		}
	}
}

// TestFinishAfterTheWorldMovedOn keeps what was left, and nothing else.
func TestFinishAfterTheWorldMovedOn(t *testing.T) {
	for _, class := range append([]work.Class{""}, work.Classes...) {
		for _, closed := range []bool{true, false} {
			w, task := atWork(t, work.Implement)
			if closed {
				_, err := w.Apply(ask(work.VerbCancel), noon)
				must(t, err)
			} else {
				task.Irrelevant = "superseded"
			}
			status := w.Status
			o := good(work.Implement)
			o.Class = class
			must(t, w.Finish(task, o, gated(), noon))
			if task.Status != work.TaskCancelled || w.Status != status || w.Head != "c1" || task.Unread {
				t.Errorf("closed %v, class %q: task %s, workstream %s, head %s", closed, class, task.Status, w.Status, w.Head)
			}
		}
	}
}

func TestFinishKeepsWhatAPersonSaid(t *testing.T) {
	w, task := atWork(t, work.MakePlan)
	task.Context.Words = "smaller, please"
	for range 3 {
		bad := good(work.MakePlan)
		bad.Result.Plan = nil
		must(t, w.Finish(task, bad, gated(), noon))
		if got := task.Context.Words; got != "smaller, please\n\nYour last answer could not be used: plan: missing. Answer again, exactly in the asked format." {
			t.Fatalf("told %q", got)
		}
		must(t, task.Move(work.TaskPending, "", noon))
		must(t, w.Begin(task, noon))
	}
	o := good(work.MakePlan)
	o.Class = work.ClassOrdinary
	must(t, w.Finish(task, o, gated(), noon))
	if !strings.HasPrefix(task.Context.Words, "smaller, please") {
		t.Errorf("told %q", task.Context.Words)
	}
}

func TestFinishTellsWhatCouldNotBeUsed(t *testing.T) {
	w, task := atWork(t, work.Implement)
	task.Context.Words = "smaller, please"
	for range 2 {
		o := good(work.Implement)
		o.Checkpoint, o.Problem = nil, "nested_repository: a is a repository of its own"
		must(t, w.Finish(task, o, gated(), noon))
		if got := task.Context.Words; got != "smaller, please\n\nWhat you left behind could not be used: "+o.Problem+
			". It was put aside; begin again from where you began." {
			t.Fatalf("told %q", got)
		}
		must(t, task.Move(work.TaskPending, "", noon))
		must(t, w.Begin(task, noon))
	}
}

// TestAPlanWithoutAnApprovedProposal waits for a person, where proposals have to
// be approved: the proposal may have been rejected, or its approval withdrawn.
func TestAPlanWithoutAnApprovedProposal(t *testing.T) {
	p := gated()
	p.ApprovePlans, p.Discovery = false, "required"
	for approval, want := range map[*work.Approval]work.Status{nil: work.AwaitingApproval, {By: "kim", At: noon}: work.Building} {
		w, task := atWork(t, work.MakePlan)
		w.Approval = approval
		must(t, w.Finish(task, good(work.MakePlan), p, noon))
		if w.Status != want {
			t.Errorf("approved %v: %s, want %s", approval != nil, w.Status, want)
		}
	}
}

func TestFinishKeepsDetailsShort(t *testing.T) {
	w, task := atWork(t, work.Implement)
	must(t, w.Finish(task, work.Outcome{Class: work.ClassOutputInvalid, Detail: strings.Repeat("x", 1<<20)}, gated(), noon))
	if len(w.Detail) > 5000 || len(task.Context.Words) > 5000 {
		t.Errorf("a detail of %d bytes, words of %d", len(w.Detail), len(task.Context.Words))
	}
	w, task = atWork(t, work.Implement)
	asks := work.Result{Status: work.ResultNeedsInput, Questions: []string{strings.Repeat("x", 1<<20)}}
	must(t, w.Finish(task, work.Outcome{Result: asks}, gated(), noon))
	if q := w.Questions[0]; len(q.Text) > 5000 || len(w.Outbox[0].Text) > 6000 {
		t.Errorf("a question of %d bytes", len(q.Text))
	}
}
