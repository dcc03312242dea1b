package pass

import (
	"context"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// restore is the row recover: it puts the workspaces of tasks that failed or
// were cut back on their branches, clean. What lies there is saved first.
type restore struct {
	trees        Workspaces
	repositories Repositories
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
			return nil, recovered(w, task, got, err, now)
		}
	})
}

// recovered notes the outcome, which counts for all tasks of the workspace.
func recovered(w *work.Workstream, task string, got workspace.Restored, trouble error, now time.Time) error {
	record := work.Recovery{At: now.UTC(), Task: task, Outcome: string(got.Outcome), Salvage: got.SalvageRef, Detail: got.Detail}
	if trouble != nil {
		record.Outcome, record.Detail = string(workspace.Failed), trouble.Error()
	}
	w.Recoveries = append(w.Recoveries, record)
	if got.SalvageRef != "" {
		w.Say("salvage:"+got.SalvageRef, "salvage", "What an unfinished run left was saved as `"+got.SalvageRef+"`.", now)
	}
	for _, t := range w.Tasks {
		t.RecoveryNeeded = false
	}
	if trouble == nil && (got.Outcome == workspace.Recovered || got.Outcome == workspace.Skipped) {
		return nil
	}
	return refuse(w, "workspace:"+record.Outcome, "the workspace could not be restored: "+record.Detail, now)
}

// treeOf is the workspace of a workstream.
func treeOf(w *work.Workstream) workspace.Workspace {
	return workspace.Workspace{ID: w.ID, Branch: w.Branch, Head: w.Head}
}

// refuse fails what was about to run, before dispatch, and stops the workstream.
func refuse(w *work.Workstream, code, detail string, now time.Time) error {
	for _, t := range w.Tasks {
		if t.Status == work.TaskPending && t.Irrelevant == "" {
			t.Class = work.ClassPreDispatch
			if err := t.Move(work.TaskFailed, code, now); err != nil {
				return err
			}
		}
	}
	w.Say("refused:"+code+":"+now.UTC().Format(time.RFC3339), "blocked",
		"Stopped before dispatch: "+detail+".\n\nTry again with `backburner retry "+w.ID+"`.", now)
	return block(w, work.Reason{Code: code, Detail: detail}, now)
}

// block stops a workstream, unless it is stopped already or was ended meanwhile.
func block(w *work.Workstream, why work.Reason, now time.Time) error {
	if !w.Status.Open() || w.Status == work.Blocked {
		return nil
	}
	return w.Move(work.Blocked, why, now)
}
