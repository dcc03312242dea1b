package work

import (
	"fmt"
	"strings"
	"time"
)

// Advance makes the change that a step asks of the workstream itself: a move,
// the next increment, a task that has to be made. It counts what a recovery
// costs. A step that acts on the outside, or waits, changes nothing here.
func (w *Workstream) Advance(s Step, l Limits, now time.Time) error {
	switch {
	case s.Act == NextPiece:
		w.Increment++
		w.Rounds.Repairs = 0
	case s.Act == RunAgent && s.Task == nil:
		w.AddTask(s.Kind, s.Context, now)
	case s.Act == MoveOn:
		return w.carry(s, l, now)
	}
	return nil
}

func (w *Workstream) carry(s Step, l Limits, now time.Time) error {
	if err := w.Move(s.To, s.Reason, now); err != nil {
		return err
	}
	switch code := s.Reason.Code; {
	case strings.HasPrefix(code, "recovered:gate_retry:"):
		w.Rounds.Gate++
		w.Rounds.Repairs = l.RepairRounds - 1 // exactly one repair more
	case strings.HasPrefix(code, "recovered:worker_retry:"):
		w.Rounds.Worker++
	case s.To == QA:
		w.Rounds.Repairs = 0
	}
	switch s.To {
	case Blocked, Failed:
		n := Notice{Event: string(s.To), Text: stopped(w.Detail), Then: "Try again with `backburner retry " + w.ID + "`."}
		if gate, red := strings.CutPrefix(w.Reason, "gate_failed:"); red {
			n.Class, n.Run = ClassGate, w.Evidence[gate].Execution
		}
		w.SayStopped(w.Reason, w.Detail, n, now)
	case ReadyToMerge:
		w.answerReviews(now)
		w.notMerged(w.Head, "the branch moved after that was asked", now)
		w.SayNotice(Notice{
			ID: "ready:" + w.Head, Event: "ready_to_merge", Text: "Ready to merge: " + w.Detail + ".",
			Then: fmt.Sprintf("Look at `%s`, then merge it with `backburner merge %s`.", w.Branch, w.ID),
		}, now)
	}
	return nil
}
