package lease

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestReadOnlyFolder(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("NOT TESTED: a file system cannot be mounted here: %v", err)
	}
	defer syscall.Unmount(dir, 0)
	put(t, dir, foreign("t"), time.Hour)
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skipf("NOT TESTED: cannot remount read-only: %v", err)
	}
	if _, err := Acquire(t.Context(), dir, Options{TickID: "t"}); !errors.Is(err, syscall.EROFS) || !strings.Contains(err.Error(), dir) {
		t.Errorf("acquire: %v, want EROFS and the path", err)
	}
	if holder, alive, err := Peek(dir, time.Now()); err != nil || alive || holder.TickID != "t" {
		t.Errorf("peek: %v, %v, %v; want the dead holder", holder, alive, err)
	}
}

func TestFullDiskTakesNothingOver(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=16k"); err != nil {
		t.Skipf("NOT TESTED: a file system cannot be mounted here: %v", err)
	}
	defer syscall.Unmount(dir, 0)
	put(t, dir, foreign("t"), time.Hour)
	before, err := os.ReadFile(filepath.Join(dir, leaseFile))
	if err != nil {
		t.Fatal(err)
	}
	_ = os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 64<<10), 0o644) // until it is full
	if _, err := Acquire(t.Context(), dir, Options{TickID: "next"}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("acquire: %v, want ENOSPC", err)
	}
	if after, err := os.ReadFile(filepath.Join(dir, leaseFile)); err != nil || string(after) != string(before) {
		t.Errorf("lease.json was changed (%v)", err)
	}
	if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
		t.Fatal(err)
	}
	l, err := Acquire(t.Context(), dir, Options{TickID: "next"})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}
