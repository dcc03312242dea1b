package lease

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// acquire fails the test unless this process gets the lease.
func acquire(t *testing.T, dir string, o Options) *Lease {
	t.Helper()
	l, err := Acquire(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Release(); err != nil {
			t.Errorf("release: %v", err)
		}
	})
	return l
}

// put writes lease.json for h as if written age ago.
func put(t *testing.T, dir string, h Holder, age time.Duration) {
	t.Helper()
	content, err := h.encode()
	if err != nil {
		t.Fatal(err)
	}
	putContent(t, dir, string(content))
	setAge(t, dir, age)
}

func putContent(t *testing.T, dir, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, leaseFile), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func setAge(t *testing.T, dir string, age time.Duration) {
	t.Helper()
	then := time.Now().Add(-age)
	if err := os.Chtimes(filepath.Join(dir, leaseFile), then, then); err != nil {
		t.Fatal(err)
	}
}

// foreign is a holder on another host.
func foreign(tick string) Holder {
	return with(func(h *Holder) { h.Host, h.BootID, h.TickID = "other", "other boot", tick })
}

func TestAcquireReleaseAcquire(t *testing.T) {
	dir := t.TempDir()
	for want := int64(1); want <= 3; want++ {
		l := acquire(t, dir, Options{TickID: "t"})
		if got := l.Holder().Token; got != want || l.TookOver() != nil {
			t.Errorf("token %d, took over %v; want %d and a free lease", got, l.TookOver(), want)
		}
		if err := l.Check(); err != nil {
			t.Error(err)
		}
		if err := l.Release(); err != nil {
			t.Fatal(err)
		}
		if err := l.Check(); err == nil || errors.Is(err, ErrLost) {
			t.Errorf("check after release: %v; want an error of its own", err)
		}
		if l.Context().Err() == nil {
			t.Error("the context goes on after release")
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, leaseFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("lease.json after release: %v, want it gone", err)
	}
}

func TestHeldByThisProcess(t *testing.T) {
	dir := t.TempDir()
	l := acquire(t, dir, Options{TickID: "one"})
	_, err := Acquire(t.Context(), dir, Options{TickID: "two"})
	var held *HeldError
	if !errors.As(err, &held) || held.Holder != l.Holder() {
		t.Fatalf("second: %v, want a HeldError of the first", err)
	}
	for _, want := range []string{fmt.Sprintf("process %d", os.Getpid()), "tick one", "renewed 0s ago", "kill", "--on-busy wait"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

func TestFiftyAtOnce(t *testing.T) {
	dir := t.TempDir()
	winner := oneWinner(t, startAll(t, 50, dir))
	if winner.Token != 1 || winner.How != "" {
		t.Errorf("winner: %+v; want the first token of a free lease", winner)
	}
}

// TestFiftyTakeOverOne has many breakers meet one dead holder.
func TestFiftyTakeOverOne(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, foreign("old"), time.Hour)
	winner := oneWinner(t, startAll(t, 50, dir))
	if winner.Token != here.Token+1 || !strings.Contains(winner.How, "its lease lasts") {
		t.Errorf("winner: %+v; want token %d and a reason", winner, here.Token+1)
	}
}

// oneWinner fails the test unless exactly one has the lease and all others saw
// it held.
func oneWinner(t *testing.T, all []*process) (winner answer) {
	t.Helper()
	winners := 0
	for i, p := range all {
		switch a, ok := p.answer(); {
		case ok && a.Error == "":
			winners++
			winner = a
		case !ok || !a.Held:
			t.Errorf("process %d: %+v; want it to have the lease or to see it held", i, a)
		}
	}
	if winners != 1 {
		t.Fatalf("%d processes got the lease, want 1", winners)
	}
	return winner
}

func TestOptionsThatCannotWork(t *testing.T) {
	dir := t.TempDir()
	for name, o := range map[string]Options{
		"no tick id": {}, "escape in tick id": {TickID: "\x1b[2J"}, "host of two lines": {TickID: "t", Host: "a\nb"},
		"too long": {TickID: "t", TTL: MaxTTL + 1}, "negative": {TickID: "t", TTL: -1}, "too short to renew": {TickID: "t", TTL: 9},
		"renewed too late": {TickID: "t", TTL: time.Minute, Renew: 31 * time.Second}, "never renewed": {TickID: "t", Renew: math.MinInt64},
	} {
		if l, err := Acquire(t.Context(), dir, o); err == nil {
			t.Errorf("%s: accepted: %+v", name, l.Holder())
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%d files (%v), want none", len(entries), err)
	}
}

func TestWaitGetsTheLeaseWhenItIsReleased(t *testing.T) {
	dir := t.TempDir()
	p, a := holding(t, order{Dir: dir, TickID: "first"})
	got := make(chan answer)
	go func() {
		l, err := Wait(t.Context(), dir, Options{TickID: "second"})
		a := answerOf(l, err)
		if err == nil {
			err = l.Release()
		}
		if err != nil {
			t.Error(err)
		}
		got <- a
	}()
	if a := p.ask("release"); a.Error != "" {
		t.Fatalf("release: %+v", a)
	}
	if second := <-got; second.Error != "" || second.Token != a.Token+1 || second.How != "" {
		t.Errorf("second: %+v; want the free lease with token %d", second, a.Token+1)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	acquire(t, dir, Options{TickID: "first"})
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("deadline of the tick")
	done := make(chan error)
	go func() {
		_, err := Wait(ctx, dir, Options{TickID: "second"})
		done <- err
	}()
	cancel(cause)
	err := <-done
	if !errors.Is(err, cause) {
		t.Errorf("%v, want the cause", err)
	}
}
