package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// git makes the content of objects and references durable (core.fsync) and never the folders that have their names. Most file systems write
// those in order all the same; not all do, and none has to.

// lately is how long ago a folder may have changed and not be on the disk yet: also by a process that was killed before it came to that.
const lately = time.Minute

// clockStep is more than the clock by which folders are dated lags behind.
const clockStep = 50 * time.Millisecond

// settleObjects makes the names of new objects durable. It comes before the reference that leads to them.
func (r Repo) settleObjects() error {
	objects := filepath.Join(r.shared(), "objects")
	entries, err := os.ReadDir(objects)
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		if name := entry.Name(); entry.IsDir() && (len(name) == 2 || name == "pack") {
			errs = append(errs, r.git.settle(filepath.Join(objects, name)))
		}
	}
	return errors.Join(append(errs, r.git.settle(objects))...)
}

// settleRef makes the name of a reference durable, for when the objects are.
func (r Repo) settleRef(name string) error {
	at := r.shared()
	var errs []error
	for part := range strings.SplitSeq(filepath.Dir(name), "/") {
		at = filepath.Join(at, part)
		errs = append(errs, r.git.settle(at))
	}
	return errors.Join(errs...)
}

// Settle makes durable what another call made of the reference name.
func (r Repo) Settle(name string) error { return errors.Join(r.settleObjects(), r.settleRef(name)) }

// settle makes the names in a folder durable that changed lately, and since this process last did so.
func (g *Git) settle(dir string) error {
	now := time.Now()
	info, err := os.Stat(dir)
	if err == nil && now.Sub(info.ModTime()) < lately {
		if last, done := g.settled.Load(dir); done && info.ModTime().Add(clockStep).Before(last.(time.Time)) {
			return nil
		}
		if err = syncDir(dir); err == nil {
			g.settled.Store(dir, now)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err = f.Sync(); errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil // this file system has no better to give
	}
	return err
}

// settleAll makes everything below a folder durable.
func settleAll(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() && !entry.Type().IsRegular() {
			return err
		}
		return syncDir(path)
	})
}
