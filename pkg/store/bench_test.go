package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/work"
)

// typical is a workstream of everyday size: a plan, a few tasks with their
// executions, checkpoints and evidence.
func typical(id string) *work.Workstream {
	at := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	w := &work.Workstream{
		Schema: work.Schema, ID: id, Kind: work.KindSpec, Repository: "shop", Title: "Totals are rounded twice",
		Status: work.Building, CreatedAt: at, ChangedAt: at, Branch: "backburner/" + id,
		Spec: work.Spec{Source: ".backburner/specs/" + id + ".md", Body: "Rounding happens in the cart & again in the invoice.\n", Hash: work.SpecHash("a", "b")},
		Plan: &work.Plan{Summary: "Round once, in the invoice.", Files: work.PlanFiles{Modify: []string{"cart.go", "invoice.go"}},
			AcceptanceCriteria: []string{"a cart of three items at 0.333 totals 1.00"},
			Increments:         []work.Increment{{Title: "cart"}, {Title: "invoice"}}},
		Revision: 1, Head: "7f3a7f3a7f3a7f3a7f3a7f3a7f3a7f3a7f3a7f3a", Tree: "8b1c8b1c8b1c8b1c8b1c8b1c8b1c8b1c8b1c8b1c",
	}
	for i := range 4 {
		t := w.AddTask(work.Implement, work.TaskContext{Increment: i, Words: "keep the rounding in one place"}, at)
		t.Executions = []string{fmt.Sprintf("%s.%04d", id, i+1)}
		w.AddCheckpoint(work.Checkpoint{Commit: fmt.Sprintf("%040d", i), Tree: fmt.Sprintf("%040d", i+9), DiffHash: fmt.Sprint(i), Task: t.ID, At: at, NetNew: true, Changed: 2})
	}
	w.AddEvidence(work.Evidence{Gate: work.GateFast, Green: true, Commit: w.Head, Tree: w.Tree, Execution: w.Tasks[3].Executions[0], At: at})
	return w
}

// fill writes n workstreams without the fsyncs of Save.
func fill(tb testing.TB, dir string, n int) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "workstreams"), 0o755); err != nil {
		tb.Fatal(err)
	}
	for i := range n {
		w := typical(fmt.Sprintf("work-%05d", i))
		w.Version = 1
		data, err := encode(workstreamShape(), w, nil)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "workstreams", w.ID+".json"), data, 0o644)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkLoad10000 compares loading with the floor: reading and parsing the
// same files one after the other, and with as many workers as there are cores.
func BenchmarkLoad10000(b *testing.B) {
	dir := b.TempDir()
	s := mustOpen(b, dir)
	fill(b, dir, 10000)
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			names, _ := os.ReadDir(filepath.Join(dir, "workstreams"))
			all := make(map[string]*work.Workstream)
			for _, name := range names {
				data, err := os.ReadFile(filepath.Join(dir, "workstreams", name.Name()))
				w := new(work.Workstream)
				if err != nil || json.Unmarshal(data, w) != nil {
					b.Fatal(name)
				}
				all[w.ID] = w
			}
		}
	})
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			if board, _, err := s.Load(b.Context()); err != nil || len(board.Workstreams) != 10000 {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkSave shows that a save costs the same however many workstreams
// there are, and compares it with the floor: one durable write of the same bytes.
func BenchmarkSave(b *testing.B) {
	for _, n := range []int{1, 10000} {
		dir := b.TempDir()
		s := mustOpen(b, dir)
		fill(b, dir, n)
		if _, _, err := s.Load(b.Context()); err != nil {
			b.Fatal(err)
		}
		w := typical("saved")
		b.Run(fmt.Sprintf("workstreams=%d", n), func(b *testing.B) {
			before, saves := atomicfile.Syncs(), 0
			for b.Loop() {
				w.Increment++
				saves++
				if err := s.Save(w); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(atomicfile.Syncs()-before)/float64(saves), "fsyncs/op")
		})
	}
	data, _ := encode(workstreamShape(), typical("saved"), nil)
	path := filepath.Join(b.TempDir(), "floor.json")
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			if err := atomicfile.Write(path, data, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSaveUnchanged(b *testing.B) {
	s := mustOpen(b, b.TempDir())
	w := typical("same")
	if err := s.Save(w); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := s.Save(w); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenLoadEmpty(b *testing.B) {
	dir := b.TempDir()
	mustOpen(b, dir)
	for b.Loop() {
		s, err := Open(dir, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := s.Load(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExpire200000 is the daily look at 200,000 executions none of which
// has to go, the first look ever, and the look of every other tick.
func BenchmarkExpire200000(b *testing.B) {
	dir := b.TempDir()
	s := mustOpen(b, dir)
	for i := range 200000 {
		if err := os.Mkdir(filepath.Join(dir, "executions", fmt.Sprintf("work-%05d.%04d", i/20, i%20)), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	policy := RetentionPolicy{Executions: 30 * 24 * time.Hour, ExecutionBytes: 1 << 40}
	look := func(b *testing.B, forget string) {
		for b.Loop() {
			if forget != "" {
				if err := os.RemoveAll(filepath.Join(dir, forget)); err != nil {
					b.Fatal(err)
				}
			}
			if removed, err := s.Expire(noon, policy); err != nil || removed > 0 {
				b.Fatal(removed, err)
			}
		}
	}
	b.Run("first", func(b *testing.B) { look(b, "expiry") })
	b.Run("daily", func(b *testing.B) { look(b, "expiry/state.json") })
	b.Run("otherwise", func(b *testing.B) { look(b, "") })
}
