package work_test

import (
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/work"
)

// stopped is a workstream that a phase was blocked in, for a reason.
func stopped(phase work.Status, reason string, changes ...func(*work.Workstream)) func() *work.Workstream {
	return in(work.Blocked, append([]func(*work.Workstream){func(w *work.Workstream) {
		w.Phase, w.Reason, w.Detail = phase, reason, "so it stopped"
	}}, changes...)...)
}

func gateRetries(n int) func(*work.Workstream) {
	return func(w *work.Workstream) { w.Rounds.Gate = n }
}

// stale is a checkpoint that brought nothing new.
func stale(w *work.Workstream) {
	w.AddCheckpoint(work.Checkpoint{Commit: "c1", Tree: w.Tree, DiffHash: "d1"})
}

func TestRecoveryOfBlockedWorkstreams(t *testing.T) {
	p, impatient, ungated := gated(), gated(), gated()
	impatient.Limits.GateRetries = 0
	ungated.Gates = nil
	const evidence = "recovered:passing_gate_evidence"
	check(t, []situation{
		// Rule 1: a red merge gate never goes forward by itself.
		{"1: merge gate red", stopped(work.QA, "gate_failed:merge", built, verified, green(work.GateFull), red(work.GateMerge)), p, "wait", "blocked: so it stopped; then: backburner retry login"},
		{"1: merge gate red, worker stopped", stopped(work.Building, "output_invalid", built, green(work.GateFast), red(work.GateMerge)), p, "wait", ""},
		{"1: merge gate red, nothing new", stopped(work.QA, "gate_failed:merge", built, red(work.GateMerge), stale), p, "wait", "the merge gate is red and nothing new was built"},

		// Rule 2: green and fresh goes on.
		{"2: full green", stopped(work.QA, "output_invalid", built, verified, green(work.GateFull)), p, "move qa " + evidence, ""},
		{"2: full green, while building", stopped(work.Building, "no_progress", built, green(work.GateFull)), p, "move qa " + evidence, ""},
		{"2: fast green", stopped(work.Building, "no_progress", built, green(work.GateFast)), p, "move qa " + evidence, ""},
		{"2: fast green, merge green before", stopped(work.Building, "no_progress", built, green(work.GateFast), green(work.GateMerge)), p, "move qa " + evidence, ""},
		{"2: fast green for another tree", stopped(work.Building, "gate_failed:fast", built, green(work.GateFast), moved), p, "wait", ""},
		{"2: fast green, but not configured any more", stopped(work.Building, "gate_failed:fast", built, green(work.GateFast)), ungated, "wait", ""},
		{"2: fast green, and more to build", stopped(work.Building, "no_progress", built, green(work.GateFast), steps(3, 0), stale), p, "wait", ""},
		{"2: fast green, increment not built", stopped(work.Building, "output_invalid", built, green(work.GateFast), steps(2, 1), stale), p, "wait", ""},
		{"2: fast green, but it is to be planned anew", stopped(work.Planning, "output_invalid", built, green(work.GateFast), stale), p, "wait", ""},
		{"2: fast green gets QA nowhere", stopped(work.QA, "no_progress", built, green(work.GateFast), stale), p, "wait", ""},
		{"2: full green, but nobody verified the tree", stopped(work.QA, "no_progress", built, green(work.GateFull), stale), p, "wait", ""},
		{"2: green does not make a checkpoint valid", stopped(work.QA, "checkpoint_invalid", built, verified, green(work.GateFull), stale), p, "wait", ""},

		// Rule 3: the last gate is red.
		{"3a: fast red for another tree", stopped(work.Building, "gate_failed:fast", built, red(work.GateFast), moved), p, "move building recovered:gate_refresh:fast", ""},
		{"3a: full red for another tree", stopped(work.QA, "gate_failed:full", built, red(work.GateFull), moved), p, "move qa recovered:gate_refresh:full", ""},
		{"3a: costs no retry, but needs one left", stopped(work.Building, "gate_failed:fast", built, red(work.GateFast), moved, gateRetries(2)), p, "wait", ""},
		{"3a: a failed repair changed the tree", stopped(work.Building, "output_invalid", built, red(work.GateFast), moved), p, "move building recovered:gate_refresh:fast", ""},
		{"3a: not when an agent would run first", stopped(work.QA, "output_invalid", built, red(work.GateFull), moved), p, "move qa recovered:worker_retry:output_invalid", ""},
		{"3a: not when a task waits", stopped(work.Building, "output_invalid", built, red(work.GateFast), moved, waiting(work.Implement)), p, "move building recovered:worker_retry:output_invalid", ""},
		{"3a: the tree was verified after the base was merged", stopped(work.QA, "no_progress", built, red(work.GateFull), moved, verified), p, "move qa recovered:gate_refresh:full", ""},
		{"3a: not when nobody ever verified", stopped(work.QA, "no_progress", built, red(work.GateFull), func(w *work.Workstream) { w.Tree = "" }), p, "move qa recovered:worker_retry:no_progress", ""},
		{"3a: not for another phase's gate", stopped(work.Building, "output_invalid", built, red(work.GateFull), moved), p, "move building recovered:worker_retry:output_invalid", ""},
		{"3a: not past planning", stopped(work.Planning, "output_invalid", built, red(work.GateFast), moved), p, "move planning recovered:worker_retry:output_invalid", ""},
		{"3b: nothing new", stopped(work.Building, "gate_failed:fast", built, red(work.GateFast), stale), p, "wait", "the fast gate is red and nothing new was built since"},
		{"3b: nothing new, worker stopped", stopped(work.Building, "no_progress", built, red(work.GateFast), stale), p, "wait", "nothing new was built since"},
		{"3b: the same difference as before", stopped(work.QA, "gate_failed:full", built, moved, func(w *work.Workstream) {
			w.AddCheckpoint(work.Checkpoint{Commit: "c3", Tree: "t3", DiffHash: "d1", NetNew: true})
		}, red(work.GateFull)), p, "wait", "the full gate is red"},
		{"3c: fast red", stopped(work.Building, "gate_failed:fast", built, red(work.GateFast)), p, "move building recovered:gate_retry:fast", ""},
		{"3c: full red", stopped(work.QA, "gate_failed:full", built, red(work.GateFull)), p, "move qa recovered:gate_retry:full", ""},
		{"3c: worker stopped", stopped(work.Building, "no_progress", built, red(work.GateFast)), p, "move building recovered:gate_retry:fast", ""},
		{"3c: the last retry", stopped(work.Building, "gate_failed:fast", built, red(work.GateFast), gateRetries(1)), p, "move building recovered:gate_retry:fast", ""},
		{"3c: no retry left", stopped(work.Building, "gate_failed:fast", built, red(work.GateFast), gateRetries(2)), p, "wait", "backburner retry login"},
		{"3: gate retry is off", stopped(work.Building, "gate_failed:fast", built, red(work.GateFast)), impatient, "wait", ""},

		// Rule 4: a worker stopped, and there is new work.
		{"4: new work", stopped(work.Building, "output_invalid", built), p, "move building recovered:worker_retry:output_invalid", ""},
		{"4: no checkpoint yet", stopped(work.Planning, "output_invalid"), p, "move planning recovered:worker_retry:output_invalid", ""},
		{"4: checkpoint invalid", stopped(work.QA, "checkpoint_invalid", built, verified, green(work.GateFull)), p, "move qa recovered:worker_retry:checkpoint_invalid", ""},
		{"4: no gate retry left", stopped(work.Building, "output_invalid", built, red(work.GateFast), gateRetries(2)), p, "move building recovered:worker_retry:output_invalid", ""},
		{"4: nothing new", stopped(work.Building, "no_progress", built, stale), p, "wait", ""},
		{"4: once more", stopped(work.Building, "output_invalid", built, func(w *work.Workstream) { w.Rounds.Worker = 1 }), p, "move building recovered:worker_retry:output_invalid", ""},
		{"4: as often as allowed", stopped(work.Building, "output_invalid", built, func(w *work.Workstream) { w.Rounds.Worker = 2 }), p, "wait", ""},

		// Other reasons are for people.
		{"attempts exhausted", stopped(work.Building, "attempts_exhausted:implement", built, green(work.GateFast)), p, "wait", ""},
		{"collision", stopped(work.Planning, "collision_detected", built, green(work.GateFast)), p, "wait", ""},
		{"divergence", stopped(work.QA, "remote_local_divergence", built, verified, green(work.GateFull)), p, "wait", ""},
		{"workspace", stopped(work.Building, "workspace:blocked_dirty", built), p, "wait", ""},
		{"an assessor said stop", stopped(work.Building, "no_progress:assessor", built, green(work.GateFast)), p, "wait", ""},
	})
}

