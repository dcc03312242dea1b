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
	runs, err := m.runs()
	if err != nil {
		return done, err
	}
	var troubles []error // of one folder, which the others do not wait for
	for _, dir := range runs {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		removed, err := m.removeDead(dir)
		if err != nil {
			troubles = append(troubles, fmt.Errorf("%w: move %s away", err, dir))
		}
		if removed {
			done.Runs++
		}
	}
	troubles = append(troubles, m.removeUnfinished())
	done.Packed, err = m.packStores(ctx)
	troubles = append(troubles, err)
	if keep <= 0 {
		return done, errors.Join(troubles...)
	}
	old, err := m.oldAside(m.now().Add(-keep))
	troubles = append(troubles, err)
	for _, dir := range old {
		if err := removeTree(dir); err != nil {
			troubles = append(troubles, err)
			continue
		}
		done.Aside++
	}
	return done, errors.Join(troubles...)
}

// Waste is what CleanLeftovers would find, and how large it is.
type Waste struct {
	Runs, Aside int
	Bytes       int64
}

// Wasted looks what CleanLeftovers would remove, and changes nothing. What is a few bytes, a lock or half a file, is not counted.
func (m *Manager) Wasted(keep time.Duration) (Waste, error) {
	var found Waste
	if !m.made() {
		return found, nil
	}
	if err := m.open(); err != nil {
		return found, err
	}
	runs, err := m.runs()
	if err != nil {
		return found, err
	}
	for _, dir := range runs {
		alive, dead, err := m.seize(dir)
		if err != nil {
			return found, err
		}
		if dead {
			found.Runs++
			found.Bytes += sizeOf(dir)
		}
		if alive != nil {
			alive.Close()
		}
	}
	old, err := m.oldAside(m.now().Add(-keep))
	for _, dir := range old {
		found.Aside++
		found.Bytes += sizeOf(dir)
	}
	return found, err
}

// sizeOf is how many bytes the files in a folder have.
func sizeOf(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}

// runs lists the folders that runs made for themselves.
func (m *Manager) runs() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(m.root, "tmp"))
	if err != nil {
		return nil, ignoreMissing(err)
	}
	var dirs []string
	for _, entry := range entries {
		if name := entry.Name(); entry.IsDir() && (strings.HasPrefix(name, "run-") || strings.HasPrefix(name, ".new-")) { // else not made here
			dirs = append(dirs, filepath.Join(m.root, "tmp", name))
		}
	}
	return dirs, nil
}

// seize takes the lock of a run that died, if it has one, until it is closed.
func (m *Manager) seize(dir string) (alive *os.File, dead bool, err error) {
	m.mu.Lock()
	mine := m.session != nil && m.session.dir == dir
	m.mu.Unlock()
	if mine {
		return nil, false, nil
	}
	alive, err = os.OpenFile(filepath.Join(dir, "alive"), os.O_RDWR, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist): // died before it had one
		return nil, true, nil
	case err != nil:
		return nil, false, err
	}
	return alive, syscall.Flock(int(alive.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil, nil
}

// removeDead removes the folder of a run, unless the run still holds its lock.
func (m *Manager) removeDead(dir string) (bool, error) {
	alive, dead, err := m.seize(dir)
	if alive != nil {
		defer alive.Close()
	}
	if err != nil || !dead {
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

// oldAside lists what was put aside before a time.
func (m *Manager) oldAside(before time.Time) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(m.root, "aside"))
	if err != nil {
		return nil, ignoreMissing(err)
	}
	var old []string
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && !info.ModTime().After(before) {
			old = append(old, filepath.Join(m.root, "aside", entry.Name()))
		}
	}
	return old, nil
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
