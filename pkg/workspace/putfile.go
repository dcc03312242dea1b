package workspace

import (
	"context"
	"fmt"

	"github.com/backburner-cli/backburner/pkg/git"
)

// PutFile commits a file at path (from the root of the repository, with slashes) on the branch of a clean workspace, and brings the workspace
// there. When the branch has exactly that file already, no commit is made.
func (m *Manager) PutFile(ctx context.Context, repo Repository, ws Workspace, path string, content []byte, message string) (Checkpoint, error) {
	s, leave, err := m.enter(ctx, repo, ws)
	if err != nil {
		return Checkpoint{}, err
	}
	defer leave()
	done, err := s.putFile(ctx, path, content, message)
	if err != nil {
		return done, fmt.Errorf("put %s into workspace %s: %w", path, ws.ID, err)
	}
	return done, nil
}

func (s *space) putFile(ctx context.Context, path string, content []byte, message string) (Checkpoint, error) {
	state, err := s.clean(ctx)
	if err != nil {
		return Checkpoint{}, err
	}
	scratch, err := s.m.temporary("index")
	if err != nil {
		return Checkpoint{}, err
	}
	defer removeTree(scratch)
	tree, err := s.store.PutFile(ctx, scratch, state.Head, path, content)
	if err != nil {
		return Checkpoint{}, err
	}
	if tree == state.Tree {
		return s.describe(ctx, state.Head, Checkpoint{})
	}
	return s.grow(ctx, state.Head, git.NewCommit{Tree: tree, Parents: []string{state.Head}, Message: message})
}
