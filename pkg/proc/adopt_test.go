package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// startTick starts a process that starts the job and hangs, and returns once the job is supervised.
func startTick(t *testing.T, job Job, inherited ...*os.File) (*exec.Cmd, string) {
	t.Helper()
	dir := t.TempDir()
	if err := writeJSON(dir, "spec.json", job, false); err != nil {
		t.Fatal(err)
	}
	tick := exec.Command(self(t)[0], "tick", dir)
	tick.ExtraFiles = inherited
	stdout, err := tick.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := tick.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = tick.Process.Kill()
		_ = tick.Wait()
	})
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "started\n" {
		t.Fatalf("tick said %q, %v", line, err)
	}
	return tick, dir
}

func kill(t *testing.T, tick *exec.Cmd) {
	t.Helper()
	if err := tick.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = tick.Wait()
}

func adopt(t *testing.T, dir string) (State, Exit) {
	t.Helper()
	state, exit, err := Adopt(dir)
	if err != nil {
		t.Fatal(err)
	}
	return state, exit
}

func TestTickKilledAndResultAdopted(t *testing.T) {
	t.Parallel()
	job := shell(t, `until [ -e go ]; do sleep 0.01; done; echo result; exit 4`)
	tick, dir := startTick(t, job)
	kill(t, tick)
	if state, _ := adopt(t, dir); state != Running {
		t.Fatalf("state = %s", state)
	}
	r := recorded(t, dir)
	if err := r.Supervisor.signal(syscall.SIGHUP); err != nil { // as when a terminal closes
		t.Fatal(err)
	}
	write(t, filepath.Join(job.Dir, "go"), "")
	eventually(t, "the end of the job", func() bool { state, _ := adopt(t, dir); return state == Finished })
	_, exit := adopt(t, dir)
	if exit.Reason != ReasonExited || exit.Code != 4 || read(t, dir, "stdout") != "result\n" {
		t.Errorf("exit = %+v", exit)
	}
	eventually(t, "the end of the supervisor", func() bool { return !r.Supervisor.Alive() })
}

func TestTickKilledAndJobEnded(t *testing.T) {
	t.Parallel()
	inBothWays(t, func(t *testing.T, prepare func(Job)) {
		job := shell(t, `setsid sh -c 'echo $$ >pid; exec sleep 1000' & wait`)
		prepare(job)
		tick, dir := startTick(t, job)
		pid := pidIn(t, job, "pid")
		kill(t, tick)
		exit, err := End(t.Context(), dir)
		if err != nil || exit.Reason != ReasonCancelled || exit.Signal != "SIGTERM" {
			t.Errorf("exit = %+v, %v", exit, err)
		}
		assertDead(t, pid)
		if again, err := End(t.Context(), dir); again != exit || err != nil {
			t.Errorf("again = %+v, %v", again, err)
		}
	})
}

// A pipe that cron or a runner reads to its end must not be held open by what outlives the tick.
func TestInheritedDescriptorsAreClosed(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	job := shell(t, `touch up; exec sleep 1000`)
	tick, dir := startTick(t, job, writer)
	_ = writer.Close()
	eventually(t, "the job", func() bool { return exists(job.Dir, "up") })
	kill(t, tick)
	_ = reader.SetReadDeadline(time.Now().Add(30 * time.Second))
	if _, err := reader.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("read: %v", err)
	}
	if state, _ := adopt(t, dir); state != Running {
		t.Errorf("state = %s", state)
	}
	if _, err := End(t.Context(), dir); err != nil {
		t.Error(err)
	}
}

