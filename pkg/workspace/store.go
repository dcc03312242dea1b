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
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/git"
)

// makeStore makes the store, when there is none, for object ids of the given format.
func (m *Manager) makeStore(ctx context.Context, h home, format string) error {
	if h.exists() {
		return nil
	}
	if err := m.git.CheckVersion(ctx); err != nil {
		return err
	}
	tmp, err := m.temporary("store")
	if err != nil {
		return err
	}
	if err := m.git.InitBare(ctx, tmp, format); err != nil {
		return err
	}
	if err := atomicfile.MkdirAll(filepath.Join(h.dir, "admin"), 0o777); err != nil {
		return err
	}
	if _, err := os.Lstat(h.storeDir()); err == nil { // damaged: its objects may be all there is of something
		if _, err := m.putAside(h.storeDir(), storeAside+filepath.Base(h.dir)); err != nil {
			return err
		}
	}
	if err := h.lose(); err != nil {
		return err
	}
	return atomicfile.Rename(tmp, h.storeDir())
}

// fetch brings the store from what was last seen to what is there now.
func (m *Manager) fetch(ctx context.Context, h home, last, now seen, branches []string) (seen, error) {
	if err := m.makeStore(ctx, h, formatOf(now.SHA)); err != nil {
		return now, err
	}
	store := m.store(h)
	if err := m.forgetVanished(ctx, store, now, branches); err != nil {
		return now, err
	}
	specs, err := wanted(store, now)
	if err != nil {
		return now, err
	}
	if len(specs) > 0 {
		if err := store.Fetch(ctx, h.source(), specs...); err != nil {
			return now, err
		}
	}
	switch {
	case now.Tree != "":
	case now.SHA == last.SHA:
		now.Tree = last.Tree
	default:
		if now.Tree, err = store.TreeOf(ctx, now.SHA); err != nil {
			return now, err
		}
	}
	if h.lost() {
		if err := m.rescue(ctx, h); err != nil {
			return now, fmt.Errorf("take back what the store had: %w", err)
		}
	}
	return now, m.refreshPool(h)
}

func formatOf(id string) string {
	if len(id) == 64 {
		return "sha256"
	}
	return "sha1"
}

// source is where the store fetches from.
func (h home) source() string {
	if h.repo.Path == "" {
		return h.repo.URL
	}
	_, common, err := git.Locate(h.repo.Path)
	if err != nil {
		return h.repo.Path
	}
	return common
}

// wanted are the references whose value the store has not.
func wanted(store git.Repo, now seen) ([]git.Refspec, error) {
	want := maps.Clone(now.Branches)
	want[now.Base] = now.SHA
	var specs []git.Refspec
	for _, branch := range slices.Sorted(maps.Keys(want)) {
		have, err := store.ReadRef(tracking(branch))
		if err != nil {
			return nil, err
		}
		if have != want[branch] {
			specs = append(specs, git.Refspec{From: git.Heads + branch, To: tracking(branch)})
		}
	}
	return specs, nil
}

// tracking is where the store keeps what the repository has under a branch name.
func tracking(branch string) string { return git.Remotes + "origin/" + branch }

const (
	// manyLoose and manyPacks are how many loose objects and packs a store may have before it is packed; the first is that of git's own gc.
	manyLoose = 6700
	manyPacks = 50
	// partAge is when a part of an object or a pack belongs to no git process any more: longer than any fetch takes.
	partAge = 24 * time.Hour
)

// packStores packs the stores that have grown many files, and removes what a git that was killed left among them.
func (m *Manager) packStores(ctx context.Context) (packed int, err error) {
	stores, err := os.ReadDir(filepath.Join(m.root, "stores"))
	if err != nil {
		return 0, ignoreMissing(err)
	}
	for _, entry := range stores {
		h := home{dir: filepath.Join(m.root, "stores", entry.Name())}
		if !h.exists() {
			continue
		}
		did, packErr := m.packStore(ctx, h)
		if packErr != nil {
			err = errors.Join(err, fmt.Errorf("pack the store %s: %w", entry.Name(), packErr))
		}
		if did {
			packed++
		}
	}
	return packed, err
}

func (m *Manager) packStore(ctx context.Context, h home) (bool, error) {
	names, parts, err := objectFiles(filepath.Join(h.storeDir(), "objects"))
	if err != nil {
		return false, err
	}
	for _, part := range parts {
		if err := removeOld(filepath.Join(h.storeDir(), "objects", part), m.now().Add(-partAge)); err != nil {
			return false, err
		}
	}
	packs := 0
	for _, name := range names {
		if strings.HasSuffix(name, ".pack") {
			packs++
		}
	}
	if packs <= manyPacks && len(names)-2*packs <= manyLoose {
		return false, nil
	}
	defer m.lock("pool " + h.dir)() // which is made from the files that vanish now
	return true, m.store(h).Collect(ctx)
}

// forgetVanished removes from the store what it has of branches that are no longer there.
func (m *Manager) forgetVanished(ctx context.Context, store git.Repo, now seen, branches []string) error {
	for _, branch := range branches {
		if now.Branches[branch] != "" || branch == now.Base {
			continue
		}
		have, err := store.ReadRef(tracking(branch))
		if err != nil {
			return err
		}
		if have == "" {
			continue
		}
		if err := store.DeleteRef(ctx, tracking(branch), have); err != nil && !errors.Is(err, git.ErrMoved) {
			return err
		}
	}
	return nil
}
