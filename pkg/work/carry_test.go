package work_test

import (
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

func finish(t *testing.T, w *work.Workstream, task *work.Task, o work.Outcome, p work.Policy) {
	t.Helper()
	must(t, w.Finish(task, o, p, noon))
}

func TestAProposal(t *testing.T) {
	for discovery, want := range map[string]work.Status{"auto": work.Intake, "required": work.AwaitingApproval} {
		w, task := atWork(t, work.AnalyzeIssue)
		p := gated()
		p.Discovery = discovery
		finish(t, w, task, good(work.AnalyzeIssue), p)
		if w.Status != want || len(w.Outbox) != 1 || w.Outbox[0].Event != "proposal" || w.Outbox[0].Text != "done" {
			t.Errorf("%s: %s, said %+v", discovery, w.Status, w.Outbox)
		}
	}
}

func TestAPlan(t *testing.T) {
	for _, approve := range []bool{false, true} {
		for _, kind := range []work.TaskKind{work.MakePlan, work.BreakDownPlan} {
			w, task := atWork(t, kind)
			w.Revision, w.Increment, w.Verified, w.Approval = 2, 3, "t0", &work.Approval{Revision: 2}
			w.Rounds = work.Rounds{Repairs: 1, Gate: 1, Worker: 1, Review: 1}
			p := gated()
			p.ApprovePlans = approve
			finish(t, w, task, good(kind), p)
			want, event := work.Building, "plan"
			if approve {
				want, event = work.AwaitingApproval, "awaiting_approval"
			}
			if w.Status != want || w.Reason != "plan:3" || w.Plan == nil || w.Revision != 3 || w.Approval != nil || w.Increment != 0 || w.Verified != "" || !w.PlannedAt.Equal(noon) {
				t.Errorf("%s, approve %v: %s (%s), revision %d, %+v", kind, approve, w.Status, w.Reason, w.Revision, w.Approval)
			}
			if w.Rounds != (work.Rounds{Review: 1}) {
				t.Errorf("%s: rounds %+v", kind, w.Rounds)
			}
			if len(w.Outbox) != 1 || w.Outbox[0].ID != "plan:3" || w.Outbox[0].Event != event || strings.Contains(w.Outbox[0].Then, "backburner approve login") != approve {
				t.Errorf("%s, approve %v: said %+v", kind, approve, w.Outbox)
			}
		}
	}
}

func TestRepairsAreCounted(t *testing.T) {
	for _, kind := range []work.TaskKind{work.Implement, work.Verify} {
		for _, gate := range []string{"", work.GateFast} {
			for _, fails := range []bool{false, true} {
				w, task := atWork(t, kind)
				task.Context.Gate = gate
				o := good(kind)
				if fails {
					o.Result.Status = "nonsense"
					task.Resends = 1
				}
				finish(t, w, task, o, gated())
				if fails {
					_, err := w.Classify(task, limits, noon)
					must(t, err)
				}
				want := 0
				if gate != "" {
					want = 1
				}
				if w.Rounds.Repairs != want {
					t.Errorf("%s for gate %q, fails %v: %d repairs", kind, gate, fails, w.Rounds.Repairs)
				}
			}
		}
	}
}

func TestVerificationIsOfTheTree(t *testing.T) {
	w, task := atWork(t, work.Verify)
	finish(t, w, task, good(work.Verify), gated())
	if w.Verified != "t1" || w.Tree != "t1" {
		t.Errorf("verified %s of %s", w.Verified, w.Tree)
	}
	w, task = atWork(t, work.Implement)
	w.Verified = "t0"
	finish(t, w, task, good(work.Implement), gated())
	if w.Verified != "t0" {
		t.Errorf("a builder verified %s", w.Verified)
	}
}

func TestAnAssessorStops(t *testing.T) {
	w, task := atWork(t, work.Assess)
	o := good(work.Assess)
	o.Result.Assessment = &work.Assessment{Reason: "it goes the wrong way"}
	finish(t, w, task, o, gated())
	if w.Status != work.Blocked || w.Reason != "no_progress:assessor" || w.Detail != "the assessor stopped it: it goes the wrong way" || task.Status != work.TaskCompleted {
		t.Errorf("%s (%s): %s; task %s", w.Status, w.Reason, w.Detail, task.Status)
	}
	if len(w.Outbox) != 1 || w.Outbox[0].Event != "blocked" || !strings.Contains(w.Outbox[0].Then, "backburner retry login") {
		t.Errorf("said %+v", w.Outbox)
	}
}

func TestAConflictIsResolved(t *testing.T) {
	w, task := atWork(t, work.Reconcile)
	w.Phase = work.ReadyToMerge // what was ready is not what is here now
	finish(t, w, task, good(work.Reconcile), gated())
	if w.Status != work.QA {
		t.Errorf("what was ready is %s without a gate", w.Status)
	}
	w, task = atWork(t, work.Reconcile)
	w.Phase = work.QA
	finish(t, w, task, good(work.Reconcile), gated())
	if w.Status != work.QA || w.Reason != "recovered:mainline" || w.Conflict != nil || w.Rounds.Conflict != 1 {
		t.Errorf("%s (%s), conflict %v, %d rounds", w.Status, w.Reason, w.Conflict, w.Rounds.Conflict)
	}
	next := w.AddTask(work.Verify, work.TaskContext{}, noon)
	must(t, w.Begin(next, noon))
	finish(t, w, next, good(work.Verify), gated())
	if w.Rounds.Conflict != 0 {
		t.Errorf("work went on, and %d rounds are still counted", w.Rounds.Conflict)
	}
}

// TestAConflictThatStays counts a reconciler that fails for good, and one that
// only says it is done, as a round.
func TestAConflictThatStays(t *testing.T) {
	p := gated()
	for name, o := range map[string]work.Outcome{
		"fails": {Class: work.ClassPermissionDenied, Detail: "denied"},
		"lies":  good(work.Reconcile),
	} {
		w := conflicting()()
		for round := 1; round <= p.Limits.ConflictRounds; round++ {
			task := w.AddTask(work.Reconcile, work.TaskContext{}, noon)
			must(t, w.Begin(task, noon))
			finish(t, w, task, o, p)
			if task.Status == work.TaskFailed {
				_, err := w.Classify(task, p.Limits, noon)
				must(t, err)
			} else {
				w.Conflict = &work.Conflict{Base: "b1"}
				must(t, w.Move(work.Blocked, work.Reason{Code: "mainline_conflict"}, noon))
			}
			if w.Rounds.Conflict != round || w.Status != work.Blocked || w.Reason != "mainline_conflict" {
				t.Fatalf("%s: %d rounds, %s (%s)", name, w.Rounds.Conflict, w.Status, w.Reason)
			}
		}
		if s := work.Next(w, p, noon); brief(s) != "move failed mainline_conflict" {
			t.Errorf("%s: %s", name, brief(s))
		}
	}
}

func TestAReconcilerAsks(t *testing.T) {
	w, task := atWork(t, work.Reconcile)
	o := good(work.Reconcile)
	o.Result = work.Result{Status: work.ResultNeedsInput, Questions: []string{"Which side?"}}
	finish(t, w, task, o, gated())
	if s := work.Next(w, gated(), noon); w.Status != work.Blocked || brief(s) != "wait" || !strings.Contains(s.Why, "backburner answer login") {
		t.Errorf("%s: %s, %s", w.Status, brief(s), s.Why)
	}
	_, err := w.Apply(ask(work.VerbAnswer), noon)
	must(t, err)
	if s := work.Next(w, gated(), noon); s.Task != task {
		t.Errorf("after the answer: %s", brief(s))
	}
}

// TestAReconcilerWhoseConflictIsGone leaves its work, and changes nothing more:
// a person retried while it ran.
func TestAReconcilerWhoseConflictIsGone(t *testing.T) {
	w, task := atWork(t, work.Reconcile)
	retry(t, w, "")
	for _, class := range []work.Class{"", work.ClassNoWork} {
		w, task := w.Clone(), task.ID
		o := good(work.Reconcile)
		o.Class = class
		finish(t, w, w.Task(task), o, gated())
		if w.Status != work.Building || w.Task(task).Status != work.TaskCancelled || w.Head != "c1" || w.Rounds.Conflict != 0 {
			t.Errorf("%s, task %s, head %s", w.Status, w.Task(task).Status, w.Head)
		}
	}
}

func TestClassifyEveryFailure(t *testing.T) {
	for _, kind := range taskKinds {
		for _, class := range work.Classes {
			for attempts := range 3 {
				classify(t, kind, class, attempts)
			}
		}
	}
}

func classify(t *testing.T, kind work.TaskKind, class work.Class, attempts int) {
	t.Helper()
	w, task := atWork(t, kind)
	task.Status, task.Class, task.Unread, task.Attempts, task.Resends, w.Detail = work.TaskFailed, class, true, attempts, 1, "why"
	want := verdicts[class][attempts]
	v, err := w.Classify(task, work.Limits{Attempts: 3}, noon)
	must(t, err)
	if task.Unread || v.Again != want.Again || v.Charged != want.Charged {
		t.Errorf("%s, %s after %d: %+v, unread %v", kind, class, attempts, v, task.Unread)
	}
	charged := 0
	if want.Charged {
		charged = 1
	}
	if task.Attempts != attempts+charged {
		t.Errorf("%s, %s after %d: %d attempts", kind, class, attempts, task.Attempts)
	}
	if !want.Again {
		status, reason := work.Blocked, strings.ReplaceAll(want.Stop, "%s", string(kind))
		if kind == work.Reconcile {
			reason = "mainline_conflict"
		}
		if task.Status != work.TaskFailed || w.Status != status || w.Reason != reason || w.Detail != "why" {
			t.Errorf("%s, %s after %d: task %s, %s (%s)", kind, class, attempts, task.Status, w.Status, w.Reason)
		}
		if len(w.Outbox) != 1 || w.Outbox[0].Run != "login.0001" || w.Outbox[0].Class != class || !strings.Contains(w.Outbox[0].Then, "backburner retry login") {
			t.Errorf("%s, %s: said %+v", kind, class, w.Outbox)
		}
		return
	}
	if task.Status != work.TaskPending || task.Reason != "again:"+string(class) || w.Status != homes[kind] || len(w.Outbox) != 0 {
		t.Errorf("%s, %s after %d: task %s (%s), %s, said %v", kind, class, attempts, task.Status, task.Reason, w.Status, w.Outbox)
	}
	switch h := task.Held; {
	case want.Hold == "" && h != nil, want.Hold != "" && (h == nil || h.Reason != want.Hold || h.Detail != "why"):
		t.Errorf("%s, %s: held %+v", kind, class, h)
	case want.Hold == "backoff":
		if wait := h.NextEligibleAt.Sub(noon); wait < want.Wait*8/10 || wait > want.Wait*12/10 {
			t.Errorf("%s, %s after %d: held for %s", kind, class, attempts, wait)
		}
	case want.Hold != "" && !h.NextEligibleAt.IsZero():
		t.Errorf("%s, %s: held until %s, not until its cause is gone", kind, class, h.NextEligibleAt)
	}
}

func TestAnInvalidAnswerIsAskedForOnceMore(t *testing.T) {
	w, task := atWork(t, work.MakePlan)
	bad := good(work.MakePlan)
	bad.Result.Plan = nil
	finish(t, w, task, bad, gated())
	v, err := w.Classify(task, limits, noon)
	must(t, err)
	if !v.Again || v.Charged || task.Status != work.TaskPending || task.Attempts != 0 || task.Held != nil || task.Resends != 1 {
		t.Errorf("%+v, %+v", v, task)
	}
	must(t, w.Begin(task, noon))
	finish(t, w, task, bad, gated())
	if v, err = w.Classify(task, limits, noon); err != nil || v.Again || !v.Charged || w.Status != work.Blocked || w.Reason != "output_invalid" {
		t.Errorf("%+v, %v, %s (%s)", v, err, w.Status, w.Reason)
	}
}

// TestClassifyLeavesWhatIsOver does not block what was closed meanwhile.
func TestClassifyLeavesWhatIsOver(t *testing.T) {
	for _, status := range []work.Status{work.Closed, work.Failed, work.Merged} {
		w := stream(status)
		task := add(w, work.Implement, work.TaskFailed)
		task.Class, task.Unread, w.Reason = work.ClassNoWork, true, "over"
		if _, err := w.Classify(task, limits, noon); err != nil || w.Status != status || w.Reason != "over" || task.Unread {
			t.Errorf("%s: %v, %s (%s)", status, err, w.Status, w.Reason)
		}
	}
}

func TestJitterIsOfTheRun(t *testing.T) {
	w, task := atWork(t, work.Implement)
	held := func(execution string) time.Time {
		task.Status, task.Class, task.Attempts, task.Executions = work.TaskFailed, work.ClassOrdinary, 0, []string{execution}
		_, err := w.Classify(task, work.Limits{Attempts: 3}, noon)
		must(t, err)
		return task.Held.NextEligibleAt
	}
	if one := held("login.0001"); !one.Equal(held("login.0001")) || one.Equal(held("login.0002")) {
		t.Error("the wait does not follow from the run")
	}
}
