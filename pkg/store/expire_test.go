package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

const day = 24 * time.Hour

// run leaves the folder of an execution that ended at a time, with as many
// bytes of output beside its record.
func run(t *testing.T, s *Store, id string, ended time.Time, bytes int) {
	t.Helper()
	write(t, filepath.Join(s.ExecutionDir(id), "stdout"), strings.Repeat("x", bytes))
	if err := s.SaveExecution(&work.Execution{ID: id, Workstream: executionOwner(id), EndedAt: ended}); err != nil {
		t.Fatal(err)
	}
}

func executions(t *testing.T, s *Store) string {
	t.Helper()
	entries, err := os.ReadDir(s.path("executions"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}

func TestExpireExecutions(t *testing.T) {
	for name, c := range map[string]struct {
		policy RetentionPolicy
		want   string
	}{
		"keep all":            {RetentionPolicy{}, "gone.0001 gone.0002 gone.0003 open.0001 open.0002"},
		"by age":              {RetentionPolicy{Executions: 30 * day}, "gone.0002 gone.0003 open.0001 open.0002"},
		"by a younger age":    {RetentionPolicy{Executions: 5 * day}, "gone.0003 open.0001 open.0002"},
		"on the day itself":   {RetentionPolicy{Executions: 10 * day}, "gone.0002 gone.0003 open.0001 open.0002"},
		"by size, some":       {RetentionPolicy{ExecutionBytes: 45_000}, "gone.0002 gone.0003 open.0001 open.0002"},
		"by size, enough":     {RetentionPolicy{ExecutionBytes: 52_000}, "gone.0001 gone.0002 gone.0003 open.0001 open.0002"},
		"by size, all it may": {RetentionPolicy{ExecutionBytes: 1}, "open.0001 open.0002"},
		"both":                {RetentionPolicy{Executions: 30 * day, ExecutionBytes: 35_000}, "gone.0003 open.0001 open.0002"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mustOpen(t, t.TempDir())
			mustSave(t, s, "open")
			run(t, s, "gone.0001", noon.Add(-40*day), 10_000)
			run(t, s, "gone.0003", noon.Add(-40*day), 10_000) // and once more below
			run(t, s, "open.0001", noon.Add(-40*day), 10_000)
			run(t, s, "gone.0002", noon.Add(-10*day), 10_000)
			run(t, s, "gone.0003", noon.Add(-1*day), 10_000)
			run(t, s, "open.0002", noon.Add(-1*day), 10_000)
			before := len(strings.Fields(executions(t, s)))
			removed, err := s.Expire(noon, c.policy)
			if got := executions(t, s); err != nil || got != c.want || removed != before-len(strings.Fields(c.want)) {
				t.Errorf("%d removed, %v, left: %s", removed, err, got)
			}
			// What is left is still known: nothing is noted twice, nothing forgotten.
			if removed, err := s.Expire(noon.Add(expireEvery), RetentionPolicy{}); removed != 0 || err != nil {
				t.Errorf("%d %v", removed, err)
			}
			var noted []string
			for _, name := range []string{"2026-10-21", "2026-11-20", "2026-11-29"} {
				for _, n := range readEnded(s.endedFile(name)) {
					noted = append(noted, n.id)
				}
			}
			slices.Sort(noted)
			noted = slices.Compact(noted)
			if got := strings.Join(noted, " "); got != c.want {
				t.Errorf("noted: %s", got)
			}
		})
	}
}

func TestExpireOnceADay(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	policy := RetentionPolicy{Executions: day}
	expire := func(at time.Time) int {
		t.Helper()
		removed, err := s.Expire(at, policy)
		if err != nil {
			t.Fatal(err)
		}
		return removed
	}
	expire(noon)
	run(t, s, "x.0001", noon.Add(-40*day), 1)
	if n := expire(noon.Add(expireEvery - 1)); n != 0 {
		t.Error("it looked again on the same day")
	}
	if n := expire(noon.Add(expireEvery)); n != 1 {
		t.Error("it did not look on the next day")
	}
	run(t, s, "x.0002", noon.Add(-40*day), 1)
	if n := expire(noon.Add(-1)); n != 1 {
		t.Error("a clock that was put back stops it")
	}
	run(t, s, "x.0003", noon.Add(-40*day), 1)
	write(t, s.path("expiry/state.json"), `{"checked_at":`)
	if n := expire(noon); n != 1 {
		t.Error("a broken marker stops it")
	}
}

func TestExpireGoesOnWithABacklog(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	const many = expireBudget + 100
	var notes []ended
	for i := range many {
		notes = append(notes, ended{id: fmt.Sprintf("x.%04d", i), bytes: 1})
		if err := os.Mkdir(s.ExecutionDir(notes[i].id), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(s.path("expiry"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.writeEnded("2026-10-01", notes); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{expireBudget, 100, 0} {
		removed, err := s.Expire(noon.Add(time.Duration(i)*time.Minute), RetentionPolicy{Executions: 30 * day})
		if err != nil || removed != want {
			t.Errorf("tick %d removed %d, %v", i, removed, err)
		}
	}
	if exists(s.endedFile("2026-10-01")) || executions(t, s) != "" {
		t.Error("something is left")
	}
}

// The notes are no truth of their own: without them, executions are found by
// the names of their folders.
func TestExpireFindsWhatWasNotNoted(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	mustSave(t, s, "open")
	for _, id := range []string{"gone.0001", "gone.0002", "open.0001"} {
		run(t, s, id, noon, 10)
		at := noon.Add(-40 * day)
		if err := os.Chtimes(s.ExecutionDir(id), at, at); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(s.ExecutionDir("half.0001"), "prompt.md"), "of a crash")
	write(t, s.path("executions", "not ours", "x"), "")
	if err := os.RemoveAll(s.path("expiry")); err != nil {
		t.Fatal(err)
	}
	policy := RetentionPolicy{Executions: 30 * day}
	for i, want := range []int{2, 0} {
		removed, err := s.Expire(noon.Add(time.Duration(i)*expireEvery), policy)
		if err != nil || removed != want {
			t.Errorf("look %d removed %d, %v", i, removed, err)
		}
	}
	if got := executions(t, s); got != "half.0001 not ours open.0001" {
		t.Error(got)
	}
}

func TestExpireTheRest(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	for _, at := range []time.Time{noon.AddDate(0, -14, 0), noon.AddDate(0, -13, 0), noon.AddDate(0, -1, 0)} {
		id := "c" + at.Format("200601")
		if err := s.Archive(closed(t, s, id, at)); err != nil {
			t.Fatal(err)
		}
		if err := s.AppendTick(work.Tick{ID: id, StartedAt: at}); err != nil {
			t.Fatal(err)
		}
		for _, request := range []string{at.Format(requestTime) + "-00", "r" + at.Format("200601")} {
			r := &work.Request{ID: request, Verb: work.VerbRetry, Progress: work.Progress{Decision: work.Applied}}
			if err := errors.Join(s.Submit(r), s.SettleRequest(r), os.Chtimes(s.settledFile(r.ID), at, at)); err != nil {
				t.Fatal(err)
			}
		}
	}
	pending := &work.Request{ID: noon.AddDate(-3, 0, 0).Format(requestTime) + "-00", Verb: work.VerbRetry}
	if err := s.Submit(pending); err != nil {
		t.Fatal(err)
	}
	write(t, s.path("archive", "notes", "mine.txt"), "")
	write(t, s.path("ticks", "mine.txt"), "")
	write(t, s.path("requests/done", "mine.txt"), "")

	if removed, err := s.Expire(noon, RetentionPolicy{}); removed != 0 || err != nil {
		t.Fatalf("without a policy %d went, %v", removed, err)
	}
	year := 365 * day
	removed, err := s.Expire(noon.Add(expireEvery), RetentionPolicy{Archive: year, Requests: year, Ticks: year})
	if want := 2 /* archived */ + 2 /* logs */ + 4; /* requests */ removed != want || err != nil {
		t.Errorf("%d went, not %d, %v", removed, want, err)
	}
	for path, want := range map[string]bool{
		"archive/2025-09": false, "archive/2025-10": false, "archive/2026-10/c202610.json": true, "archive/2026-10/c202610/memory.md": true,
		"archive/notes/mine.txt": true, "ticks/2025-10-30.jsonl": false, "ticks/2026-10-30.jsonl": true, "ticks/mine.txt": true,
		"requests/done/r202510.json": false, "requests/done/r202610.json": true, "requests/done/mine.txt": true,
		"requests/" + pending.ID + ".json": true,
	} {
		if exists(s.path(path)) != want {
			t.Errorf("%s: want it there: %v", path, want)
		}
	}
	if names, err := readNames(s.path("requests/done")); err != nil || len(names) != 3 {
		t.Errorf("%v %v", names, err)
	}
}

// Very many executions without notes cost one look no more than some.
func TestExpireEstimatesWhatItDoesNotMeasure(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	const many = measureBudget + 50
	for i := range many {
		write(t, filepath.Join(s.ExecutionDir(fmt.Sprintf("x.%04d", i)), "stdout"), "1234567")
	}
	if removed, err := s.Expire(noon, RetentionPolicy{ExecutionBytes: 7 * (many - 10)}); removed != 10 || err != nil {
		t.Errorf("%d %v", removed, err)
	}
	n, err := s.readEndings()
	if err != nil || n.bytes != 7*(many-10) || len(n.noted) != many-10 {
		t.Errorf("%d bytes in %d notes, %v", n.bytes, len(n.noted), err)
	}
}

// Trouble with one thing does not keep the rest.
func TestExpireGoesOnAfterTrouble(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	for i := range 3 {
		if err := s.AppendTick(work.Tick{ID: "t", StartedAt: noon.AddDate(-2, 0, i)}); err != nil {
			t.Fatal(err)
		}
	}
	calls, trouble := 0, errors.New("trouble")
	s.check = func() error {
		if calls++; calls == 2 {
			return trouble
		}
		return nil
	}
	removed, err := s.Expire(noon, RetentionPolicy{Ticks: day})
	if removed != 2 || !errors.Is(err, trouble) {
		t.Errorf("%d, %v", removed, err)
	}
	if removed, err := s.Expire(noon.Add(expireEvery), RetentionPolicy{Ticks: day}); removed != 1 || err != nil {
		t.Errorf("the next day: %d, %v", removed, err)
	}
}
