package proc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestJobExits(t *testing.T) {
	t.Parallel()
	job := shell(t, `cat; echo oops >&2; cut -d' ' -f6 /proc/self/stat; pwd; echo $BACKBURNER_EXECUTION; exit 3`)
	job.Stdin = filepath.Join(job.Dir, "prompt")
	write(t, job.Stdin, "hello\n")
	h, dir := start(t, job)
	exit, err := h.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if exit.Reason != ReasonExited || exit.Code != 3 || exit.Signal != "" || exit.Survivors != 0 || exit.Error != "" {
		t.Errorf("exit = %+v", exit)
	}
	want := fmt.Sprintf("hello\n%d\n%s\n%s\n", h.Supervisor().PID, job.Dir, job.Execution) // the session is the supervisor's
	if got := read(t, dir, "stdout"); got != want {
		t.Errorf("stdout = %q, want %q", got, want)
	}
	if got := read(t, dir, "stderr"); got != "oops\n" {
		t.Errorf("stderr = %q", got)
	}
	if exit.OutputBytes != int64(len(want)+len("oops\n")) || exit.CPU <= 0 || exit.EndedAt.Before(exit.StartedAt) {
		t.Errorf("exit = %+v", exit)
	}
	if got := read(t, dir, logFile); got != "" {
		t.Errorf("the supervisor said %q", got)
	}
	state, adopted, err := Adopt(dir)
	if state != Finished || adopted != exit || err != nil {
		t.Errorf("Adopt = %v, %+v, %v", state, adopted, err)
	}
	if ended, err := End(t.Context(), dir); ended != exit || err != nil {
		t.Errorf("End = %+v, %v", ended, err)
	}
}

func TestJobEndsBySignal(t *testing.T) {
	t.Parallel()
	exit, _ := finish(t, shell(t, `kill -KILL $$`))
	if exit.Reason != ReasonExited || exit.Code != -1 || exit.Signal != "SIGKILL" {
		t.Errorf("exit = %+v", exit)
	}
}

func TestJobCannotStart(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*Job)
		want   string
	}{
		"no program":   {func(j *Job) { j.Args = []string{"no-such-program"}; j.Env = []string{"PATH=/nowhere"} }, "searched PATH=/nowhere"},
		"no directory": {func(j *Job) { j.Dir = "/nowhere" }, "/nowhere"},
		"no input":     {func(j *Job) { j.Stdin = "missing" }, "missing"},
		"no script":    {func(j *Job) { j.Args = []string{"./missing.sh"} }, "missing.sh"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			job := shell(t, `touch ran`)
			test.change(&job)
			exit, _ := finish(t, job)
			if exit.Reason != ReasonStartFailed || exit.Code != -1 || !strings.Contains(exit.Error, test.want) {
				t.Errorf("exit = %+v", exit)
			}
		})
	}
}

