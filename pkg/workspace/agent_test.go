package workspace_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/git"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// commitIn commits all of dir as an agent would, and says which commit that made.
func (w *world) commitIn(dir, message string) string {
	w.t.Helper()
	w.run(dir, "git", "add", "-A")
	w.run(dir, "git", "commit", "-q", "-m", message)
	return w.run(dir, "git", "rev-parse", "HEAD")
}

// Wherever an agent leaves its work, it is taken over when it follows the branch, and saved when it does not.
func TestCheckpointOfWhatAgentsDo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		agent   func(w *world, dir string)
		problem workspace.Problem
		has     string // this file is in the commit, or in the salvage
		subject string // of the newest commit
	}{
		"new branch with a commit and more": {
			agent: func(w *world, dir string) {
				w.run(dir, "git", "checkout", "-q", "-b", "feature/own")
				w.write(dir, "x.txt", "x\n")
				w.commitIn(dir, "on its own branch")
				w.write(dir, "y.txt", "y\n")
			},
			has: "y.txt", subject: "work",
		},
		"new branch without a commit": {
			agent: func(w *world, dir string) {
				w.run(dir, "git", "checkout", "-q", "-b", "own")
				w.write(dir, "x.txt", "x\n")
			},
			has: "x.txt", subject: "work",
		},
		"branch renamed": {
			agent: func(w *world, dir string) {
				w.write(dir, "x.txt", "x\n")
				w.commitIn(dir, "then renamed")
				w.run(dir, "git", "branch", "-m", "other")
			},
			has: "x.txt", subject: "then renamed",
		},
		"detached, following": {
			agent: func(w *world, dir string) {
				w.run(dir, "git", "checkout", "-q", "--detach")
				w.write(dir, "x.txt", "x\n")
				w.commitIn(dir, "detached")
			},
			has: "x.txt", subject: "detached",
		},
		"own commit amended": {
			agent: func(w *world, dir string) {
				w.write(dir, "x.txt", "x\n")
				w.commitIn(dir, "one")
				w.run(dir, "git", "commit", "-q", "--amend", "-m", "two")
			},
			has: "x.txt", subject: "two",
		},
		"objects collected": {
			agent: func(w *world, dir string) {
				w.write(dir, "x.txt", "x\n")
				w.commitIn(dir, "packed")
				w.run(dir, "git", "gc", "-q", "--prune=now", "--aggressive")
				w.run(dir, "git", "pack-refs", "--all")
			},
			has: "x.txt", subject: "packed",
		},
		"ignored file added by force and committed": {
			agent: func(w *world, dir string) {
				w.write(dir, "x.log", "x\n")
				w.run(dir, "git", "add", "-f", "x.log")
				w.run(dir, "git", "commit", "-q", "-m", "forced")
				w.write(dir, "y.txt", "y\n")
			},
			has: "x.log", subject: "work",
		},
		"hidden from its own index": {
			agent: func(w *world, dir string) {
				w.run(dir, "git", "update-index", "--assume-unchanged", "README.md")
				w.run(dir, "git", "update-index", "--skip-worktree", "src/a.go")
				w.write(dir, "README.md", "changed\n")
				w.write(dir, "x.txt", "x\n")
				w.write(dir, ".git/info/exclude", "x.txt\n")
			},
			has: "x.txt", subject: "work",
		},
		"merge resolved and not committed": {
			agent: func(w *world, dir string) {
				w.run(dir, "git", "checkout", "-q", "-b", "side")
				w.write(dir, "README.md", "side\n")
				w.commitIn(dir, "side")
				w.run(dir, "git", "checkout", "-q", "backburner/ws-1")
				w.write(dir, "README.md", "ours\n")
				w.commitIn(dir, "ours")
				w.fails(dir, "git", "merge", "side")
				w.write(dir, "README.md", "both\n")
				w.write(dir, "x.txt", "x\n")
			},
			has: "x.txt", subject: "work",
		},
		"merge in conflict": {
			agent: func(w *world, dir string) {
				w.run(dir, "git", "checkout", "-q", "-b", "side")
				w.write(dir, "README.md", "side\n")
				w.commitIn(dir, "side")
				w.run(dir, "git", "checkout", "-q", "backburner/ws-1")
				w.write(dir, "README.md", "ours\n")
				w.commitIn(dir, "ours")
				w.fails(dir, "git", "merge", "side")
				w.write(dir, "x.txt", "x\n")
			},
			problem: workspace.OperationInProgress, has: "x.txt",
		},
		"rebase in progress": {
			agent: func(w *world, dir string) {
				w.write(dir, "x.txt", "x\n")
				w.commitIn(dir, "one")
				w.fails(dir, "git", "rebase", "-x", "false", "HEAD~1")
			},
			problem: workspace.OperationInProgress, has: "x.txt",
		},
		"history rewritten": {
			agent: func(w *world, dir string) {
				w.write(dir, "x.txt", "x\n")
				w.run(dir, "git", "add", ".")
				w.run(dir, "git", "commit", "-q", "--amend", "-m", "rewritten")
			},
			problem: workspace.HistoryRewritten, has: "x.txt",
		},
		"unborn branch": {
			agent: func(w *world, dir string) {
				w.run(dir, "git", "update-ref", "-d", "HEAD")
				w.write(dir, "x.txt", "x\n")
			},
			problem: workspace.HistoryRewritten, has: "x.txt",
		},
		"orphan branch": {
			agent: func(w *world, dir string) {
				w.run(dir, "git", "checkout", "-q", "--orphan", "fresh")
				w.write(dir, "x.txt", "x\n")
				w.commitIn(dir, "orphan")
			},
			problem: workspace.WrongBranch, has: "x.txt",
		},
		"two branches": {
			agent: func(w *world, dir string) {
				w.run(dir, "git", "checkout", "-q", "-b", "side")
				w.write(dir, "x.txt", "x\n")
				w.commitIn(dir, "side")
				w.run(dir, "git", "checkout", "-q", "backburner/ws-1")
				w.write(dir, "own.txt", "own\n")
				w.commitIn(dir, "own")
				w.run(dir, "git", "checkout", "-q", "side")
			},
			problem: workspace.WrongBranch, has: "x.txt",
		},
		"commits on its branch, then back on another": {
			agent: func(w *world, dir string) {
				w.write(dir, "own.txt", "own\n")
				w.commitIn(dir, "own")
				w.run(dir, "git", "checkout", "-q", "-b", "side", "HEAD~1")
				w.write(dir, "x.txt", "x\n")
			},
			problem: workspace.WrongBranch, has: "x.txt",
		},
		"detached elsewhere": {
			agent: func(w *world, dir string) {
				tree := w.run(dir, "git", "rev-parse", "HEAD^{tree}")
				w.run(dir, "git", "checkout", "-q", w.run(dir, "git", "commit-tree", tree, "-m", "root"))
				w.write(dir, "x.txt", "x\n")
			},
			problem: workspace.DetachedHead, has: "x.txt",
		},
		"nested repository": {
			agent: func(w *world, dir string) {
				w.write(dir, "x.txt", "x\n")
				w.write(dir, "tool/inner.txt", "inner\n")
				w.run(filepath.Join(dir, "tool"), "git", "init", "-q")
			},
			problem: workspace.NestedRepository, has: "x.txt",
		},
		"submodule added": {
			agent: func(w *world, dir string) {
				w.write(dir, "x.txt", "x\n")
				w.run(dir, "git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", w.user, "sub")
			},
			problem: workspace.NestedRepository, has: "x.txt",
		},
		"submodule added and committed": {
			agent: func(w *world, dir string) {
				w.write(dir, "x.txt", "x\n")
				w.run(dir, "git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", w.user, "sub")
				w.commitIn(dir, "submodule")
			},
			has: "x.txt", subject: "submodule",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			check := w.untouched()
			ws, dir := w.started()
			test.agent(w, dir)
			c := w.checkpoint(ws, test.problem)
			if test.problem == "" {
				if got := w.store("log", "-1", "--format=%s", ws.Branch); got != test.subject {
					t.Errorf("the branch ends in %q, want %q", got, test.subject)
				}
				w.store("show", c.Commit+":"+test.has)
				again := w.checkpoint(ws, "")
				if again.Commit != c.Commit || again.DiffHash != c.DiffHash || !slices.Equal(again.Changed, c.Changed) {
					t.Errorf("taken again it is %+v, and was %+v", again, c)
				}
				ws.Head = c.Commit
				w.pristine(ws)
				w.prepare(ws, workspace.UpToDate)
			} else {
				if c.Commit != ws.Head && test.problem != workspace.NestedRepository {
					t.Errorf("the branch moved to %s", c.Commit)
				}
				w.store("show", c.Salvage+":"+test.has)
				if again := w.checkpoint(ws, test.problem); again.Salvage != c.Salvage {
					t.Errorf("saved again as %s", again.Salvage)
				}
				r := w.restore(ws, workspace.Recovered)
				w.store("show", r.SalvageRef+":"+test.has)
				w.pristine(ws)
				w.restore(ws, workspace.Skipped)
			}
			check()
			w.sound()
		})
	}
}

