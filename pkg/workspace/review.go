package workspace

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/backburner-cli/backburner/pkg/git"
)

// Review is what changed between two commits.
type Review struct {
	Changes    []git.Change
	Insertions int
	Deletions  int
	Hash       string // the same for the same difference
	Stat       string // as a table for people
	Patch      []byte
	Truncated  bool // Patch is not all of it
}

// Diff says how head differs from base, at most limit bytes of it as a patch (0: no patch and no table).
func (m *Manager) Diff(ctx context.Context, repo Repository, base, head string, limit int64) (Review, error) {
	if err := m.open(); err != nil {
		return Review{}, err
	}
	store := m.store(m.home(repo))
	_, differences, err := store.Compare(ctx, head, base)
	if err != nil {
		return Review{}, fmt.Errorf("compare %s with %s: %w", short(head), short(base), err)
	}
	review := Review{Changes: differences[0].Changes, Hash: differences[0].Hash}
	review.Insertions, review.Deletions = differences[0].Lines()
	if limit <= 0 {
		return review, nil
	}
	review.Stat, review.Patch, review.Truncated, err = store.Patch(ctx, base, head, limit)
	return review, err
}

// Log lists the commits that head has and base has not, oldest first, at most limit of the newest (0: all).
func (m *Manager) Log(ctx context.Context, repo Repository, base, head string, limit int) ([]git.LogEntry, error) {
	if err := m.open(); err != nil {
		return nil, err
	}
	return m.store(m.home(repo)).Log(ctx, base, head, limit)
}

// MergeBase is the commit from which two commits went apart; "" when they have nothing in common.
func (m *Manager) MergeBase(ctx context.Context, repo Repository, a, b string) (string, error) {
	if err := m.open(); err != nil {
		return "", err
	}
	return m.store(m.home(repo)).MergeBase(ctx, a, b)
}

// MostBytes is how large a file may be that is published: hosts of repositories refuse larger ones.
const MostBytes = 100 << 20

// Outgoing shows to look what publishing head would make public that known, and the repository's base, have not: its commits with messages
// and patches. It lists the files (object ids) that are too large to be published; then nothing is shown.
func (m *Manager) Outgoing(ctx context.Context, repo Repository, head string, known []string, look io.Writer) (large []string, err error) {
	if err := m.open(); err != nil {
		return nil, err
	}
	store := m.store(m.home(repo))
	base, err := store.ReadRef(tracking(repo.Base))
	if err != nil {
		return nil, err
	}
	if base != "" { // it may be part of head before the caller knows
		known = append(slices.Clone(known), base)
	}
	if large, err = store.Large(ctx, head, known, MostBytes); err == nil && len(large) == 0 {
		err = store.Patches(ctx, head, known, look)
	}
	return large, err
}

// Flatten makes one commit of everything that head has and known have not: with the tree of head, and known as its parents. It shows the
// patch of it to look, and lists its files that are too large. No branch is moved.
func (m *Manager) Flatten(ctx context.Context, repo Repository, head string, known []string, message string, look io.Writer) (string, []string, error) {
	if err := m.open(); err != nil {
		return "", nil, err
	}
	store := m.store(m.home(repo))
	who, err := m.identity(ctx, repo)
	if err != nil {
		return "", nil, err
	}
	tree, err := store.TreeOf(ctx, head)
	if err != nil {
		return "", nil, err
	}
	flat, err := store.As(who, repo.Sign).CommitTree(ctx, git.NewCommit{Tree: tree, Parents: known, Message: message})
	if err != nil {
		return "", nil, err
	}
	large, err := m.Outgoing(ctx, repo, flat, known, look)
	return flat, large, err
}
