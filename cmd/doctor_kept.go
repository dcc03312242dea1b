package cmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/pass"
	"github.com/backburner-cli/backburner/pkg/work"
)

// The checks of what is kept: git stores, saved work, history, and where it lies.

// checkStores looks whether git has what the state names. What takes a while,
// whether each store is whole, is for state verify.
func checkStores(ctx context.Context, cfg *config.Config) []finding {
	st, err := openStore(cfg, true, nil)
	if err != nil {
		return nil // told by the check of the state
	}
	repos, err := repositories(cfg)
	if err != nil {
		return nil // told by the check of the repositories
	}
	board, _, err := st.Load(ctx)
	if err != nil {
		return nil // likewise
	}
	begun := make(map[string]int)
	var found []finding
	for _, w := range sorted(board) {
		if _, ok := repos[w.Repository]; !ok {
			found = append(found, finding{"stores", warn, w.ID + ": " + unconfigured(w),
				"configure it again, or give the work up: backburner cancel " + w.ID})
		} else if w.Head != "" {
			begun[w.Repository]++
		}
	}
	trees := workspaces(cfg)
	defer trees.Close()
	have, err := trees.Stores()
	if err != nil {
		return append(found, finding{"stores", fail, err.Error(), "set [workspace] root to a folder of its own"})
	}
	for _, repo := range inOrder(repos) {
		if begun[repo.ID] > 0 && !slices.Contains(have, repo.ID) {
			found = append(found, finding{"stores", warn, "the git store of " + repo.Where() + " is missing, and work was begun in it",
				"nothing; the next tick that needs it makes it anew, and says what it found again"})
		}
	}
	if len(found) == 0 {
		found = []finding{{"stores", fine, "backburner state verify reads them", ""}}
	}
	return found
}

// checkSalvage finds saved work that nobody goes on with.
func checkSalvage(ctx context.Context, cfg *config.Config) []finding {
	st, err := openStore(cfg, true, nil)
	if err != nil {
		return nil // told by the check of the state
	}
	all, err := openShelf(ctx, cfg, st)
	if err != nil {
		return nil // told by the checks of repositories and stores
	}
	defer all.trees.Close()
	var waiting []string
	for _, item := range all.items {
		if r := recordOf(item); r.RestoredAt == nil && forgotten(item) {
			waiting = append(waiting, r.Name)
		}
	}
	switch {
	case all.damaged != nil:
		return []finding{{"salvage", fail, "not all of the saved work can be read: " + all.damaged.Error(), "backburner state verify says what to do"}}
	case len(waiting) > 0:
		return []finding{{"salvage", warn, fmt.Sprintf("work was put aside and nobody goes on with it: %s", few(waiting)),
			"backburner salvage list says what it is; what is not wanted needs nothing, it goes with its work"}}
	case len(all.items) > 0:
		return []finding{{"salvage", fine, fmt.Sprintf("%d pieces of saved work, all of work that goes on or is merged", len(all.items)), ""}}
	}
	return []finding{{"salvage", fine, "nothing was put aside", ""}}
}

// forgotten reports whether saved work is of work that stopped, not long ago.
func forgotten(s shelved) bool {
	const remembered = 30 * 24 * time.Hour
	if s.work == nil || time.Since(s.Manifest.At) > remembered {
		return false
	}
	switch s.work.Status {
	case work.Blocked, work.Failed, work.Closed:
		return true
	}
	return false
}

// few are the first names of a list, and how many more there are.
func few(names []string) string {
	const shown = 5
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// largeState is the size of a state, in bytes, that is remarkable.
const largeState = 20 << 30

// checkPlaces looks what is left over, how large it is, and where state and
// workspaces lie.
func checkPlaces(_ context.Context, cfg *config.Config) []finding {
	var found []finding
	trees := workspaces(cfg)
	defer trees.Close()
	if wasted, err := trees.Wasted(pass.AsideFor); err == nil && wasted.Runs+wasted.Aside > 0 {
		found = append(found, finding{"places", warn, fmt.Sprintf("left over from dead processes, or set aside long ago: %d folders, %s",
			wasted.Runs+wasted.Aside, bytesText(wasted.Bytes)), "the next tick removes them, or at once: backburner state gc"})
	}
	size := sizeOf(cfg.State.Dir)
	if size > largeState {
		found = append(found, finding{"places", warn, "the state takes " + bytesText(size), "lower [retention], then: backburner state gc --dry-run"})
	}
	for _, dir := range slices.Compact([]string{cfg.State.Dir, cfg.Workspace.Root}) {
		found = append(found, checkPlace(dir)...)
	}
	if root := cfg.Workspace.Root; exists(root) && unix.Access(root, unix.W_OK) != nil { // the state has its own check
		found = append(found, finding{"places", fail, root + " cannot be written to", "change its owner or its mode, or mount its disk for writing"})
	}
	if len(found) == 0 {
		found = []finding{{"places", fine, fmt.Sprintf("state (%s) and workspaces are yours, on disks of this machine", bytesText(size)), ""}}
	}
	return found
}

// checkPlace looks at one folder: whose it is, and what kind of disk it is on.
func checkPlace(dir string) []finding {
	at := nearest(dir)
	var found []finding
	if owner := ownerOf(at); owner >= 0 && owner != os.Geteuid() {
		found = append(found, finding{"places", warn, fmt.Sprintf("%s belongs to user %d, and this is user %d: what one makes there the other cannot change", at, owner, os.Geteuid()),
			"run backburner as one user only, and give that one what is in there: chown -R"})
	}
	if kind := networkDisk(at); kind != "" {
		found = append(found, finding{"places", warn, at + " is on a network file system (" + kind + "), whose locks and renames may not be what a lease needs",
			"keep state and workspaces on a disk of this machine: [state] dir, [workspace] root"})
	}
	return found
}

// ownerOf is the user that a folder belongs to; -1 when that cannot be told.
func ownerOf(dir string) int {
	info, err := os.Stat(dir)
	if err != nil {
		return -1
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1
	}
	return int(stat.Uid)
}

// sizeOf is how many bytes the files in a folder have.
func sizeOf(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			if info, err := entry.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size
}
