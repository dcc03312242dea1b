package workspace_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/workspace"
)

// What people make of a published branch is followed where everything is published, and what it was is kept. A tick that is killed
// before it noted that finds itself there.
func TestPublishedBranchIsRewritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	w.write(dir, "x.txt", "x\n")
	ws.Head = w.checkpoint(ws, "").Commit
	if got, err := w.m.Publish(t.Context(), w.repo, ws.Branch, ws.Head, ""); err != nil || got.Status != workspace.PublishPushed {
		t.Fatalf("published %+v, %v", got, err)
	}
	linked := filepath.Join(t.TempDir(), "linked")
	w.run(w.user, "git", "worktree", "add", "-q", linked, ws.Branch)
	w.write(linked, "x.txt", "y\n")
	w.run(linked, "git", "commit", "-q", "-a", "--amend", "-m", "amended")
	theirs := w.run(linked, "git", "rev-parse", "HEAD")
	w.sync(ws.Branch)

	w.prepare(ws, workspace.BlockedDiverged) // as far as is known, it is not published
	ws.Published = ws.Head
	p := w.prepare(ws, workspace.Rewritten)
	if p.Head != theirs || w.read(dir, "x.txt") != "y\n" {
		t.Errorf("prepared %+v, want %s", p, theirs)
	}
	if got := w.store("rev-parse", p.Kept+"^2"); got != ws.Head {
		t.Errorf("%s keeps %s, want %s", p.Kept, got, ws.Head)
	}
	if again := w.prepare(ws, workspace.Rewritten); again.Head != theirs {
		t.Errorf("prepared again %+v, want %s", again, theirs)
	}
	ws.Head, ws.Published = theirs, theirs
	w.prepare(ws, workspace.UpToDate)
	w.pristine(ws)
	w.sound()

	// It may also have been set back.
	w.run(linked, "git", "reset", "-q", "--hard", "HEAD^")
	first := w.run(linked, "git", "rev-parse", "HEAD")
	w.sync(ws.Branch)
	if p := w.prepare(ws, workspace.Rewritten); p.Head != first {
		t.Errorf("prepared %+v, want %s", p, first)
	}
	w.run(linked, "git", "reset", "-q", "--hard", theirs)
	w.sync(ws.Branch)
	ws.Head, ws.Published = first, first
	w.prepare(ws, workspace.FastForwarded)
	ws.Head, ws.Published = theirs, theirs

	// Work that was added here stays; nothing of either is given up.
	w.write(dir, "more.txt", "m\n")
	ws.Head = w.checkpoint(ws, "").Commit
	w.run(linked, "git", "commit", "-q", "--amend", "-m", "amended again")
	w.sync(ws.Branch)
	w.prepare(ws, workspace.BlockedDiverged)
	w.run(linked, "git", "reset", "-q", "--hard", theirs)

	// What they only added is merged with it. A tick that is killed before it noted that finds the merge there.
	w.write(linked, "theirs.txt", "t\n")
	added := w.commitIn(linked, "added")
	w.sync(ws.Branch)
	joined := w.prepare(ws, workspace.Joined)
	if got := w.store("rev-list", "--parents", "-1", joined.Head); got != joined.Head+" "+ws.Head+" "+added {
		t.Errorf("joined as %s, want the parents %s and %s", got, ws.Head, added)
	}
	if again := w.prepare(ws, workspace.UpToDate); again.Head != joined.Head {
		t.Errorf("prepared again %+v, want %s", again, joined.Head)
	}
	ws.Head = joined.Head
	w.pristine(ws)
	w.sound()

	// What conflicts is named, and stays as it is on both sides.
	w.write(linked, "more.txt", "another\n")
	w.commitIn(linked, "more")
	w.sync(ws.Branch)
	if p := w.prepare(ws, workspace.BlockedDiverged); !strings.Contains(p.Detail, "in more.txt") || p.Head != joined.Head {
		t.Errorf("prepared %+v", p)
	}
}

// Where store and workspace are gone as well, as on a runner that begins anew, there is only what people put there.
func TestRewrittenWhileAllWasLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	w.write(dir, "x.txt", "x\n")
	ws.Head = w.checkpoint(ws, "").Commit
	if _, err := w.m.Publish(t.Context(), w.repo, ws.Branch, ws.Head, ""); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(t.TempDir(), "linked")
	w.run(w.user, "git", "worktree", "add", "-q", linked, ws.Branch)
	w.run(linked, "git", "commit", "-q", "--amend", "-m", "amended")
	theirs := w.run(linked, "git", "rev-parse", "HEAD")
	w.run(w.root, "rm", "-rf", w.root+"/stores", w.root+"/workspaces")
	w.restart()
	w.sync(ws.Branch)
	lost := ws
	lost.Head = strings.Repeat("1", 40)
	w.prepare(lost, workspace.BlockedMissing) // as far as is known, it is not published
	lost.Published = lost.Head
	if p := w.prepare(lost, workspace.Rewritten); p.Head != theirs {
		t.Errorf("prepared %+v, want %s", p, theirs)
	}
	ws.Head, ws.Published = theirs, theirs
	w.pristine(ws)
}
