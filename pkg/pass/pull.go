package pass

import (
	"context"
	"fmt"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// openPull opens the pull request of a branch that was pushed, or finds the one
// that is there, and notes it in w.
func (l *land) openPull(ctx context.Context, w *work.Workstream, repo Repository, got workspace.Published) error {
	if w.Thread == nil || repo.Slug == "" || got.Status != workspace.PublishPushed && got.Status != workspace.PublishAlready {
		return nil
	}
	if err := partsOf(w, repo).showParts(ctx, l.hub, repo.Slug, w.Thread); err != nil { // its merge closes them
		return err
	}
	closes := append([]int{w.Thread.Number}, w.Thread.Parts...)
	if w.OnlyPlanned() { // people may merge a plan
		closes = nil
	}
	pull, err := l.hub.OpenPull(ctx, repo.Slug, w.ID, forge.PullRequest{
		Branch: w.Branch, Head: w.Head, Base: repo.Base, Title: w.Title, Body: forge.RenderPull(w), Closes: closes,
		Draft: w.Status != work.QA || !greenAt(w, w.Head),
		Again: w.Thread.Pull != nil && w.Thread.Pull.State == work.StateClosed, // else it would be over
	})
	if err != nil {
		return err
	}
	w.Thread.Pull = &pull
	return nil
}

// review puts the review that an agent wrote on the pull request. The review
// that is kept with the workstream is the intent.
func (l *land) review(board *work.Board, w *work.Workstream, repo Repository) Job {
	drafted := *w.Drafted
	pull := w.Thread.Pull.Number
	job := do("review #"+fmt.Sprint(pull), w.ID, func(ctx context.Context) Record {
		err := l.hub.Review(ctx, repo.Slug, forge.PostedReview{
			ID: w.ID + "." + drafted.Task, Pull: pull, Commit: drafted.Head, Review: drafted.Review,
		})
		return func(now time.Time) (Act, error) {
			if ctx.Err() != nil {
				return nil, nil
			}
			if forge.Passes(err) || forge.Bars(err) {
				l.putOff[w.ID] = true
				return nil, l.troubles.meet(board.Repository(repo.ID), true, err, now)
			}
			w.Drafted = nil
			if err != nil {
				return nil, stop(w, "review_refused", err.Error(), now)
			}
			return nil, nil
		}
	})
	job.Repository = repo.ID
	return job
}

// mergeOnHub has the forge merge the pull request, and looks whether what landed
// is what was tested.
func (l *land) mergeOnHub(ctx context.Context, w *work.Workstream, repo Repository) (workspace.Merged, error) {
	answer := l.hub.Merge(ctx, repo.Slug, forge.MergeAsk{
		Pull: *w.Thread.Pull, Head: w.Head, Strategy: repo.Strategy,
		Title: fmt.Sprintf("%s (#%d)", w.Title, w.Thread.Pull.Number), Message: "Backburner-Workstream: " + w.ID,
		Queued: mergeIntent(w).Trouble == work.IntentQueued,
	})
	switch {
	case answer.Outcome == forge.Landed:
		return l.landedOnHub(ctx, w, repo, answer.Commit), nil
	case answer.Queued:
		return workspace.Merged{Status: mergeQueued, Detail: answer.Detail}, nil
	case answer.Outcome == forge.Unknown:
		return workspace.Merged{Status: mergeUnknown, Detail: answer.Detail}, nil
	}
	return workspace.Merged{Status: mergeRefused, Detail: answer.Detail}, nil
}

// landedOnHub holds what landed against what was tested. It landed also when that
// cannot be seen.
func (l *land) landedOnHub(ctx context.Context, w *work.Workstream, repo Repository, commit string) workspace.Merged {
	got := workspace.Merged{Status: workspace.MergeMerged, SHA: commit}
	diff := workspace.Review{}
	_, err := l.trees.Sync(ctx, repo.Repository)
	if err == nil {
		diff, err = l.trees.Diff(ctx, repo.Repository, commit, w.Head, 0)
	}
	switch {
	case err != nil:
		got.Detail = err.Error()
	case len(diff.Changes) == 0:
		got.Tree = w.Tree
	default:
		got.Tree = commit + "^{tree}" // another one
	}
	return got
}

// What a merge on the hub can come to beside landing. With mergeUnknown, when
// nobody knows, and mergeQueued the next tick looks again.
const (
	mergeUnknown workspace.MergeStatus = "unknown"
	mergeQueued  workspace.MergeStatus = "queued"
	mergeRefused workspace.MergeStatus = "refused"
)