func conflicting(changes ...func(*work.Workstream)) func() *work.Workstream {
	return stopped(work.Building, "mainline_conflict", append([]func(*work.Workstream){func(w *work.Workstream) {
		w.Conflict = &work.Conflict{Ours: "c0", Base: "b1", Files: []string{"a.go"}}
	}}, changes...)...)
}

func rounds(n int) func(*work.Workstream) {
	return func(w *work.Workstream) { w.Rounds.Conflict = n }
}

// TestRecoveryOfConflicts is rule 5.
func TestRecoveryOfConflicts(t *testing.T) {
	p := gated()
	asks := func(w *work.Workstream) {
		w.Questions = append(w.Questions, &work.Question{ID: "q9", Task: w.Last(work.Reconcile).ID, AskedAt: noon})
	}
	check(t, []situation{
		{"found just now", conflicting(), p, "make reconcile_mainline", "the reconciler reconciles the branch with its base"},
		{"prepared", conflicting(waiting(work.Reconcile)), p, "run t2 reconcile_mainline", ""},
		{"prepared, and a builder waits", conflicting(waiting(work.Implement), waiting(work.Reconcile)), p, "run t3 reconcile_mainline", ""},
		{"only a builder waits", conflicting(waiting(work.Implement)), p, "make reconcile_mainline", ""},
		{"held back", conflicting(waiting(work.Reconcile), heldUntil(noon.Add(1))), p, "wait", "the network was down"},
		{"the reconciler asks", conflicting(waiting(work.Reconcile), asks), p, "wait", "backburner answer login"},
		{"another task's question is open", conflicting(after(work.Reconcile, work.TaskFailed), asks, waiting(work.Reconcile)), p, "run t3 reconcile_mainline", ""},
		{"failed once", conflicting(after(work.Reconcile, work.TaskFailed), rounds(1)), p, "make reconcile_mainline", ""},
		{"rounds exhausted", conflicting(after(work.Reconcile, work.TaskFailed), rounds(3)), p, "move failed mainline_conflict", ""},
		{"the merge gate was red before", conflicting(red(work.GateMerge)), p, "make reconcile_mainline", ""},
	})
	w := conflicting()()
	if s := work.Next(w, p, noon); s.Context.Base != "b1" {
		t.Errorf("the reconciler is told of base %q", s.Context.Base)
	}
}

