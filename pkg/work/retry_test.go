package work_test

import (
	"slices"
	"testing"

	"github.com/backburner-cli/backburner/pkg/work"
)

// retry applies a retry with words, "" for none.
func retry(t *testing.T, w *work.Workstream, words string) work.Applying {
	t.Helper()
	a, err := w.Apply(&work.Request{ID: "r1", Verb: work.VerbRetry, By: "kim", Text: words}, noon)
	must(t, err)
	return a
}

func TestRetryTakesUpTheTaskThatStopped(t *testing.T) {
	stopped := func(w *work.Workstream, status work.TaskStatus) *work.Task {
		task := add(w, work.Implement, status)
		task.Attempts, task.Resends, task.Unread, task.Held = 2, 1, true, &work.TaskHold{Reason: "backoff"}
		task.Spending, task.Context.Words = work.Spending{CostUSD: 3}, "before"
		return task
	}
	for _, c := range []struct {
		name  string
		words string
		set   func(w *work.Workstream) *work.Task // the task to be taken up; nil: none is
		told  string                              // the words of what waits then; "-": nothing waits
	}{
		{"failed", "", func(w *work.Workstream) *work.Task { return stopped(w, work.TaskFailed) }, "before"},
		{"failed, with words", "try this", func(w *work.Workstream) *work.Task { return stopped(w, work.TaskFailed) }, "try this"},
		{"held back", "", func(w *work.Workstream) *work.Task { return stopped(w, work.TaskPending) }, "before"},
		{"nothing failed", "", func(w *work.Workstream) *work.Task { built(w); return nil }, "-"},
		{"nothing failed, with words", "try this", func(w *work.Workstream) *work.Task { built(w); return nil }, "try this"},
		{"something failed before what was built", "try this", func(w *work.Workstream) *work.Task {
			stopped(w, work.TaskFailed)
			built(w)
			return nil
		}, "try this"},
		{"something failed for an earlier plan", "", func(w *work.Workstream) *work.Task {
			stopped(w, work.TaskFailed)
			add(w, work.MakePlan, work.TaskCompleted)
			return nil
		}, "-"},
		{"something of another phase failed", "", func(w *work.Workstream) *work.Task {
			add(w, work.Verify, work.TaskFailed)
			return nil
		}, "-"},
		{"what was cancelled is not wanted", "", func(w *work.Workstream) *work.Task {
			add(w, work.Implement, work.TaskCancelled)
			return nil
		}, "-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := stream(work.Blocked)
			task := c.set(w)
			retry(t, w, c.words)
			got := w.Pending()
			if (got == nil) != (c.told == "-") || task != nil && got != task {
				t.Fatalf("waiting: %+v", got)
			}
			if got == nil {
				return
			}
			if got.Context.Words != c.told || got.Kind != work.Implement {
				t.Errorf("%s is told %q, want %q", got.Kind, got.Context.Words, c.told)
			}
			if got.Attempts != 0 || got.Resends != 0 || got.Unread || got.Held != nil || got.Spending != (work.Spending{}) {
				t.Errorf("it does not begin afresh: %+v", got)
			}
		})
	}
}

func TestRetryGivesWordsToThePhase(t *testing.T) {
	for phase, kind := range map[work.Status]work.TaskKind{
		work.Planning: work.MakePlan, work.Building: work.Implement, work.QA: work.Verify, work.Intake: "", work.ReadyToMerge: "", work.New: "",
	} {
		w := stream(work.Blocked)
		w.Phase = phase
		retry(t, w, "try this")
		if w.Status != phase {
			t.Errorf("%s was resumed as %s", phase, w.Status)
		}
		switch next := w.Pending(); {
		case kind == "" && next != nil, kind != "" && (next == nil || next.Kind != kind || next.Context.Words != "try this"):
			t.Errorf("%s: waiting %+v", phase, next)
		}
	}
}

func TestRetryCountsAfresh(t *testing.T) {
	w := stream(work.Blocked)
	w.Rounds = work.Rounds{Repairs: 2, Gate: 2, Worker: 2, Review: 1, Conflict: 3, Stuck: 9, StuckMark: "x", StuckRun: 7}
	w.Escalated, w.Spending = "look at it", work.Spending{Sessions: 4}
	retry(t, w, "")
	if want := (work.Rounds{StuckRun: 7}); w.Rounds != want || w.Escalated != "" || w.Waived != w.Spending {
		t.Errorf("rounds %+v, escalated %q, waived %+v", w.Rounds, w.Escalated, w.Waived)
	}
}

// TestRetryOfAConflict has the branch compared with its base anew.
func TestRetryOfAConflict(t *testing.T) {
	for _, status := range []work.TaskStatus{work.TaskPending, work.TaskFailed} {
		w := stream(work.Blocked)
		w.Reason, w.Conflict = "mainline_conflict", &work.Conflict{Base: "b1"}
		waits := add(w, work.Implement, work.TaskPending)
		reconciler := add(w, work.Reconcile, status)
		retry(t, w, "")
		if w.Status != work.Building || w.Conflict != nil || w.Pending() != waits {
			t.Errorf("reconciler %s: %s, conflict %v", status, w.Status, w.Conflict)
		}
		if reconciler.Status == work.TaskPending {
			t.Error("the reconciler still waits, for nothing")
		}
	}
}

