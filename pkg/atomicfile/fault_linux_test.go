package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
)

// mountTmpfs returns a file system of its own, of 64 kB, or skips the test.
func mountTmpfs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("NOT TESTED: a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestFullDisk(t *testing.T) {
	dir := mountTmpfs(t)
	path := filepath.Join(dir, "a.json")
	put(t, path, "old")
	put(t, filepath.Join(dir, "filler"), strings.Repeat("x", 40<<10))
	big := []byte(strings.Repeat("y", 40<<10))

	wantError(t, atomicfile.Write(path, big, 0o644), syscall.ENOSPC, path, "free space")
	wantContent(t, path, "old")
	fresh := filepath.Join(dir, "b.json")
	wantError(t, atomicfile.Create(fresh, big, 0o644), syscall.ENOSPC, fresh, "free space")
	wantNames(t, dir, "a.json", "filler")

	// A line cut short by the full disk spoils itself and not the next one.
	log := filepath.Join(dir, "log.jsonl")
	if err := atomicfile.Append(log, []byte("whole")); err != nil {
		t.Fatal(err)
	}
	wantError(t, atomicfile.Append(log, big), syscall.ENOSPC, log, "free space")
	if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Append(log, []byte("next")); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(got), "\n")
	if len(lines) != 4 || lines[0] != "whole" || lines[2] != "next" || len(lines[1]) == len(big) {
		t.Errorf("log has %d lines, first %.10q, want whole, a torn one, next", len(lines), lines[0])
	}
}

func TestReadOnlyFileSystem(t *testing.T) {
	dir := mountTmpfs(t)
	path := filepath.Join(dir, "a.json")
	put(t, path, "old")
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skipf("NOT TESTED: cannot remount read-only: %v", err)
	}
	for name, call := range map[string]func() error{
		"write":  func() error { return atomicfile.Write(path, []byte("new"), 0o644) },
		"append": func() error { return atomicfile.Append(path, []byte("new")) },
		"remove": func() error { return atomicfile.Remove(path) },
		"rename": func() error { return atomicfile.Rename(path, path+"2") },
		"mkdir":  func() error { return atomicfile.MkdirAll(filepath.Join(dir, "sub"), 0o755) },
	} {
		t.Run(name, func(t *testing.T) { wantError(t, call(), syscall.EROFS, dir, "mount it writable") })
	}
	wantContent(t, path, "old")
}

// TestLimitsOfTheProcess has the kernel refuse one step of a save, by a limit or
// by permission, in a process of its own.
func TestLimitsOfTheProcess(t *testing.T) {
	for _, tc := range []struct{ action, says string }{
		{"fsize", "file too large (raise the file size limit"},
		{"fsize create", "file too large (raise the file size limit"},
		{"nofile", "too many open files (raise the limit"},
		{"nobody", "permission denied (check who owns it"},
		{"nobody create", "permission denied (check who owns it"},
	} {
		t.Run(tc.action, func(t *testing.T) {
			// Not t.TempDir: another user must get as far as this folder.
			dir, err := os.MkdirTemp("", "atomicfile")
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "a.json")
			want := []string(nil)
			if !strings.HasSuffix(tc.action, "create") {
				put(t, path, "old")
				want = []string{"a.json"}
			}
			if strings.HasPrefix(tc.action, "nobody") {
				if err := os.Chmod(dir, 0o555); err != nil {
					t.Fatal(err)
				}
			}
			said, ok := runChild(t, tc.action, path)
			if ok || !strings.Contains(said, tc.says) || !strings.Contains(said, path+": ") {
				t.Errorf("child said %q (ended well: %v), want %q", said, ok, tc.says)
			}
			wantNames(t, dir, want...)
			if want != nil {
				wantContent(t, path, "old")
			}
		})
	}
}

func TestSomethingElseIsThere(t *testing.T) {
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "file"), filepath.Join(dir, "folder")
	put(t, file, "x")
	if err := os.MkdirAll(filepath.Join(folder, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(file, "below")
	wantError(t, atomicfile.Write(folder, nil, 0o644), syscall.EISDIR, folder, "a folder is where a file is needed")
	wantError(t, atomicfile.Rename(file, folder), syscall.EISDIR, folder, "a folder is where a file is needed")
	wantError(t, atomicfile.Write(below, nil, 0o644), syscall.ENOTDIR, below, "a file is where a folder is needed")
	wantError(t, atomicfile.MkdirAll(file, 0o755), syscall.ENOTDIR, file, "a file is where a folder is needed")
	wantError(t, atomicfile.MkdirAll(below, 0o755), syscall.ENOTDIR, below, "a file is where a folder is needed")
	wantNames(t, dir, "file", "folder")
	if err := atomicfile.Write(filepath.Join(dir, "none", "a"), nil, 0o644); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want fs.ErrNotExist", err)
	}
}

// TestFaultAtEveryStep has a tracer make one system call of a save go wrong, or
// kill the process there, for each call a save consists of.
func TestFaultAtEveryStep(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("NOT TESTED: strace is not installed")
	}
	const rename = "/^rename"
	for _, tc := range []struct {
		action, inject string
		content        string // what must be there afterwards
	}{
		{"write", "write:error=EIO:when=1", "old"},
		{"write", "fsync:error=EIO:when=1", "old"},
		{"write", rename + ":error=EXDEV:when=1", "old"},
		{"write", "fsync:error=EIO:when=2", newContent}, // the folder's: in place, in doubt
		{"write", "write:signal=KILL:when=1", "old"},
		{"write", "fsync:signal=KILL:when=1", "old"},
		{"write", rename + ":signal=KILL:when=1", "old"},
		{"write", "fsync:signal=KILL:when=2", newContent},
		{"create", "fsync:error=EIO:when=1", ""},
		{"create", rename + ":error=EACCES:when=1", ""},
		{"create", rename + ":signal=KILL:when=1", ""},
	} {
		t.Run(tc.action+" "+tc.inject, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "a.json")
			if tc.action == "write" {
				put(t, path, "old")
			}
			said, ok := runChild(t, tc.action, path, strace, "-f", "-qq", "-o", "/dev/null", "-e", "inject="+tc.inject)
			if strings.Contains(said, "ptrace") {
				t.Skipf("NOT TESTED: tracing is not allowed here: %s", said)
			}
			if ok {
				t.Fatal("the child ended well: the fault did not reach it")
			}
			killed := strings.Contains(tc.inject, "KILL")
			left := 0
			for _, name := range names(t, dir) {
				if _, temporary := atomicfile.IsTemporary(name); temporary {
					left++
				}
			}
			if left > 0 && !killed {
				t.Errorf("%d temporary files left after an error that could be handled", left)
			}
			if swept, err := atomicfile.Sweep(dir, time.Now().Add(time.Hour)); err != nil || swept != left {
				t.Errorf("swept %d (%v), want %d", swept, err, left)
			}
			if tc.content == "" {
				wantNames(t, dir)
				return
			}
			wantNames(t, dir, "a.json")
			wantContent(t, path, tc.content)
		})
	}
}
