package workspace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/backburner-cli/backburner/pkg/git"
)

// Carried is the work in a store, to be taken elsewhere.
type Carried struct {
	Refs    map[string]string // branches of workspaces and saved work, full name -> object id
	Without string            // commit of the base: what it has is not in the bundle
	Bundle  string            // file with the objects; "" when the base has all of them
}

// Pack writes what the store of a repository has and its base has not into a bundle in the folder dir.
func (m *Manager) Pack(ctx context.Context, repo Repository, dir string) (Carried, error) {
	if err := m.open(); err != nil {
		return Carried{}, err
	}
	h := m.home(repo)
	if !h.exists() {
		return Carried{}, nil
	}
	c := Carried{Refs: map[string]string{}}
	for _, prefix := range []string{git.Heads, salvages} {
		refs, err := git.AllRefs(os.DirFS(h.storeDir()), prefix)
		if err != nil {
			return c, err
		}
		maps.Copy(c.Refs, refs)
	}
	store := m.store(h)
	var err error
	if c.Without, err = store.ReadRef(tracking(repo.Base)); err != nil {
		return c, err
	}
	path := filepath.Join(dir, component(repo.ID)+".bundle")
	some, err := store.Bundle(ctx, path, slices.Sorted(maps.Keys(c.Refs)), c.Without)
	if err != nil {
		return c, fmt.Errorf("pack the work of %s: %w", repo.Where(), err)
	}
	if some {
		c.Bundle = path
	}
	return c, nil
}

// Unpack takes what Pack wrote into the store of a repository as of the last Sync: all of it or, with an error, no reference. What the store has
// already is left; that it has something else under one of the names is an error.
func (m *Manager) Unpack(ctx context.Context, repo Repository, c Carried) error {
	if err := m.open(); err != nil {
		return err
	}
	h := m.home(repo)
	store := m.store(h)
	var ids []string
	missing := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Refs)) {
		if !strings.HasPrefix(name, git.Heads) && !strings.HasPrefix(name, salvages) {
			return &git.NameError{Name: name, Reason: "is not the name of anything in a store"}
		}
		have, err := store.ReadRef(name)
		switch {
		case err != nil:
			return err
		case have == "":
			missing[name] = c.Refs[name]
			ids = append(ids, c.Refs[name])
		case have != c.Refs[name]:
			return fmt.Errorf("%s has other work under the name %s: move %s away, or set [workspace] root to another folder", h.storeDir(), name, m.root)
		}
	}
	if err := m.takeIn(ctx, store, repo, c.Bundle, ids); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		if err := store.UpdateRef(ctx, name, missing[name], git.ZeroID(missing[name])); err != nil {
			return err
		}
	}
	return nil
}

// takeIn takes the objects of a bundle in, and sees to it that nothing of the commits ids is missing.
func (m *Manager) takeIn(ctx context.Context, store git.Repo, repo Repository, bundle string, ids []string) error {
	if bundle != "" && len(ids) > 0 {
		if err := store.Unbundle(ctx, bundle); errors.Is(err, git.ErrLacking) {
			return fmt.Errorf("%s has not got the commits that the work builds on: bring its branch %s up to date there first (%w)", repo.Where(), repo.Base, err)
		} else if err != nil {
			return err
		}
	}
	if err := store.Complete(ctx, ids); err != nil {
		return fmt.Errorf("%s has not got all that the work builds on: bring its branch %s up to date there first (%w)", repo.Where(), repo.Base, err)
	}
	return nil
}

// Keep saves what lies in a workspace and in no commit, as Restore does, and leaves the workspace as it is. The salvage is the zero one when there is
// nothing.
func (m *Manager) Keep(ctx context.Context, repo Repository, ws Workspace, task string) (Salvage, error) {
	if err := m.open(); err != nil {
		return Salvage{}, err
	}
	if !m.home(repo).exists() {
		return Salvage{}, nil
	}
	s, leave, err := m.enter(ctx, repo, ws)
	if err != nil {
		return Salvage{}, err
	}
	defer leave()
	if there, err := s.there(); err != nil || !there {
		return Salvage{}, err
	}
	saved, err := s.keepAll(ctx, task)
	if err != nil {
		return Salvage{}, fmt.Errorf("save what lies in workspace %s: %w", ws.ID, err)
	}
	return Salvage{Ref: saved.ref, Manifest: saved.manifest}, nil
}

func (s *space) keepAll(ctx context.Context, task string) (saved, error) {
	if err := s.identify(ctx); err != nil {
		return saved{}, err
	}
	c, err := openClone(s.dir)
	if err != nil {
		return saved{}, err
	}
	defer c.close()
	local, err := s.start(ctx, c)
	if err == nil && local == "" {
		err = fmt.Errorf("the store has no branch %s", s.given.Branch)
	}
	if err != nil {
		return saved{}, err
	}
	f := c.look()
	if ordered, err := s.inOrder(ctx, c, f, local, local); err != nil || ordered {
		return saved{}, err
	}
	found, err := s.salvage(ctx, c, f, local, task)
	if err != nil {
		return saved{}, err
	}
	return found, s.tree.ReadIndex(ctx, local)
}
