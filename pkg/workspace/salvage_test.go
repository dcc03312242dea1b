package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/workspace"
)

// Whatever names a commit of an agent whose run failed, the commit is in the salvage.
func TestSalvageReachesEveryCommit(t *testing.T) {
	t.Parallel()
	for name, agent := range map[string]func(w *world, dir string) []string{
		"all entries of the stash": func(w *world, dir string) (ids []string) {
			for _, name := range []string{"one", "two", "three"} {
				w.write(dir, "README.md", name+"\n")
				w.run(dir, "git", "stash", "-q")
				ids = append(ids, w.run(dir, "git", "rev-parse", "stash"))
			}
			return ids
		},
		"reset away": func(w *world, dir string) []string {
			w.write(dir, "x.txt", "x\n")
			id := w.commitIn(dir, "away")
			w.run(dir, "git", "reset", "-q", "--hard", "HEAD~1")
			return []string{id}
		},
		"branch deleted": func(w *world, dir string) []string {
			w.run(dir, "git", "checkout", "-q", "-b", "try")
			w.write(dir, "x.txt", "x\n")
			id := w.commitIn(dir, "tried")
			w.run(dir, "git", "checkout", "-q", "backburner/ws-1")
			w.run(dir, "git", "branch", "-q", "-D", "try")
			return []string{id}
		},
		"tags": func(w *world, dir string) []string {
			w.write(dir, "x.txt", "x\n")
			light := w.commitIn(dir, "light")
			w.run(dir, "git", "tag", "light")
			w.write(dir, "y.txt", "y\n")
			heavy := w.commitIn(dir, "heavy")
			w.run(dir, "git", "tag", "-a", "-m", "heavy", "heavy")
			w.run(dir, "git", "reset", "-q", "--hard", "HEAD~2")
			w.run(dir, "git", "reflog", "expire", "--expire=now", "--all")
			return []string{light, heavy}
		},
		"notes": func(w *world, dir string) []string {
			w.run(dir, "git", "notes", "add", "-m", "found the cause")
			return []string{w.run(dir, "git", "rev-parse", "refs/notes/commits")}
		},
		"stashed by a rebase": func(w *world, dir string) []string {
			w.write(dir, "x.txt", "x\n")
			w.commitIn(dir, "one")
			w.write(dir, "README.md", "open\n")
			w.fails(dir, "git", "rebase", "-q", "--autostash", "-x", "false", "HEAD~1")
			return []string{strings.TrimSpace(w.read(dir, ".git/rebase-merge/autostash"))}
		},
		"working tree of its own": func(w *world, dir string) []string {
			w.run(dir, "git", "worktree", "add", "-q", "--detach", ".trees/try")
			w.write(dir, ".trees/try/x.txt", "x\n")
			return []string{w.commitIn(filepath.Join(dir, ".trees/try"), "there")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ws, dir := w.started()
			ids := agent(w, dir)
			r := w.restore(ws, workspace.Recovered)
			if r.SalvageRef == "" {
				t.Fatalf("nothing was saved: %+v", r)
			}
			for _, id := range ids {
				w.store("merge-base", "--is-ancestor", id, r.SalvageRef)
			}
			w.pristine(ws)
			w.sound()
			w.restore(ws, workspace.Skipped)
		})
	}
}

// What an agent threw away and did without is no news when its work was taken: only what came after that is saved.
func TestWhatWasTakenIsNotSaved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	w.write(dir, "x.txt", "x\n")
	w.commitIn(dir, "first try")
	w.run(dir, "git", "commit", "-q", "--amend", "-m", "second try")
	w.run(dir, "git", "branch", "behind", "HEAD~1")
	w.run(dir, "git", "tag", "here")
	ws.Head = w.checkpoint(ws, "").Commit
	w.restore(ws, workspace.Skipped)

	w.write(dir, "y.txt", "y\n")
	away := w.commitIn(dir, "third try")
	w.run(dir, "git", "reset", "-q", "--hard", "HEAD~1")
	r := w.restore(ws, workspace.Recovered)
	w.store("merge-base", "--is-ancestor", away, r.SalvageRef)
	if said := w.store("log", "--format=%s", r.SalvageRef); strings.Contains(said, "first try") {
		t.Errorf("saved:\n%s", said)
	}
}

// Commits in a submodule are in the workspace's own repository only.
func TestSubmoduleOfWorkspaceIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	library := filepath.Join(t.TempDir(), "library")
	w.write(library, "lib.txt", "lib\n")
	w.run(library, "git", "init", "-q")
	w.commitIn(library, "lib")
	w.run(w.user, "git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "lib")
	w.run(w.user, "git", "commit", "-q", "-m", "with a library")
	ws, dir := w.started()
	w.run(dir, "git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	sub := filepath.Join(dir, "lib")
	w.write(sub, "more.txt", "more\n")
	id := w.commitIn(sub, "in the library")
	w.write(sub, "open.txt", "open\n")
	w.write(dir, "x.txt", "x\n")

	r := w.restore(ws, workspace.Recovered)
	w.pristine(ws)
	if len(r.Aside) == 0 {
		t.Fatalf("nothing was put aside: %+v", r)
	}
	aside := filepath.Dir(r.Aside[0])
	kept, err := filepath.Glob(filepath.Join(aside, "*", "modules", "lib"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("repositories of submodules kept: %v, %v", kept, err)
	}
	w.run(aside, "git", "--git-dir", kept[0], "--work-tree", aside, "cat-file", "-e", id)
	open, err := filepath.Glob(filepath.Join(aside, "*", "open.txt"))
	if err != nil || len(open) != 1 {
		t.Errorf("files of submodules kept: %v, %v", open, err)
	}
	if _, err := os.Lstat(filepath.Join(sub, ".git")); err == nil {
		t.Error("a submodule without a repository was left behind")
	}
}

// An agent that looks at a part of the files only did not delete the others.
func TestSparseCheckoutDeletesNothing(t *testing.T) {
	t.Parallel()
	for name, failed := range map[string]bool{"done": false, "failed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(w.user, "docs/guide.md", "guide\n")
			w.write(w.user, "docs/old.md", "old\n")
			w.commitIn(w.user, "docs")
			ws, dir := w.started()
			w.run(dir, "git", "rm", "-q", "docs/old.md")
			w.run(dir, "git", "sparse-checkout", "set", "src")
			w.write(dir, "src/c.go", "package src\n")
			if _, err := os.Stat(filepath.Join(dir, "docs/guide.md")); err == nil {
				t.Fatal("git left the file where it was")
			}
			commit := ""
			if failed {
				commit = w.restore(ws, workspace.Recovered).SalvageRef
			} else {
				commit = w.checkpoint(ws, "").Commit
				ws.Head = commit
			}
			want := "D\tdocs/old.md\nA\tsrc/c.go"
			if got := w.store("diff", "--name-status", "refs/remotes/origin/main", commit); got != want {
				t.Errorf("the work is\n%s\nwant\n%s", got, want)
			}
			w.pristine(ws)
			w.prepare(ws, workspace.UpToDate)
		})
	}
}