func TestWaitingForNewWorkHasACode(t *testing.T) {
	w := stopped(work.Building, "gate_failed:fast", built, red(work.GateFast), stale)()
	if s := work.Next(w, gated(), noon); s.Reason.Code != "blocked:gate_retry_waiting_for_new_work:fast" || s.Reason.Detail == "" {
		t.Errorf("reason %+v", s.Reason)
	}
}

func TestAdvanceCountsWhatRecoveryCosts(t *testing.T) {
	for _, c := range []struct {
		name string
		w    func() *work.Workstream
		to   work.Status
		want work.Rounds
	}{
		{"gate retry", stopped(work.Building, "gate_failed:fast", built, red(work.GateFast), repairs(2)), work.Building, work.Rounds{Repairs: 1, Gate: 1}},
		{"gate retry after few repairs", stopped(work.Building, "no_progress", built, red(work.GateFast)), work.Building, work.Rounds{Repairs: 1, Gate: 1}},
		{"gate retry in QA", stopped(work.QA, "gate_failed:full", built, red(work.GateFull), repairs(2)), work.QA, work.Rounds{Repairs: 1, Gate: 1}},
		{"gate refresh", stopped(work.Building, "gate_failed:fast", built, red(work.GateFast), moved, repairs(2)), work.Building, work.Rounds{Repairs: 2}},
		{"worker retry", stopped(work.Building, "output_invalid", built, repairs(1)), work.Building, work.Rounds{Repairs: 1, Worker: 1}},
		{"on to QA", in(work.Building, built, green(work.GateFast), repairs(1)), work.QA, work.Rounds{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, p := c.w(), gated()
			must(t, w.Advance(work.Next(w, p, noon), p.Limits, noon))
			if w.Status != c.to || w.Rounds != c.want {
				t.Errorf("%s with %+v, want %s with %+v", w.Status, w.Rounds, c.to, c.want)
			}
		})
	}
}

