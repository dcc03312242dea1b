package atomicfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
)

func TestWriteReplaces(t *testing.T) {
	writers := map[string]func(string, []byte, fs.FileMode) error{
		"Write": atomicfile.Write, "WriteRelaxed": atomicfile.WriteRelaxed,
	}
	for name, write := range writers {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "a.json")
			for _, content := range []string{"first", "", "second, longer"} {
				if err := write(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				wantContent(t, path, content)
			}
			wantNames(t, dir, "a.json")
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode() != 0o600 {
				t.Errorf("mode %v, want 0600", info.Mode())
			}
		})
	}
}

func TestWriteInWorkingFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := atomicfile.Write("plain", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Create("exclusive", []byte("y"), 0o644); err != nil {
		t.Fatal(err)
	}
	wantNames(t, ".", "exclusive", "plain")
}

func TestWriteDoesNotFollowLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	put(t, target, "somebody else's")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(link, []byte("ours"), 0o644); err != nil {
		t.Fatal(err)
	}
	wantContent(t, target, "somebody else's")
	wantContent(t, link, "ours")
	if info, err := os.Lstat(link); err != nil || !info.Mode().IsRegular() {
		t.Errorf("link is %v, %v; want a regular file", info.Mode(), err)
	}
}

func TestWriteLongestName(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("n", 255))
	if err := atomicfile.Write(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	wantNames(t, dir, filepath.Base(path))
}

// TestReadersSeeWholeContent has writers and readers meet at one path; content
// is one letter repeated, so any mixture shows.
func TestReadersSeeWholeContent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	const size = 64 << 10
	put(t, path, strings.Repeat("a", size))
	var writers, readers sync.WaitGroup
	var done atomic.Bool
	for _, letter := range []string{"b", "c"} {
		writers.Go(func() {
			for range 100 {
				if err := atomicfile.WriteRelaxed(path, []byte(strings.Repeat(letter, size)), 0o644); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			for !done.Load() {
				got, err := atomicfile.Read(path, size)
				if err != nil || len(got) != size || !bytes.Equal(got, bytes.Repeat(got[:1], size)) {
					t.Errorf("read %d bytes (%v), want %d of one letter", len(got), err, size)
					return
				}
			}
		})
	}
	writers.Wait()
	done.Store(true)
	readers.Wait()
}

func TestCreateLeavesWhatIsThere(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"file":          func(p string) error { return os.WriteFile(p, []byte("old"), 0o644) },
		"folder":        func(p string) error { return os.Mkdir(p, 0o755) },
		"dangling link": func(p string) error { return os.Symlink("nowhere", p) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "a.json")
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			before, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := atomicfile.Create(path, []byte("new"), 0o644); !errors.Is(err, fs.ErrExist) {
				t.Errorf("error %v, want fs.ErrExist", err)
			}
			after, err := os.Lstat(path)
			if err != nil || !os.SameFile(before, after) {
				t.Errorf("what was there was replaced (%v)", err)
			}
			wantNames(t, dir, "a.json")
		})
	}
}

func TestCreateHasOneWinner(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	var wins atomic.Int32
	var winner atomic.Value
	var group sync.WaitGroup
	start := make(chan struct{})
	for i := range 50 {
		group.Go(func() {
			<-start
			content := fmt.Sprint("writer ", i)
			switch err := atomicfile.Create(path, []byte(content), 0o644); {
			case err == nil:
				wins.Add(1)
				winner.Store(content)
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
		})
	}
	close(start)
	group.Wait()
	if wins.Load() != 1 {
		t.Fatalf("%d of 50 won, want 1", wins.Load())
	}
	wantContent(t, path, winner.Load().(string))
	wantNames(t, dir, "a.json")
}

func TestSyncsCountsWhatSavingCosts(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	count := func(call func() error) int64 {
		t.Helper()
		before := atomicfile.Syncs()
		if err := call(); err != nil {
			t.Fatal(err)
		}
		return atomicfile.Syncs() - before
	}
	for _, step := range []struct {
		name string
		call func() error
		want int64
	}{
		{"Write", func() error { return atomicfile.Write(path, []byte("x"), 0o644) }, 2},
		{"WriteRelaxed", func() error { return atomicfile.WriteRelaxed(path, []byte("x"), 0o644) }, 0},
		{"Create", func() error { return atomicfile.Create(path+"2", []byte("x"), 0o644) }, 2},
		{"WriteAll of two", func() error { return atomicfile.WriteAll(dir, map[string][]byte{"y": nil, "z": nil}, 0o644) }, 3},
		{"Append", func() error { return atomicfile.Append(path, []byte("x")) }, 0},
		{"MkdirAll of two", func() error { return atomicfile.MkdirAll(filepath.Join(dir, "b", "c"), 0o755) }, 2},
		{"MkdirAll of none", func() error { return atomicfile.MkdirAll(filepath.Join(dir, "b", "c"), 0o755) }, 0},
		{"Rename within", func() error { return atomicfile.Rename(path+"2", path+"3") }, 1},
		{"Rename across", func() error { return atomicfile.Rename(path+"3", filepath.Join(dir, "b", "a")) }, 2},
		{"Remove", func() error { return atomicfile.Remove(path) }, 1},
	} {
		if got := count(step.call); got != step.want {
			t.Errorf("%s: %d fsyncs, want %d", step.name, got, step.want)
		}
	}
}

func BenchmarkSave20kB(b *testing.B) {
	data := bytes.Repeat([]byte("x"), 20<<10)
	for _, bench := range []struct {
		name string
		save func(string, []byte, fs.FileMode) error
	}{
		{"floor/os.WriteFile", os.WriteFile},
		{"WriteRelaxed", atomicfile.WriteRelaxed},
		{"Write", atomicfile.Write},
	} {
		b.Run(bench.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "a.json")
			before := atomicfile.Syncs()
			for b.Loop() {
				if err := bench.save(path, data, 0o644); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(atomicfile.Syncs()-before)/float64(b.N), "fsyncs/op")
		})
	}
}

func BenchmarkRead20kB(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a.json")
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 20<<10), 0o644); err != nil {
		b.Fatal(err)
	}
	b.Run("floor/os.ReadFile", func(b *testing.B) {
		for b.Loop() {
			if _, err := os.ReadFile(path); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Read", func(b *testing.B) {
		for b.Loop() {
			if _, err := atomicfile.Read(path, 1<<20); err != nil {
				b.Fatal(err)
			}
		}
	})
}
