//go:build linux && (amd64 || arm64)

package cmd

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/backburner-cli/backburner/pkg/proc"
)

// goal is what must hold when a job is done, and done once.
type goal struct {
	status  string
	tasks   map[string]int // completed, by kind
	runs    map[string]int // agents that finished, by kind of task, those of the preparation included
	notices []string       // that are in the thread; HEAD and MAIN stand for commits
	more    func(*worker, stream) error
}

var (
	built = goal{"ready_to_merge", map[string]int{"plan": 1, "implement": 2, "verify": 1}, map[string]int{"plan": 1, "implement": 2, "verify": 1},
		[]string{"added", "plan:1", "ready:HEAD"}, (*worker).unpushed}
	asked = goal{"awaiting_input", nil, map[string]int{"plan": 1},
		[]string{"added", "question:q1"}, nil}
	planned = goal{"awaiting_approval", map[string]int{"plan": 1}, map[string]int{"plan": 2},
		[]string{"added", "question:q1", "plan:1"}, nil}
	worked = goal{"ready_to_merge", map[string]int{"plan": 1, "implement": 1, "verify": 1}, map[string]int{"plan": 1, "implement": 1, "verify": 1},
		[]string{"added", "plan:1", "ready:HEAD"}, (*worker).unpushed}
	reconciled = goal{"ready_to_merge", map[string]int{"plan": 1, "implement": 1, "verify": 2, "reconcile_mainline": 1}, map[string]int{"plan": 1, "implement": 1, "verify": 2, "reconcile_mainline": 1},
		[]string{"added", "plan:1", "ready:HEAD"}, (*worker).unreconciled}
	merged = goal{"merged", built.tasks, built.runs,
		[]string{"added", "plan:1", "ready:HEAD", "merged:MAIN"}, (*worker).unmerged}
	cancelled = goal{"closed", map[string]int{"plan": 1}, map[string]int{"plan": 1},
		[]string{"added", "plan:1"}, (*worker).unremoved}
)

// stream is what the checks read of a workstream.
type stream struct {
	Status, Detail, Head, Published string
	Intents, Outbox                 []any
	Tasks                           []struct{ Kind, Status string }
}

// unfinished says why a job is not done, and done once.
func (w *worker) unfinished(g goal) error {
	record, thread, err := w.recorded()
	if err != nil {
		return err
	}
	var s stream
	if err := readInto(record, &s); err != nil {
		return err
	}
	if s.Status != g.status || strings.Contains(record, "archive") != closed[s.Status] {
		return fmt.Errorf("the work is %q: %s", s.Status, s.Detail)
	}
	if len(s.Intents)+len(s.Outbox) > 0 {
		return fmt.Errorf("%s, with %d intents and %d notices left", s.Status, len(s.Intents), len(s.Outbox))
	}
	done := map[string]int{}
	for _, task := range s.Tasks {
		if task.Status == "completed" {
			done[task.Kind]++
		}
	}
	if !maps.Equal(done, g.tasks) {
		return fmt.Errorf("tasks completed: %v", done)
	}
	main, err := w.git(w.shop(), "rev-parse", "main")
	if err != nil {
		return err
	}
	if err := toldEach(thread, g.notices, strings.NewReplacer("HEAD", s.Head, "MAIN", main)); err != nil || g.more == nil {
		return err
	}
	return g.more(w, s)
}

var closed = map[string]bool{"merged": true, "closed": true}

// recorded says where the record of the workstream and its thread are.
func (w *worker) recorded() (record, thread string, err error) {
	open := filepath.Join(w.state(), "workstreams", "greet.json")
	archived, err := filepath.Glob(filepath.Join(w.state(), "archive", "*", "greet.json"))
	if err != nil {
		return "", "", err
	}
	thread = filepath.Join(w.state(), "workstreams", "greet", "thread.md")
	_, missing := os.Stat(open)
	switch {
	case missing == nil && len(archived) == 0:
		return open, thread, nil
	case missing == nil || len(archived) != 1:
		return "", "", fmt.Errorf("it is in the archive %d times; open: %v", len(archived), missing)
	}
	followed := filepath.Join(strings.TrimSuffix(archived[0], ".json"), "thread.md")
	if _, err := os.Stat(followed); err == nil { // it follows within a day, see tidy
		thread = followed
	}
	return archived[0], thread, nil
}

