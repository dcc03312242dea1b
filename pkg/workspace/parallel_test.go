package workspace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/backburner-cli/backburner/pkg/workspace"
)

// Many workspaces of one repository at once do not get into each other's way.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	check := w.untouched()
	w.sync()
	var all sync.WaitGroup
	errs := make(chan error, 8)
	for i := range cap(errs) {
		all.Go(func() { errs <- w.live(i) })
	}
	all.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	check()
	w.sound()
}

// live takes one workspace through its life.
func (w *world) live(i int) error {
	ctx := context.Background()
	ws := workspace.Workspace{ID: fmt.Sprint("ws-", i), Branch: fmt.Sprint("backburner/", i)}
	p, err := w.m.Prepare(ctx, w.repo, ws)
	if err != nil || p.Status != workspace.Created {
		return fmt.Errorf("prepared %+v, %w", p, err)
	}
	ws.Head = p.Head
	for round := range 2 {
		if err := os.WriteFile(filepath.Join(w.m.Path(ws.ID), "x.txt"), fmt.Append(nil, i, round), 0o644); err != nil {
			return err
		}
		c, err := w.m.Checkpoint(ctx, w.repo, ws, "work")
		if err != nil || !c.NetNew {
			return fmt.Errorf("checkpoint %+v, %w", c, err)
		}
		old := ""
		if round > 0 {
			old = ws.Head
		}
		ws.Head = c.Commit
		if got, err := w.m.Publish(ctx, w.repo, ws.Branch, ws.Head, old); err != nil || got.Status != workspace.PublishPushed {
			return fmt.Errorf("published %+v, %w", got, err)
		}
		if _, err := w.m.Sync(ctx, w.repo, ws.Branch); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(w.m.Path(ws.ID), "mess.txt"), nil, 0o644); err != nil {
		return err
	}
	if r, err := w.m.Restore(ctx, w.repo, ws, "task"); err != nil || r.Outcome != workspace.Recovered {
		return fmt.Errorf("restored %+v, %w", r, err)
	}
	state, err := w.m.Verify(ctx, w.repo, ws)
	if err != nil || !state.Clean || state.Head != ws.Head {
		return fmt.Errorf("state %+v, %w", state, err)
	}
	return w.m.Remove(ctx, w.repo, ws.ID)
}
