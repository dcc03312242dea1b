//go:build linux && (amd64 || arm64)

package cmd

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// dead and done are the two times at which the sweep lets itself be disturbed.
const dead, done = 0, 1

// TestSweepNotices does to the world what a worse program would have done to
// it, and wants the sweep to fail for just that.
func TestSweepNotices(t *testing.T) {
	if testing.Short() {
		t.Skip("see TestSweep")
	}
	w := newWorker(t, program(t))
	build := sceneNamed("build")
	committing := trial{do: killTree, to: "BACKBURNER_MSG"} // an agent has finished, and its work is not committed yet
	ended := trial{do: killTree, to: "*.tsv"}               // the planner has, and so it was noted
	left := new(leftProcess)
	unsaved := trial{do: failCall, to: "greet.json", errno: syscall.EIO}
	for _, c := range []struct {
		name  string
		scene scene
		trial trial
		when  int
		harm  func(*worker) error
		want  string // "": nothing to notice
	}{
		{"nothing", build, committing, dead, nil, ""},
		{"a state file written in place", build, committing, dead, (*worker).tearState, "greet.json"},
		{"a record saved after the effect", build, ended, dead, (*worker).forgetRun, "agents that finished"},
		{"a notice told twice", build, committing, dead, (*worker).tellAgain, "told twice"},
		{"a lost salvage", sceneNamed("resume"), trial{}, done, (*worker).dropSalvage, "was not salvaged"},
		{"a damaged object", build, committing, done, (*worker).damageObject, "fsck"},
		{"a lock for ever", build, committing, done, (*worker).leaveLock, "lying about"},
		{"a process for ever", build, committing, done, left.start, "still runs"},
		{"a fault that was told", sceneNamed("plan"), unsaved, dead, nil, ""},
		{"a fault of which nobody is told", sceneNamed("plan"), unsaved, dead, (*worker).hush, "says that there was"},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer left.end()
			w.harm = [2]func(*worker) error{}
			w.harm[c.when] = c.harm
			judge := w.killed
			if c.trial.errno != 0 {
				judge = w.failed
			}
			err := judge(c.scene, c.trial)
			switch {
			case w.run.err != nil:
				t.Skip(w.run.err)
			case c.want == "" && err != nil:
				t.Fatalf("%v\n%s", err, w.said())
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Fatalf("the sweep says %v, and should of %q\n%s", err, c.want, w.said())
			}
		})
	}
}

func (w *worker) record() string { return filepath.Join(w.state(), "workstreams", "greet.json") }

// tearState leaves of the newest state file what a write in place would have.
func (w *worker) tearState() error { return os.Truncate(w.record(), 100) }

// forgetRun takes back that a task was begun, as if that was to be saved when the
// agent had ended.
func (w *worker) forgetRun() error {
	var stream map[string]any
	if err := readInto(w.record(), &stream); err != nil {
		return err
	}
	for _, t := range stream["tasks"].([]any) {
		if task := t.(map[string]any); task["status"] == "running" {
			task["status"] = "pending"
		}
	}
	data, err := json.Marshal(stream)
	if err != nil {
		return err
	}
	return os.WriteFile(w.record(), data, 0o644)
}

func (w *worker) tellAgain() error {
	thread := filepath.Join(w.state(), "workstreams", "greet", "thread.md")
	data, err := os.ReadFile(thread)
	if err != nil {
		return err
	}
	return os.WriteFile(thread, append(data, data...), 0o644)
}

func (w *worker) dropSalvage() error {
	refs, err := w.git(w.storeDir(), "for-each-ref", "--format=delete %(refname)", "refs/backburner/salvage")
	if err != nil {
		return err
	}
	c := exec.Command("git", "update-ref", "--stdin")
	c.Dir, c.Env, c.Stdin = w.storeDir(), w.env, strings.NewReader(refs+"\n")
	return c.Run()
}

func (w *worker) damageObject() error {
	blob, err := w.git(w.storeDir(), "rev-parse", "backburner/greet:second.txt")
	if err != nil {
		return err
	}
	path := filepath.Join(w.storeDir(), "objects", blob[:2], blob[2:])
	if err := os.Chmod(path, 0o644); err != nil {
		return err
	}
	return os.Truncate(path, 5)
}

// hush takes back what the tick said.
func (w *worker) hush() error { return w.output.Truncate(0) }

func (w *worker) leaveLock() error {
	return os.WriteFile(filepath.Join(w.storeDir(), "packed-refs.lock"), nil, 0o644)
}

// leftProcess is one that nobody ended.
type leftProcess struct{ *exec.Cmd }

func (p *leftProcess) start(w *worker) error {
	p.Cmd = exec.Command("sleep", "60")
	p.Dir = w.shop()
	return p.Start()
}

func (p *leftProcess) end() {
	if p.Cmd != nil {
		_ = p.Process.Kill()
		_ = p.Wait()
	}
}
