package work

import "time"

// A workstream of kind pull_request is somebody's pull request that was asked
// to be reviewed: it has a task, publishes what comes of it, and is over.

// DraftReview is a review that an agent wrote and that is not on the forge yet.
type DraftReview struct {
	Task   string `json:"task"`
	Head   string `json:"head"` // commit it is about
	Review Review `json:"review"`
}

// review has the pull request of the workstream reviewed, also once more: then as
// it is now.
func (w *Workstream) review(r *Request, now time.Time) (Applying, error) {
	if w.Kind == KindPullRequest && w.Thread != nil && r.Thread != nil {
		w.Title, w.Spec = r.Title, Spec{Source: r.Source, Body: r.Body, Hash: SpecHash(r.Title, r.Body)}
		w.Thread.Editor = r.Thread.Editor
		w.Thread.reopen(r.Thread)
	}
	switch t := w.Last(ReviewPR); {
	case w.Thread == nil || w.Thread.Pull == nil || w.Thread.Pull.State != StateOpen:
		return reject("nothing_published", "there is no open pull request to review"), nil
	case w.OnlyPlanned():
		return reject("nothing_published", "there is only the plan so far"), nil
	case t != nil && (t.Status == TaskPending || t.Status == TaskRunning):
		return applied("is being reviewed already"), nil
	}
	w.AddTask(ReviewPR, TaskContext{Words: r.Text, Request: r.ID}, now)
	if w.Kind != KindPullRequest || w.Status.Open() {
		return applied("will be reviewed"), nil
	}
	return applied("will be reviewed"), w.Move(Intake, Reason{"review", "another review is asked for" + by(r.By)}, now)
}

// Reviewed is the number of somebody's pull request that the workstream is about;
// 0 when it has work of its own.
func (w *Workstream) Reviewed() int {
	if w.Kind != KindPullRequest || w.Thread == nil {
		return 0
	}
	return w.Thread.Number
}

// nextPull decides for somebody's pull request.
func nextPull(w *Workstream, now time.Time) Step {
	switch {
	case w.Status == New:
		return move(Intake, "admitted", "a pull request takes no place in the active set")
	}
	if t := w.due(Intake); t != nil {
		return nextTask(w, t.Kind, t.Context, now)
	}
	return move(Closed, "reviewed", "what was asked for is done")
}
