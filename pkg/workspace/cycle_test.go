package workspace_test

import (
	"context"
	"slices"
	"testing"

	"github.com/backburner-cli/backburner/pkg/workspace"
)

// The whole life of a workspace, with what each step costs.
func TestCycle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	check := w.untouched()
	ctx := context.Background()

	cost := map[string]int64{}
	var base workspace.Base
	cost["first sync"] = w.calls(func() { base = w.sync() })
	if want := w.run(w.user, "git", "rev-parse", "main"); base.SHA != want || !base.Moved {
		t.Errorf("base %+v, want %s", base, want)
	}
	cost["idle sync"] = w.calls(func() { base = w.sync("backburner/ws-1") })
	if base.Moved {
		t.Error("an idle sync fetched")
	}

	ws := workspace.Workspace{ID: "ws-1", Branch: "backburner/ws-1"}
	var p workspace.Prepared
	cost["create"] = w.calls(func() { p = w.prepare(ws, workspace.Created) })
	ws.Head = p.Head
	if p.Head != base.SHA || p.Tree != base.Tree {
		t.Errorf("made at %+v, want %+v", p, base)
	}
	w.pristine(ws)
	cost["up to date"] = w.calls(func() { p = w.prepare(ws, workspace.UpToDate) })
	if p.Head != base.SHA || p.Tree != base.Tree {
		t.Errorf("prepared %+v", p)
	}
	cost["verify"] = w.calls(func() {
		if state, err := w.m.Verify(ctx, w.repo, ws); err != nil || !state.Clean {
			t.Errorf("state %+v, %v", state, err)
		}
	})

	cost["up to date, as just seen"] = w.calls(func() { p = w.prepare(ws, workspace.UpToDate) })

	dir := w.m.Path(ws.ID)
	w.write(dir, "src/a.go", "package src\n\nvar A = 1\n")
	w.write(dir, "new/c.go", "package new\n")
	w.write(dir, "x.log", "ignored\n")
	w.run(dir, "rm", "src/b.go")
	var c workspace.Checkpoint
	cost["checkpoint"] = w.calls(func() { c = w.checkpoint(ws, "") })
	if want := []string{"new/c.go", "src/a.go", "src/b.go"}; !slices.Equal(c.Changed, want) || c.Insertions != 3 || c.Deletions != 3 || !c.NetNew {
		t.Errorf("checkpoint %+v, want %v", c, want)
	}
	if got := w.store("log", "-1", "--format=%an <%ae> %s", c.Commit); got != "Ann User <ann@example.com> work" {
		t.Errorf("commit is %q", got)
	}
	first := c.DiffHash
	ws.Head = c.Commit
	w.pristine(ws)

	w.write(dir, "unseen", "")
	w.prepare(ws, workspace.UpToDate) // it was just seen to be, but that holds only once
	w.prepare(ws, workspace.BlockedDirty)
	w.run(dir, "rm", "unseen")
	cost["checkpoint without changes"] = w.calls(func() { c = w.checkpoint(ws, "") })
	if c.NetNew || c.Commit != ws.Head || c.DiffHash != first || len(c.Changed) != 0 {
		t.Errorf("checkpoint without changes %+v", c)
	}

	w.write(dir, "src/a.go", "package src\n\nvar A = 2\n")
	w.run(dir, "git", "commit", "-q", "-am", "the agent's own")
	cost["checkpoint of the agent's commit"] = w.calls(func() { c = w.checkpoint(ws, "") })
	if got := w.store("log", "-1", "--format=%s", c.Commit); got != "the agent's own" || !c.NetNew {
		t.Errorf("checkpoint %+v of %q", c, got)
	}
	ws.Head = c.Commit
	w.pristine(ws)

	cost["publish"] = w.calls(func() {
		if got, err := w.m.Publish(ctx, w.repo, ws.Branch, ws.Head, ""); err != nil || got.Status != workspace.PublishPushed {
			t.Errorf("published %+v, %v", got, err)
		}
	})
	if got := w.run(w.user, "git", "rev-parse", ws.Branch); got != ws.Head {
		t.Errorf("the user's branch is at %s", got)
	}
	cost["publish again"] = w.calls(func() {
		if got, err := w.m.Publish(ctx, w.repo, ws.Branch, ws.Head, ""); err != nil || got.Status != workspace.PublishAlready {
			t.Errorf("published %+v, %v", got, err)
		}
	})
	if again := w.sync(ws.Branch); again.Moved || again.Branches[ws.Branch] != ws.Head {
		t.Errorf("sync after publishing %+v", again)
	}
	cost["mainline up to date"] = w.calls(func() {
		if got, err := w.m.Mainline(ctx, w.repo, ws.Head, base.SHA); err != nil || got.Status != workspace.MainlineUpToDate {
			t.Errorf("mainline %+v, %v", got, err)
		}
	})
	cost["prepare ahead"] = w.calls(func() { w.prepare(ws, workspace.UpToDate) })
	cost["restore clean"] = w.calls(func() { w.restore(ws, workspace.Skipped) })
	check()

	limits := map[string]int64{
		"first sync": 4, "idle sync": 1, "create": 3, "up to date": 1, "up to date, as just seen": 0, "verify": 1, "checkpoint": 4, "checkpoint without changes": 1,
		"checkpoint of the agent's commit": 8, "publish": 4, "publish again": 1, "mainline up to date": 1, "prepare ahead": 2, "restore clean": 2,
	}
	for step, limit := range limits {
		if cost[step] > limit {
			t.Errorf("%s costs %d git processes, more than %d", step, cost[step], limit)
		}
	}
	t.Log(cost)
}
