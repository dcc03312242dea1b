package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/work"
)

func TestSubmit(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	var ids []string
	for i := range 20 { // the clock stands still
		r := &work.Request{Verb: work.VerbAnswer, Workstream: "x", By: "ann", Text: fmt.Sprint(i)}
		before := atomicfile.Syncs()
		if err := s.Submit(r); err != nil {
			t.Fatal(err)
		}
		if n := atomicfile.Syncs() - before; n != 2 {
			t.Errorf("%d fsyncs: it is not durable, or costs more than it must", n)
		}
		ids = append(ids, r.ID)
	}
	if !regexp.MustCompile(`^20261130T120000\.000000000Z-[0-9a-f]{12}$`).MatchString(ids[0]) || !slices.IsSorted(ids) {
		t.Errorf("%q", ids)
	}
	requests, aside, err := s.Requests()
	if err != nil || len(aside) > 0 || len(requests) != 20 {
		t.Fatal(len(requests), aside, err)
	}
	for i, r := range requests {
		if r.Text != fmt.Sprint(i) || r.ID != ids[i] || !r.At.Equal(noon.Add(time.Duration(i))) || r.Schema != 1 || r.By != "ann" {
			t.Errorf("%d: %+v", i, r)
		}
	}
	if names, err := s.RequestNames(); err != nil || !slices.Equal(names, ids) {
		t.Errorf("%v %v", names, err)
	}
}

