package lease

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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
	var processes []*process
	for i := range 50 {
		processes = append(processes, start(t, order{Dir: dir, TickID: fmt.Sprint("t", i)}))
	}
	winners := 0
	for i, p := range processes {
		switch a, ok := p.answer(); {
		case ok && a.Error == "":
			winners++
		case !ok || !a.Held:
			t.Errorf("process %d: %+v; want it to have the lease or to see it held", i, a)
		}
	}
	if winners != 1 {
		t.Errorf("%d processes got the lease, want 1", winners)
	}
}

// TestManyTakeOverOne has many breakers meet one dead holder.
func TestManyTakeOverOne(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, foreign("old"), time.Hour)
	var processes []*process
	for i := range 20 {
		processes = append(processes, start(t, order{Dir: dir, TickID: fmt.Sprint("t", i)}))
	}
	winners := 0
	for i, p := range processes {
		switch a, ok := p.answer(); {
		case ok && a.Error == "":
			winners++
			if a.Token != here.Token+1 || !strings.Contains(a.How, "its lease lasts") {
				t.Errorf("winner: %+v; want token %d and a reason", a, here.Token+1)
			}
		case !ok || !a.Held:
			t.Errorf("process %d: %+v; want it to have the lease or to see it held", i, a)
		}
	}
	if winners != 1 {
		t.Errorf("%d processes got the lease, want 1", winners)
	}
}

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
	first, err := lock(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, lockFile)
	stale, err := openLock(path)
	if err != nil {
		t.Fatal(err)
	}
	defer stale.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second, err := lock(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer second.unlock()
	if current, err := first.isCurrent(path); err != nil || current {
		t.Errorf("first lock is current: %v, %v; want it to be seen as void", current, err)
	}
	first.unlock()
	if current, err := second.isCurrent(path); err != nil || !current {
		t.Errorf("second lock is current: %v, %v", current, err)
	}
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

func TestOptionsThatCannotWork(t *testing.T) {
	dir := t.TempDir()
	for name, o := range map[string]Options{
		"no tick id": {}, "escape in tick id": {TickID: "\x1b[2J"}, "host of two lines": {TickID: "t", Host: "a\nb"},
		"too long": {TickID: "t", TTL: MaxTTL + 1}, "negative": {TickID: "t", TTL: -1},
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
