package workspace_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/workspace"
)

// gitLocks are all the locks that a git which was killed can leave in a workspace.
func gitLocks(branch string) []string {
	return []string{"index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "shallow.lock", "ORIG_HEAD.lock", "refs/heads/" + branch + ".lock", "refs/stash.lock"}
}

func (w *world) lock(dir, branch string) {
	w.t.Helper()
	for _, name := range gitLocks(branch) {
		w.write(dir, ".git/"+name, "")
		if err := os.Chtimes(filepath.Join(dir, ".git", name), w.now, w.now); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) unlocked(dir, branch string) {
	w.t.Helper()
	for _, name := range gitLocks(branch) {
		if _, err := os.Lstat(filepath.Join(dir, ".git", name)); err == nil {
			w.t.Errorf("%s is still there", name)
		}
	}
	for _, command := range [][]string{
		{"add", "."}, {"symbolic-ref", "HEAD", "refs/heads/" + branch}, {"update-ref", "refs/heads/" + branch, "HEAD", "HEAD"}, {"pack-refs", "--all"},
	} {
		w.run(dir, append([]string{"git"}, command...)...)
	}
}

// A lock is left alone for a moment; one that no living git can hold goes then.
func TestLocksOfTheDead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	w.lock(dir, ws.Branch)
	w.prepare(ws, workspace.DeferredLocked)
	w.now = w.now.Add(time.Minute)
	w.prepare(ws, workspace.UpToDate)
	w.unlocked(dir, ws.Branch)
	w.pristine(ws)

	// An agent's own end before its workspace is restored.
	w.lock(dir, ws.Branch)
	w.restore(ws, workspace.Skipped)
	w.unlocked(dir, ws.Branch)
	w.lock(dir, ws.Branch)
	w.write(dir, "x.txt", "x\n")
	w.restore(ws, workspace.Recovered)
	w.unlocked(dir, ws.Branch)
	w.pristine(ws)

	// A killed git of backburner's own leaves locks in the store.
	for _, name := range []string{"refs/heads/" + ws.Branch + ".lock", "packed-refs.lock", "../admin/ws-1/index.lock", "../admin/ws-1/HEAD.lock"} {
		w.write(w.storeDir(), name, "")
	}
	w.write(dir, "y.txt", "y\n")
	ws.Head = w.checkpoint(ws, "").Commit
	w.pristine(ws)
}

// A person who commits in a workspace, with the editor open over lunch, is not disturbed.
func TestLocksOfTheLiving(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	w.write(dir, "README.md", "changed by a person\n")
	commit := w.editor(dir, "commit", "--all")
	w.now = w.now.Add(24 * time.Hour)
	w.prepare(ws, workspace.DeferredLocked)
	if _, err := w.m.Restore(context.Background(), w.repo, ws, "task-1"); !errors.Is(err, workspace.ErrAtWork) {
		t.Errorf("restored: %v", err)
	}
	commit("a person's work")
	w.prepare(ws, workspace.BlockedDirty)
	r := w.restore(ws, workspace.Recovered)
	if got := w.store("show", r.SalvageRef+":README.md"); got != "changed by a person" {
		t.Errorf("saved %q", got)
	}
}

// editor begins a git command that asks for a message, and returns what ends it.
func (w *world) editor(dir string, args ...string) func(message string) {
	w.t.Helper()
	open, done := filepath.Join(w.t.TempDir(), "open"), filepath.Join(w.t.TempDir(), "done")
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_EDITOR=f() { touch '"+open+"'; until [ -e '"+done+"' ]; do sleep 0.02; done; cat '"+done+"' > \"$1\"; }; f")
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	for _, err := os.Stat(open); err != nil; _, err = os.Stat(open) {
		time.Sleep(10 * time.Millisecond)
	}
	end := func(message string) {
		if err := os.WriteFile(done, []byte(message), 0o600); err != nil {
			w.t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			w.t.Errorf("the person's git: %v", err)
		}
	}
	return end
}
