//go:build linux && (amd64 || arm64)

package cmd

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// worker has a folder of its own in which it tries one point after the other.
// All of a worker are at the same path: what is below has absolute paths in it.
type worker struct {
	bin    string
	dir    string   // dir/<scene> are the scenes, dir/at the one that is played
	env    []string // of ticks and of git
	output *os.File
	run    *traced
	ticks  int                        // that were needed after the traced one
	helped bool                       // a person was needed as well
	silent bool                       // the traced tick said nothing of a fault
	harm   [2]func(*worker) error     // of TestSweepNotices: done when the tick is dead, and when the job is finished
	usual  map[string]map[string]bool // files that are there at the end of each scene, by shape
}

func newWorkers(t *testing.T) chan *worker {
	bin := program(t)
	many := runtime.GOMAXPROCS(0)
	workers := make(chan *worker, many)
	for range many {
		workers <- newWorker(t, bin)
	}
	return workers
}

func newWorker(t *testing.T, bin string) *worker {
	dir, err := os.MkdirTemp("/dev/shm", "backburner-sweep-") // a power cut is not simulated, so no disk is needed
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	output, err := os.OpenFile(filepath.Join(dir, "output"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = output.Close() })
	w := &worker{bin: bin, dir: dir, output: output, usual: make(map[string]map[string]bool)}
	w.env = append(os.Environ(), "HOME="+filepath.Join(w.at(), "home"), "GIT_CONFIG_NOSYSTEM=1", "GORACE=atexit_sleep_ms=0")
	return w
}

func (w *worker) at() string   { return filepath.Join(w.dir, "at") }
func (w *worker) shop() string { return filepath.Join(w.dir, "at", "shop") }
func (w *worker) storeDir() string {
	return filepath.Join(w.shop(), ".backburner", "stores", "shop", "git")
}
func (w *worker) state() string { return filepath.Join(w.shop(), ".backburner", "state") }
func (w *worker) workspace() string {
	return filepath.Join(w.shop(), ".backburner", "workspaces", "greet")
}
func (w *worker) origin() string { return filepath.Join(w.at(), "origin.git") }
func (w *worker) ledger() string { return filepath.Join(w.at(), "ledger") }

// survey plays a scene undisturbed. It returns the changes that were made.
func (w *worker) survey(t *testing.T, s scene) []change {
	if err := w.play(s, trial{}); err != nil {
		t.Fatal(err)
	}
	<-w.run.gone
	if w.run.err != nil {
		t.Skipf("NOTHING IS SWEPT: this system does not let a process be traced: %v", w.run.err)
	}
	if err := errors.Join(w.unfinished(s.goal), w.runOnce(s.goal), w.sound(s)); err != nil {
		t.Fatalf("%s undisturbed: %v\n%s", s.name, err, w.said())
	}
	return w.run.changes
}

// play sets a scene and makes its tick, traced. It returns when the tick is over;
// what it started may live on.
func (w *worker) play(s scene, p trial) error {
	if err := w.set(s); err != nil {
		return err
	}
	w.run = trace(p, []string{w.bin, "tick"}, w.shop(), w.env, w.output)
	return within(w.run.ended, "the traced tick to end")
}

// set puts a scene at its place, making it first when this worker has not yet.
func (w *worker) set(s scene) error {
	kept := filepath.Join(w.dir, s.name)
	if _, err := os.Stat(kept); err != nil {
		if err := os.RemoveAll(w.at()); err != nil {
			return err
		}
		if err := s.prepare(w); err != nil {
			return fmt.Errorf("prepare %s: %w", s.name, err)
		}
		if err := exec.Command("cp", "-a", w.at(), kept).Run(); err != nil {
			return err
		}
		if err := w.learn(s); err != nil {
			return err
		}
	}
	w.ticks, w.helped, w.silent = 0, false, false
	if err := w.output.Truncate(0); err != nil {
		return err
	}
	if err := os.RemoveAll(w.at()); err != nil {
		return err
	}
	return exec.Command("cp", "-a", kept, w.at()).Run()
}

// learn plays a scene undisturbed and notes which files that leaves.
func (w *worker) learn(s scene) error {
	if err := w.backburner("tick"); err != nil {
		return err
	}
	usual := make(map[string]bool)
	w.usual[s.name] = usual
	return eachShape(w.shop(), func(_, shape string) { usual[shape] = true })
}

// backburner runs the program, untraced.
func (w *worker) backburner(args ...string) error {
	c := exec.Command(w.bin, args...)
	c.Dir, c.Env, c.Stdout, c.Stderr = w.shop(), w.env, w.output, w.output
	if err := c.Start(); err != nil {
		return err
	}
	timer := time.AfterFunc(stepLimit, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	if err := c.Wait(); err != nil {
		return fmt.Errorf("backburner %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// git runs git in a folder and returns what it says.
func (w *worker) git(dir string, args ...string) (string, error) {
	c := exec.Command("git", args...)
	c.Dir, c.Env = dir, w.env
	out, err := c.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// said is the output of everything since the scene was set.
func (w *worker) said() string {
	data, _ := os.ReadFile(w.output.Name())
	return string(data)
}

// stepLimit is for what takes a second; a test that runs into it has failed.
const stepLimit = 2 * time.Minute

func within(done <-chan struct{}, what string) error {
	select {
	case <-done:
		return nil
	case <-time.After(stepLimit):
		return fmt.Errorf("waited %s for %s", stepLimit, what)
	}
}
