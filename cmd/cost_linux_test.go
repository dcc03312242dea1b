//go:build linux && (amd64 || arm64)

package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What a workstream may cost from its spec file to the published branch, with
// what its repository costs the first time, and what a tick with nothing to do.
// Each number is what it takes now: whoever needs more has to say so here. Of
// the syncs some fifty are of folders of objects and references, a few more or
// less as ids begin alike and moments fall together.
const (
	lifeGit, lifeSyncs = 25, 185
	idleGit, idleSyncs = 1, 0
)

// TestCosts counts the git processes and the fsyncs of a tick, those of git,
// supervisors and gates included.
func TestCosts(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector has nothing to find in it")
	}
	w := newWorker(t, program(t))
	calls := filepath.Join(w.dir, "calls")
	w.env = slices.DeleteFunc(w.env, func(entry string) bool { return strings.HasPrefix(entry, "PATH=") })
	w.env = append(w.env, "PATH="+filepath.Join(w.dir, "bin")+":"+os.Getenv("PATH"))
	if err := w.countGit(calls); err != nil {
		t.Fatal(err)
	}
	life := scene{name: "life", prepare: (*worker).prepareLife}
	if err := w.set(life); err != nil {
		t.Fatal(err)
	}
	for _, tick := range []struct {
		name       string
		git, syncs int
	}{{"life", lifeGit, lifeSyncs}, {"idle", idleGit, idleSyncs}} {
		_ = os.Remove(calls)
		run := trace(trial{}, []string{w.bin, "tick"}, w.shop(), w.env, w.output)
		<-run.gone
		if run.err != nil {
			t.Skipf("NOTHING IS COUNTED: this system does not let a process be traced: %v", run.err)
		}
		called, _ := os.ReadFile(calls)
		git, syncs := strings.Count(string(called), "\n"), 0
		for _, c := range run.changes {
			if strings.Contains(c.name, "sync") {
				syncs++
			}
		}
		t.Logf("%s: %d git processes, %d fsyncs", tick.name, git, syncs)
		if git > tick.git || syncs > tick.syncs {
			t.Errorf("%s: %d git processes and %d fsyncs, more than %d and %d:\n%s", tick.name, git, syncs, tick.git, tick.syncs, called)
		}
		if err := w.backburner("tick"); err != nil { // the first after a run notes that there was one
			t.Fatal(err)
		}
	}
	if said := w.said(); !strings.Contains(said, "ready_to_merge: ") {
		t.Errorf("the work was not done:\n%s", said)
	}
}

// countGit puts a git into the PATH that keeps a list of its calls.
func (w *worker) countGit(calls string) error {
	real, err := exec.LookPath("git")
	if err != nil {
		return err
	}
	path := filepath.Join(w.dir, "bin", "git")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte("#!/bin/sh\necho \"$*\" >>'"+calls+"'\nexec "+real+" \"$@\"\n"), 0o755)
}

// prepareLife is a repository with one piece of work in which all goes well.
func (w *worker) prepareLife() error {
	if err := w.prepareBuild(); err != nil {
		return err
	}
	agent := `case $BACKBURNER_TASK_KIND in
plan) echo '{"status":"done","plan":{"summary":"s","files":{"create":["hello.txt", "second.txt"]},"acceptance_criteria":["a"]}}' > "$BACKBURNER_RESULT_FILE" ;;
implement) echo hello | tee hello.txt > second.txt ;;
esac
`
	if err := os.WriteFile(filepath.Join(w.shop(), "agent.sh"), []byte(agent), 0o644); err != nil {
		return err
	}
	if _, err := w.git(w.shop(), "remote", "remove", "origin"); err != nil { // to push costs what the network costs
		return err
	}
	_, err := w.git(w.shop(), "commit", "-q", "-a", "-m", "all goes well")
	return err
}
