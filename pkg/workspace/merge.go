package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/backburner-cli/backburner/pkg/git"
)

// MergeStatus is what became of landing a branch on the base.
type MergeStatus string

// What can become of it.
const (
	MergeMerged         MergeStatus = "merged"
	MergeAlready        MergeStatus = "already"          // the base has everything
	MergeConflict       MergeStatus = "conflict"         // in the files named
	MergeBaseMoved      MergeStatus = "base_moved"       // the base is not the commit that was expected
	MergeCheckoutDirty  MergeStatus = "checkout_dirty"   // the base is checked out, and something there is not committed, or it is being rebased
	MergeNotFastForward MergeStatus = "not_fast_forward" // the checkout of the base could not be brought forward
)

// Strategies of landing.
const (
	StrategyMerge  = "merge"
	StrategySquash = "squash"
	StrategyRebase = "rebase"
)

// MergeRequest says what to land.
type MergeRequest struct {
	Head         string // commit, in the store
	ExpectedBase string // commit that the base branch has to be at
	Strategy     string
	Message      string // of the commit; not used by rebase
}

// Merged is how landing went.
type Merged struct {
	Status  MergeStatus
	SHA     string // of the base with the work on it, also when it was not set to that
	Tree    string
	Files   []string // in conflict
	Detail  string   // for people
	Command string   // what a person can run to finish; "" when it is done, or cannot be
}

// Merge lands a commit on the base branch of a repository on this machine. The commit is built in the store. A base that is not checked
// out anywhere is set by compare and swap; one that is, is fast-forwarded there, when nothing there is uncommitted. Nothing else is
// ever done to a checkout.
func (m *Manager) Merge(ctx context.Context, repo Repository, req MergeRequest) (Merged, error) {
	if err := m.open(); err != nil {
		return Merged{}, err
	}
	if repo.Path == "" {
		return Merged{}, fmt.Errorf("merge into %s of %s: only a repository on this machine is merged into", repo.Base, repo.Where())
	}
	switch req.Strategy {
	case StrategyMerge, StrategySquash, StrategyRebase:
	default:
		return Merged{}, fmt.Errorf("merge into %s: unknown strategy %q: use merge, squash or rebase", repo.Base, req.Strategy)
	}
	defer m.lock("merge:" + repo.ID)() // two at once would leave the checkout of the base half changed
	result, err := m.merge(ctx, m.home(repo), req)
	if err != nil {
		return result, fmt.Errorf("merge into %s: %w", repo.Base, err)
	}
	return result, nil
}

func (m *Manager) merge(ctx context.Context, h home, req MergeRequest) (Merged, error) {
	dir, common, err := git.Locate(h.repo.Path)
	if err != nil {
		return Merged{}, err
	}
	target := m.git.Foreign(dir)
	refs, err := target.Refs(ctx, git.Heads+h.repo.Base)
	if err != nil {
		return Merged{}, err
	}
	if len(refs) != 1 {
		return Merged{}, fmt.Errorf("there is no branch %s in %s", h.repo.Base, h.repo.Path)
	}
	base := refs[0]
	store := m.store(h)
	landed, err := store.IsAncestor(ctx, req.Head, base.Object)
	if err == nil && landed {
		return Merged{Status: MergeAlready, SHA: base.Object, Tree: base.Tree}, nil
	}
	if base.Object != req.ExpectedBase {
		detail := fmt.Sprintf("%s is at %s and not at %s", h.repo.Base, short(base.Object), short(req.ExpectedBase))
		return Merged{Status: MergeBaseMoved, Detail: detail}, nil
	}
	if err != nil {
		return Merged{}, err
	}
	if at := git.Rebasing(common, base.Name); at != "" {
		return Merged{Status: MergeCheckoutDirty, Detail: rebasing(h.repo.Base, at)}, nil
	}
	who, err := m.identity(ctx, h.repo)
	if err != nil {
		return Merged{}, err
	}
	built, err := buildMerge(ctx, store.As(who, h.repo.Sign), req)
	if err != nil || built.Status != "" {
		return built, err
	}
	if built.Tree == base.Tree { // it landed in other commits
		return Merged{Status: MergeAlready, SHA: base.Object, Tree: base.Tree}, nil
	}
	return m.bringTo(ctx, h, target, base, built)
}

// rebasing says why a branch is left alone.
func rebasing(branch, path string) string {
	return fmt.Sprintf("a rebase of %s is in progress in %s: finish it first", branch, path)
}

// buildMerge makes the commit to land. Its status is "" when there is one.
func buildMerge(ctx context.Context, store git.Repo, req MergeRequest) (Merged, error) {
	merged, err := store.MergeTree(ctx, req.ExpectedBase, req.Head)
	if err != nil {
		return Merged{}, err
	}
	if len(merged.Conflicts) > 0 {
		return Merged{Status: MergeConflict, Files: merged.Conflicts}, nil
	}
	commit := git.NewCommit{Tree: merged.Tree, Parents: []string{req.ExpectedBase}, Message: req.Message}
	switch req.Strategy {
	case StrategyMerge:
		commit.Parents = append(commit.Parents, req.Head)
	case StrategyRebase:
		return rebase(ctx, store, req, merged.Tree)
	}
	sha, err := store.CommitTree(ctx, commit)
	return Merged{SHA: sha, Tree: merged.Tree}, err
}

