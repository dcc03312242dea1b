package lease

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fakeClock is a Now that stands still until it is told.
type fakeClock struct{ offset atomic.Int64 }

func (c *fakeClock) now() time.Time              { return noon.Add(time.Duration(c.offset.Load())) }
func (c *fakeClock) advance(by time.Duration)    { c.offset.Add(int64(by)) }
func (c *fakeClock) options(tick string) Options { return Options{TickID: tick, Now: c.now} }

func TestCheckByTheWallClock(t *testing.T) {
	var clock fakeClock
	dir := t.TempDir()
	l := acquire(t, dir, clock.options("t"))
	clock.advance(DefaultTTL/4*3 - 1)
	if err := l.Check(); err != nil {
		t.Fatalf("before the deadline: %v", err)
	}
	// A sleeping machine: timers have not fired, nobody else came.
	clock.advance(1)
	if err := l.Check(); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "not renewed for 3m45s") {
		t.Errorf("at the deadline: %v, want ErrLost and why", err)
	}
	if cause := context.Cause(l.Context()); !errors.Is(cause, ErrLost) {
		t.Errorf("cause of the context %v, want ErrLost", cause)
	}
	if l.renew(); !errors.Is(l.Check(), ErrLost) {
		t.Error("a late renewal brought a lost lease back")
	}
	// Lost by time but not to anybody: it is this holder's to give back.
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	if holder, _, err := Peek(dir, noon); holder != nil || err != nil {
		t.Errorf("after release: %v, %v", holder, err)
	}
}

// TestLateRenewal has the timer of a renewal fire before anybody asks, after a
// night's sleep.
func TestLateRenewal(t *testing.T) {
	var clock fakeClock
	dir := t.TempDir()
	l := acquire(t, dir, clock.options("t"))
	clock.advance(8 * time.Hour)
	if over := l.renew(); !over {
		t.Error("renewed after the deadline")
	}
	if err := l.Check(); !errors.Is(err, ErrLost) {
		t.Errorf("check: %v, want ErrLost", err)
	}
	if holder, _, err := Peek(dir, time.Now()); err != nil || !holder.RenewedAt.Equal(noon) {
		t.Errorf("on disk %+v (%v); want the old renewal", holder, err)
	}
}

func TestRenewMovesTheDeadline(t *testing.T) {
	var clock fakeClock
	dir := t.TempDir()
	l := acquire(t, dir, clock.options("t"))
	for range 10 {
		clock.advance(DefaultTTL / 2)
		if over := l.renew(); over {
			t.Fatalf("lost: %v", l.Check())
		}
		if err := l.Check(); err != nil {
			t.Fatal(err)
		}
	}
	holder, alive, err := Peek(dir, time.Now())
	if err != nil || !alive {
		t.Fatalf("peek: %v, %v", alive, err)
	}
	want := noon.Add(5 * DefaultTTL)
	if !holder.AcquiredAt.Equal(noon) || !holder.RenewedAt.Equal(want) || !holder.ExpiresAt.Equal(want.Add(DefaultTTL)) || holder.Token != 1 {
		t.Errorf("%+v; want it renewed at %s with its first token", holder, want)
	}
}

func TestCheckFindsTheFileChanged(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(path string, mine Holder) error
		says   string // empty: not lost
	}{
		"removed":  {func(path string, _ Holder) error { return os.Remove(path) }, "is gone"},
		"a folder": {func(path string, _ Holder) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) }, "not a regular file"},
		"nonsense": {func(path string, _ Holder) error { return os.WriteFile(path, []byte("{"), 0o644) }, "could not be understood"},
		"other token": {func(path string, mine Holder) error {
			mine.Token++
			return writeHolder(path, mine)
		}, "token 2, ours was 1"},
		"other tick": {func(path string, mine Holder) error {
			mine.TickID = "other"
			return writeHolder(path, mine)
		}, "tick other"},
		"same holder, other bytes": {func(path string, mine Holder) error {
			mine.RenewedAt = mine.RenewedAt.Add(time.Second)
			return writeHolder(path, mine)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := acquire(t, dir, Options{TickID: "t"})
			path := filepath.Join(dir, leaseFile)
			if err := tc.change(path, l.Holder()); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(path)
			err := l.Check()
			if tc.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("check: %v, want ErrLost saying %q", err, tc.says)
			}
			if !errors.Is(context.Cause(l.Context()), ErrLost) {
				t.Error("the context goes on")
			}
			if err := l.Release(); err != nil {
				t.Errorf("release: %v", err)
			}
			if after, _ := os.Lstat(path); (before == nil) != (after == nil) || before != nil && !os.SameFile(before, after) {
				t.Error("release changed what is not this holder's")
			}
		})
	}
}

