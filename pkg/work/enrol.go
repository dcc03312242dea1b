package work

import (
	"strings"
	"time"
)

// Admission is what enrolment needs to know beside the board.
type Admission struct {
	Repositories []string // ids of the managed ones
	Archived     Status   // status of an archived workstream of the same id; "" when there is none
	MaxActive    int
	Queue        bool // work may wait for a place
	BranchPrefix string
}

// Enrol decides on an add, in a fixed order of reasons, and queues the
// workstream when it is taken. A crash after the save finds the id of the
// request in the workstream, and decides the same.
func (b *Board) Enrol(r *Request, a Admission, now time.Time) (*Workstream, Progress) {
	p := Progress{DetectedAt: r.Progress.DetectedAt, LastEvaluated: now.UTC()}
	if p.DetectedAt.IsZero() {
		p.DetectedAt = now.UTC()
	}
	decide := func(d Decision, reason, detail string) Progress {
		p.Decision, p.Reason, p.Detail = d, reason, detail
		return p
	}
	if w := b.Workstreams[r.Workstream]; w != nil && w.HasApplied(r.ID) {
		if w.Status == New {
			return w, decide(Queued, w.Reason, "")
		}
		return w, decide(Queued, "capacity_available", "")
	}
	if a, barred := r.Barred(); barred {
		return nil, decide(Rejected, a.Reason, a.Detail)
	}
	repository, problem := r.check(a)
	if problem != "" {
		return nil, decide(Rejected, "invalid", problem)
	}
	if w := b.Workstreams[r.Workstream]; w != nil {
		return nil, decide(Rejected, duplicate(w), alreadyThere(w, repository))
	}
	for id := range b.Workstreams {
		if strings.EqualFold(id, r.Workstream) {
			return nil, decide(Rejected, "invalid", "the name differs from that of "+id+" only in upper and lower case; give it another")
		}
	}
	if a.Archived != "" {
		return nil, decide(Rejected, "terminal_status", overBefore(r, a.Archived))
	}
	reason := "capacity_available"
	if r.Kind != KindPullRequest && b.Active()+len(b.Queue()) >= a.MaxActive {
		if reason = "capacity_full"; !a.Queue {
			return nil, decide(Deferred, reason, "every place is taken")
		}
	}
	w := &Workstream{
		Schema: Schema, ID: r.Workstream, Kind: r.Kind, Repository: repository, Title: r.Title, Priority: r.Priority,
		Status: New, Reason: reason, CreatedAt: now.UTC(), ChangedAt: now.UTC(),
		Spec: Spec{Source: r.Source, Body: r.Body, Hash: SpecHash(r.Title, r.Body)}, Thread: r.Thread, PlanFirst: r.Verb == VerbPlan,
		Branch: a.BranchPrefix + r.Workstream, Applied: []string{r.ID},
	}
	if w.Kind == "" {
		w.Kind = KindSpec
	}
	switch r.Verb {
	case VerbReview:
		w.AddTask(ReviewPR, TaskContext{Words: r.Text, Request: r.ID}, now)
	case VerbPlan:
		w.planWith(r.Text, now)
	}
	b.Workstreams[w.ID] = w
	return w, decide(Queued, reason, "")
}

// alreadyThere says what stands in the way of an add for a repository.
func alreadyThere(w *Workstream, repository string) string {
	if w.Repository != repository {
		return w.ID + " is already there, for the repository " + w.Repository + "; give this one another name"
	}
	return w.ID + " is already there: " + string(w.Status)
}

// overBefore says what can be done about a name whose work is in the archive.
func overBefore(r *Request, ended Status) string {
	id := r.Workstream
	if r.Thread != nil && ended == Merged {
		return "it was worked on before and is merged; open another issue for what is left to do"
	}
	text := id + " was worked on before and is " + string(ended) + "; give the new work another name"
	if ended != Merged {
		text += ", or go on with the old: backburner retry " + id
	}
	return text
}

func duplicate(w *Workstream) string {
	switch {
	case w.Status == New:
		return "already_queued"
	case w.Status.Terminal():
		return "terminal_status"
	}
	return "already_active"
}

// check finds the repository of an add and what is wrong with it.
func (r *Request) check(a Admission) (repository, problem string) {
	if why := BadID(r.Workstream); why != "" {
		return "", "the name cannot be used: " + why
	}
	if strings.TrimSpace(r.Body) == "" {
		return "", "the text is empty"
	}
	if len(r.Body) > MaxSpec {
		return "", "the text is too long"
	}
	if r.Repository == "" && len(a.Repositories) == 1 {
		return a.Repositories[0], ""
	}
	for _, id := range a.Repositories {
		if id == r.Repository {
			return id, ""
		}
	}
	if r.Repository == "" {
		return "", "say which repository: " + strings.Join(a.Repositories, ", ")
	}
	return "", "repository " + r.Repository + " is not configured; there is " + strings.Join(a.Repositories, ", ")
}