// The one who starts a job may die before it learns that there is a supervisor: then the job must not start, since
// nobody will have it in any record.
func TestNobodyWaitsForTheSupervisor(t *testing.T) {
	t.Parallel()
	job := shell(t, `touch ran`)
	dir := t.TempDir()
	if err := writeJSON(dir, jobFile, job, false); err != nil {
		t.Fatal(err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = reader.Close()
	cmd := exec.Command(self(t)[0], "supervise", dir)
	cmd.Stdout = writer
	err = cmd.Run()
	_ = writer.Close()
	state, exit := adopt(t, dir)
	if err != nil || state != Finished || exit.Reason != ReasonCancelled || exists(job.Dir, "ran") {
		t.Errorf("%v, %s, %+v", err, state, exit)
	}
}

func TestSupervisorKilled(t *testing.T) {
	t.Parallel()
	// The second child has lost its environment: it is found through the group only, or while its parent lives.
	const script = `setsid sh -c 'trap "" TERM; echo $$ >deaf; while :; do sleep 0.2; done' &
		setsid sh -c 'echo $$ >parent; env -i sh -c "echo \$\$ >bare; exec sleep 1000" & wait' &
		echo $$ >job; wait`
	inBothWays(t, func(t *testing.T, prepare func(Job)) {
		job := shell(t, script)
		prepare(job)
		h, dir := start(t, job)
		pids := []int{pidIn(t, job, "deaf"), pidIn(t, job, "parent"), pidIn(t, job, "bare"), pidIn(t, job, "job")}
		if err := h.Supervisor().signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the death of the supervisor", func() bool { return !h.Supervisor().Alive() })
		if state, _ := adopt(t, dir); state != Gone {
			t.Fatalf("state = %s", state)
		}
		assertGone(t, pids[3]) // the job itself goes with its supervisor
		exit, err := End(t.Context(), dir)
		if err != nil || exit.Reason != ReasonLost || exit.Survivors < 3 || exit.Code != -1 {
			t.Errorf("exit = %+v, %v", exit, err)
		}
		for _, pid := range pids {
			assertDead(t, pid)
		}
		if again, err := h.Wait(t.Context()); again != exit || err != nil {
			t.Errorf("Wait = %+v, %v", again, err)
		}
		if group := recorded(t, dir).Cgroup; group != "" && exists(group) {
			t.Errorf("%s is still there", group)
		}
	})
}

// What has no mark and no parent is found through the group.
func TestSupervisorKilledAndGroupEnded(t *testing.T) {
	t.Parallel()
	job := shell(t, bareOrphan+`; touch up; sleep 1000`)
	h, dir := start(t, job)
	pid := pidIn(t, job, "bare")
	eventually(t, "the job", func() bool { return exists(job.Dir, "up") })
	group := recorded(t, dir).Cgroup
	if err := h.Supervisor().signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	exit, err := h.Wait(t.Context())
	if err != nil || exit.Reason != ReasonLost {
		t.Errorf("exit = %+v, %v", exit, err)
	}
	if group == "" {
		_ = unix.Kill(pid, unix.SIGKILL)
		t.Skip("no control group can be made here, and without one it cannot be found")
	}
	assertDead(t, pid)
}

// Whatever the supervisor was doing when it was killed, End leaves nothing: no process, no group, no half-written file.
func TestSupervisorKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	const script = `setsid sh -c 'trap "" TERM; env -i sleep 1000 & sleep 1000' & setsid sleep 1000 & sleep 0.01`
	for i := range 12 {
		t.Run(fmt.Sprint(4*i, " ms"), func(t *testing.T) {
			t.Parallel()
			job := shell(t, script)
			job.Grace = 10 * time.Millisecond
			dir := t.TempDir()
			if err := writeJSON(dir, jobFile, job, false); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self(t)[0], "supervise", dir)
			cmd.Env = job.environment()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(4*i) * time.Millisecond)
			kill(t, cmd)
			exit, err := End(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			if state, again := adopt(t, dir); state != Finished || again != exit {
				t.Errorf("then %s, %+v", state, again)
			}
			if group := cgroupPath(job.Execution); group != "" && exists(group) {
				t.Errorf("%s is still there", group)
			}
			if halves, _ := filepath.Glob(filepath.Join(dir, ".*")); len(halves) > 0 {
				t.Errorf("left behind: %v", halves)
			}
		})
	}
}

// Whoever waits need not know that the supervisor was killed.
func TestWaitFindsSupervisorKilled(t *testing.T) {
	t.Parallel()
	job := shell(t, `setsid sh -c 'echo $$ >pid; exec sleep 1000' & wait`)
	h, _ := start(t, job)
	pid := pidIn(t, job, "pid")
	if err := h.Supervisor().signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	exit, err := h.Wait(t.Context())
	if err != nil || exit.Reason != ReasonLost {
		t.Errorf("exit = %+v, %v", exit, err)
	}
	assertDead(t, pid)
}

func TestLostOutputIsCut(t *testing.T) {
	t.Parallel()
	job := shell(t, `setsid sh -c 'echo $$ >pid; exec sleep 1000' & wait`)
	h, dir := start(t, job)
	pidIn(t, job, "pid")
	if err := h.Supervisor().signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the death of the supervisor", func() bool { return !h.Supervisor().Alive() })
	job.MaxOutput = 3
	if err := writeJSON(dir, jobFile, job, false); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "stdout"), "12345")
	exit, err := End(t.Context(), dir)
	if err != nil || exit.OutputBytes != 5 || read(t, dir, "stdout") != "123" {
		t.Errorf("exit = %+v, %v", exit, err)
	}
}

