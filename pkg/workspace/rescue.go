package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/backburner-cli/backburner/pkg/git"
)

// A store that somebody deleted is made anew from the repository. What only it had, branches that were not published and saved work, is still in the
// pool, as long as the pool was not compared with the new store: that one has no stamp until then.

// found is where commits of a lost store are kept whose names nobody remembers: <object id> below it. Whoever believes in one makes its branch again.
const foundRefs = "refs/backburner/found/"

func (h home) stampFile() string { return filepath.Join(h.dir, "pool.json") }

// lose notes that the store that the pool was last compared with is gone.
func (h home) lose() error { return ignoreMissing(os.Remove(h.stampFile())) }

// lost says whether the pool may have what the store has not.
func (h home) lost() bool {
	_, err := os.Lstat(h.stampFile())
	if h.exists() && !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return slices.ContainsFunc(h.leavings(), func(objects string) bool {
		names, _, err := objectFiles(objects)
		return err == nil && len(names) > 0
	})
}

// revive makes the store of a workspace anew, when it is gone.
func (m *Manager) revive(ctx context.Context, repo Repository, ws Workspace) error {
	h := m.home(repo)
	if !h.lost() {
		if h.exists() {
			return nil
		}
		if _, err := os.Lstat(m.Path(ws.ID)); err != nil {
			return nil // nothing was begun yet
		}
	}
	if _, err := m.Sync(ctx, repo); err != nil {
		return err
	}
	m.noteAnew(h, 0)
	return nil
}

// noteAnew notes once that a store was made anew, and how much that only it had is in it.
func (m *Manager) noteAnew(h home, rescued int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	said := "the git store of " + h.repo.Where() + " was missing or damaged and was made anew"
	if !slices.ContainsFunc(m.anew, func(s string) bool { return strings.HasPrefix(s, said) }) {
		m.anew = append(m.anew, fmt.Sprintf("%s; branches and pieces of saved work that only it had, and that were found: %d", said, rescued))
	}
}

// Anew lists the repositories whose store was missing and was made anew since the last call.
func (m *Manager) Anew() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	anew := m.anew
	m.anew = nil
	return anew
}

// rescue takes the commits that the leavings have and the new store has not, and names saved work as it was named. An agent may have written to
// the pool: each object is checked, and a branch is made only by whoever knows its commit.
func (m *Manager) rescue(ctx context.Context, h home) error {
	store := m.store(h)
	var known []string
	if base, err := store.ReadRef(tracking(h.repo.Base)); err == nil && base != "" {
		known = append(known, base)
	}
	var rescued []git.LogEntry
	for _, objects := range h.leavings() {
		found, err := m.rescueFrom(ctx, store, objects, known)
		if err != nil {
			return err
		}
		for _, commit := range found {
			known = append(known, commit.Commit)
		}
		rescued = append(rescued, found...)
	}
	slices.SortStableFunc(rescued, func(a, b git.LogEntry) int { return strings.Compare(a.AuthorDate, b.AuthorDate) })
	for _, commit := range rescued {
		if err := name(ctx, store, commit); err != nil {
			return err
		}
	}
	m.noteAnew(h, len(rescued))
	return nil
}

// rescueFrom takes what can be taken from one folder of objects: whole commits, and those of damaged lines not.
func (m *Manager) rescueFrom(ctx context.Context, store git.Repo, objects string, known []string) ([]git.LogEntry, error) {
	from := store.Borrowing(objects)
	tips, err := from.Unreached(ctx)
	var unreadable *git.Error
	if errors.As(err, &unreadable) {
		return nil, nil // the workspaces have their own
	}
	if err != nil {
		return nil, err
	}
	scratch, err := m.temporary("rescue")
	if err != nil {
		return nil, err
	}
	defer removeTree(scratch)
	var found []git.LogEntry
	for _, tip := range tips {
		if slices.Contains(known, tip) {
			continue
		}
		_, err := from.Import(ctx, scratch, []string{tip}, known)
		if errors.As(err, &unreadable) {
			continue // damaged, or not what a commit is
		}
		if err != nil {
			return nil, err
		}
		log, err := store.Log(ctx, "", tip, 1)
		if err != nil {
			return nil, err
		}
		found, known = append(found, log...), append(known, tip)
	}
	return found, nil
}

// name gives a commit of a lost store a reference.
func name(ctx context.Context, store git.Repo, commit git.LogEntry) error {
	ref := foundRefs + commit.Commit
	var manifest Manifest
	if _, body, ok := strings.Cut(commit.Message, "\n\n"); ok && strings.HasPrefix(commit.Message, "salvage ") && json.Unmarshal([]byte(body), &manifest) == nil {
		dir := salvages + refComponent(manifest.Workspace) + "/" + refComponent(manifest.Task) + "/"
		for n := 1; ; n++ {
			ref = dir + strconv.Itoa(n)
			taken, err := store.ReadRef(ref)
			if err != nil || taken == commit.Commit {
				return err
			}
			if taken == "" {
				break
			}
		}
	}
	return store.UpdateRef(ctx, ref, commit.Commit, "")
}
