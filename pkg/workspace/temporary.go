package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
)

// session is the folder below tmp/ in which one run of the program makes things before they are renamed into place. The run holds a lock on the
// file "alive" in it, which the kernel drops when the run ends, however it ends.
type session struct {
	dir   string
	alive *os.File
}

// temporary makes an empty folder of this run's own, on the same file system as everything else below the root.
func (m *Manager) temporary(kind string) (string, error) {
	if err := m.openSession(); err != nil {
		return "", fmt.Errorf("temporary folder: %w", err)
	}
	return os.MkdirTemp(m.session.dir, kind+"-")
}

func (m *Manager) openSession() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.session != nil {
		return nil
	}
	parent := filepath.Join(m.root, "tmp")
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return err
	}
	// The lock is taken before the folder has the name by which others judge it.
	draft, err := os.MkdirTemp(parent, ".new-")
	if err != nil {
		return err
	}
	alive, err := os.OpenFile(filepath.Join(draft, "alive"), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(alive.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		alive.Close()
		return err
	}
	dir := filepath.Join(parent, "run-"+filepath.Base(draft)[len(".new-"):])
	if err := os.Rename(draft, dir); err != nil {
		alive.Close()
		return err
	}
	m.session = &session{dir, alive}
	return nil
}

// Close gives back what this run holds. The Manager must not be used after that.
func (m *Manager) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.session == nil {
		return nil
	}
	err := errors.Join(removeTree(m.session.dir), m.session.alive.Close())
	m.session = nil
	return err
}

// discard takes path away at once and then removes it; that it is not there is fine.
func (m *Manager) discard(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	trash, err := m.temporary("trash")
	if err != nil {
		return err
	}
	if err := os.Rename(path, filepath.Join(trash, filepath.Base(path))); err != nil {
		return err
	}
	return removeTree(trash)
}

// removeTree is os.RemoveAll, also for trees with folders that may not be written to, such as a module cache.
func removeTree(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(name, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}

// Leftovers says what CleanLeftovers removed.
type Leftovers struct {
	Runs  int // folders of runs that died
	Aside int // workspaces put aside that were old enough
	// Packed counts the stores that had so many loose objects or packs that they were packed anew.
	Packed int
}

// CleanLeftovers removes what dead runs left half made, and workspaces that were put aside longer than keep ago (0: none of them). It also packs
// stores that need it, which is rare.
func (m *Manager) CleanLeftovers(ctx context.Context, keep time.Duration) (Leftovers, error) {
	var done Leftovers
	if err := m.open(); err != nil {
		return done, err
	}
	runs, err := os.ReadDir(filepath.Join(m.root, "tmp"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return done, err
	}
	for _, run := range runs {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		if name := run.Name(); !run.IsDir() || !strings.HasPrefix(name, "run-") && !strings.HasPrefix(name, ".new-") {
			continue // not made here
		}
		removed, err := m.removeDead(filepath.Join(m.root, "tmp", run.Name()))
		if err != nil {
			return done, err
		}
		if removed {
			done.Runs++
		}
	}
	if err := m.removeUnfinished(); err != nil {
		return done, err
	}
	if done.Packed, err = m.packStores(ctx); err != nil || keep <= 0 {
		return done, err
	}
	done.Aside, err = m.removeAside(m.now().Add(-keep))
	return done, err
}

// removeDead removes the folder of a run, unless the run still holds its lock.
func (m *Manager) removeDead(dir string) (bool, error) {
	m.mu.Lock()
	mine := m.session != nil && m.session.dir == dir
	m.mu.Unlock()
	if mine {
		return false, nil
	}
	alive, err := os.OpenFile(filepath.Join(dir, "alive"), os.O_RDWR, 0)
	switch {
	case err == nil:
		defer alive.Close()
		if syscall.Flock(int(alive.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			return false, nil
		}
	case errors.Is(err, fs.ErrNotExist): // died before it had one
	default:
		return false, err
	}
	return true, removeTree(dir)
}

// unfinishedAge is when a half-written file or a lock belongs to nobody any more.
const unfinishedAge = time.Hour

// removeUnfinished removes what processes that were killed left in the root, beside the stores and in the admin folders of workspaces:
// half-written files, and locks of git, which the next call that needs them would wait for.
func (m *Manager) removeUnfinished() error {
	before := m.now().Add(-unfinishedAge)
	var errs []error
	sweep := func(dir string) {
		_, err := atomicfile.Sweep(dir, before)
		errs = append(errs, err)
	}
	sweep(m.root)
	for _, store := range folders(filepath.Join(m.root, "stores")) {
		sweep(store)
		for _, admin := range folders(filepath.Join(store, "admin")) {
			sweep(admin)
			errs = append(errs, removeLocks(admin, before))
		}
	}
	return errors.Join(errs...)
}

// folders are those in a folder; none when it cannot be read.
func folders(dir string) (found []string) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if entry.IsDir() {
			found = append(found, filepath.Join(dir, entry.Name()))
		}
	}
	return found
}

// removeLocks removes the locks of git in a folder that were taken before a time.
func removeLocks(dir string, before time.Time) error {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".lock") {
			err = errors.Join(err, removeOld(filepath.Join(dir, entry.Name()), before))
		}
	}
	return err
}

// removeOld removes a file that was last written before a time.
func removeOld(path string, before time.Time) error {
	info, err := os.Lstat(path)
	if err != nil || !info.ModTime().Before(before) {
		return ignoreMissing(err)
	}
	return ignoreMissing(os.Remove(path))
}

func (m *Manager) removeAside(before time.Time) (int, error) {
	entries, err := os.ReadDir(filepath.Join(m.root, "aside"))
	if err != nil {
		return 0, ignoreMissing(err)
	}
	removed := 0
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || info.ModTime().After(before) {
			continue
		}
		if err := removeTree(filepath.Join(m.root, "aside", entry.Name())); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// putAside moves path to aside/, under a name made from id, and says where it is now.
func (m *Manager) putAside(path, id string) (string, error) {
	dir := filepath.Join(m.root, "aside")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		to := filepath.Join(dir, fmt.Sprintf("%s-%d", component(id), n))
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		if err := atomicfile.Rename(path, to); err != nil {
			return "", err
		}
		now := m.now()
		return to, os.Chtimes(to, now, now)
	}
}
