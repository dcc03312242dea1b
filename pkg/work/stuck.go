package work

import (
	"fmt"
	"time"
)

// CountStuck counts a tick in which the workstream was dispatched and nothing
// about it changed: not its status, its tree or its reason. It escalates to a
// person, once, when that went on for limit ticks, and until something changes.
// It is asked once a tick, and reports whether it changed anything.
func (w *Workstream) CountStuck(limit int, now time.Time) bool {
	r := &w.Rounds
	if w.ExecutionSeq == r.StuckRun {
		return false // not dispatched since
	}
	mark := string(w.Status) + "|" + w.Tree + "|" + w.Reason
	r.StuckRun = w.ExecutionSeq
	if mark != r.StuckMark {
		r.StuckMark, r.Stuck, w.Escalated = mark, 0, ""
		return true
	}
	if r.Stuck++; r.Stuck >= limit && w.Escalated == "" {
		w.Escalated = fmt.Sprintf("it was worked on in %d ticks and nothing changed", r.Stuck)
		w.Say(fmt.Sprintf("escalated:%d", w.ExecutionSeq), "escalated",
			fmt.Sprintf("Please look: %s (%s). Then: `backburner retry %s` or `backburner cancel %s`.", w.Escalated, w.Detail, w.ID, w.ID), now)
	}
	return true
}