// A merge that an agent resolved keeps both its parents.
func TestResolvedMergeHasTwoParents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	w.write(w.user, "README.md", "mainline\n")
	w.commitIn(w.user, "mainline")
	w.write(dir, "README.md", "ours\n")
	ws.Head = w.checkpoint(ws, "").Commit
	base := w.sync()
	m, err := w.m.Mainline(context.Background(), w.repo, ws.Head, base.SHA)
	if err != nil || m.Status != workspace.MainlineConflict || !slices.Equal(m.Files, []string{"README.md"}) {
		t.Fatalf("mainline %+v, %v", m, err)
	}
	w.prepare(ws, workspace.UpToDate)
	w.fails(dir, "git", "merge", "origin/main")
	w.write(dir, "README.md", "both\n")
	c := w.checkpoint(ws, "")
	if got := w.store("log", "-1", "--format=%P", c.Commit); got != ws.Head+" "+base.SHA {
		t.Errorf("parents %s, want %s %s", got, ws.Head, base.SHA)
	}
	ws.Head = c.Commit
	w.pristine(ws)
	if m, err = w.m.Mainline(context.Background(), w.repo, ws.Head, base.SHA); err != nil || m.Status != workspace.MainlineUpToDate {
		t.Errorf("mainline %+v, %v", m, err)
	}
}