func TestRelativeProgramIsBelowDir(t *testing.T) {
	t.Parallel()
	job := shell(t, "")
	job.Args = []string{"./agent.sh", "word"}
	write(t, filepath.Join(job.Dir, "agent.sh"), "#!/bin/sh\necho $1\n")
	if err := os.Chmod(filepath.Join(job.Dir, "agent.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	exit, dir := finish(t, job)
	if exit.Code != 0 || read(t, dir, "stdout") != "word\n" {
		t.Errorf("exit = %+v", exit)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	job := shell(t, `exec sleep 1000`)
	job.Timeout = 50 * time.Millisecond
	exit, _ := finish(t, job)
	if exit.Reason != ReasonTimeout || exit.Signal != "SIGTERM" || exit.Code != -1 {
		t.Errorf("exit = %+v", exit)
	}
}

func TestTimeoutWithTermIgnored(t *testing.T) {
	t.Parallel()
	job := shell(t, `trap '' TERM; touch deaf; while :; do sleep 0.1; done`)
	job.Timeout, job.Grace = 300*time.Millisecond, 50*time.Millisecond
	exit, _ := finish(t, job)
	want := "SIGKILL"
	if !exists(job.Dir, "deaf") { // a busy machine: it had not come so far
		want = "SIGTERM"
	}
	if exit.Reason != ReasonTimeout || exit.Signal != want {
		t.Errorf("exit = %+v, want %s", exit, want)
	}
}

func TestPoliteEndIsWaitedFor(t *testing.T) {
	t.Parallel()
	job := shell(t, `trap 'echo bye; exit 7' TERM; touch up; while :; do sleep 0.01; done`)
	job.Grace = time.Minute
	h, dir := start(t, job)
	eventually(t, "the trap", func() bool { return exists(job.Dir, "up") })
	if err := h.Stop(); err != nil {
		t.Fatal(err)
	}
	exit, err := h.Wait(t.Context())
	if err != nil || exit.Reason != ReasonCancelled || exit.Code != 7 || read(t, dir, "stdout") != "bye\n" {
		t.Errorf("exit = %+v, %v", exit, err)
	}
	if err := h.Stop(); err != nil {
		t.Errorf("Stop after the end: %v", err)
	}
}

func TestIdle(t *testing.T) {
	t.Parallel()
	job := shell(t, `echo working; exec sleep 1000`)
	job.Idle, job.Timeout = 200*time.Millisecond, time.Minute
	exit, _ := finish(t, job)
	if exit.Reason != ReasonIdle {
		t.Errorf("exit = %+v", exit)
	}
}

// A silent job that computes is not idle.
func TestBusyIsNotIdle(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, prepare func(Job)) {
		job := shell(t, `(while :; do :; done) & wait`)
		job.Idle, job.Timeout = time.Second, 2500*time.Millisecond
		prepare(job)
		exit, _ := finish(t, job)
		if exit.Reason != ReasonTimeout || exit.CPU <= 0 {
			t.Errorf("exit = %+v", exit)
		}
	})
}

func TestOutputLimit(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	tests := map[string]string{
		"endless":    `exec yes`,
		"200 MB":     `head -c 200000000 /dev/zero`,
		"on stderr":  `yes >&2`,
		"grandchild": `setsid yes & exec sleep 1000`,
		"deaf":       `trap '' TERM; yes`,
	}
	for name, script := range tests {
		t.Run(name, func(t *testing.T) {
			job := shell(t, script)
			job.MaxOutput, job.Timeout, job.Grace = limit, time.Minute, 200*time.Millisecond
			exit, dir := finish(t, job)
			if exit.Reason != ReasonOutputLimit || exit.OutputBytes <= limit {
				t.Errorf("exit = %+v", exit)
			}
			for _, name := range []string{"stdout", "stderr"} {
				if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() > limit {
					t.Errorf("%s: %v, %v", name, info.Size(), err)
				}
			}
		})
	}
}

func TestBothStreamsInOneFile(t *testing.T) {
	t.Parallel()
	job := shell(t, `echo a; echo b >&2; echo c`)
	job.Stderr = job.Stdout
	exit, dir := finish(t, job)
	if got := read(t, dir, "stdout"); got != "a\nb\nc\n" || exit.OutputBytes != 6 {
		t.Errorf("stdout = %q, exit = %+v", got, exit)
	}
}

// inBothWays runs a test with a control group, where one can be made, and without.
func inBothWays(t *testing.T, test func(t *testing.T, prepare func(Job))) {
	t.Run("with a group", func(t *testing.T) {
		t.Parallel()
		test(t, func(Job) {})
	})
	t.Run("without a group", func(t *testing.T) {
		t.Parallel()
		test(t, func(job Job) {
			// A group of that name exists already: so the supervisor makes none.
			if g := newCgroup(cgroupPath(job.Execution), job.Execution); g != nil {
				t.Cleanup(g.remove)
			}
		})
	})
}

func TestNothingSurvives(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script    string
		survivors int
	}{
		"background child":    {`sleep 1000 & echo $! >pid`, 1},
		"holds the output":    {`sleep 1000 >/dev/null 2>&1 & sleep 1000 & echo $! >pid`, 2},
		"session of its own":  {`setsid sleep 1000 & echo $! >pid`, 1},
		"forked twice":        {`setsid sh -c 'setsid sh -c "echo \$\$ >pid; exec sleep 1000" & exit' ; until [ -s pid ]; do sleep 0.01; done`, 1},
		"without environment": {`env -i PATH="$PATH" setsid sh -c 'echo $$ >pid; exec sleep 1000' & until [ -s pid ]; do sleep 0.01; done`, 1},
		"deaf":                {`setsid sh -c 'trap "" TERM; echo $$ >pid; while :; do sleep 0.2; done' & until [ -s pid ]; do sleep 0.01; done`, 1},
		"stopped":             {`setsid sh -c 'echo $$ >pid; kill -STOP $$' & until [ -s pid ]; do sleep 0.01; done`, 1},
		// How many of a chain are seen is chance: a group is killed whole, between two looks.
		"an endless chain of forks": {`echo $$ >pid; printf '#!/bin/sh\nsetsid "$0" &\n' >chain; chmod +x chain; ./chain; sleep 0.1`, 0},
		"gone before it was seen":   {`(exit 0) & echo $$ >pid`, 0},
	}
	inBothWays(t, func(t *testing.T, prepare func(Job)) {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				job := shell(t, test.script)
				job.Grace = 100 * time.Millisecond
				prepare(job)
				exit, _ := finish(t, job)
				if exit.Reason != ReasonExited || exit.Code != 0 || exit.Error != "" || exit.Survivors < test.survivors {
					t.Errorf("exit = %+v, want %d survivors", exit, test.survivors)
				}
				assertDead(t, pidIn(t, job, "pid"))
			})
		}
	})
}

