package pass

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/backburner-cli/backburner/pkg/git"
	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// restore is the row recover: it puts the workspaces of tasks that failed or
// were cut back on their branches, clean. What lies there is saved first.
type restore struct {
	trees        Workspaces
	repositories Repositories
	runs         *runs
	log          *slog.Logger
}

func (r *restore) Select(board *work.Board, b *Batch, _ time.Time) []Job {
	var jobs []Job
	for _, w := range b.workstreams(board) {
		repo, known := r.repositories[w.Repository]
		if t := marked(w); t != nil && known && w.Status.Open() {
			jobs = append(jobs, r.job(w, t, repo))
		}
	}
	return jobs
}

// marked is the task whose mark stands for the workspace; nil when it needs
// nothing, or an agent is in it.
func marked(w *work.Workstream) *work.Task {
	if w.Running() != nil {
		return nil
	}
	for _, t := range w.Tasks {
		if t.RecoveryNeeded {
			return t
		}
	}
	return nil
}

func (r *restore) job(w *work.Workstream, t *work.Task, repo Repository) Job {
	tree, task := treeOf(w), t.ID
	return do("recover "+w.ID, w.ID, func(ctx context.Context) Record {
		got, err := r.trees.Restore(ctx, repo.Repository, tree, task)
		return func(now time.Time) (Act, error) {
			if ctx.Err() != nil {
				return nil, nil // cut: the mark stays
			}
			if errors.Is(err, workspace.ErrAtWork) {
				wait(w, string(workspace.DeferredLocked), err.Error(), now) // here too
				return nil, nil
			}
			if git.Outside(err) {
				wait(w, "machine", err.Error(), now) // likewise
				return nil, Notice(w.ID + ": its workspace cannot be restored: " + err.Error())
			}
			return r.recovered(w, task, got, err, now), nil
		}
	})
}

// recovered notes the outcome, which counts for all tasks of the workspace.
func (r *restore) recovered(w *work.Workstream, task string, got workspace.Restored, trouble error, now time.Time) Act {
	record := recoveryOf(got, task, now)
	if trouble != nil {
		record.Outcome, record.Detail = string(workspace.Failed), trouble.Error()
	}
	w.Recovered(record)
	for _, t := range w.Tasks {
		t.RecoveryNeeded = false
	}
	usable := record.Outcome == string(workspace.Recovered) || record.Outcome == string(workspace.Skipped)
	level := slog.LevelInfo
	if !usable {
		level = slog.LevelWarn
	}
	r.log.Log(context.Background(), level, "recovery", "workstream", w.ID, "task", task, "outcome", record.Outcome,
		"salvage", record.Salvage, "aside", record.Aside, "detail", record.Detail)
	if usable {
		return nil
	}
	return r.runs.refuse(w, "workspace:"+record.Outcome, "the workspace could not be restored: "+record.Detail)
}

// recoveryOf is the record of what came of restoring a workspace for a task.
func recoveryOf(got workspace.Restored, task string, now time.Time) work.Recovery {
	return work.Recovery{
		At: now.UTC(), Task: task, Outcome: string(got.Outcome), Salvage: got.SalvageRef, Aside: got.Aside, Detail: got.Detail,
	}
}

// treeOf is the workspace of a workstream.
func treeOf(w *work.Workstream) workspace.Workspace {
	return workspace.Workspace{ID: w.ID, Branch: w.Branch, Head: w.Head, Published: w.Published}
}

// wait holds what is about to run back until the next tick: nothing is wrong,
// so nobody is told.
func wait(w *work.Workstream, reason, detail string, now time.Time) {
	if t := w.Pending(); t != nil {
		t.Held = &work.TaskHold{Reason: reason, Detail: detail, NextEligibleAt: now.Add(time.Second).UTC()}
	}
}

// block stops a workstream, unless it is stopped already or was ended meanwhile.
func block(w *work.Workstream, why work.Reason, now time.Time) error {
	if !w.Status.Open() || w.Status == work.Blocked {
		return nil
	}
	return w.Move(work.Blocked, why, now)
}
