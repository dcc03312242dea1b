package atomicfile_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
)

func TestReadLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	put(t, path, "12345")
	for _, tc := range []struct {
		limit int64
		want  error
	}{{4, atomicfile.ErrTooLarge}, {5, nil}, {6, nil}, {1<<63 - 1, nil}} {
		got, err := atomicfile.Read(path, tc.limit)
		if !errors.Is(err, tc.want) || (tc.want == nil && string(got) != "12345") {
			t.Errorf("limit %d: %q, %v; want %v", tc.limit, got, err, tc.want)
		}
	}
	// Its size says 0, so only reading shows how much it is.
	if got, err := atomicfile.Read("/proc/self/status", 10); !errors.Is(err, atomicfile.ErrTooLarge) {
		t.Errorf("a file that says it is empty: read %d bytes, %v", len(got), err)
	}
	if _, err := atomicfile.Read(path+"2", 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v, want fs.ErrNotExist", err)
	}
}

func TestOnlyRegularFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "target"), "secret")
	for name, make := range map[string]func(path string) error{
		"pipe":          func(p string) error { return syscall.Mkfifo(p, 0o644) },
		"folder":        func(p string) error { return os.Mkdir(p, 0o755) },
		"link":          func(p string) error { return os.Symlink("target", p) },
		"dangling link": func(p string) error { return os.Symlink("nowhere", p) },
		"device":        func(p string) error { return syscall.Mknod(p, syscall.S_IFCHR|0o666, 1<<8|5) }, // zero
		"socket": func(p string) error {
			listener, err := net.Listen("unix", p)
			if err == nil {
				t.Cleanup(func() { listener.Close() })
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
			if err := make(path); errors.Is(err, fs.ErrPermission) {
				t.Skipf("NOT TESTED: cannot be made here: %v", err)
			} else if err != nil {
				t.Fatal(err)
			}
			_, err := atomicfile.Read(path, 10)
			wantError(t, err, atomicfile.ErrNotRegular, path, "move it away")
			wantError(t, atomicfile.Append(path, []byte("x")), atomicfile.ErrNotRegular, path, "move it away")
		})
	}
	wantContent(t, filepath.Join(dir, "target"), "secret")
	if _, err := os.Lstat(filepath.Join(dir, "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("append made the target of a dangling link: %v", err)
	}
}

func TestFoldersMayBeLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.MkdirAll(filepath.Join(dir, "link", "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "link", "sub", "a")
	if err := atomicfile.Write(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := atomicfile.Read(path, 10); err != nil || string(got) != "x" {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestAppend(t *testing.T) {
	for _, tc := range []struct{ name, before, line, want string }{
		{"new file", "", "a", "a\n"},
		{"with newline", "", "a\n", "a\n"},
		{"after a line", "a\n", "b", "a\nb\n"},
		{"after a torn line", `{"a": 1}` + "\n" + `{"b`, `{"c": 1}`, `{"a": 1}` + "\n" + `{"b` + "\n" + `{"c": 1}` + "\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			if tc.before != "" {
				put(t, path, tc.before)
			}
			if err := atomicfile.Append(path, []byte(tc.line)); err != nil {
				t.Fatal(err)
			}
			wantContent(t, path, tc.want)
		})
	}
	path := filepath.Join(t.TempDir(), "log")
	if err := atomicfile.Append(path, []byte("two\nlines")); err == nil {
		t.Error("two lines were taken for one")
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused line left a file: %v", err)
	}
}

func TestAppendOfManyProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if said, ok := runChild(t, "append", path); !ok {
				t.Errorf("child: %s", said)
			}
		})
	}
	group.Wait()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(got)) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 3 || fields[2] != strings.Repeat("x", 200) || seen[fields[0]+fields[1]] {
			t.Fatalf("line %q is not one writer's, or is there twice", line)
		}
		seen[fields[0]+fields[1]] = true
	}
	if len(seen) != 8*50 {
		t.Errorf("%d lines, want %d", len(seen), 8*50)
	}
}

func TestMkdirAllAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b", "c", "d")
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if err := atomicfile.MkdirAll(dir+"/", 0o755); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Errorf("folder: %v", err)
	}
	t.Chdir(dir)
	if err := atomicfile.MkdirAll("rel/sub", 0o700); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat("rel/sub"); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v; want 0700", info.Mode(), err)
	}
}

func TestRemoveAndRename(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "sub", "b")
	put(t, a, "a")
	if err := atomicfile.MkdirAll(filepath.Dir(b), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, b, "b")
	if err := atomicfile.Rename(a, b); err != nil {
		t.Fatal(err)
	}
	wantContent(t, b, "a")
	wantNames(t, dir, "sub")
	if err := atomicfile.Remove(b); err != nil {
		t.Fatal(err)
	}
	wantNames(t, filepath.Dir(b))
	for name, err := range map[string]error{"remove": atomicfile.Remove(b), "rename": atomicfile.Rename(a, b)} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of nothing: %v, want fs.ErrNotExist", name, err)
		}
	}
}

func TestRenameFolder(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	if err := os.Mkdir(from, 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(from, "a"), "a")
	if err := atomicfile.Rename(from, to); err != nil {
		t.Fatal(err)
	}
	wantContent(t, filepath.Join(to, "a"), "a")
	if err := os.Mkdir(from, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Rename(from, to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("onto a folder: %v, want fs.ErrExist", err)
	}
	wantContent(t, filepath.Join(to, "a"), "a")
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	cut := time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)
	for name, age := range map[string]time.Duration{
		".a.json.tmp-0abc": time.Minute, ".a.json.tmp-1abc": 0, ".b.json.tmp-2abc": -time.Minute,
		".a.json.tmp-": time.Hour, ".a.json.tmp-u.p": time.Hour, "a.json.tmp-3": time.Hour, ".tmp-3": time.Hour, "a.json": time.Hour,
	} {
		path := filepath.Join(dir, name)
		put(t, path, "")
		if err := os.Chtimes(path, time.Time{}, cut.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".c.tmp-4"), 0o755); err != nil {
		t.Fatal(err)
	}
	if removed, err := atomicfile.Sweep(dir, cut); err != nil || removed != 1 {
		t.Errorf("removed %d, %v; want 1", removed, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".a.json.tmp-0abc")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old one is still there: %v", err)
	}
	if got := len(names(t, dir)); got != 8 {
		t.Errorf("%d names left, want 8", got)
	}
	if removed, err := atomicfile.Sweep(filepath.Join(dir, "none"), cut); err != nil || removed != 0 {
		t.Errorf("no folder: removed %d, %v; want nothing", removed, err)
	}
}

func TestIsTemporary(t *testing.T) {
	for name, want := range map[string]string{
		".a.json.tmp-1z": "a.json", "..hidden.tmp-0": ".hidden", ".x.tmp-1.tmp-2": "x.tmp-1",
		"a.json.tmp-1z": "", ".a.json": "", ".tmp-1": "", ".a.tmp-": "", ".a.tmp-not one": "",
	} {
		if base, ok := atomicfile.IsTemporary(name); base != want || ok != (want != "") {
			t.Errorf("%s: %q, %v; want %q", name, base, ok, want)
		}
	}
}
