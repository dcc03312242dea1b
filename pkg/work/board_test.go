package work_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// on puts workstreams on a board.
func on(all ...*work.Workstream) *work.Board {
	b := work.NewBoard()
	for _, w := range all {
		b.Workstreams[w.ID] = w
	}
	return b
}

// named is a workstream as it was admitted, by id.
func named(id string, status work.Status) *work.Workstream {
	w := stream(status)
	w.ID = id
	return w
}

func ids(all []*work.Workstream) []string {
	var out []string
	for _, w := range all {
		out = append(out, w.ID)
	}
	return out
}

func TestOrderIsPriorityAgeID(t *testing.T) {
	low, high, old := named("low", work.New), named("high", work.New), named("old", work.New)
	low.Priority, high.Priority, old.CreatedAt = -1, 5, noon.Add(-time.Hour)
	b := on(low, high, old, named("b", work.New), named("a", work.New), named("B", work.QA))
	want := []string{"high", "old", "B", "a", "b", "low"}
	for range 20 { // a map has no order of its own
		if got := ids(b.Ordered()); !slices.Equal(got, want) {
			t.Fatalf("ordered %q, want %q", got, want)
		}
	}
}

func TestQueueAndActive(t *testing.T) {
	held, first := named("held", work.New), named("first", work.New)
	held.Held, first.Priority = &work.Hold{By: "kim"}, 1
	b := on(held, first, named("second", work.New))
	counted := 0
	for _, s := range work.Statuses {
		if s != work.New {
			b.Workstreams[string(s)] = named(string(s), s)
		}
		if s == work.Intake || s == work.Planning || s == work.Building || s == work.QA {
			counted++
		}
	}
	pull := named("pull", work.Building)
	pull.Kind = work.KindPullRequest
	b.Workstreams["pull"] = pull
	if got := ids(b.Queue()); !slices.Equal(got, []string{"first", "second"}) {
		t.Errorf("the queue is %q", got)
	}
	if got := b.Active(); got != counted {
		t.Errorf("%d active, want %d", got, counted)
	}
}

func TestRepositoryIsMadeOnce(t *testing.T) {
	b := work.NewBoard()
	r := b.Repository("shop")
	r.Base = "c0"
	if again := b.Repository("shop"); again != r || r.ID != "shop" || r.Schema != work.Schema || len(b.Repositories) != 1 {
		t.Errorf("%+v", again)
	}
}

func usd(v float64) *float64 { return &v }

func TestLedgerCountsEachExecutionOnce(t *testing.T) {
	var l work.Ledger
	l.Record("2026-03-13", "a.0001", work.Cost{USD: usd(1), Tick: "k1"})
	for range 3 {
		l.Record("2026-03-14", "a.0002", work.Cost{USD: usd(2), Tokens: 10, Tick: "k2"})
	}
	l.Record("2026-03-14", "b.0001", work.Cost{Tokens: 10, Wall: time.Minute, Tick: "k2"}) // nobody knows what it cost
	l.Record("2026-03-14", "b.0002", work.Cost{USD: usd(0.5), Tick: "k3"})
	for day, want := range map[string]float64{"2026-03-13": 1, "2026-03-14": 2.5, "2026-03-15": 0} {
		if got := l.Day(day).CostUSD; got != want {
			t.Errorf("%s: %v, want %v", day, got, want)
		}
	}
	for tick, want := range map[string]float64{"k1": 1, "k2": 2, "k3": 0.5, "k4": 0} {
		if got := l.Tick(tick).CostUSD; got != want {
			t.Errorf("%s: %v, want %v", tick, got, want)
		}
	}
	all := work.Spending{CostUSD: 2, UnknownCost: 1, InputTokens: 20, Sessions: 2, Wall: time.Minute}
	if got := l.Tick("k2"); got != all {
		t.Errorf("k2: %+v, want %+v", got, all)
	}
	l.Prune("2026-03-14")
	if l.Day("2026-03-13").Sessions != 0 || l.Tick("k1").Sessions != 0 || l.Day("2026-03-14").CostUSD != 2.5 {
		t.Error("pruning takes the wrong days")
	}
}

// TestCostsThatNoRunCanHave holds for what an agent may state: a sum must not
// shrink, and must stay one that can be written down.
func TestCostsThatNoRunCanHave(t *testing.T) {
	var l work.Ledger
	var s work.Spending
	for i, odd := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1), 1e300} {
		l.Record("2026-03-14", string(rune('a'+i)), work.Cost{USD: usd(odd), Tokens: -5, Tick: "k"})
		s.Add(work.Usage{CostUSD: usd(odd), InputTokens: -7, OutputTokens: -7}, time.Second)
	}
	l.Record("2026-03-14", "z", work.Cost{USD: usd(0.25), Tick: "k"})
	s.Add(work.Usage{CostUSD: usd(0.25), InputTokens: 3, OutputTokens: 4}, time.Second)
	if l.Day("2026-03-14").CostUSD != 0.25 || l.Tick("k").CostUSD != 0.25 {
		t.Errorf("the ledger counts %+v", l.Day("2026-03-14"))
	}
	if want := (work.Spending{CostUSD: 0.25, UnknownCost: 5, InputTokens: 3, OutputTokens: 4, Sessions: 6, Wall: 6 * time.Second}); s != want {
		t.Errorf("spending %+v, want %+v", s, want)
	}
}

func TestWhatIsRememberedOfAgents(t *testing.T) {
	reset := noon.Add(3 * time.Hour)
	for _, c := range []struct {
		name   string
		class  work.Class
		reset  time.Time
		parked time.Time
		reason string
		fails  int
	}{
		{"quota with a reset", work.ClassQuota, reset, reset, "quota: why", 1},
		{"quota without", work.ClassQuota, time.Time{}, noon.Add(15 * time.Minute), "quota: why", 1},
		{"quota that reset long ago", work.ClassQuota, noon.Add(-time.Hour), noon.Add(15 * time.Minute), "quota: why", 1},
		{"auth", work.ClassAuth, time.Time{}, noon.Add(time.Hour), "auth: why", 1},
		{"ordinary", work.ClassOrdinary, time.Time{}, time.Time{}, "", 1},
		{"interrupted", work.ClassInterrupted, time.Time{}, time.Time{}, "", 0},
		{"fine", "", time.Time{}, time.Time{}, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s work.AgentStates
			s.Note("claude", c.class, "why", c.reset, noon)
			got := s.Agents["claude"]
			if !got.ParkedUntil.Equal(c.parked) || got.Reason != c.reason || got.Failures != c.fails {
				t.Errorf("%+v", got)
			}
			s.Note("claude", work.ClassOrdinary, "why", time.Time{}, noon)
			if got := s.Agents["claude"]; got.Failures != c.fails+1 || !got.ParkedUntil.Equal(c.parked) {
				t.Errorf("after one more failure %+v: only a success clears", got)
			}
			s.Note("claude", "", "", time.Time{}, noon)
			if _, known := s.Agents["claude"]; known {
				t.Error("a success did not clear it")
			}
			if s.Note("", work.ClassQuota, "", reset, noon); len(s.Agents) != 0 {
				t.Error("no agent is parked")
			}
		})
	}
}