// The hash of a difference is that of what changed, not of how often it was committed or what the base did meanwhile.
func TestDiffHashIsOfTheDifference(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	w.write(dir, "x.txt", "1\n")
	first := w.checkpoint(ws, "")
	ws.Head = first.Commit
	w.write(dir, "x.txt", "2\n")
	second := w.checkpoint(ws, "")
	ws.Head = second.Commit
	w.write(w.user, "mainline.txt", "m\n")
	w.commitIn(w.user, "mainline")
	w.sync()
	w.write(dir, "x.txt", "1\n")
	third := w.checkpoint(ws, "")
	if first.DiffHash == "" || first.DiffHash == second.DiffHash || third.DiffHash != first.DiffHash || !third.NetNew {
		t.Errorf("hashes %s %s %s", first.DiffHash, second.DiffHash, third.DiffHash)
	}
	ws.Head = third.Commit
	merged, err := w.m.MergeMainline(context.Background(), w.repo, ws, "merge main")
	if err != nil || merged.DiffHash != first.DiffHash || !slices.Equal(merged.Changed, []string{"mainline.txt"}) {
		t.Errorf("after merging mainline %+v, %v", merged, err)
	}
	ws.Head = merged.Commit
	w.pristine(ws)
	w.run(dir, "rm", "x.txt")
	if undone := w.checkpoint(ws, ""); undone.DiffHash != "" || !undone.NetNew {
		t.Errorf("nothing left has %+v", undone)
	}
}

