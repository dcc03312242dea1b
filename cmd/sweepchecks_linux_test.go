//go:build linux && (amd64 || arm64)

package cmd

import (
	"bytes"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/store"
)

// stream is what the checks read of a workstream.
type stream struct {
	Status, Detail, Head, Published string
	Intents, Outbox                 []any
	Tasks                           []struct{ Kind, Status string }
}

// stream reads the record and the thread of a workstream, and checks what must
// hold of every one that is done.
func (w *worker) stream(record, thread string, notices func(stream) []string) (s stream, err error) {
	if err := readInto(record, &s); err != nil {
		return s, err
	}
	if len(s.Intents)+len(s.Outbox) > 0 {
		return s, fmt.Errorf("%s, with %d intents and %d notices left", s.Status, len(s.Intents), len(s.Outbox))
	}
	done := map[string]int{}
	for _, task := range s.Tasks {
		if task.Status == "completed" {
			done[task.Kind]++
		}
	}
	if !maps.Equal(done, perKind) {
		return s, fmt.Errorf("tasks completed: %v", done)
	}
	return s, toldEach(thread, notices(s))
}

// perKind is how many tasks the work takes.
var perKind = map[string]int{"plan": 1, "implement": 2, "verify": 1}

var marker = regexp.MustCompile(`(?m)^<!-- backburner:(.*) -->$`)

// toldEach checks that these notices are in a thread, and none twice.
func toldEach(path string, notices []string) error {
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
		if told[n] == 0 {
			return fmt.Errorf("never told: %s; only %v", n, slices.Sorted(maps.Keys(told)))
		}
	}
	return nil
}

// unbuilt says why the work is not done, and done once.
func (w *worker) unbuilt() error {
	folder := filepath.Join(w.state(), "workstreams", "greet")
	s, err := w.stream(folder+".json", filepath.Join(folder, "thread.md"), func(s stream) []string {
		return []string{"added", "plan:1", "ready:" + s.Head}
	})
	if s.Status != "ready_to_merge" {
		return errors.Join(fmt.Errorf("the work is %q: %s", s.Status, s.Detail), err)
	}
	if err != nil {
		return err
	}
	return w.delivered(s, "backburner/greet")
}

// delivered checks that a branch of the user's has the work.
func (w *worker) delivered(s stream, branch string) error {
	head, err := w.git(w.shop(), "rev-parse", "backburner/greet")
	if err != nil || head != s.Head || head != s.Published {
		return errors.Join(err, fmt.Errorf("the branch is at %s, the state says %s, published %s", head, s.Head, s.Published))
	}
	files, err := w.git(w.shop(), "ls-tree", "--name-only", branch, "hello.txt", "second.txt")
	if err != nil || files != "hello.txt\nsecond.txt" {
		return errors.Join(err, fmt.Errorf("%s has %q", branch, files))
	}
	return nil
}

// unmerged says why the work is not merged, and merged once.
func (w *worker) unmerged() error {
	records, err := filepath.Glob(filepath.Join(w.state(), "archive", "*", "greet.json"))
	if err != nil || len(records) != 1 {
		return errors.Join(err, fmt.Errorf("it is in the archive %d times", len(records)))
	}
	thread := filepath.Join(strings.TrimSuffix(records[0], ".json"), "thread.md")
	if _, err := os.Stat(thread); err != nil { // it follows within a day, see tidy
		thread = filepath.Join(w.state(), "workstreams", "greet", "thread.md")
	}
	main, err := w.git(w.shop(), "rev-parse", "main")
	if err != nil {
		return err
	}
	s, err := w.stream(records[0], thread, func(s stream) []string {
		return []string{"added", "plan:1", "ready:" + s.Head, "merged:" + main}
	})
	if err != nil || s.Status != "merged" {
		return errors.Join(fmt.Errorf("the work is %q: %s", s.Status, s.Detail), err)
	}
	if commits, err := w.git(w.shop(), "rev-list", "--count", "main"); err != nil || commits != "2" {
		return errors.Join(err, fmt.Errorf("main has %s commits: the first, and the work, are two", commits))
	}
	if dirty, err := w.git(w.shop(), "status", "--porcelain"); err != nil || dirty != "" {
		return errors.Join(err, fmt.Errorf("the user's checkout: %q", dirty))
	}
	return w.delivered(s, "main")
}

// readable checks every file of the state. What is only a leftover is looked
// for by sound.
func (w *worker) readable() error {
	if _, err := os.Stat(w.state()); errors.Is(err, fs.ErrNotExist) {
		return nil // it had not begun
	}
	var bad []error
	for _, p := range store.Verify(w.state()) {
		if !strings.HasPrefix(p.Next, "nothing") {
			bad = append(bad, errors.New(p.String()))
		}
	}
	return errors.Join(bad...)
}

