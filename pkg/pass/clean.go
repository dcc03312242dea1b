package pass

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// clean archives what is over with its workspace, and lets old artifacts go.
type clean struct {
	trees        Workspaces
	store        Store
	settings     Settings
	repositories Repositories
	tell         *tell
	expired      bool
}

func (c *clean) Select(board *work.Board, b *Batch, now time.Time) []Job {
	var jobs []Job
	for _, w := range b.workstreams(board) {
		over := w.Status == work.Merged || w.Status == work.Closed
		if over && w.Running() == nil && w.GateRun == "" && !c.tell.owes(w, now) {
			jobs = append(jobs, c.archive(board, w))
		}
	}
	if !c.expired {
		jobs = append(jobs, c.tell.troubles.end(board)...)
		c.expired = true
		jobs = append(jobs, c.expire(board, now), decide("look at the stores", "", func(time.Time) error {
			if anew := c.trees.Anew(); len(anew) > 0 {
				return Notice(strings.Join(anew, "\n"))
			}
			return nil
		}))
	}
	return jobs
}

// archive saves what a workspace still holds, removes it, and moves the
// workstream out of what ticks read.
func (c *clean) archive(board *work.Board, w *work.Workstream) Job {
	repo := c.repositories[w.Repository].Repository
	repo.ID = w.Repository // also one that is no longer configured has its store
	tree, copied := treeOf(w), w.Clone()
	return do("archive "+w.ID, "", func(ctx context.Context) Record {
		got, err := c.trees.Restore(ctx, repo, tree, closing)
		left := got.Outcome == workspace.Rejected || got.Outcome == workspace.Failed
		if err == nil && !left {
			err = c.trees.Remove(ctx, repo, tree.ID)
		}
		record := recoveryOf(got, closing, copied.ChangedAt)
		if len(record.Places()) > 0 || left {
			copied.Recoveries = append(copied.Recoveries, record)
		}
		if err == nil {
			err = c.store.Archive(copied)
		}
		return func(time.Time) (Act, error) {
			if errors.Is(err, workspace.ErrAtWork) {
				return nil, nil // a later tick does it
			}
			if err != nil {
				return nil, err
			}
			delete(board.Workstreams, copied.ID)
			return nil, keptNotice(copied.ID, record)
		}
	})
}

// keptNotice says where what lay in the workspace of closed work is; nil when nothing did.
func keptNotice(id string, r work.Recovery) error {
	switch {
	case r.Outcome == string(workspace.Rejected) || r.Outcome == string(workspace.Failed):
		return Notice(id + ": its workspace was left where it is: " + r.Detail)
	case r.Where() != "":
		return Notice(id + ": what lay in its workspace " + r.Where())
	}
	return nil
}

const closing = "closing" // stands for a task where the last salvage of a workspace is named

// expire lets go of artifacts that are too old or too many.
func (c *clean) expire(board *work.Board, now time.Time) Job {
	return Job{Name: "expire artifacts", Begin: func(time.Time) (Act, error) {
		board.Spending.Prune(day(now.AddDate(0, 0, -ledgerDays)))
		return func(ctx context.Context) Record {
			due := c.store.ExpireDue(now)
			_, err := c.store.Expire(now, c.settings.Retention)
			if due {
				err = errors.Join(err, c.expireSalvages(ctx, now))
			}
			return func(time.Time) (Act, error) { return nil, err }
		}, nil
	}}
}

// expireSalvages lets go of saved work that is as old as what the archive lets go
// of, once its workstream is neither open nor in the archive.
func (c *clean) expireSalvages(ctx context.Context, now time.Time) error {
	keep := c.settings.Retention.Archive
	if keep <= 0 {
		return nil
	}
	_, err := c.trees.ExpireSalvages(ctx, now.Add(-keep), c.store.Known, false)
	return err
}

const ledgerDays = 2 // caps look at a day and a tick; history is in the executions