var marker = regexp.MustCompile(`(?m)^<!-- backburner:(.*) -->$`)

// toldEach checks that these notices are in a thread, and none twice.
func toldEach(path string, notices []string, names *strings.Replacer) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	told := map[string]int{}
	for _, m := range marker.FindAllSubmatch(data, -1) {
		if told[string(m[1])]++; told[string(m[1])] > 1 {
			return fmt.Errorf("told twice: %s", m[1])
		}
	}
	for _, n := range notices {
		if n = names.Replace(n); told[n] == 0 {
			return fmt.Errorf("never told: %s; only %v", n, slices.Sorted(maps.Keys(told)))
		}
	}
	return nil
}

// delivered checks that a branch of a repository has the work.
func (w *worker) delivered(dir, branch string) error {
	files, err := w.git(dir, "ls-tree", "--name-only", branch, "hello.txt", "second.txt")
	if err != nil || files != "hello.txt\nsecond.txt" {
		return errors.Join(err, fmt.Errorf("%s of %s has %q", branch, dir, files))
	}
	return nil
}

// unpushed says why the user's repository, or its origin, does not have the branch.
// An origin that does not take it, as one with a lock that a killed git left there,
// is told of, and then for a person to put right.
func (w *worker) unpushed(s stream) error {
	_, thread, err := w.recorded()
	if err != nil {
		return err
	}
	locks, _ := filepath.Glob(filepath.Join(w.origin(), "refs/heads/backburner/*.lock"))
	refused := (w.run.errno != 0 || len(locks) > 0) && toldEach(thread, []string{"origin:" + s.Head}, strings.NewReplacer()) == nil
	for _, dir := range []string{w.shop(), w.origin()} {
		if dir == w.origin() && refused {
			continue
		}
		head, err := w.git(dir, "rev-parse", "backburner/greet")
		if err != nil || head != s.Head || head != s.Published {
			return errors.Join(err, fmt.Errorf("in %s the branch is at %s, the state says %s, published %s", dir, head, s.Head, s.Published))
		}
	}
	return w.delivered(w.shop(), "backburner/greet")
}

func (w *worker) unreconciled(s stream) error {
	if _, err := w.git(w.shop(), "merge-base", "--is-ancestor", "main", "backburner/greet"); err != nil {
		return fmt.Errorf("the branch has not got the base: %w", err)
	}
	return w.unpushed(s)
}

// unmerged says why the work is not merged, and merged once.
func (w *worker) unmerged(s stream) error {
	if commits, err := w.git(w.shop(), "rev-list", "--count", "main"); err != nil || commits != "2" {
		return errors.Join(err, fmt.Errorf("main has %s commits: the first, and the work, are two", commits))
	}
	if dirty, err := w.git(w.shop(), "status", "--porcelain"); err != nil || dirty != "" {
		return errors.Join(err, fmt.Errorf("the user's checkout: %q", dirty))
	}
	if err := w.delivered(w.shop(), "main"); err != nil {
		return err
	}
	return w.unpushed(s)
}

// unremoved says why a workspace is still there, or what it had is not saved.
func (w *worker) unremoved(stream) error {
	if _, err := os.Stat(w.workspace()); err == nil {
		return errors.New("the workspace is still there")
	}
	saved, err := w.git(w.storeDir(), "for-each-ref", "refs/backburner/salvage")
	if err != nil || saved == "" {
		return errors.Join(err, errors.New("nothing was salvaged"))
	}
	return nil
}

// runOnce checks that no agent was asked again for what one had finished: not
// even when nobody was there to see it finish.
func (w *worker) runOnce(g goal) error {
	folders, err := filepath.Glob(filepath.Join(w.state(), "executions", "*"))
	if err != nil {
		return err
	}
	finished := map[string]int{}
	for _, folder := range folders {
		var x struct {
			Kind string
			Task string `json:"task_kind"`
		}
		var exit proc.Exit
		if readInto(filepath.Join(folder, "execution.json"), &x) != nil || readInto(filepath.Join(folder, "exit.json"), &exit) != nil {
			continue
		}
		if x.Kind == "agent" && exit.Reason == proc.ReasonExited && exit.Code == 0 {
			finished[x.Task]++
		}
	}
	if !maps.Equal(finished, g.runs) {
		return fmt.Errorf("agents that finished, by kind of task: %v", finished)
	}
	return nil
}
