package workspace

import (
	"context"
	"fmt"
)

// State is what a workspace is, when nothing is changed in it.
type State struct {
	Head  string // commit of its HEAD; "" when it has none
	Tree  string // of that commit; "" when the store has not got it
	Clean bool   // on its branch, at the commit that the store has, and nothing differs
	Dirty []string
	// Detail says for people why it is not clean.
	Detail string
}

// Verify says what the workspace is. It changes nothing and costs one git process.
func (m *Manager) Verify(ctx context.Context, repo Repository, ws Workspace) (State, error) {
	s, leave, err := m.enter(ctx, repo, ws)
	if err != nil {
		return State{}, err
	}
	defer leave()
	state, err := s.verify(ctx)
	if err != nil {
		return state, fmt.Errorf("verify workspace %s: %w", ws.ID, err)
	}
	return state, nil
}

func (s *space) verify(ctx context.Context) (State, error) {
	c, err := openClone(s.dir)
	if err != nil {
		return State{}, err
	}
	defer c.close()
	local, err := s.start(ctx, c)
	if err == nil && local == "" {
		err = fmt.Errorf("the store has no branch %s", s.given.Branch)
	}
	if err != nil {
		return State{}, err
	}
	f := c.look()
	status, err := s.status(ctx)
	if err != nil {
		return State{}, err
	}
	state := State{Head: f.head, Dirty: status.Paths()}
	if f.head == status.Head {
		if state.Tree, err = s.treeOf(ctx, f.head); err != nil {
			return state, err
		}
	}
	switch {
	case f.damage != "":
		state.Detail = f.damage
	case f.head != status.Head:
		state.Detail = "HEAD is at " + short(f.head) + " and not at " + short(status.Head)
	case f.branch != s.branch:
		state.Detail = elsewhere(f)
	case f.operation != "":
		state.Detail = "a " + f.operation + " is in progress"
	case len(state.Dirty) > 0:
		state.Detail = "changed: " + few(state.Dirty)
	}
	if state.Clean = state.Detail == ""; state.Clean {
		s.proven(state.Head)
	}
	return state, nil
}

// clean is the state of a workspace that something is to be committed in by backburner itself, which needs it clean.
func (s *space) clean(ctx context.Context) (State, error) {
	if err := s.identify(ctx); err != nil {
		return State{}, err
	}
	state, err := s.verify(ctx)
	if err == nil && !state.Clean {
		err = fmt.Errorf("the workspace is not clean (%s): the next tick that works on it saves that first", state.Detail)
	}
	return state, err
}
