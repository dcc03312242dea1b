package pass

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// merge lands the branch as a person asked.
func (l *land) merge(w *work.Workstream, repo Repository) Job {
	intent := mergeIntent(w)
	copied := w.Clone()
	act := func(ctx context.Context) Record {
		got, err := l.bringToBase(ctx, copied, repo)
		return func(now time.Time) (Act, error) {
			delete(l.merging, repo.ID)
			if ctx.Err() != nil {
				return nil, nil // the intent stays; a repeat finds what landed
			}
			switch {
			case got.Status == mergeQueued:
				l.putOff[w.ID] = true
				w.Queued(intent.ID, got.Detail, now)
				return nil, nil
			case got.Status == mergeUnknown || forge.Passes(err):
				l.putOff[w.ID], w.Detail = true, "asked to merge: "+got.Detail
				return nil, err
			}
			w.Done(intent.ID)
			return nil, merged(w, intent, got, err, now)
		}
	}
	return Job{Name: "merge " + w.ID, Workstream: w.ID, Begin: func(time.Time) (Act, error) {
		l.merging[repo.ID] = true
		return act, nil
	}}
}

// bringToBase merges, here or on the hub.
func (l *land) bringToBase(ctx context.Context, w *work.Workstream, repo Repository) (workspace.Merged, error) {
	if w.Thread != nil && w.Thread.Pull != nil && repo.Slug != "" {
		return l.mergeOnHub(ctx, w, repo)
	}
	base, err := l.trees.Sync(ctx, repo.Repository)
	if err != nil {
		return workspace.Merged{}, err
	}
	return l.trees.Merge(ctx, repo.Repository, workspace.MergeRequest{
		Head: w.Head, Strategy: repo.Strategy, ExpectedBase: base.SHA,
		Message: fmt.Sprintf("%s\n\nBackburner-Workstream: %s", w.Title, w.ID),
	})
}

func mergeIntent(w *work.Workstream) work.Intent {
	if i := w.MergeAsked(); i != nil {
		return *i
	}
	return work.Intent{}
}

func merged(w *work.Workstream, intent work.Intent, got workspace.Merged, err error, now time.Time) error {
	if err == nil && (got.Status == workspace.MergeMerged || got.Status == workspace.MergeAlready) {
		detail := "merged as " + got.SHA
		if got.Status == workspace.MergeAlready {
			detail = "the base has all of it, at " + got.SHA
		}
		switch {
		case got.Tree == "":
			detail += "; whether that is what was tested could not be seen: " + got.Detail
		case got.Tree != w.Tree:
			detail += "; the base had moved, so this very tree was not tested"
		}
		w.Say("merged:"+got.SHA, "merged", detail, now)
		if w.Status != work.ReadyToMerge { // it was cancelled meanwhile, and landed all the same
			w.Detail = detail
			return nil
		}
		return w.Move(work.Merged, work.Reason{Code: "landed", Detail: detail}, now)
	}
	detail := orElse(got.Detail, "it conflicts with the base in "+first(got.Files, 5))
	if err != nil {
		detail = err.Error()
	}
	detail = strings.Join(strings.Fields(detail), " ") // git explains itself on several lines
	if got.Command != "" {
		detail += "; run: " + got.Command
	}
	w.Detail = "not merged: " + detail
	w.Say("not_merged:"+intent.Request, "not_merged", "Not merged: "+detail+".\n\nAsk again with `backburner merge "+w.ID+"`.", now)
	return Notice("merge " + w.ID + ": not merged: " + detail)
}