// Everything that is found is saved: stash, other branches, commits of a detached HEAD, nested repositories.
func TestRestoreSavesEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	w.write(dir, "stashed.txt", "s\n")
	w.run(dir, "git", "stash", "-q", "--include-untracked")
	w.run(dir, "git", "checkout", "-q", "-b", "side")
	w.write(dir, "side.txt", "s\n")
	side := w.commitIn(dir, "side")
	w.run(dir, "git", "checkout", "-q", "--detach")
	w.write(dir, "detached.txt", "d\n")
	detached := w.commitIn(dir, "detached")
	w.write(dir, "loose.txt", "l\n")
	w.write(dir, "ignored.log", "kept\n")
	w.write(dir, "tool/inner.txt", "inner\n")
	w.run(filepath.Join(dir, "tool"), "git", "init", "-q")

	r := w.restore(ws, workspace.Recovered)
	w.pristine(ws)
	stash := w.store("log", "--format=%H", "--grep=WIP on", r.SalvageRef)
	if stash == "" {
		t.Error("the stash was not saved")
	}
	for _, id := range []string{side, detached} {
		w.store("merge-base", "--is-ancestor", id, r.SalvageRef)
	}
	if w.store("show", r.SalvageRef+":loose.txt") != "l" || w.read(dir, "ignored.log") != "kept\n" {
		t.Error("files were lost")
	}
	if w.read(r.Aside[0], "inner.txt") != "inner\n" {
		t.Error("the nested repository was lost")
	}
	list, err := w.m.Salvages(context.Background(), w.repo)
	if err != nil || len(list) != 1 {
		t.Fatalf("salvages %+v, %v", list, err)
	}
	m := list[0].Manifest
	if list[0].Ref != r.SalvageRef || m.Workspace != ws.ID || m.Task != "task-1" || m.Head != detached || m.Refs["refs/heads/side"] != side || m.Changed != 3 {
		t.Errorf("manifest %+v", m)
	}
	shown, err := w.m.ShowSalvage(context.Background(), w.repo, list[0], 1<<20)
	if err != nil || !strings.Contains(string(shown.Patch), "+++ b/loose.txt") || !strings.Contains(shown.Stat, "loose.txt") {
		t.Errorf("shown %+v, %v", shown, err)
	}

	w.write(dir, "later.txt", "later\n")
	ws.Head = w.checkpoint(ws, "").Commit
	c, err := w.m.ReturnSalvage(context.Background(), w.repo, ws, list[0], "put back")
	if err != nil || !slices.Contains(c.Changed, "loose.txt") || !c.NetNew {
		t.Fatalf("returned %+v, %v", c, err)
	}
	for _, name := range []string{"loose.txt", "side.txt", "detached.txt", "later.txt"} {
		w.store("show", c.Commit+":"+name)
	}
	ws.Head = c.Commit
	if again, err := w.m.ReturnSalvage(context.Background(), w.repo, ws, list[0], "put back"); err != nil || again.Commit != c.Commit || again.NetNew {
		t.Errorf("returned again %+v, %v", again, err)
	}
	if got := w.checkpoint(ws, ""); got.Commit != c.Commit {
		t.Errorf("the workspace is at %+v", got)
	}
}

// What git cannot save because the store cannot be written is not a fault of that file: it is not given up.
func TestRestoreWithoutRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	w.write(dir, "work.txt", "of hours\n")
	blob := w.run(dir, "git", "hash-object", "work.txt")
	full := filepath.Join(w.storeDir(), "objects", blob[:2])
	w.write(filepath.Dir(full), blob[:2], "no folder for objects can be made here")
	if r, err := w.m.Restore(context.Background(), w.repo, ws, "task-1"); !git.Outside(err) {
		t.Errorf("restored %+v, %v", r, err)
	}
	if w.read(dir, "work.txt") != "of hours\n" {
		t.Error("the work is lost")
	}
	w.run(filepath.Dir(full), "rm", full)
	if r := w.restore(ws, workspace.Recovered); w.store("show", r.SalvageRef+":work.txt") != "of hours" {
		t.Errorf("restored %+v", r)
	}
}

// A second salvage of the same task does not replace the first.
func TestSalvagesAreNumbered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	refs := map[string]bool{}
	for _, name := range []string{"one", "two", "three"} {
		w.write(dir, name, name)
		refs[w.restore(ws, workspace.Recovered).SalvageRef] = true
	}
	if len(refs) != 3 {
		t.Errorf("salvages %v", refs)
	}
	odd := workspace.Workspace{ID: "-odd..name.lock", Branch: ws.Branch + "-odd"}
	odd.Head = w.prepare(odd, workspace.Created).Head
	w.write(w.m.Path(odd.ID), "x", "x")
	if r := w.restore(odd, workspace.Recovered); w.store("show", r.SalvageRef+":x") != "x" {
		t.Errorf("restored %+v", r)
	}
}

// Commits that the state never heard of are saved when the branch goes back.
func TestRestoreGoesBackToWhatIsBelieved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	w.write(dir, "x.txt", "x\n")
	later := w.checkpoint(ws, "").Commit
	r := w.restore(ws, workspace.Recovered)
	w.store("merge-base", "--is-ancestor", later, r.SalvageRef)
	w.pristine(ws)
}