// rebase replays the commits of head on the base one by one, leaving out merges, as git rebase does. The result has to be the tree
// that a merge gives: else what was resolved in a merge of the branch is lost.
func rebase(ctx context.Context, store git.Repo, req MergeRequest, tree string) (Merged, error) {
	commits, err := store.Log(ctx, req.ExpectedBase, req.Head, 0)
	if err != nil {
		return Merged{}, err
	}
	on := git.LogEntry{Commit: req.ExpectedBase}
	if on.Tree, err = store.TreeOf(ctx, req.ExpectedBase); err != nil {
		return Merged{}, err
	}
	for _, commit := range commits {
		if len(commit.Parents) != 1 {
			continue
		}
		if commit.Parents[0] == on.Commit {
			on = commit
			continue
		}
		next, conflicts, err := replay(ctx, store, commit, on)
		if err != nil {
			return Merged{}, err
		}
		if len(conflicts) > 0 {
			return Merged{
				Status: MergeConflict, Files: conflicts,
				Detail: fmt.Sprintf("replaying %s (%s): use the strategy merge or squash", short(commit.Commit), commit.Subject),
			}, nil
		}
		on = next
	}
	if on.Tree != tree {
		return Merged{
			Status: MergeConflict, Detail: "replayed one by one, the commits give something else than merged: use the strategy merge or squash",
		}, nil
	}
	return Merged{SHA: on.Commit, Tree: on.Tree}, nil
}

// replay makes the change of a commit again on top of another. The merge that does it is between commits made for it, whose common
// ancestor has the tree of the commit's parent: git before 2.40 takes the ancestor of a merge from the history only.
func replay(ctx context.Context, store git.Repo, commit, on git.LogEntry) (git.LogEntry, []string, error) {
	parentTree, err := store.TreeOf(ctx, commit.Parents[0])
	if err != nil {
		return on, nil, err
	}
	before, err := store.CommitTree(ctx, git.NewCommit{Tree: parentTree, Message: "before"})
	if err != nil {
		return on, nil, err
	}
	sides := [2]string{}
	for i, tree := range []string{on.Tree, commit.Tree} {
		if sides[i], err = store.CommitTree(ctx, git.NewCommit{Tree: tree, Parents: []string{before}, Message: "side"}); err != nil {
			return on, nil, err
		}
	}
	merged, err := store.MergeTree(ctx, sides[0], sides[1])
	if err != nil || len(merged.Conflicts) > 0 {
		return on, merged.Conflicts, err
	}
	if merged.Tree == on.Tree {
		return on, nil, nil // the base has that change already
	}
	id, err := store.CommitTree(ctx, git.NewCommit{
		Tree: merged.Tree, Parents: []string{on.Commit}, Message: commit.Message, Author: commit.Author, AuthorDate: commit.AuthorDate,
	})
	return git.LogEntry{Commit: id, Tree: merged.Tree}, nil, err
}

// bringTo sets the user's base branch to what was built.
func (m *Manager) bringTo(ctx context.Context, h home, target git.Repo, base git.Ref, built Merged) (Merged, error) {
	if err := target.FetchObjects(ctx, h.storeDir(), built.SHA); err != nil {
		return built, err
	}
	if base.CheckedOut != "" {
		return m.fastForward(ctx, base, built)
	}
	err := target.UpdateRef(ctx, base.Name, built.SHA, base.Object)
	if errors.Is(err, git.ErrMoved) {
		built.Status, built.Detail = MergeBaseMoved, "somebody moved "+h.repo.Base+" meanwhile"
		return built, nil
	}
	if err != nil {
		return built, err
	}
	built.Status = MergeMerged
	return built, nil
}

// fastForward brings a checkout of the base forward, when everything in it is committed.
func (m *Manager) fastForward(ctx context.Context, base git.Ref, built Merged) (Merged, error) {
	built.Command = fastForwardCommand(base.CheckedOut, built.SHA)
	dir, _, err := git.Locate(base.CheckedOut)
	if err != nil {
		return built, err
	}
	checkout := m.git.Foreign(dir).WithWorkTree(base.CheckedOut)
	status, err := checkout.Status(ctx)
	if err != nil {
		return built, err
	}
	var open []string
	for _, entry := range status.Entries {
		if entry.Code != "??" {
			open = append(open, entry.Path)
		}
	}
	switch {
	case status.Head != base.Object:
		built.Status, built.Detail = MergeBaseMoved, fmt.Sprintf("the checkout in %s moved meanwhile", base.CheckedOut)
		return built, nil
	case len(open) > 0:
		built.Status = MergeCheckoutDirty
		built.Detail = fmt.Sprintf("%s has changes that are not committed: %s", base.CheckedOut, few(open))
		return built, nil
	}
	var refused *git.Error
	if err := checkout.FastForward(ctx, built.SHA); errors.As(err, &refused) {
		built.Status, built.Detail = MergeNotFastForward, refused.Error()
		return built, nil
	} else if err != nil {
		return built, err
	}
	built.Status, built.Command = MergeMerged, ""
	return built, checkout.Settle(base.Name)
}

// fastForwardCommand is what a person types to bring the checkout in dir forward to commit.
func fastForwardCommand(dir, commit string) string {
	return "git -C '" + strings.ReplaceAll(dir, "'", `'\''`) + "' merge --ff-only " + commit
}