// TestAGateRetryIsOneRepair holds also where a red gate is otherwise not
// handed back at all.
func TestAGateRetryIsOneRepair(t *testing.T) {
	for _, allowed := range []int{0, 1, 2} {
		p := gated()
		p.Limits.RepairRounds = allowed
		w := stopped(work.Building, "gate_failed:fast", built, red(work.GateFast), repairs(allowed))()
		must(t, w.Advance(work.Next(w, p, noon), p.Limits, noon))
		if s := work.Next(w, p, noon); brief(s) != "make implement for fast" {
			t.Errorf("%d repairs allowed: %s", allowed, brief(s))
		}
		w.Rounds.Repairs++
		if s := work.Next(w, p, noon); brief(s) != "move blocked gate_failed:fast" {
			t.Errorf("%d repairs allowed, after one: %s", allowed, brief(s))
		}
	}
}

func TestAdvance(t *testing.T) {
	p := gated()
	w := in(work.Building, built, green(work.GateFast), steps(2, 0), repairs(1))()
	must(t, w.Advance(work.Next(w, p, noon), p.Limits, noon))
	if w.Increment != 1 || w.Rounds.Repairs != 0 || w.Status != work.Building {
		t.Errorf("increment %d, %+v", w.Increment, w.Rounds)
	}
	must(t, w.Advance(work.Next(w, p, noon), p.Limits, noon))
	if next := w.Pending(); next == nil || next.Kind != work.Implement || next.Context.Increment != 1 {
		t.Errorf("made %+v", next)
	}
	before := record(t, w)
	for _, s := range []work.Step{work.Next(w, p, noon), {Act: work.RunGate, Gate: work.GateFast}, {Act: work.Publish}, {Act: work.Land}, {Why: "waits"}} {
		must(t, w.Advance(s, p.Limits, noon))
		if string(record(t, w)) != string(before) {
			t.Errorf("%s changed the workstream", brief(s))
		}
	}
	illegal := work.Step{Act: work.MoveOn, To: work.Merged, Reason: work.Reason{Code: "recovered:gate_retry:fast"}}
	if err := w.Advance(illegal, p.Limits, noon); err == nil || string(record(t, w)) != string(before) {
		t.Errorf("an illegal move: %v", err)
	}
}

func TestAdvanceTellsPeople(t *testing.T) {
	p := gated()
	for name, c := range map[string]struct {
		w           func() *work.Workstream
		event, says string
	}{
		"blocked": {in(work.Building, built, red(work.GateFast), repairs(2)), "blocked", "backburner retry login"},
		"failed":  {conflicting(rounds(3)), "failed", "backburner retry login"},
		"ready":   {in(work.QA, built, verified, green(work.GateFull), published), "ready_to_merge", "backburner merge login"},
	} {
		w := c.w()
		must(t, w.Advance(work.Next(w, p, noon), p.Limits, noon))
		if len(w.Outbox) != 1 || w.Outbox[0].Event != c.event || !strings.Contains(w.Outbox[0].Then, c.says) || w.Outbox[0].ID == "" {
			t.Errorf("%s: said %+v", name, w.Outbox)
		}
	}
	w := in(work.Building, built, green(work.GateFast))()
	must(t, w.Advance(work.Next(w, p, noon), p.Limits, noon))
	if len(w.Outbox) != 0 {
		t.Errorf("going on to QA said %+v", w.Outbox)
	}
}