func TestNothingThere(t *testing.T) {
	t.Parallel()
	tests := map[string]map[string]string{
		"empty":             {},
		"only the log":      {logFile: ""},
		"job not started":   {jobFile: `{"execution": "test-never-started"}`},
		"torn by power cut": {jobFile: "", supervisorFile: ""},
		"another boot":      {jobFile: "", supervisorFile: `{"execution": "x", "supervisor": {"boot_id": "other", "pid": 1, "start": 1}}`},
	}
	for name, files := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range files {
				write(t, filepath.Join(dir, name), content)
			}
			if state, _ := adopt(t, dir); state != Gone {
				t.Fatalf("state = %s", state)
			}
			exit, err := End(t.Context(), dir)
			if err != nil || exit.Reason != ReasonLost || exit.Survivors != 0 {
				t.Errorf("exit = %+v, %v", exit, err)
			}
			if state, again := adopt(t, dir); state != Finished || again != exit {
				t.Errorf("then %s, %+v", state, again)
			}
		})
	}
}

func TestUnreadableIsNotGone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "file")
	write(t, dir, "")
	if state, _, err := Adopt(dir); err == nil {
		t.Errorf("state = %s", state)
	}
	if _, err := End(t.Context(), dir); err == nil {
		t.Error("no error")
	}
}

// What a job put in the place of its records is none: nobody waits for it, and its end can be written down.
func TestNoRecords(t *testing.T) {
	t.Parallel()
	for what, put := range map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder": func(path string) error { return os.MkdirAll(filepath.Join(path, "in", "it"), 0o700) },
		"link":   func(path string) error { return os.Symlink("/dev/zero", path) },
		"socket": func(path string) error { return syscall.Mknod(path, syscall.S_IFSOCK|0o600, 0) },
		"hole":   func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40)) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, name := range []string{jobFile, supervisorFile, exitFile} {
				if err := put(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			if state, _ := adopt(t, dir); state != Gone {
				t.Errorf("state = %s", state)
			}
			if exit, err := End(t.Context(), dir); err != nil || exit.Reason != ReasonLost {
				t.Errorf("exit = %+v, %v", exit, err)
			}
			if state, _ := adopt(t, dir); state != Finished {
				t.Errorf("then %s", state)
			}
		})
	}
}

// An id that was given to another process: nothing is sent to it, whatever the files say.
func TestReusedIDIsNotSignalled(t *testing.T) {
	t.Parallel()
	bystander := exec.Command("sleep", "1000")
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = bystander.Process.Kill()
		_ = bystander.Wait()
	}()
	now, ok := identify(bystander.Process.Pid)
	if !ok || !now.Alive() {
		t.Fatalf("identity = %+v", now)
	}
	others := map[string]func(*Identity){
		"start":     func(i *Identity) { i.Start-- },
		"boot":      func(i *Identity) { i.BootID = "another" },
		"namespace": func(i *Identity) { i.PIDNamespace = "pid:[1]" },
	}
	for name, change := range others {
		t.Run(name, func(t *testing.T) {
			before := now
			change(&before)
			if before.Alive() {
				t.Error("alive")
			}
			if err := before.signal(syscall.SIGKILL); err != os.ErrProcessDone {
				t.Errorf("signal: %v", err)
			}
			dir := t.TempDir()
			job := shell(t, "true")
			r := record{Execution: job.Execution, Supervisor: before, Job: before}
			if err := writeJSON(dir, supervisorFile, r, false); err != nil {
				t.Fatal(err)
			}
			if state, _ := adopt(t, dir); state != Gone {
				t.Errorf("state = %s", state)
			}
			if exit, err := End(t.Context(), dir); err != nil || exit.Survivors != 0 {
				t.Errorf("exit = %+v, %v", exit, err)
			}
			if !now.Alive() {
				t.Error("the bystander is dead")
			}
		})
	}
	_ = bystander.Process.Kill()
	eventually(t, "a zombie", func() bool { p, _ := readProcess(now.PID); return p.zombie })
	if now.Alive() {
		t.Error("a zombie is alive")
	}
	if err := now.signal(syscall.SIGTERM); err != os.ErrProcessDone {
		t.Errorf("signal to a zombie: %v", err)
	}
}

func TestSelf(t *testing.T) {
	t.Parallel()
	if me := Self(); !me.Alive() || me.PID != os.Getpid() || me.Start == 0 || me.BootID == "" {
		t.Errorf("Self() = %+v", me)
	}
	if (Identity{}).Alive() {
		t.Error("nobody is alive")
	}
}

// End with a context that has ended does not stay polite.
func TestEndInAHurry(t *testing.T) {
	t.Parallel()
	job := shell(t, `trap '' TERM; echo $$ >pid; while :; do sleep 0.2; done`)
	job.Grace = time.Hour
	_, dir := start(t, job)
	pid := pidIn(t, job, "pid")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	exit, err := End(ctx, dir)
	if err != nil || exit.Reason != ReasonCancelled {
		t.Errorf("exit = %+v, %v", exit, err)
	}
	assertDead(t, pid)
}
