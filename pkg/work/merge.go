package work

import (
	"fmt"
	"slices"
	"time"
)

// A merge that a person asked for is an intent, for exactly the commit that was
// ready then.

func (w *Workstream) merge(r *Request, now time.Time) (Applying, error) {
	if w.Status != ReadyToMerge {
		return reject("not_ready", "it is "+string(w.Status)+", not ready_to_merge"), nil
	}
	if n := len(w.Checkpoints); n > 0 && r.Before(w.Checkpoints[n-1].At) {
		return reject("not_ready", "its branch was changed after that; look at it, and ask to merge it then"), nil
	}
	w.Intents = slices.DeleteFunc(w.Intents, func(i Intent) bool { return i.Kind == intentMerge && i.New != w.Head })
	w.Intend(Intent{ID: "merge:" + w.Head, Kind: intentMerge, New: w.Head, At: now.UTC(), By: r.By, Request: r.ID})
	return applied("will be merged"), nil
}

const intentMerge = "merge"

// MergeAsked is the merge that a person asked for; nil when nobody did.
func (w *Workstream) MergeAsked() *Intent {
	for i := range w.Intents {
		if w.Intents[i].Kind == intentMerge {
			return &w.Intents[i]
		}
	}
	return nil
}

// LandsOnHub reports whether the forge merged what it was asked to merge.
func (w *Workstream) LandsOnHub() bool {
	asked := w.MergeAsked()
	return asked != nil && asked.New == w.Head && w.Status == ReadyToMerge && w.Held == nil &&
		w.Thread != nil && w.Thread.Pull != nil && w.Thread.Pull.State == StateMerged
}

// Queued notes that the forge merges it later, when it may be merged.
func (w *Workstream) Queued(intent, detail string, now time.Time) {
	if i := w.Intent(intent); i != nil {
		i.Trouble = IntentQueued
	}
	w.Detail = "asked to merge: " + detail
	w.Say("queued:"+intent, "not_merged", "Not merged yet: "+detail+".", now)
}

// IntentQueued is the trouble of a merge that a queue of the forge has.
const IntentQueued = "queued"

// notMerged gives up what was to be merged, unless it is a commit that is kept, and
// says so.
func (w *Workstream) notMerged(keep, why string, now time.Time) {
	w.Intents = slices.DeleteFunc(w.Intents, func(i Intent) bool {
		over := i.Kind == intentMerge && i.New != keep
		if over {
			w.Say("not_merged:"+i.Request, "not_merged", fmt.Sprintf("Not merged: %s. When it is ready, ask again with `backburner merge %s`.", why, w.ID), now)
		}
		return over
	})
}
