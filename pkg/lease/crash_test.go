package lease

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// mustTakeOver fails the test unless this process gets the lease of dir at
// once, with a token above last, a whole lease.json and nothing left over.
func mustTakeOver(t *testing.T, dir string, last int64) (token int64) {
	t.Helper()
	l, err := Acquire(t.Context(), dir, Options{TickID: "next"})
	if err != nil {
		t.Fatal(err)
	}
	if token = l.Holder().Token; token <= last {
		t.Errorf("token %d after %d", token, last)
	}
	if took := l.TookOver(); took != nil && took.Holder == nil {
		t.Errorf("the killed process left a bad file: %s", took)
	}
	if err := l.Check(); err != nil {
		t.Error(err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("after release the folder holds %v (%v), want lease.lock alone", entries, err)
	}
	return token
}

// TestKilledAtRandomPoints kills processes that acquire and release all the
// time. Where each is hit is chance; what must hold afterwards is not.
func TestKilledAtRandomPoints(t *testing.T) {
	dir := t.TempDir()
	last := int64(0)
	for range 100 {
		p := start(t, order{Dir: dir, TickID: "churn", Churn: true})
		if _, ok := p.answer(); !ok {
			t.Fatal("the process did not start")
		}
		time.Sleep(rand.N(2 * time.Millisecond))
		p.kill()
		last = mustTakeOver(t, dir, last)
	}
}

// TestKilledAtEachStep kills a process before each system call that a take-over
// consists of.
func TestKilledAtEachStep(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("NOT TESTED: strace is not installed")
	}
	for _, tc := range []struct{ at, file string }{
		{"flock:signal=KILL:when=1", "good"},
		{"pwrite64:signal=KILL:when=1", "good"}, // lease.lock, for its date
		{"pwrite64:signal=KILL:when=2", "good"}, // the token
		{"write:signal=KILL:when=1", "good"},    // the temporary file
		{"/^rename:signal=KILL:when=1", "good"}, // lease.json
		{"/^rename:signal=KILL:when=1", "bad"},  // setting the bad file aside
		{"/^rename:signal=KILL:when=2", "bad"},  // lease.json
	} {
		t.Run(tc.file+" "+tc.at, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, dir, foreign("old"), time.Hour)
			if tc.file == "bad" {
				putContent(t, dir, `{"fencing_token": 7, `)
			}
			p := start(t, order{Dir: dir, TickID: "killed"}, strace, "-f", "-qq", "-o", "/dev/null", "-e", "inject="+tc.at)
			if a, ok := p.answer(); ok {
				t.Fatalf("the process was not killed: %+v", a)
			}
			p.kill()
			l := acquire(t, dir, Options{TickID: "next"})
			if l.Holder().Token <= here.Token {
				t.Errorf("token %d after %d", l.Holder().Token, here.Token)
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, entry := range entries {
				if strings.Contains(entry.Name(), ".tmp-") {
					t.Errorf("%s is left", entry.Name())
				}
			}
			if err := l.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}
