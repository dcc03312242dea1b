package lease

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestBadFile(t *testing.T) {
	good, err := here.encode()
	if err != nil {
		t.Fatal(err)
	}
	path := func(dir string) string { return filepath.Join(dir, leaseFile) }
	for name, tc := range map[string]struct {
		make  func(dir string) error
		token int64
	}{
		"empty":  {func(dir string) error { return os.WriteFile(path(dir), nil, 0o644) }, 6},
		"torn":   {func(dir string) error { return os.WriteFile(path(dir), good[:len(good)*3/4], 0o644) }, 8},
		"large":  {func(dir string) error { return os.WriteFile(path(dir), make([]byte, maxFile+1), 0o644) }, 6},
		"folder": {func(dir string) error { return os.Mkdir(path(dir), 0o755) }, 6},
		"pipe":   {func(dir string) error { return syscall.Mkfifo(path(dir), 0o644) }, 6},
		"link":   {func(dir string) error { return os.Symlink("/dev/zero", path(dir)) }, 6},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, lockFile), []byte("00005\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := tc.make(dir); err != nil {
				t.Fatal(err)
			}
			before, err := os.Lstat(path(dir))
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := Peek(dir, noon); err == nil {
				t.Error("peek has nothing to say about it")
			}
			o := Options{TickID: "next", Now: func() time.Time { return noon }}
			l := acquire(t, dir, o)
			if got := l.Holder().Token; got != tc.token {
				t.Errorf("token %d, want %d", got, tc.token)
			}
			took := l.TookOver()
			if took == nil || took.Holder != nil || !strings.Contains(took.String(), "could not be understood") {
				t.Fatalf("took over %v; want the reason", took)
			}
			if want := path(dir) + ".bad-20250601T120000.000000000Z"; took.Kept != want {
				t.Errorf("kept as %s, want %s", took.Kept, want)
			}
			if after, err := os.Lstat(took.Kept); err != nil || !os.SameFile(before, after) {
				t.Errorf("the bad file was not kept: %v", err)
			}
			if err := l.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNewerSchemaIsRespectedForAWhile(t *testing.T) {
	dir := t.TempDir()
	putContent(t, dir, `{"version": 2, "fencing_token": 40}`)
	setAge(t, dir, MaxTTL-time.Minute)
	_, err := Acquire(t.Context(), dir, Options{TickID: "next"})
	if err == nil || errors.As(err, new(*HeldError)) || !strings.Contains(err.Error(), "newer backburner (schema 2") {
		t.Fatalf("%v; want an error about the schema", err)
	}
	setAge(t, dir, MaxTTL+time.Minute)
	if l := acquire(t, dir, Options{TickID: "next"}); l.Holder().Token != 41 || l.TookOver().Kept == "" {
		t.Errorf("token %d, took over %v; want 41 and the file kept", l.Holder().Token, l.TookOver())
	}
}

func TestTokenSurvivesTheFiles(t *testing.T) {
	for name, lose := range map[string]string{"without lease.json": leaseFile, "without lease.lock": lockFile} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, foreign("t"), time.Hour)
			if err := os.WriteFile(filepath.Join(dir, lockFile), []byte("00007\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(dir, lose)); err != nil {
				t.Fatal(err)
			}
			if got := acquire(t, dir, Options{TickID: "next"}).Holder().Token; got != 8 {
				t.Errorf("token %d, want 8", got)
			}
		})
	}
}

// TestLockFileRemoved has somebody remove lease.lock while a process waits for
// it: two processes with a kernel lock on two files exclude nobody.
func TestLockFileRemoved(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		mustLock := func() *guard {
			g, err := lock(t.Context(), dir)
			if err != nil {
				t.Error(err)
			}
			return g
		}
		first := mustLock()
		got := make(chan *guard, 1)
		go func() { got <- mustLock() }()
		synctest.Wait()
		if err := os.Remove(filepath.Join(dir, lockFile)); err != nil {
			t.Fatal(err)
		}
		second := mustLock()
		first.unlock()
		time.Sleep(time.Minute) // in the bubble: the waiting one has tried often
		synctest.Wait()
		if len(got) > 0 {
			t.Error("the removed file gave a second process the lock")
		}
		second.unlock()
		(<-got).unlock()
	})
}

func TestLockPatienceEnds(t *testing.T) {
	dir := t.TempDir()
	g, err := lock(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer g.unlock()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errLockBusy)
	defer cancel()
	if _, err := lock(ctx, dir); !errors.Is(err, errLockBusy) {
		t.Errorf("%v, want %v", err, errLockBusy)
	}
}