func TestGroupIsRemoved(t *testing.T) {
	t.Parallel()
	job := shell(t, `true`)
	_, dir := finish(t, job)
	group := recorded(t, dir).Cgroup
	if group == "" {
		t.Skip("no control group can be made here")
	}
	if exists(group) {
		t.Errorf("%s is still there", group)
	}
}

func TestCancelTakesLessThanFiveSeconds(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, prepare func(Job)) {
		job := shell(t, `trap '' TERM; setsid sh -c 'trap "" TERM; echo $$ >pid; while :; do sleep 0.2; done' & while :; do sleep 0.2; done`)
		job.Grace = time.Hour
		prepare(job)
		h, _ := start(t, job)
		pid := pidIn(t, job, "pid")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		begin := time.Now()
		exit, err := h.Wait(ctx)
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
		if err != nil || exit.Reason != ReasonCancelled {
			t.Errorf("exit = %+v, %v", exit, err)
		}
		assertDead(t, pid)
	})
}

// A stopped process hears the request too.
func TestStoppedJobIsEndedPolitely(t *testing.T) {
	t.Parallel()
	job := shell(t, `trap 'exit 7' TERM; touch up; kill -STOP $$; sleep 1000`)
	job.Grace = time.Minute
	h, _ := start(t, job)
	eventually(t, "the stop", func() bool {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", recorded(t, h.dir).Job.PID))
		return strings.Contains(string(stat), "T (stopped)")
	})
	if err := h.Stop(); err != nil {
		t.Fatal(err)
	}
	if exit, err := h.Wait(t.Context()); err != nil || exit.Code != 7 {
		t.Errorf("exit = %+v, %v", exit, err)
	}
}

// bareOrphan starts a process without environment, parent and session of the job, and writes its id to a file.
const bareOrphan = `(env -i setsid sh -c 'echo $$ >bare; exec sleep 1000' &); until [ -s bare ]; do sleep 0.01; done`