// named reports whether the user was told why a tick did not finish.
func (w *worker) named(errno syscall.Errno) bool {
	text := w.said()
	for _, pattern := range []string{"workstreams/greet.json", "archive/*/greet.json"} {
		paths, _ := filepath.Glob(filepath.Join(w.state(), pattern))
		for _, path := range paths {
			data, _ := os.ReadFile(path)
			text += string(data)
		}
	}
	return strings.Contains(strings.ToLower(text), errno.Error())
}

// runOnce checks that no agent was asked again for what one had finished: not
// even when nobody was there to see it finish.
func (w *worker) runOnce() error {
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
	if !maps.Equal(finished, perKind) {
		return fmt.Errorf("agents that finished, by kind of task: %v", finished)
	}
	return nil
}

func readInto(path string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// sound checks what must hold of everything that is there when the job is done:
// that it is readable and whole, that nothing of an agent's is lost, that
// nothing runs, and that nothing lies about.
func (w *worker) sound(s scene) error {
	if err := w.readable(); err != nil {
		return err
	}
	for _, dir := range []string{w.shop(), w.storeDir()} {
		if _, err := w.git(dir, "fsck", "--no-progress", "--no-dangling"); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	if err := w.kept(); err != nil {
		return err
	}
	if err := w.quiet(); err != nil {
		return err
	}
	return w.tidy(s)
}

// kept checks that all that agents noted in the ledger can be reached from a
// reference of the store.
func (w *worker) kept() error {
	objects, err := w.git(w.storeDir(), "rev-list", "--objects", "--all")
	if err != nil {
		return err
	}
	ledger, err := os.ReadFile(filepath.Join(w.at(), "ledger"))
	if err != nil {
		return err
	}
	for _, execution := range strings.Fields(string(ledger)) {
		text := "hello " + execution + "\n"
		blob := fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text)))
		if !strings.Contains(objects, blob) {
			return fmt.Errorf("what the agent of %s wrote (%s) is in no branch and was not salvaged", execution, blob)
		}
	}
	return nil
}

// quiet checks that no process is left that was started here.
func (w *worker) quiet() error {
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return err
	}
	var left []error
	for _, p := range processes {
		cwd, _ := os.Readlink(p + "/cwd")
		environment, _ := os.ReadFile(p + "/environ")
		command, _ := os.ReadFile(p + "/cmdline") // empty when it is dead
		if len(command) > 0 && strings.HasPrefix(cwd+"/", w.at()+"/") ||
			bytes.Contains(environment, []byte(proc.Marker+"=")) && bytes.Contains(environment, []byte(w.at())) {
			left = append(left, fmt.Errorf("%s still runs in %s: %s", p, cwd, bytes.ReplaceAll(command, []byte{0}, []byte(" "))))
		}
	}
	return errors.Join(left...)
}

// tidy checks that there are no files but the usual ones, now or once it is the
// next day.
func (w *worker) tidy(s scene) error {
	extra, err := w.unusual(s)
	if err != nil || len(extra) == 0 {
		return err
	}
	for _, path := range extra {
		yesterday := time.Now().Add(-25 * time.Hour)
		if err := os.Chtimes(filepath.Join(w.shop(), path), yesterday, yesterday); err != nil {
			return err
		}
	}
	_ = os.Remove(filepath.Join(w.state(), "expiry", "state.json")) // else the store was looked through today
	if err := w.backburner("tick"); err != nil {
		return err
	}
	if extra, err = w.unusual(s); err == nil && len(extra) > 0 {
		return fmt.Errorf("left lying about: %s", strings.Join(extra, " "))
	}
	return err
}

// unusual lists the files that an undisturbed run of the scene does not leave.
func (w *worker) unusual(s scene) ([]string, error) {
	var extra []string
	err := eachShape(w.shop(), func(path, shape string) {
		if !w.usual[s.name][shape] && !history.MatchString(shape) {
			extra = append(extra, path)
		}
	})
	return extra, err
}

// history is what a disturbance may leave: records of runs that were cut,
// requests, work that was salvaged or put aside, and in a workspace a file of
// ours whose name the next one takes.
var history = regexp.MustCompile(`^state/executions/greet\.#/|^aside/|^state/requests/done/|salvage|^workspaces/greet/\.git/.*\.backburner$`)

var (
	object = regexp.MustCompile(`/objects/(../[0-9a-f]{38}|pack/pack-[0-9a-f]+\.\w+|info/\w+)$`)
	number = regexp.MustCompile(`[0-9]+`)
)

// eachShape visits the files of backburner with their names freed of numbers;
// objects of git are left out.
func eachShape(shop string, visit func(path, shape string)) error {
	root := filepath.Join(shop, ".backburner")
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || object.MatchString(path) {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		visit(filepath.Join(".backburner", rel), number.ReplaceAllString(rel, "#"))
		return nil
	})
}
