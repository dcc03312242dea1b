package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// MkdirAll makes dir and what is missing above it, each durably, with the
// permissions perm less the umask. A folder that is there is left as it is.
func MkdirAll(dir string, perm fs.FileMode) error {
	if err := mkdirAll(filepath.Clean(dir), perm); err != nil {
		return fail("make folder", dir, err)
	}
	return nil
}

func mkdirAll(dir string, perm fs.FileMode) error {
	info, err := os.Stat(dir)
	if err == nil {
		if !info.IsDir() {
			return syscall.ENOTDIR
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := mkdirAll(parent, perm); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, perm); err != nil {
		// Somebody else was quicker, and may not have come to the fsync yet.
		if info, statErr := os.Stat(dir); statErr != nil || !info.IsDir() {
			return err
		}
	}
	return syncDir(parent)
}

// Remove removes the file or empty folder path, durably. It returns an error
// that is fs.ErrNotExist when nothing has that name.
func Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return fail("remove", path, err)
	}
	return fail("remove", path, syncDir(filepath.Dir(path)))
}

// Rename gives the file or folder from the name to, durably. A file takes the
// place of a file; a folder takes the place of nothing, and finding a folder
// there is fs.ErrExist. Both names are on one file system. The content is as
// durable as it was before.
func Rename(from, to string) error {
	if err := replace(from, to); err != nil {
		return fail("rename to "+to, from, err)
	}
	// The folder that gains comes first: a power loss between the two may show
	// the file under both names, never under none.
	if err := syncDir(filepath.Dir(to)); err != nil {
		return fail("rename to "+to, from, err)
	}
	if filepath.Dir(from) != filepath.Dir(to) {
		return fail("rename to "+to, from, syncDir(filepath.Dir(from)))
	}
	return nil
}

// Leftovers lists the temporary files in dir, not below it, that were last
// written before olderThan. Writers need milliseconds; an hour ago is a cut that
// spares every living one. A folder that does not exist has none.
func Leftovers(dir string, olderThan time.Time) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fail("sweep", dir, err)
	}
	for _, entry := range entries {
		if _, ok := IsTemporary(entry.Name()); !ok || !entry.Type().IsRegular() {
			continue
		}
		if info, err := entry.Info(); err != nil || info.ModTime().Before(olderThan) {
			paths = append(paths, filepath.Join(dir, entry.Name()))
		}
	}
	return paths, nil
}

// Sweep removes the Leftovers of dir, and returns how many.
func Sweep(dir string, olderThan time.Time) (removed int, err error) {
	paths, err := Leftovers(dir, olderThan)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, path := range paths {
		switch err := os.Remove(path); {
		case err == nil:
			removed++
		case !errors.Is(err, fs.ErrNotExist): // else its writer, or another sweep, took it
			errs = append(errs, fail("sweep", path, err))
		}
	}
	return removed, errors.Join(errs...)
}

// linkExclusive gives the file from the name to, unless that is taken, in two
// steps. A crash between them leaves the temporary name to Sweep.
func linkExclusive(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	return os.Remove(from)
}

// syncDir makes the names in dir durable. File systems that cannot do that
// for a folder say EINVAL; there is nothing better to be had from them.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	syncs.Add(1)
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
