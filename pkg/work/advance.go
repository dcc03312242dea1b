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
		w.Say(fmt.Sprintf("%s:%s:%d", s.To, w.Reason, w.ExecutionSeq), string(s.To),
			fmt.Sprintf("%s\n\nRead the log with `backburner logs %s`; try again with `backburner retry %s`.", stopped(w.Detail), w.ID, w.ID), now)
	case ReadyToMerge:
		w.answerReviews(now)
		w.notMerged(w.Head, "the branch moved after that was asked", now)
		w.Say("ready:"+w.Head, "ready_to_merge", fmt.Sprintf("Ready to merge: %s.\n\nLook at `%s`, then merge it with `backburner merge %s`.", w.Detail, w.Branch, w.ID), now)
	}
	return nil
}

// stopped is a reason to stop, and below it the end of the log it may carry.
func stopped(detail string) string {
	head, log, logged := strings.Cut(strings.TrimSpace(detail), "\n")
	if !logged {
		return "Stopped: " + head + "."
	}
	return "Stopped: " + head + ".\n\n```text\n" + strings.ReplaceAll(log, "```", "'''") + "\n```"
}
