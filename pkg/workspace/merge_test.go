package workspace_test

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/workspace"
)

// landing is a branch with two commits on a base that went on since.
func landing(t *testing.T) (w *world, req workspace.MergeRequest) {
	w = newWorld(t)
	ws, dir := w.started()
	w.write(dir, "one.txt", "1\n")
	ws.Head = w.checkpoint(ws, "").Commit
	w.write(dir, "two.txt", "2\n")
	ws.Head = w.checkpoint(ws, "").Commit
	w.write(w.user, "mainline.txt", "m\n")
	w.commitIn(w.user, "mainline")
	return w, workspace.MergeRequest{Head: ws.Head, ExpectedBase: w.sync().SHA, Message: "land it\n\nwell"}
}

func (w *world) merge(req workspace.MergeRequest, want workspace.MergeStatus) workspace.Merged {
	w.t.Helper()
	got, err := w.m.Merge(context.Background(), w.repo, req)
	if err != nil {
		w.t.Fatal(err)
	}
	if got.Status != want {
		w.t.Fatalf("merged %+v, want %s", got, want)
	}
	return got
}

func TestMergeStrategies(t *testing.T) {
	t.Parallel()
	for strategy, want := range map[string]string{
		workspace.StrategySquash: "land it\nmainline\nfirst",
		workspace.StrategyMerge:  "land it\nmainline\nfirst", // first parents
		workspace.StrategyRebase: "work\nwork\nmainline\nfirst",
	} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			w, req := landing(t)
			req.Strategy = strategy
			w.run(w.user, "git", "checkout", "-q", "-b", "elsewhere")
			check := w.untouched()
			got := w.merge(req, workspace.MergeMerged)
			check()
			if at := w.run(w.user, "git", "rev-parse", "main", "main^{tree}"); at != got.SHA+"\n"+got.Tree {
				t.Errorf("main is %s, want %+v", at, got)
			}
			if log := w.run(w.user, "git", "log", "--first-parent", "--format=%s", "main"); log != want {
				t.Errorf("history\n%s\nwant\n%s", log, want)
			}
			if files := w.run(w.user, "git", "ls-tree", "--name-only", "main"); files != ".gitignore\nREADME.md\nmainline.txt\none.txt\nsrc\ntwo.txt" {
				t.Errorf("files %s", files)
			}
			again := workspace.MergeAlready
			if strategy != workspace.StrategyMerge {
				again = workspace.MergeBaseMoved // not an ancestor; the caller knows from the tree that it landed
			}
			w.merge(req, again)
		})
	}
}

// A base that is checked out follows only when nothing there is uncommitted.
func TestMergeIntoCheckout(t *testing.T) {
	t.Parallel()
	w, req := landing(t)
	req.Strategy = workspace.StrategySquash
	w.write(w.user, "README.md", "being written\n")
	check := w.untouched()
	got := w.merge(req, workspace.MergeCheckoutDirty)
	check()
	if !strings.Contains(got.Detail, "README.md") {
		t.Errorf("merged %+v", got)
	}

	w.run(w.user, "git", "checkout", "-q", "README.md")
	w.write(w.user, "one.txt", "a file of the user's, in the way\n")
	check = w.untouched()
	w.merge(req, workspace.MergeNotFastForward)
	check()

	w.run(w.user, "mv", "one.txt", "mine.txt")
	w.write(w.user, "mainline.txt", "staged\n")
	w.run(w.user, "git", "add", "mainline.txt")
	check = w.untouched()
	w.merge(req, workspace.MergeCheckoutDirty)
	check()
	w.run(w.user, "git", "reset", "-q", "--hard")

	// What it says to run does it, and so does asking again.
	by := w.run(w.user, "git", "rev-parse", "main")
	w.run(w.user, "sh", "-c", got.Command)
	w.run(w.user, "git", "reset", "-q", "--hard", by)
	done := w.merge(req, workspace.MergeMerged)
	if w.read(w.user, "one.txt") != "1\n" || w.read(w.user, "mine.txt") == "" || w.run(w.user, "git", "rev-parse", "HEAD") != done.SHA {
		t.Error("the checkout did not follow")
	}
	if got := w.run(w.user, "git", "status", "--porcelain"); got != "?? mine.txt" {
		t.Errorf("git status: %s", got)
	}
}

func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	w, req := landing(t)
	req.Strategy = workspace.StrategyMerge
	check := w.untouched()
	old := req
	old.ExpectedBase = w.run(w.user, "git", "rev-parse", "main~1")
	w.merge(old, workspace.MergeBaseMoved)
	check()

	w.write(w.user, "one.txt", "theirs\n")
	w.commitIn(w.user, "conflicting")
	req.ExpectedBase = w.sync().SHA
	check = w.untouched()
	for _, strategy := range []string{workspace.StrategyMerge, workspace.StrategySquash, workspace.StrategyRebase} {
		req.Strategy = strategy
		if got := w.merge(req, workspace.MergeConflict); !slices.Equal(got.Files, []string{"one.txt"}) {
			t.Errorf("merged %+v", got)
		}
	}
	req.Strategy = "octopus"
	if _, err := w.m.Merge(context.Background(), w.repo, req); err == nil {
		t.Error("an unknown strategy was taken")
	}
	check()
}

