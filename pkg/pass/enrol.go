package pass

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

// enrol decides on every add of the batch, one at a time: each changes what
// the next may do. What was asked of the work in the same breath follows.
type enrol struct {
	sync         *sync
	store        Store
	settings     Settings
	repositories Repositories
}

func (e *enrol) Select(board *work.Board, b *Batch, _ time.Time) []Job {
	for _, in := range b.Incoming {
		switch {
		case in.Done:
		case !in.enrols(board) && !b.adds(board, in):
			return []Job{e.sync.apply(board, b, in)}
		case in.enrols(board):
			return []Job{{
				Name: "add " + in.Workstream, Workstream: in.Workstream, Repository: in.Repository,
				Begin: func(now time.Time) (Act, error) { return e.lookUp(board, b, in), nil },
			}}
		}
	}
	return wasRead(board, b)
}

// lookUp asks the archive first: what is over is not begun again.
func (e *enrol) lookUp(board *work.Board, b *Batch, in *Incoming) Act {
	id := in.Workstream
	return func(context.Context) Record {
		var archived work.Status
		var err error
		if work.BadID(id) == "" {
			archived, err = over(e.store, id)
		}
		return func(now time.Time) (Act, error) {
			if err != nil {
				in.Done = true // asked again by the next tick
				return nil, err
			}
			if in.Hub && archived == work.Closed { // labelled again, or reopened
				return e.again(board, b, in), nil
			}
			return e.decide(board, b, in, archived, now)
		}
	}
}

func (e *enrol) decide(board *work.Board, b *Batch, in *Incoming, archived work.Status, now time.Time) (Act, error) {
	w, progress := board.Enrol(in.Request, work.Admission{
		Repositories: slices.Sorted(maps.Keys(e.repositories)), Archived: archived, MaxActive: e.settings.MaxActive,
		Queue: e.settings.Queue, BranchPrefix: e.settings.BranchPrefix,
	}, now)
	before := in.Progress.Decision
	in.Progress = progress
	switch progress.Decision {
	case work.Deferred:
		return e.putOff(b, in), putOffNotice(in, before)
	case work.Rejected:
		return decided(board, e.store, in), Notice(fmt.Sprintf("add %s: refused (%s): %s", work.Printable(in.Workstream), progress.Reason, progress.Detail))
	}
	w.Say("added", "added", fmt.Sprintf("Added by %s from %s.", in.By, work.Printable(in.Source)), now)
	b.Add(w.ID)
	return decided(board, e.store, in), nil
}

// again takes work that was closed out of the archive, and up again.
func (e *enrol) again(board *work.Board, b *Batch, in *Incoming) Act {
	return func(context.Context) Record {
		w, err := e.store.Unarchive(in.Workstream)
		return func(now time.Time) (Act, error) {
			if err != nil {
				in.Done = true
				return nil, err
			}
			board.Workstreams[w.ID] = w
			request := *in.Request
			if request.Verb != work.VerbReview {
				request.Verb = work.VerbRetry
			}
			a, err := w.Apply(&request, now)
			if err != nil {
				a = work.Applying{Decision: work.Rejected, Reason: "invalid", Detail: err.Error()}
			}
			in.Progress = work.Progress{DetectedAt: now.UTC(), LastEvaluated: now.UTC(), Decision: a.Decision, Reason: a.Reason, Detail: a.Detail}
			b.Add(w.ID)
			return decided(board, e.store, in), nil
		}
	}
}

// putOffNotice says once that a request was put off; nothing is remembered of
// spec files, which would be told of in every tick.
func putOffNotice(in *Incoming, before work.Decision) error {
	if in.File != "" || before == work.Deferred {
		return nil
	}
	return Notice(fmt.Sprintf("add %s: put off (%s): %s", work.Printable(in.Workstream), in.Progress.Reason, in.Progress.Detail))
}

// putOff keeps the request in the inbox, with what was decided so far. One from
// the hub goes there, to be decided again like any other.
func (e *enrol) putOff(b *Batch, in *Incoming) Act {
	in.Done = true
	request := *in.Request
	return func(context.Context) Record {
		var err error
		switch {
		case in.Hub:
			if err = e.store.Submit(&request); errors.Is(err, fs.ErrExist) {
				err = nil
			}
		case in.File == "":
			err = e.store.SaveRequest(&request)
		}
		return func(time.Time) (Act, error) {
			if err != nil && in.Hub { // it has to be read again
				b.News = slices.DeleteFunc(b.News, func(n forge.News) bool { return n.Repository == in.Repository })
			}
			return nil, err
		}
	}
}

// over is how an archived workstream ended; "" when there is none of that id.
func over(store Store, id string) (work.Status, error) {
	w, archived, err := store.Workstream(id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil || !archived:
		return "", err
	}
	return w.Status, nil
}