func TestRetryOfWhatIsHeldBack(t *testing.T) {
	w := stream(work.Building)
	task := add(w, work.Implement, work.TaskPending)
	task.Held = &work.TaskHold{Reason: "backoff"}
	if a := retry(t, w, ""); a.Decision != work.Applied || task.Held != nil || w.Status != work.Building {
		t.Errorf("%+v, %+v", a, task.Held)
	}
	if a := retry(t, stream(work.Building), ""); a.Decision != work.Rejected || a.Reason != "nothing_to_retry" {
		t.Errorf("nothing stopped: %+v", a)
	}
}

func edit(t *testing.T, w *work.Workstream, body string) work.Applying {
	t.Helper()
	a, err := w.Apply(&work.Request{ID: "e1", Verb: work.VerbEdit, By: "file", Title: w.Title, Body: body, Source: "login.md"}, noon)
	must(t, err)
	return a
}

func TestTheSameTextIsNoEdit(t *testing.T) {
	w := stream(work.Building)
	w.Approval = &work.Approval{Revision: 1}
	if a := edit(t, w, w.Spec.Body); a.Decision != work.Applied || a.EndAgent || w.Status != work.Building || w.Approval == nil {
		t.Errorf("%+v: %s", a, w.Status)
	}
}

func TestAnEditWithdrawsTheApproval(t *testing.T) {
	for _, status := range []work.Status{work.AwaitingApproval, work.Building, work.QA} {
		w := stream(status)
		w.Approval = &work.Approval{Revision: 1}
		runs, waits := add(w, work.Assess, work.TaskRunning), add(w, work.Implement, work.TaskPending)
		a := edit(t, w, "Another text.")
		next := w.Pending()
		if !a.EndAgent || w.Status != work.Planning || w.Approval != nil || w.Spec.Body != "Another text." || w.Spec.Hash != work.SpecHash(w.Title, "Another text.") {
			t.Errorf("%s: %+v, %s, %+v", status, a, w.Status, w.Approval)
		}
		if waits.Status != work.TaskCancelled || runs.Irrelevant == "" || next == nil || next.Kind != work.MakePlan || next.Context.Revises != 1 || next.Context.Words == "" {
			t.Errorf("%s: waiting %+v", status, next)
		}
	}
}

// TestAnEditWhileItIsRead has the planner asked again: what it says about the
// old text does not count.
func TestAnEditWhileItIsRead(t *testing.T) {
	for status, kind := range map[work.Status]work.TaskKind{work.Intake: work.AnalyzeIssue, work.Planning: work.MakePlan} {
		w := stream(status)
		runs := w.AddTask(kind, work.TaskContext{Words: "smaller, please", Revises: 1}, noon)
		must(t, w.Begin(runs, noon))
		if a := edit(t, w, "Another text."); !a.EndAgent || w.Status != status {
			t.Errorf("%s: %+v, %s", status, a, w.Status)
		}
		next := w.Pending()
		if runs.Irrelevant == "" || next == nil || next.Kind != kind || next.Context != runs.Context {
			t.Errorf("%s: %+v", status, next)
		}
		must(t, w.Finish(runs, work.Outcome{Result: work.Result{Status: work.ResultDone, Plan: plan(1)}}, gated(), noon))
		if runs.Status != work.TaskCancelled || w.Plan != nil || w.Status != status {
			t.Errorf("%s: the old answer counts: %s", status, w.Status)
		}
	}
}

// TestAnEditOfWhatIsInterrupted plans when it goes on.
func TestAnEditOfWhatIsInterrupted(t *testing.T) {
	for _, status := range []work.Status{work.Blocked, work.PausedBudget, work.AwaitingInput, work.Failed, work.Closed} {
		for _, phase := range []work.Status{work.Intake, work.Planning, work.Building, work.QA, work.ReadyToMerge} {
			w := stream(status)
			w.Phase, w.Approval = phase, &work.Approval{}
			waits, reconciler := add(w, work.Implement, work.TaskPending), add(w, work.Reconcile, work.TaskPending)
			edit(t, w, "Another text.")
			again := slices.Contains([]work.Status{work.Building, work.QA}, phase)
			want := phase
			if again {
				want = work.Planning
			}
			if w.Status != status || w.Phase != want || (w.Approval == nil) != again || (waits.Status == work.TaskCancelled) != again || reconciler.Status != work.TaskPending {
				t.Errorf("%s in %s: %s with phase %s, %s %s", status, phase, w.Status, w.Phase, waits.Status, reconciler.Status)
			}
			if last := w.Last(work.MakePlan); (last.Status == work.TaskPending) != (again && status.Open()) {
				t.Errorf("%s in %s: the newest plan task is %s", status, phase, last.Status)
			}
		}
	}
}