func TestSubmitRefuses(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	before := tree(t, s.dir)
	for want, r := range map[string]*work.Request{
		"no verb":       {Workstream: "x"},
		"workstream":    {Verb: work.VerbRetry, Workstream: "../x"},
		"request id":    {Verb: work.VerbRetry, ID: "done/x"},
		"at most":       {Verb: work.VerbAdd, Body: strings.Repeat("\x00", maxRecord/5)},
		"ends in .json": {Verb: work.VerbRetry, ID: "x.json"},
	} {
		if err := s.Submit(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if tree(t, s.dir) != before {
		t.Error("something was written")
	}
}

func TestSubmitWithAnIDHappensOnce(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	r := &work.Request{ID: "20261130T101112.000000000Z-comment-7", Verb: work.VerbRetry}
	if err := s.Submit(r); err != nil {
		t.Fatal(err)
	}
	if err := s.Submit(r); !errors.Is(err, fs.ErrExist) {
		t.Errorf("in the inbox: %v", err)
	}
	r.Progress.Decision = work.Applied
	if err := s.SettleRequest(r); err != nil {
		t.Fatal(err)
	}
	if err := s.Submit(&work.Request{ID: r.ID, Verb: work.VerbRetry}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("settled: %v", err)
	}
}

func TestSettleRequest(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	r := &work.Request{Verb: work.VerbRetry, Workstream: "x"}
	if err := s.Submit(r); err != nil {
		t.Fatal(err)
	}
	r.Progress = work.Progress{Decision: work.Deferred, Reason: "capacity_full"}
	if err := s.SettleRequest(r); err == nil || !exists(s.requestFile(r.ID)) {
		t.Errorf("an undecided request was settled: %v", err)
	}
	if err := s.SaveRequest(r); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := s.Requests(); len(got) != 1 || got[0].Progress.Reason != "capacity_full" {
		t.Errorf("%+v", got)
	}
	r.Progress = work.Progress{Decision: work.Rejected, Reason: "not_permitted"}
	for range 2 {
		if err := s.SettleRequest(r); err != nil {
			t.Fatal(err)
		}
		if exists(s.requestFile(r.ID)) || !strings.Contains(read(t, s.settledFile(r.ID)), "not_permitted") {
			t.Error("it was not moved")
		}
	}
	if got, _, _ := s.Requests(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if err := s.SaveRequest(r); err != nil || exists(s.requestFile(r.ID)) {
		t.Errorf("saving it brought it back: %v", err)
	}
}

// A crash after the decision was saved and before the file moved.
func TestSettledRequestInTheInbox(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	r := &work.Request{Verb: work.VerbRetry, Workstream: "x"}
	if err := s.Submit(r); err != nil {
		t.Fatal(err)
	}
	r.Progress.Decision = work.Applied
	if err := s.SaveRequest(r); err != nil {
		t.Fatal(err)
	}
	readOnly, err := Open(s.dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, store := range []*Store{readOnly, s} {
		if got, aside, err := store.Requests(); len(got) != 0 || len(aside) != 0 || err != nil {
			t.Errorf("%v %v %v", got, aside, err)
		}
	}
	if exists(s.requestFile(r.ID)) || !exists(s.settledFile(r.ID)) {
		t.Error("it was not moved on")
	}
}

// A person took a request out of the inbox while it was decided.
func TestSettleARemovedRequest(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	r := &work.Request{Verb: work.VerbRetry, Workstream: "x"}
	if err := s.Submit(r); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.requestFile(r.ID)); err != nil {
		t.Fatal(err)
	}
	r.Progress.Decision = work.Applied
	if err := s.SettleRequest(r); err != nil || !exists(s.settledFile(r.ID)) || exists(s.requestFile(r.ID)) {
		t.Errorf("%v", err)
	}
}

func TestHostileRequestsAreSetAside(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	good := &work.Request{Verb: work.VerbRetry, Workstream: "x"}
	if err := s.Submit(good); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"half.json":       `{"schema":1,"id":"half","verb":"retry"`,
		"other.json":      `{"schema":1,"id":"../x","verb":"retry"}`,
		"path.json":       `{"schema":1,"id":"path","verb":"retry","workstream":"../../etc/passwd"}`,
		"nothing.json":    `{"schema":1,"id":"nothing"}`,
		"large.json":      strings.Repeat(" ", maxRecord+1),
		"../bomb.txt":     "",
		"ignored.txt":     "",
		".a.json.tmp-1":   "",
		"-option.json":    "",
		"with space.json": "",
	} {
		write(t, s.path("requests", name), content)
	}
	if err := os.Symlink("/dev/zero", s.path("requests", "link.json")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(s.path("requests", "pipe.json"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, aside, err := s.Requests()
	if err != nil || len(got) != 1 || got[0].ID != good.ID || len(aside) != 7 {
		t.Fatalf("%v, %d: %v, %v", got, len(aside), aside, err)
	}
	if got, aside, err := s.Requests(); err != nil || len(got) != 1 || len(aside) != 0 {
		t.Errorf("they are reported twice: %v %v", aside, err)
	}
}

const submitEnv = "STORE_TEST_SUBMIT"

// TestMain lets this binary be the many processes of TestSubmitAtOnce and the
// victim of TestKilledWhileSaving.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(submitEnv) != "":
		os.Exit(submitMany(os.Getenv(submitEnv)))
	case os.Getenv(saveEnv) != "":
		saveForever(os.Getenv(saveEnv))
	}
	os.Exit(m.Run())
}

const perProcess = 20

func submitMany(dir string) int {
	s, err := Open(dir, Options{})
	for i := range perProcess {
		if err == nil {
			err = s.Submit(&work.Request{Verb: work.VerbAnswer, By: fmt.Sprint(os.Getpid()), Priority: i})
		}
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// Many processes and goroutines submit while a pass reads and settles: nothing
// is lost, nothing is seen half, and every submitter's order is kept.
func TestSubmitAtOnce(t *testing.T) {
	const processes, goroutines = 6, 4
	s := mustOpen(t, t.TempDir())
	var wg sync.WaitGroup
	var done atomic.Bool
	for range processes {
		wg.Go(func() {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), submitEnv+"="+s.dir)
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	for g := range goroutines {
		wg.Go(func() {
			for i := range perProcess {
				if err := s.Submit(&work.Request{Verb: work.VerbAnswer, By: fmt.Sprintf("g%d", g), Priority: i}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { wg.Wait(); done.Store(true) }()

	last := make(map[string]int)
	seen := 0
	for finished := false; !finished; {
		finished = done.Load() // what was submitted before this is seen below
		requests, aside, err := s.Requests()
		if err != nil || len(aside) > 0 {
			t.Fatal(aside, err)
		}
		for _, r := range requests {
			if next := last[r.By]; r.Priority != next {
				t.Errorf("%s: %d came when %d was expected", r.By, r.Priority, next)
			}
			last[r.By]++
			seen++
			r.Progress.Decision = work.Applied
			if err := s.SettleRequest(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if want := (processes + goroutines) * perProcess; seen != want {
		t.Errorf("%d of %d requests were seen", seen, want)
	}
}