func writeHolder(path string, h Holder) error {
	content, err := h.encode()
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}

// TestKeepsRenewing runs hours of a lease in the bubble's time.
func TestKeepsRenewing(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l, err := Acquire(t.Context(), dir, Options{TickID: "t"})
		if err != nil {
			t.Fatal(err)
		}
		acquired := time.Now()
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if err := l.Check(); err != nil {
			t.Error(err)
		}
		if got, want := l.Holder().RenewedAt.Sub(acquired.Round(0)), 3*time.Hour; got != want {
			t.Errorf("last renewed %s after it was acquired, want %s", got, want)
		}
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	})
}

func TestContextEndsWhenRenewingFails(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l, err := Acquire(t.Context(), dir, Options{TickID: "t"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		last := time.Now()
		path := filepath.Join(dir, lockFile)
		if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o755)); err != nil {
			t.Fatal(err)
		}
		<-l.Context().Done()
		if got, want := time.Since(last), DefaultTTL/4*3; got != want {
			t.Errorf("gave up after %s, want %s: others wait %s", got, want, DefaultTTL)
		}
		cause := context.Cause(l.Context())
		if !errors.Is(cause, ErrLost) || !strings.Contains(cause.Error(), "is a directory") {
			t.Errorf("cause %v, want ErrLost and what went wrong", cause)
		}
		// A loop that went on without a pause would stop the bubble's time.
		time.Sleep(time.Hour)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	})
}

// TestContextEndsSoonAfterASleep has the machine sleep, which stops its timers
// and not its clock, and renewing hang when it wakes: what is left of the
// deadline's timer must not be waited for.
func TestContextEndsSoonAfterASleep(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var slept atomic.Int64
		now := func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
		l, err := Acquire(t.Context(), dir, Options{TickID: "t", Now: now, Renew: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		g, err := lock(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // its loops are waiting for their timers
		slept.Store(int64(8 * time.Hour))
		woken := time.Now()
		<-l.Context().Done()
		if got := time.Since(woken); got > time.Minute {
			t.Errorf("noticed %s after waking, want a renewal's interval at most", got)
		}
		g.unlock()
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	})
}

// TestContextEndsWhenRenewingHangs has the kernel lock held by one who does not
// get on, as in a file system that hangs.
func TestContextEndsWhenRenewingHangs(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l, err := Acquire(t.Context(), dir, Options{TickID: "t"})
		if err != nil {
			t.Fatal(err)
		}
		g, err := lock(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		<-l.Context().Done()
		if got, want := time.Since(began), DefaultTTL/4*3; got != want {
			t.Errorf("gave up after %s, want %s", got, want)
		}
		if err := l.Release(); !errors.Is(err, errLockBusy) {
			t.Errorf("release: %v, want %v", err, errLockBusy)
		}
		if took := time.Since(began) - DefaultTTL/4*3; took > releasePatience {
			t.Errorf("release took %s, want at most %s", took, releasePatience)
		}
		g.unlock()
		if err := l.Release(); err != nil {
			t.Errorf("release once more: %v", err)
		}
	})
}

// TestRenewsAfterThePassIsToldToStop has the holder's context end: what it still
// has to save needs the lease.
func TestRenewsAfterThePassIsToldToStop(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		l, err := Acquire(ctx, dir, Options{TickID: "t"})
		if err != nil {
			t.Fatal(err)
		}
		stop()
		if cause := context.Cause(l.Context()); cause == nil || errors.Is(cause, ErrLost) {
			t.Errorf("cause %v, want the one of the pass", cause)
		}
		time.Sleep(time.Hour)
		if err := l.Check(); err != nil {
			t.Error(err)
		}
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	})
}

func TestAcquireWithAnEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if _, err := Acquire(ctx, dir, Options{TickID: "t"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%d files (%v), want none", len(entries), err)
	}
}

func BenchmarkCheck(b *testing.B) {
	dir := b.TempDir()
	l, err := Acquire(b.Context(), dir, Options{TickID: "t"})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Release()
	for b.Loop() {
		if err := l.Check(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAcquireRelease(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		l, err := Acquire(b.Context(), dir, Options{TickID: "t"})
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Release(); err != nil {
			b.Fatal(err)
		}
	}
}
