package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

// The benchmarks hold what the program does against a floor in the same run, and
// take the best of several: the ratios are the results, not the times.
//
//	x-floor     reading and parsing the workstreams' files
//	x-git       a whole process, held against git --version
//	x-without   the same without history
//	x-ideal     what the agents alone would take in as many slots
//	git/op, fsyncs/op, MB   processes, durable writes, the most memory

func BenchmarkIdleTick(b *testing.B) { benchmarkBoard(b, "tick") }

func BenchmarkStatus(b *testing.B) { benchmarkBoard(b, "status") }

func benchmarkBoard(b *testing.B, command string) {
	bin := realProgram(b)
	for _, n := range []int{0, 10, 1000, 10_000} {
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
			dir := boardOf(b, n)
			var version, whole best
			memory := process(b, dir, bin, command) // the first tick of a day looks for what is old
			for range 10 {
				version.of(func() { process(b, dir, "git", "--version") })
				whole.of(func() { process(b, dir, bin, command) })
			}
			git, syncs := proc.Count("git"), atomicfile.Syncs()
			var floor, own best
			for range b.N {
				floor.of(func() { parseAll(b, dir) })
				own.of(func() { inProcess(b, dir, command) })
			}
			b.ReportMetric(float64(whole)/float64(version), "x-git")
			b.ReportMetric(memory, "MB")
			b.ReportMetric(float64(proc.Count("git")-git)/float64(b.N), "git/op")
			b.ReportMetric(float64(atomicfile.Syncs()-syncs)/float64(b.N), "fsyncs/op")
			if n > 0 {
				b.ReportMetric(float64(own)/float64(floor), "x-floor")
			}
		})
	}
}

// BenchmarkHistory is an idle tick, and status, with 10,000 open workstreams and
// 200,000 past executions.
func BenchmarkHistory(b *testing.B) {
	without, with := boardOf(b, 10_000), boardOf(b, 10_000)
	for i := range 200_000 {
		folder := filepath.Join(with, ".backburner", "state", "executions", fmt.Sprintf("w%05d.%04d", i/20, i%20+1))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			b.Fatal(err)
		}
	}
	for _, command := range []string{"tick", "status"} {
		b.Run(command, func(b *testing.B) {
			inProcess(b, without, command)
			inProcess(b, with, command)
			var young, old best
			for range b.N {
				young.of(func() { inProcess(b, without, command) })
				old.of(func() { inProcess(b, with, command) })
			}
			b.ReportMetric(float64(old)/float64(young), "x-without")
		})
	}
}

// best is the shortest time that something took; 0: it was not done yet.
type best time.Duration

func (d *best) of(do func()) {
	began := time.Now()
	do()
	if took := best(time.Since(began)); *d == 0 || took < *d {
		*d = took
	}
}

func inProcess(b *testing.B, dir, command string) {
	app := newApp(io.Discard, io.Discard)
	if err := app.Run([]string{"backburner", "--config", filepath.Join(dir, "backburner.toml"), command}); err != nil {
		b.Fatal(err)
	}
}

// process runs a program, and returns how much memory it had at most, in MB: at
// least what this process has, from which it was forked, so the first is the one.
func process(b *testing.B, dir string, args ...string) float64 {
	c := exec.Command(args[0], args[1:]...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		b.Fatalf("%v: %v\n%s", args, err, out)
	}
	usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return float64(usage.Maxrss) / 1024 // kB, on Linux
}

// realProgram is the program as people have it: a test's binary starts more slowly.
func realProgram(b *testing.B) string {
	bin := filepath.Join(b.TempDir(), "backburner")
	if out, err := exec.Command("go", "build", "-o", bin, "..").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// parseAll reads and parses the workstreams of a state, one after the other.
func parseAll(b *testing.B, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, ".backburner", "state", "workstreams", "*.json"))
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		if err := json.Unmarshal(data, new(work.Workstream)); err != nil {
			b.Fatal(err)
		}
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
