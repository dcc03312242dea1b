package pass

import (
	"context"
	"fmt"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// Returner brings saved work back. It is for whoever holds the lease.
type Returner struct {
	Store      Store
	Workspaces Workspaces
	Now        func() time.Time
}

// TakeBack brings saved work back onto the branch of its workstream, as a
// checkpoint, and saves the workstream; what comes next is the next tick's. That
// the branch has it already changes nothing.
func (r Returner) TakeBack(ctx context.Context, repo Repository, w *work.Workstream, saved workspace.Salvage) (work.Checkpoint, error) {
	if err := w.CanTakeBack(); err != nil {
		return work.Checkpoint{}, err
	}
	if _, err := r.Workspaces.Sync(ctx, repo.Repository); err != nil {
		return work.Checkpoint{}, err
	}
	got, err := r.Workspaces.Prepare(ctx, repo.Repository, treeOf(w))
	switch {
	case err != nil:
		return work.Checkpoint{}, err
	case !usableTree(got.Status):
		return work.Checkpoint{}, fmt.Errorf("its workspace cannot be used (%s): %s; backburner retry %s && backburner tick puts it in order, then ask again",
			got.Status, got.Detail, w.ID)
	}
	// What is new is new to the state: a restore that died before it was saved there is noted by the next one.
	done, err := r.Workspaces.ReturnSalvage(ctx, repo.Repository, treeOf(w), saved, "Put back what was saved as "+saved.Name())
	if err != nil {
		return work.Checkpoint{}, err
	}
	if !done.NetNew {
		return work.Checkpoint{}, nil
	}
	now := r.Now()
	checkpoint := checkpointOf(done, "", "", now)
	if err := w.TakeBack(checkpoint, saved.Manifest.Task, saved.Ref, now); err != nil {
		return checkpoint, err
	}
	return checkpoint, r.Store.Save(w)
}

func usableTree(s workspace.PrepareStatus) bool {
	return s == workspace.UpToDate || s == workspace.FastForwarded || s == workspace.Rewritten || s == workspace.Joined || s == workspace.Created
}
