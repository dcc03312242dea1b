package pass

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/work"
)

// memory is a store that only counts.
type memory struct {
	Store
	inbox atomic.Pointer[[]string]
	saved []string
	fail  error
}

func (m *memory) Save(w *work.Workstream) error {
	if m.fail != nil {
		return m.fail
	}
	w.Version++
	m.saved = append(m.saved, w.ID)
	return nil
}
func (m *memory) SaveRepository(*work.Repository) error { return nil }
func (m *memory) SaveAgents(*work.AgentStates) error    { return nil }
func (m *memory) SaveLedger(*work.Ledger) error         { return nil }
func (m *memory) RequestNames() ([]string, error) {
	if names := m.inbox.Load(); names != nil {
		return *names, nil
	}
	return nil, nil
}

func (m *memory) submit(name string) { m.inbox.Store(&[]string{name}) }

// phase is a phase made of a function.
type phase func(board *work.Board, b *Batch, now time.Time) []Job

func (p phase) Select(board *work.Board, b *Batch, now time.Time) []Job { return p(board, b, now) }

// bench is a runner over held workstreams, which no rule of the domain moves,
// with rows of a test's own.
func bench(m *memory, ids []string, rows ...Row) *runner {
	board := work.NewBoard()
	for _, id := range ids {
		board.Workstreams[id] = &work.Workstream{ID: id, Status: work.Building, Held: &work.Hold{}}
	}
	p := &Pass{board: board, store: m, tell: &tell{}, busy: newBusy(), lease: func() error { return nil },
		log: slog.New(slog.DiscardHandler), now: time.Now, settings: Settings{MaxActive: 100}}
	r := newRunner(p)
	r.rows = rows
	return r
}

// once is a job with an act of its own, for each workstream that had none yet.
func once(act func(ctx context.Context, id string)) phase {
	begun := map[string]bool{}
	return func(_ *work.Board, b *Batch, _ time.Time) []Job {
		var jobs []Job
		for _, id := range b.IDs {
			if !begun[id] && len(b.IDs) == 1 {
				jobs = append(jobs, Job{Name: id, Workstream: id, Agent: "a", Begin: func(time.Time) (Act, error) {
					begun[id] = true
					return func(ctx context.Context) Record {
						act(ctx, id)
						return func(time.Time) (Act, error) { return nil, nil }
					}, nil
				}})
			}
		}
		return jobs
	}
}

// A quick workstream goes through the rows that follow while a slow one is
// still at work.
func TestNobodyWaitsForASlowerOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		ends := phase(func(_ *work.Board, b *Batch, _ time.Time) []Job {
			order = append(order, b.IDs...)
			return nil
		})
		r := bench(&memory{}, []string{"quick", "slow"},
			Row{Name: "dispatch", Each: true, Phase: once(func(_ context.Context, id string) {
				if id == "slow" {
					time.Sleep(time.Hour)
				}
			})},
			Row{Name: "land", Each: true, Phase: ends})
		if err := r.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		order = slices.Compact(order)
		if !slices.Equal(order[len(order)-2:], []string{"quick", "slow"}) {
			t.Errorf("went on in the order %v", order)
		}
	})
}

// What was decided, or came of an act, is saved before the next act, and at once
// when there is none: not at the end of the row.
func TestRecordsAreSavedBeforeTheNextAct(t *testing.T) {
	m := &memory{}
	decided := 0
	decides := func(*work.Board, *Batch, time.Time) []Job {
		if decided++; decided > 3 {
			return nil
		}
		return []Job{decide("one", "one", func(time.Time) error { return nil })}
	}
	var before, after, rest int
	r := bench(m, []string{"one"}, Row{Name: "triage", Again: true, Phase: phase(decides)},
		Row{Name: "dispatch", Each: true, Phase: once(func(context.Context, string) { before = len(m.saved) })},
		Row{Name: "land", Each: true, Phase: once(func(context.Context, string) { after = len(m.saved) })},
		Row{Name: "clean", Last: true, Phase: phase(func(*work.Board, *Batch, time.Time) []Job { rest = len(m.saved); return nil })})
	if err := r.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if before != 1 || after != 2 || rest != 3 {
		t.Errorf("%d saves before the first act, %d before the second, %d after it; want 1, 2 and 3", before, after, rest)
	}
}

// A batch that waits for a slot is asked again when one is free.
func TestWaitingForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		most := 0
		var r *runner
		work1 := once(func(context.Context, string) { time.Sleep(time.Minute) })
		r = bench(&memory{}, []string{"a", "b", "c"}, Row{Name: "dispatch", Each: true, Phase: phase(func(board *work.Board, b *Batch, now time.Time) []Job {
			most = max(most, r.busy.total())
			jobs := work1(board, b, now)
			if len(jobs) > 0 && r.busy.total() >= 2 {
				return []Job{{Wait: true}}
			}
			return jobs
		})})
		began := time.Now()
		if err := r.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); most != 2 || took < 2*time.Minute || took > 3*time.Minute {
			t.Errorf("%d at once, in %s; want 2 at once, in two rounds of a minute", most, took)
		}
	})
}

