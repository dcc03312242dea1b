package work

import (
	"fmt"
	"strings"
	"time"
)

// nextBlocked applies the recovery rules for blocked workstreams; the first
// that applies decides.
func nextBlocked(w *Workstream, p Policy, now time.Time) Step {
	if w.Reason == "mainline_conflict" {
		return nextConflict(w, p, now)
	}
	why, _, _ := strings.Cut(w.Detail, "\n")
	stay := wait("blocked: " + strings.TrimRight(why, ".") + "; " + w.wayOut())
	if !mendable(w.Reason) {
		return stay
	}
	if e := w.Evidence[w.LastGate]; w.LastGate == GateMerge && !e.Green {
		if !w.NewWork() {
			return w.waitForNewWork()
		}
		return stay
	}
	if step := forward(w, p); step.Act != Nothing {
		return step
	}
	if step, decided := recoverGate(w, p); decided {
		return step
	}
	if !strings.HasPrefix(w.Reason, "gate_failed:") && w.NewWork() && w.Rounds.Worker < p.Limits.Attempts {
		return move(w.Resume(), "recovered:worker_retry:"+w.Reason, "one more try after "+w.Reason)
	}
	return stay
}

// wayOut is what a person can do about a blocked workstream.
func (w *Workstream) wayOut() string {
	retry := "backburner retry " + w.ID
	switch w.Reason {
	case "collision_detected":
		return "goes on when that has landed, or all the same with: " + retry
	case "workspace:repository", "remote_local_divergence:base":
		return "goes on when that is put right; see: backburner doctor"
	case "checkpoint_invalid":
		return "allow it in the configuration, or have it taken back: " + retry + " \"take it back\""
	}
	return "then: " + retry
}

// mendable reports whether a rule may take a workstream up again that stopped
// for this reason.
func mendable(reason string) bool {
	switch reason {
	case "checkpoint_invalid", "output_invalid", "no_progress":
		return true
	}
	return strings.HasPrefix(reason, "gate_failed:")
}

// forward is rule 2: what is tested and green goes on, if that brings it any
// further than where it stopped. A checkpoint that may not be published is no
// better for passing its gates.
func forward(w *Workstream, p Policy) Step {
	if w.Reason == "checkpoint_invalid" {
		return Step{}
	}
	full := p.Gates[GateFull] && w.Green(GateFull)
	fast := p.Gates[GateFast] && w.Green(GateFast)
	switch {
	case w.Resume() == Building && w.lastBuilt() && full, w.Resume() == QA && w.Verified == w.Tree && full:
		return move(QA, "recovered:passing_gate_evidence", "the full gate is green on this tree")
	case w.Resume() == Building && w.lastBuilt() && fast:
		return move(QA, "recovered:passing_gate_evidence", "the fast gate is green on this tree")
	}
	return Step{}
}

// recoverGate is rule 3: the last gate is red, in the phase that was
// interrupted, and may be tried again.
func recoverGate(w *Workstream, p Policy) (step Step, decided bool) {
	e, known := w.Evidence[w.LastGate]
	phase := map[string]Status{GateFast: Building, GateFull: QA}[w.LastGate]
	if !known || e.Green || phase != w.Resume() || w.Rounds.Gate >= p.Limits.GateRetries {
		return Step{}, false
	}
	if _, fresh := w.Fresh(w.LastGate); !fresh {
		// Free of charge, so only when the gate is what will run: a worker that
		// failed is rule 4's, which counts.
		if !w.gateIsNext(phase) {
			return Step{}, false
		}
		return move(phase, "recovered:gate_refresh:"+w.LastGate, "the tree is no longer the one that failed"), true
	}
	if !w.NewWork() {
		return w.waitForNewWork(), true
	}
	return move(phase, "recovered:gate_retry:"+w.LastGate, "one more try at the red "+w.LastGate+" gate"), true
}

// gateIsNext reports whether the phase would run its gate before any agent.
func (w *Workstream) gateIsNext(phase Status) bool {
	if w.due(phase) != nil {
		return false
	}
	if phase == QA {
		return w.Verified != "" && w.Verified == w.Tree || strings.HasPrefix(w.Reason, "gate_failed:")
	}
	return w.built()
}

// waitForNewWork is what a red gate waits for when the same would only be
// tried again. Its reason is for saying so once.
func (w *Workstream) waitForNewWork() Step {
	step := wait("blocked: the " + w.LastGate + " gate is red and nothing new was built since; then: backburner retry " + w.ID)
	step.Reason = Reason{"blocked:gate_retry_waiting_for_new_work:" + w.LastGate, step.Why}
	return step
}

// nextConflict is rule 5: the reconciler is dispatched again, round by round.
func nextConflict(w *Workstream, p Policy, now time.Time) Step {
	if w.Rounds.Conflict >= p.Limits.ConflictRounds {
		return move(Failed, "mainline_conflict", fmt.Sprintf("the conflict with the base was not resolved in %d rounds", w.Rounds.Conflict))
	}
	if t := w.due(Blocked); t != nil && w.asks(t) {
		return wait("the reconciler waits for " + w.answerDue())
	}
	return nextTask(w, Reconcile, TaskContext{Base: w.conflictingBase()}, now)
}

// asks reports whether a question of the task is still open.
func (w *Workstream) asks(t *Task) bool {
	for _, q := range w.OpenQuestions() {
		if q.Task == t.ID {
			return true
		}
	}
	return false
}

func (w *Workstream) conflictingBase() string {
	if w.Conflict == nil {
		return ""
	}
	return w.Conflict.Base
}
