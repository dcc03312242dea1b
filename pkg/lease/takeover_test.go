package lease

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestKilledHolderIsReplacedAtOnce(t *testing.T) {
	dir := t.TempDir()
	p, a := holding(t, order{Dir: dir, TickID: "killed"})
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.waitState("Z") // nobody has waited for it: a zombie must not look alive
	l := acquire(t, dir, Options{TickID: "next"})
	took := l.TookOver()
	if took == nil || took.Holder.PID != p.cmd.Process.Pid || took.Holder.TickID != "killed" || took.Kept != "" {
		t.Fatalf("took over %+v; want the killed process", took)
	}
	want := fmt.Sprintf("took over the lease of process %d on %s (tick killed): process %[1]d of this machine is gone",
		took.Holder.PID, took.Holder.Host)
	if got := took.String(); got != want {
		t.Errorf("report says %q, want %q", got, want)
	}
	if l.Holder().Token != a.Token+1 {
		t.Errorf("token %d after %d", l.Holder().Token, a.Token)
	}
}

// TestReusedProcessID has a living process with the id of the holder, that
// started at another time.
func TestReusedProcessID(t *testing.T) {
	dir := t.TempDir()
	p, _ := holding(t, order{Dir: dir, TickID: "t"})
	holder, _, err := Peek(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	_, err = Acquire(t.Context(), dir, Options{TickID: "next"})
	if held := new(HeldError); !errors.As(err, &held) {
		t.Fatalf("while process %d runs: %v", p.cmd.Process.Pid, err)
	}
	holder.Start++
	put(t, dir, *holder, 0)
	if took := acquire(t, dir, Options{TickID: "next"}).TookOver(); took == nil || !strings.Contains(took.How, "is gone") {
		t.Errorf("took over %v; want the holder to be gone", took)
	}
}

// TestHolderInAContainer has a holder whose process id means nothing here: that
// no such process is seen must not make it dead.
func TestHolderInAContainer(t *testing.T) {
	unshare := []string{"unshare", "--pid", "--fork", "--mount-proc", "--kill-child"}
	if out, err := exec.Command(unshare[0], append(unshare[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: no process namespace can be made here: %v: %s", err, out)
	}
	dir := t.TempDir()
	p := start(t, order{Dir: dir, TickID: "contained"}, unshare...)
	if a, ok := p.answer(); !ok || a.Error != "" {
		t.Fatalf("the process did not get the lease: %+v", a)
	}
	for _, state := range []string{"running", "killed"} {
		_, err := Acquire(t.Context(), dir, Options{TickID: "next"})
		if held := new(HeldError); !errors.As(err, &held) || !strings.HasPrefix(held.How, "it renewed") {
			t.Errorf("%s: %v; want it held, by time", state, err)
		}
		p.kill()
	}
	setAge(t, dir, DefaultTTL+time.Second)
	if took := acquire(t, dir, Options{TickID: "next"}).TookOver(); took == nil || took.Holder.TickID != "contained" {
		t.Errorf("took over %v; want the contained holder's", took)
	}
}

func TestSuspendedHolderOfThisHostIsNotOvertaken(t *testing.T) {
	dir := t.TempDir()
	p, _ := holding(t, order{Dir: dir, TickID: "suspended"})
	stopBetweenRenewals(t, p, dir)
	setAge(t, dir, 24*time.Hour)
	_, err := Acquire(t.Context(), dir, Options{TickID: "next"})
	var held *HeldError
	if !errors.As(err, &held) || !strings.Contains(err.Error(), "not renewed for 24h0m0s") || !strings.Contains(err.Error(), "kill -CONT") {
		t.Fatalf("%v; want it held, for how long without renewal, and how to go on", err)
	}
	if holder, alive, err := Peek(dir, time.Now()); err != nil || !alive || holder.TickID != "suspended" {
		t.Errorf("peek: %v, %v, %v; want the suspended process, alive", holder, alive, err)
	}
	p.kill()
	if took := acquire(t, dir, Options{TickID: "next"}).TookOver(); took == nil {
		t.Error("after it was killed nobody was taken over")
	}
}

// stopBetweenRenewals suspends the process while this one has the kernel lock,
// so it is not suspended with that.
func stopBetweenRenewals(t *testing.T, p *process, dir string) {
	t.Helper()
	g, err := lock(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer g.unlock()
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p.waitState("T")
}

func TestSuspendedHolderOfAnotherHostGivesUpWhenItWakes(t *testing.T) {
	for _, renews := range []bool{true, false} {
		t.Run(fmt.Sprint("renews ", renews), func(t *testing.T) {
			dir := t.TempDir()
			o := order{Dir: dir, TickID: "suspended", Host: "other", Boot: "other boot", Renew: 5 * time.Millisecond}
			if !renews { // then only Check can find out
				o.Renew = DefaultTTL / 2
			}
			p, a := holding(t, o)
			stopBetweenRenewals(t, p, dir)
			setAge(t, dir, DefaultTTL+time.Second)
			l := acquire(t, dir, Options{TickID: "next"})
			if took := l.TookOver(); took == nil || !strings.Contains(took.How, "not renewed for") || l.Holder().Token != a.Token+1 {
				t.Fatalf("took over %v with token %d; want the suspended holder's, by time", took, l.Holder().Token)
			}
			if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			steps := []string{"context", "check"}
			if !renews {
				steps = []string{"check", "context"}
			}
			for _, step := range steps {
				if a := p.ask(step); !a.Lost || !strings.Contains(a.Error, "tick next") {
					t.Errorf("%s: %+v; want it lost to the next tick", step, a)
				}
			}
			if a := p.ask("release"); a.Error != "" {
				t.Errorf("release: %+v", a)
			}
			if err := l.Check(); err != nil {
				t.Errorf("the winner after the loser's release: %v", err)
			}
		})
	}
}

func TestOthersLeases(t *testing.T) {
	const day = 24 * time.Hour
	self, now := Options{TickID: "next"}, time.Now()
	tests := []struct {
		name   string
		holder Holder
		age    time.Duration
		clock  time.Duration // how far this host's clock is ahead
		how    string        // of the take-over; empty: held
	}{
		{"another host, young", foreign("t"), time.Minute, 0, ""},
		{"another host, old", foreign("t"), 6 * time.Minute, 0, "its lease lasts 5m0s"},
		{"another host, young, our clock ahead", foreign("t"), time.Minute, day, ""},
		{"another host, young, our clock behind", foreign("t"), time.Minute, -day, ""},
		{"another host, old, our clock behind", foreign("t"), 6 * time.Minute, -day, "its lease lasts 5m0s"},
		{"another host, young, its clock behind", with(func(h *Holder) {
			*h = foreign("t")
			h.RenewedAt, h.ExpiresAt = now.Add(-9*day), now.Add(-9*day+5*time.Minute)
		}), time.Minute, 0, ""},
		{"another host, old, its clock ahead", with(func(h *Holder) {
			*h = foreign("t")
			h.RenewedAt, h.ExpiresAt = now.Add(9*day), now.Add(9*day+5*time.Minute)
		}), 6 * time.Minute, 0, "its lease lasts 5m0s"},
		{"another host, old, expires in a year", with(func(h *Holder) {
			*h = foreign("t")
			h.ExpiresAt = now.Add(365 * day)
		}), 6 * time.Minute, 0, "its lease lasts 5m0s"},
		{"this host, before it was restarted", with(func(h *Holder) {
			o, err := self.complete()
			if err != nil {
				t.Fatal(err)
			}
			*h = o.self()
			h.BootID, h.Token, h.RenewedAt, h.ExpiresAt = "before", 7, now, now.Add(5*time.Minute)
		}), 0, 0, "restarted"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, tc.holder, tc.age)
			o := self
			o.Now = func() time.Time { return time.Now().Add(tc.clock) }
			l, err := Acquire(t.Context(), dir, o)
			if tc.how == "" {
				if held := new(HeldError); !errors.As(err, &held) || held.Holder.TickID != "t" {
					t.Fatalf("%v; want it held", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if took := l.TookOver(); took == nil || !strings.Contains(took.How, tc.how) || l.Holder().Token != 8 {
				t.Errorf("took over %v with token %d; want token 8 and %q", took, l.Holder().Token, tc.how)
			}
			if err := l.Release(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFileFromTheFuture has the file system's clock put back after another
// host's renewal: the lease ages from when it was first seen so.
func TestFileFromTheFuture(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, foreign("t"), -1000*time.Hour)
	if _, err := Acquire(t.Context(), dir, Options{TickID: "next"}); !errors.As(err, new(*HeldError)) {
		t.Fatalf("%v; want it held", err)
	}
	info, err := os.Stat(filepath.Join(dir, leaseFile))
	if err != nil || info.ModTime().After(time.Now()) {
		t.Fatalf("modified %v (%v); want it dated to the present", info.ModTime(), err)
	}
}