// A supervisor that does not answer is ended too, and then even a process that only it could know.
func TestCancelWithSupervisorStopped(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, prepare func(Job)) {
		job := shell(t, bareOrphan+`; touch up; sleep 1000`)
		prepare(job)
		h, dir := start(t, job)
		pid := pidIn(t, job, "bare")
		eventually(t, "the job", func() bool { return exists(job.Dir, "up") })
		if err := h.Supervisor().signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		begin := time.Now()
		exit, err := h.Wait(ctx)
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
		if err != nil || exit.Reason != ReasonCancelled {
			t.Errorf("exit = %+v, %v", exit, err)
		}
		assertDead(t, pid)
		if state, _, _ := Adopt(dir); state != Finished {
			t.Errorf("state = %s", state)
		}
	})
}

func TestSupervisorHasNoSecretsAndNoTerminal(t *testing.T) {
	t.Setenv("GH_TOKEN", "hunter2")
	job := shell(t, `trap 'exit 0' TERM; touch up; while :; do sleep 0.01; done`)
	job.Env = append(job.Env, "API_KEY=for-the-agent")
	h, dir := start(t, job)
	eventually(t, "the job", func() bool { return exists(job.Dir, "up") })
	proc := filepath.Join("/proc", strconv.Itoa(h.Supervisor().PID))
	if environ := read(t, proc, "environ"); strings.Contains(environ, "hunter2") || !strings.Contains(environ, "for-the-agent") {
		t.Errorf("environment of the supervisor: %q", environ)
	}
	for fd, want := range map[string]string{"0": os.DevNull, "1": os.DevNull, "2": filepath.Join(dir, logFile)} {
		if got, err := os.Readlink(filepath.Join(proc, "fd", fd)); got != want || err != nil {
			t.Errorf("descriptor %s of the supervisor is %s, %v", fd, got, err)
		}
	}
	if description := read(t, dir, jobFile); strings.Contains(description, "for-the-agent") {
		t.Errorf("job.json = %s", description)
	}
	if err := h.Stop(); err != nil {
		t.Fatal(err)
	}
	if exit, err := h.Wait(t.Context()); err != nil || exit.Code != 0 {
		t.Errorf("exit = %+v, %v", exit, err)
	}
}

func TestDirectoryServesOneJob(t *testing.T) {
	t.Parallel()
	job := shell(t, `true`)
	_, dir := finish(t, job)
	if _, err := Start(self(t), dir, job); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second Start: %v", err)
	}
	if err := exec.Command(self(t)[0], "supervise", dir).Run(); err == nil {
		t.Error("second Supervise: no error")
	}
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*Job){
		"no id":        func(j *Job) { j.Execution = "" },
		"a path as id": func(j *Job) { j.Execution = "../x" },
		"dots as id":   func(j *Job) { j.Execution = ".." },
		"no program":   func(j *Job) { j.Args = nil },
		"no directory": func(j *Job) { j.Dir = "" },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			job := shell(t, `true`)
			change(&job)
			if _, err := Start(self(t), t.TempDir(), job); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestStartTellsWhatTheSupervisorSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := Start([]string{"/bin/sh", "-c", "echo no such luck >&2; exit 1"}, dir, shell(t, `true`))
	if err == nil || !strings.Contains(err.Error(), "no such luck") {
		t.Errorf("err = %v", err)
	}
	if state, exit, err := Adopt(dir); state != Finished || exit.Reason != ReasonLost || err != nil {
		t.Errorf("Adopt = %s, %+v, %v", state, exit, err)
	}
}

func TestCount(t *testing.T) {
	before := Count("sh")
	finish(t, shell(t, `true`))
	if got := Count("sh") - before; got != 1 {
		t.Errorf("counted %d", got)
	}
	if Counts()[filepath.Base(self(t)[0])] == 0 {
		t.Error("supervisors are not counted")
	}
}

// A job that stops its supervisor whenever that goes on is ended all the same, as one that is over its time.
func TestStoppedSupervisor(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the last resort")
	}
	t.Parallel()
	job := shell(t, `while :; do kill -STOP $PPID; done`)
	job.Timeout, job.Grace = time.Second, time.Millisecond
	exit, _ := finish(t, job)
	if exit.Reason != ReasonTimeout {
		t.Errorf("exit = %+v", exit)
	}
}
