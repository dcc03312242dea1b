package proc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain lets the test binary stand for the program: "supervise DIR" is what Start adds to its command line, "tick DIR" is a process that
// starts the job of a directory and then hangs, for tests that kill it, and "run SCRIPT" and "run-lasting SCRIPT" wait for a command.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 {
		switch os.Args[1] {
		case "supervise":
			exitWith(Supervise(os.Args[2]))
		case "tick":
			exitWith(hangingTick(os.Args[2]))
		case "run", "run-lasting":
			c := sh(os.Args[2])
			c.Lasting = os.Args[1] == "run-lasting"
			_, err := Run(context.Background(), c)
			exitWith(err)
		}
	}
	os.Exit(m.Run())
}

func exitWith(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// hangingTick starts the job that is described in DIR/spec.json and says so.
func hangingTick(dir string) error {
	job, _, err := readJSON[Job](dir, "spec.json")
	if err != nil {
		return err
	}
	job.Env = environment()
	if _, err := Start([]string{os.Args[0]}, dir, job); err != nil {
		return err
	}
	fmt.Println("started")
	select {}
}

// self is the command line of the test binary.
func self(t testing.TB) []string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{path}
}

// environment is that of the jobs of these tests; under the race detector each supervisor would else sleep a second before it exits.
func environment() []string {
	return append(Environment(os.Environ(), nil), "GORACE=atexit_sleep_ms=0")
}

var executions atomic.Int64

// shell is a job that runs a script in a folder of its own; nothing that carries its marker may be there when the test is over.
func shell(t testing.TB, script string) Job {
	t.Helper()
	job := Job{
		Execution: fmt.Sprintf("test-%d-%d", os.Getpid(), executions.Add(1)),
		Args:      []string{"sh", "-c", script},
		Dir:       t.TempDir(),
		Env:       environment(),
		Stdout:    "stdout",
		Stderr:    "stderr",
	}
	t.Cleanup(func() {
		if left := marked(t, job); len(left) > 0 {
			t.Errorf("left behind: %v", left)
			for _, p := range left {
				_ = p.identity().signal(unix.SIGKILL)
			}
		}
	})
	return job
}

func marked(t testing.TB, job Job) []process {
	t.Helper()
	table, err := processes()
	if err != nil {
		t.Fatal(err)
	}
	return carriers(table, job.Execution, 0)
}

func start(t testing.TB, job Job) (*Handle, string) {
	t.Helper()
	dir := t.TempDir()
	h, err := Start(self(t), dir, job)
	if err != nil {
		t.Fatal(err)
	}
	return h, dir
}

// finish runs a job to its end.
func finish(t testing.TB, job Job) (Exit, string) {
	t.Helper()
	h, dir := start(t, job)
	exit, err := h.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return exit, dir
}

// eventually waits for something that is sure to come; the limit only keeps a broken test from hanging.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for !done() {
		if ctx.Err() != nil {
			t.Fatalf("never came: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// pidIn reads a process id that a script writes to a file of its folder.
func pidIn(t testing.TB, job Job, name string) int {
	t.Helper()
	var pid int
	eventually(t, "a process id in "+name, func() bool {
		content, _ := os.ReadFile(filepath.Join(job.Dir, name))
		line, complete := strings.CutSuffix(string(content), "\n")
		pid, _ = strconv.Atoi(line)
		return complete && pid > 0
	})
	return pid
}

func assertDead(t testing.TB, pid int) {
	t.Helper()
	if p, ok := readProcess(pid); ok && !p.zombie {
		t.Errorf("process %d (%s) is alive", pid, p.name)
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

func read(t testing.TB, elements ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func exists(elements ...string) bool {
	_, err := os.Stat(filepath.Join(elements...))
	return err == nil
}

// recorded is what the supervisor wrote down once it had started the job.
func recorded(t testing.TB, dir string) record {
	t.Helper()
	var r record
	eventually(t, "the record of a started job", func() bool {
		r, _, _ = readJSON[record](dir, supervisorFile)
		return r.Job.PID > 0
	})
	return r
}