// A request that comes while something runs is brought in by a batch of its own.
func TestRequestsAreAdmittedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		inbox := 0
		r := bench(m, []string{"one"}, Row{Name: "sync", Phase: phase(func(_ *work.Board, b *Batch, _ time.Time) []Job {
			if b.Inbox {
				inbox++
			}
			return nil
		})}, Row{Name: "dispatch", Each: true, Phase: once(func(context.Context, string) {
			m.submit("r1.json")
			time.Sleep(time.Minute)
		})})
		if err := r.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if inbox != 1 {
			t.Errorf("%d batches brought requests, want 1", inbox)
		}
	})
}

// A pass that is stopped ends what runs, records it, and still closes.
func TestStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := false
		r := bench(&memory{}, []string{"one"},
			Row{Name: "dispatch", Each: true, Phase: once(func(ctx context.Context, _ string) { <-ctx.Done() })},
			Row{Name: "clean", Last: true, Phase: phase(func(*work.Board, *Batch, time.Time) []Job { t.Error("cleans when stopped"); return nil })},
			Row{Name: "report", Last: true, Always: true, Phase: phase(func(*work.Board, *Batch, time.Time) []Job { closed = true; return nil })})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if err := r.run(ctx); err != nil {
			t.Fatal(err)
		}
		if !closed || r.tick.Outcome != "interrupted" {
			t.Errorf("closed %v, outcome %q", closed, r.tick.Outcome)
		}
	})
}

// In time before the deadline what runs is ended, and the rest is as with a
// signal; the tick says which it was.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		closed := false
		r := bench(&memory{}, []string{"one"},
			Row{Name: "dispatch", Each: true, Phase: once(func(ctx context.Context, _ string) { <-ctx.Done() })},
			Row{Name: "clean", Last: true, Phase: phase(func(*work.Board, *Batch, time.Time) []Job { t.Error("cleans when stopped"); return nil })},
			Row{Name: "report", Last: true, Always: true, Phase: phase(func(*work.Board, *Batch, time.Time) []Job { closed = true; return nil })})
		r.settings.Deadline = began.Add(time.Hour)
		if err := r.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); !closed || r.tick.Outcome != "deadline" || took != time.Hour-wrapUp {
			t.Errorf("closed %v, outcome %q, after %s", closed, r.tick.Outcome, took)
		}
	})
}

// What has not enough time left does not start; nothing is kept waiting where
// there is no deadline.
func TestStart(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tc := range []struct {
		left, wants time.Duration
		want        bool
	}{
		{wrapUp + time.Minute, time.Minute, true},
		{wrapUp + time.Minute - 1, time.Minute, false},
		{wrapUp, 0, true},
		{wrapUp - 1, 0, false},
		{-time.Hour, 0, false},
	} {
		s := Settings{Deadline: now.Add(tc.left)}
		if got := s.start(tc.wants, now); got != tc.want {
			t.Errorf("with %s left, what wants %s starts: %v", tc.left, tc.wants, got)
		}
	}
	if s := (Settings{}); !s.start(time.Hour, now) {
		t.Error("does not start although there is no deadline")
	}
}

// A state that cannot be written ends the pass; one that somebody else changed
// costs only that workstream.
func TestSaveTrouble(t *testing.T) {
	broken := errors.New("no space left")
	for _, tc := range []struct {
		name string
		err  error
		want error
	}{
		{"disk full", broken, broken},
		{"changed by hand", &store.ConflictError{ID: "one"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := bench(&memory{fail: tc.err}, []string{"one"}, Row{Name: "dispatch", Each: true, Phase: once(func(context.Context, string) {})})
			if err := r.run(t.Context()); !errors.Is(err, tc.want) {
				t.Errorf("the pass ends with %v, want %v", err, tc.want)
			}
			if _, there := r.board.Workstreams["one"]; there == (tc.want == nil) {
				t.Errorf("on the board: %v", there)
			}
		})
	}
}

// A row that never comes to rest is a fault that ends the pass, not a hang.
func TestRestless(t *testing.T) {
	r := bench(&memory{}, []string{"one"}, Row{Name: "triage", Again: true, Phase: phase(func(*work.Board, *Batch, time.Time) []Job {
		return []Job{decide("again", "", func(time.Time) error { return nil })}
	})})
	if err := r.run(t.Context()); err == nil {
		t.Error("it came to rest")
	}
}
