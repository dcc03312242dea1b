package work

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Restored is the outcome of a recovery record whose salvage a person put back.
const Restored = "restored"

// CanTakeBack says why nothing can be put back into the workspace; nil when it can.
func (w *Workstream) CanTakeBack() error {
	switch {
	case !w.Status.Open():
		return fmt.Errorf("%s is %s and has no workspace", w.ID, w.Status)
	case w.Running() != nil || w.GateRun != "":
		return errors.New("a tick died while something ran in its workspace: run backburner tick first, which finishes that")
	case w.Head == "":
		return fmt.Errorf("%s has no branch yet: the next tick makes it", w.ID)
	}
	return nil
}

// TakeBack records that saved work was put back onto the branch. What was ready
// to merge is verified again.
func (w *Workstream) TakeBack(c Checkpoint, task, salvage string, now time.Time) error {
	w.AddCheckpoint(c)
	w.Recoveries = append(w.Recoveries, Recovery{At: now.UTC(), Task: task, Outcome: Restored, Salvage: salvage})
	w.Say("restored:"+salvage+":"+c.Commit, "salvage", "What was saved as `"+salvage+"` is back on the branch, as "+c.Commit+".", now)
	if w.Status != ReadyToMerge {
		return nil
	}
	return w.Move(QA, Reason{Code: "evidence_stale", Detail: "saved work was put back onto its branch, so it is verified again"}, now)
}

// Saved is what a workstream knows of a salvage: why it was made, and when it was put back.
func (w *Workstream) Saved(salvage string) (why string, restored time.Time) {
	for _, r := range w.Recoveries {
		switch {
		case r.Salvage != salvage:
		case r.Outcome == Restored:
			restored = r.At
		case why == "":
			why = w.whySaved(r)
		}
	}
	return why, restored
}

// whySaved is in whose run the workspace came into the state that was saved.
func (w *Workstream) whySaved(r Recovery) string {
	at := slices.IndexFunc(w.Tasks, func(t *Task) bool { return t.ID == r.Task })
	if at < 0 {
		return "the work was " + string(w.Status)
	}
	t := w.Tasks[at]
	switch t.Class {
	case "":
		return "left by a run of the " + t.Kind.Who()
	case ClassOrdinary:
		return t.Kind.Who() + " failed"
	}
	return t.Kind.Who() + " failed: " + strings.ReplaceAll(string(t.Class), "_", " ")
}
