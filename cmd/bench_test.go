package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

// The benchmarks hold a tick and a status with nothing to do against the floor
// in the same run: reading and parsing the workstreams' files.

func BenchmarkIdleTick(b *testing.B) { benchmarkBoard(b, "tick") }

func BenchmarkStatus(b *testing.B) { benchmarkBoard(b, "status") }

func benchmarkBoard(b *testing.B, command string) {
	for _, n := range []int{0, 10, 1000, 10_000} {
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
			dir := boardOf(b, n)
			floor := floorOf(b, dir)
			run := func() {
				app := newApp(io.Discard, io.Discard)
				if err := app.Run([]string{"backburner", "--config", filepath.Join(dir, "backburner.toml"), command}); err != nil {
					b.Fatal(err)
				}
			}
			run() // the first tick of a day looks for what is old
			git, syncs := proc.Count("git"), atomicfile.Syncs()
			b.ResetTimer()
			for range b.N {
				run()
			}
			b.StopTimer()
			each := b.Elapsed() / time.Duration(b.N)
			b.ReportMetric(float64(proc.Count("git")-git)/float64(b.N), "git/op")
			b.ReportMetric(float64(atomicfile.Syncs()-syncs)/float64(b.N), "fsyncs/op")
			if n > 0 {
				b.ReportMetric(float64(each)/float64(floor), "x-floor")
			}
		})
	}
}

// boardOf is a repository with n workstreams that wait for people.
func boardOf(b *testing.B, n int) string {
	dir := b.TempDir()
	folder := filepath.Join(dir, ".backburner", "state", "workstreams")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		b.Fatal(err)
	}
	gitIn(b, dir, "init", "-q", "-b", "main")
	gitIn(b, dir, "-c", "user.name=Jo", "-c", "user.email=jo@example.org", "commit", "-q", "--allow-empty", "-m", "first")
	if err := os.WriteFile(filepath.Join(dir, "backburner.toml"), []byte("[[repository]]\npath = \".\"\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	now := time.Now().UTC()
	for i := range n {
		w := &work.Workstream{
			Schema: work.Schema, Version: 1, ID: fmt.Sprintf("w%05d", i), Kind: work.KindSpec, Repository: filepath.Base(dir),
			Title: "Fix the login", Status: work.AwaitingApproval, Detail: "the plan needs approval", CreatedAt: now, ChangedAt: now,
			Spec:   work.Spec{Source: "login.md", Body: "Users cannot log in when their name has a plus sign. Mend that.\n", Hash: "sha256:0"},
			Plan:   &work.Plan{Summary: "Escape the name.", Files: work.PlanFiles{Modify: []string{"login.go", "login_test.go"}}, AcceptanceCriteria: []string{"a+b can log in"}},
			Branch: fmt.Sprintf("backburner/w%05d", i), Revision: 1,
		}
		w.AddTask(work.MakePlan, work.TaskContext{}, now)
		w.Tasks[0].Status = work.TaskCompleted
		data, err := json.MarshalIndent(w, "", "  ")
		if err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, w.ID+".json"), data, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// floorOf is how long it takes to read and parse the workstreams of a state, one
// after the other.
func floorOf(b *testing.B, dir string) time.Duration {
	files, err := filepath.Glob(filepath.Join(dir, ".backburner", "state", "workstreams", "*.json"))
	if err != nil {
		b.Fatal(err)
	}
	best := time.Duration(0)
	for range 3 {
		began := time.Now()
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				b.Fatal(err)
			}
			if err := json.Unmarshal(data, new(work.Workstream)); err != nil {
				b.Fatal(err)
			}
		}
		if took := time.Since(began); best == 0 || took < best {
			best = took
		}
	}
	return best
}