// A user's hooks and filters of their own repository are not run for backburner.
func TestUsersHooksAreNotRun(t *testing.T) {
	t.Parallel()
	w, req := landing(t)
	program, marker := w.trap()
	for _, hook := range []string{"reference-transaction", "post-merge", "post-checkout", "pre-receive", "post-index-change"} {
		w.write(w.user, ".git/hooks/x", "")
		w.run(w.user, "cp", program, ".git/hooks/"+hook)
	}
	w.run(w.user, "git", "update-ref", "refs/heads/tried", "HEAD")
	if !sprung(marker) {
		t.Fatal("the trap does not work")
	}
	req.Strategy = workspace.StrategySquash
	w.merge(req, workspace.MergeMerged)
	if _, err := w.m.Publish(context.Background(), w.repo, "backburner/ws-1", req.Head, ""); err != nil {
		t.Error(err)
	}
	if sprung(marker) {
		t.Error("a hook was run")
	}
}

// A branch that the user has checked out is left alone, and they are told what to run.
func TestPublishOfCheckedOutBranch(t *testing.T) {
	t.Parallel()
	w, req := landing(t)
	const branch = "backburner/ws-1"
	linked := filepath.Join(t.TempDir(), "it's linked")
	w.run(w.user, "git", "worktree", "add", "-q", "-b", branch, linked, "main~1")
	old := w.run(w.user, "git", "rev-parse", branch)
	check := w.untouched()
	got, err := w.m.Publish(context.Background(), w.repo, branch, req.Head, old)
	if err != nil || got.Status != workspace.PublishCheckedOut || got.Found != old {
		t.Fatalf("published %+v, %v", got, err)
	}
	check()
	if at := w.run(linked, "git", "rev-parse", "HEAD"); at != old {
		t.Errorf("the branch moved to %s", at)
	}
	_, todo, _ := strings.Cut(got.Detail, "run ")
	w.run(w.user, "sh", "-c", todo)
	if at := w.run(linked, "git", "rev-parse", "HEAD"); at != req.Head {
		t.Errorf("after %s the branch is at %s", todo, at)
	}
}

// A branch that is being rebased is checked out nowhere, and still in use, also where the rebase only takes it along.
func TestPublishOfBranchBeingRebased(t *testing.T) {
	t.Parallel()
	for name, on := range map[string]string{"itself": "backburner/ws-1", "taken along": "on-top"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, req := landing(t)
			const branch = "backburner/ws-1"
			linked := filepath.Join(t.TempDir(), "linked")
			w.run(w.user, "git", "worktree", "add", "-q", "-b", branch, linked, "main~1")
			w.write(linked, "own.txt", "own\n")
			old := w.commitIn(linked, "own")
			w.run(linked, "git", "checkout", "-q", "-B", on)
			w.write(linked, "more.txt", "more\n")
			old = cmp.Or(map[string]string{branch: w.commitIn(linked, "more")}[on], old)
			w.fails(linked, "git", "rebase", "-q", "--update-refs", "-x", "false", "main")
			got, err := w.m.Publish(context.Background(), w.repo, branch, req.Head, old)
			if err != nil || got.Status != workspace.PublishCheckedOut || !strings.Contains(got.Detail, linked) {
				t.Fatalf("published %+v, %v", got, err)
			}
			w.run(linked, "git", "rebase", "--abort")
			if got, err = w.m.Publish(context.Background(), w.repo, branch, req.Head, old); err != nil || got.Status == workspace.PublishFailed {
				t.Errorf("published %+v, %v", got, err)
			}
		})
	}
}

// People landed the work as one commit of their own, by hand: nothing is left
// to merge, whatever the strategy.
func TestMergeOfWhatLandedAsOtherCommits(t *testing.T) {
	t.Parallel()
	w, req := landing(t)
	w.write(w.user, "one.txt", "1\n")
	w.write(w.user, "two.txt", "2\n")
	w.commitIn(w.user, "by hand")
	base := w.sync()
	req.ExpectedBase = base.SHA
	got, err := w.m.Mainline(context.Background(), w.repo, req.Head, base.SHA)
	if err != nil || got.Status != workspace.MainlineBehind || got.Tree != base.Tree {
		t.Errorf("compared: %+v %v, want the tree %s", got, err, base.Tree)
	}
	for _, req.Strategy = range []string{workspace.StrategySquash, workspace.StrategyMerge, workspace.StrategyRebase} {
		if got := w.merge(req, workspace.MergeAlready); got.SHA != base.SHA || got.Tree != base.Tree {
			t.Errorf("%s: %+v, want the base %+v", req.Strategy, got, base)
		}
	}
}
