package workspace

import (
	"context"
	"fmt"

	"github.com/backburner-cli/backburner/pkg/git"
)

// PreparePull makes a workspace at the head of somebody's pull request, on a
// branch that only the store has. One that is there, of an earlier head, makes
// room: whoever looked at it only read. The commit and its tree are those of the
// head now.
func (m *Manager) PreparePull(ctx context.Context, repo Repository, ws Workspace, number int) (Prepared, error) {
	if err := m.open(); err != nil {
		return Prepared{}, err
	}
	h := m.home(repo)
	if !h.exists() {
		return Prepared{Status: DeferredFetch, Detail: "the repository was not fetched yet"}, nil
	}
	head, err := m.fetchPull(ctx, h, ws.Branch, number)
	if err != nil {
		return Prepared{}, fmt.Errorf("fetch pull request #%d: %w", number, err)
	}
	if ws.Head != head {
		if err := m.Remove(ctx, repo, ws.ID); err != nil {
			return Prepared{}, err
		}
	}
	ws.Head = head
	return m.Prepare(ctx, repo, ws)
}

func (m *Manager) fetchPull(ctx context.Context, h home, branch string, number int) (string, error) {
	defer m.lock("store " + h.dir)()
	store := m.store(h)
	ref := git.Heads + branch
	if err := store.Fetch(ctx, h.source(), git.Refspec{From: fmt.Sprintf("refs/pull/%d/head", number), To: ref}); err != nil {
		return "", err
	}
	if err := m.refreshPool(h); err != nil {
		return "", err
	}
	return store.ReadRef(ref)
}
