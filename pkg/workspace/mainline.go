package workspace

import (
	"context"
	"errors"
	"fmt"

	"github.com/backburner-cli/backburner/pkg/git"
)

// MainlineStatus is how a branch stands to the base.
type MainlineStatus string

// The base's commits are all in the branch, can be merged, or conflict.
const (
	MainlineUpToDate MainlineStatus = "up_to_date"
	MainlineBehind   MainlineStatus = "behind"
	MainlineConflict MainlineStatus = "conflict"
)

// Mainline is a branch compared with the base.
type Mainline struct {
	Status MainlineStatus
	Ours   string   // commit of the branch
	Base   string   // commit of the base
	Files  []string // in conflict
	Tree   string   // of the two merged, where they can be; that of the base when it has all of the branch's work already
}

// Mainline compares the commit ours with the commit base, both in the store, without a checkout. It costs one git process when there is nothing to
// merge, else two.
func (m *Manager) Mainline(ctx context.Context, repo Repository, ours, base string) (Mainline, error) {
	if err := m.open(); err != nil {
		return Mainline{}, err
	}
	result, _, err := m.mainline(ctx, m.store(m.home(repo)), ours, base)
	if err != nil {
		return result, fmt.Errorf("compare %s with the base %s: %w", short(ours), short(base), err)
	}
	return result, nil
}

func (m *Manager) mainline(ctx context.Context, store git.Repo, ours, base string) (Mainline, git.MergeTree, error) {
	result := Mainline{Status: MainlineUpToDate, Ours: ours, Base: base}
	fork, err := store.MergeBase(ctx, ours, base)
	if err != nil {
		return result, git.MergeTree{}, err
	}
	switch fork {
	case base:
		return result, git.MergeTree{}, nil
	case "":
		return result, git.MergeTree{}, errors.New("they have no common history: start the branch again from the base")
	}
	merged, err := store.MergeTree(ctx, ours, base)
	if err != nil {
		return result, merged, err
	}
	result.Status, result.Tree = MainlineBehind, merged.Tree
	if len(merged.Conflicts) > 0 {
		result.Status, result.Files, result.Tree = MainlineConflict, merged.Conflicts, ""
	}
	return result, merged, nil
}

// MergeMainline merges the base (as of the last Sync) into the branch of a clean workspace, with a merge commit. What cannot be merged
// is left as it is, with an error.
func (m *Manager) MergeMainline(ctx context.Context, repo Repository, ws Workspace, message string) (Checkpoint, error) {
	s, leave, err := m.enter(ctx, repo, ws)
	if err != nil {
		return Checkpoint{}, err
	}
	defer leave()
	done, err := s.mergeMainline(ctx, message)
	if err != nil {
		return done, fmt.Errorf("merge %s into workspace %s: %w", repo.Base, ws.ID, err)
	}
	return done, nil
}

func (s *space) mergeMainline(ctx context.Context, message string) (Checkpoint, error) {
	state, err := s.clean(ctx)
	if err != nil {
		return Checkpoint{}, err
	}
	base, err := s.base()
	if err != nil {
		return Checkpoint{}, err
	}
	mainline, merged, err := s.m.mainline(ctx, s.store, state.Head, base)
	if err != nil {
		return Checkpoint{}, err
	}
	switch mainline.Status {
	case MainlineUpToDate:
		return s.describe(ctx, state.Head, Checkpoint{})
	case MainlineConflict:
		return Checkpoint{}, fmt.Errorf("it conflicts in %s", few(mainline.Files))
	}
	return s.grow(ctx, state.Head, git.NewCommit{Tree: merged.Tree, Parents: []string{state.Head, base}, Message: message})
}

// grow commits in the store and brings the clean workspace, which is at head, there.
func (s *space) grow(ctx context.Context, head string, next git.NewCommit) (Checkpoint, error) {
	commit, err := s.store.CommitTree(ctx, next)
	if err != nil {
		return Checkpoint{}, err
	}
	c, err := openClone(s.dir)
	if err != nil {
		return Checkpoint{}, err
	}
	defer c.close()
	if err := s.move(ctx, c, head, commit); err != nil {
		return Checkpoint{}, err
	}
	return s.describe(ctx, commit, Checkpoint{})
}
