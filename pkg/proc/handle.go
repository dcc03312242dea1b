package proc

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// readyLimit is how long a new supervisor may take to record itself.
	readyLimit = 30 * time.Second
	// wakeEvery is how often a supervisor is told to go on, in case that its job has stopped it.
	wakeEvery = time.Second
	// overdueSlack is how much longer than its limits allow a job may take before its supervisor is not believed in any more.
	overdueSlack = 15 * time.Second
)

// Handle is a job that this process has started.
type Handle struct {
	dir        string
	supervisor Identity
	done       chan struct{}    // closed when the supervisor is gone
	overdue    <-chan time.Time // when it has to be gone; nil: never
}

// Start starts a job under a supervisor. dir, which must exist and may be used for one job only, is where both keep their files. self
// is the command line of this program; "supervise DIR" is added to it, and has to lead to [Supervise]. Start returns as soon as the
// supervisor has recorded itself; that the job could not be started is told by Wait, as [ReasonStartFailed].
func Start(self []string, dir string, job Job) (*Handle, error) {
	if len(self) == 0 {
		return nil, &StartError{Name: `""`, Err: ErrNotFound}
	}
	if err := job.validate(); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// The log is made first, and by one only: it says that the directory is taken.
	log, err := os.OpenFile(filepath.Join(dir, logFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("supervise %s: %w", job.Execution, err)
	}
	defer log.Close()
	if err := writeJSON(dir, jobFile, job, false); err != nil {
		return nil, fmt.Errorf("supervise %s: %w", job.Execution, err)
	}
	h := &Handle{dir: dir, done: make(chan struct{})}
	if err := h.launch(self, job, log); err != nil {
		return nil, fmt.Errorf("supervise %s: %w", job.Execution, err)
	}
	if job.Timeout > 0 {
		h.overdue = time.After(job.Timeout + job.grace() + forceLimit + overdueSlack)
	}
	count(job.Args[0])
	return h, nil
}

// launch starts the supervisor and waits until it has recorded itself.
func (h *Handle) launch(self []string, job Job, log *os.File) error {
	reader, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	defer reader.Close()
	cmd := &exec.Cmd{
		Path: self[0], Args: append(append([]string{}, self...), "supervise", h.dir),
		// The supervisor has the environment of its job: none of this process's secrets can be read from it.
		Env:    job.environment(),
		Stdout: writer, Stderr: log,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	err = cmd.Start()
	_ = writer.Close()
	if err != nil {
		return &StartError{Name: self[0], Err: err}
	}
	count(self[0])
	go func() {
		defer close(h.done)
		_ = cmd.Wait() // what it has to say is in its files
	}()
	_ = reader.SetReadDeadline(time.Now().Add(readyLimit))
	said, err := bufio.NewReader(reader).ReadString('\n')
	if said != ready {
		_ = cmd.Process.Kill()
		<-h.done
		exit, ended := End(context.Background(), h.dir)
		return errors.Join(fmt.Errorf("the supervisor did not start: %w: %s", err, cmp.Or(logged(h.dir), exit.Error)), ended)
	}
	r, _, err := readJSON[record](h.dir, supervisorFile)
	h.supervisor = r.Supervisor
	return err
}

// logged is the last of what the supervisor of a directory wrote to its log.
func logged(dir string) string {
	content, _ := os.ReadFile(filepath.Join(dir, logFile))
	const most = 2000
	return strings.TrimSpace(string(content[max(0, len(content)-most):]))
}

// Supervisor is the identity of the process that supervises the job.
func (h *Handle) Supervisor() Identity { return h.supervisor }

// Wait returns when the job has ended and nothing of it is left. When ctx ends first, the job is cancelled, and Wait still returns how it
// ended, in less than five seconds. An error means that this cannot be told; see [End].
func (h *Handle) Wait(ctx context.Context) (Exit, error) {
	late := h.watch(ctx)
	exit, err := End(context.WithoutCancel(ctx), h.dir)
	if late && exit.Reason == ReasonCancelled {
		exit.Reason = ReasonTimeout
	}
	return exit, err
}

// watch returns when the supervisor is gone, when ctx ends, or when the supervisor is late, which it says. A job can stop its supervisor, and a
// stopped one enforces nothing.
func (h *Handle) watch(ctx context.Context) (late bool) {
	wake := time.NewTicker(wakeEvery)
	defer wake.Stop()
	for {
		select {
		case <-h.done:
			return false
		case <-ctx.Done():
			return false
		case <-h.overdue:
			return true
		case <-wake.C:
			_ = h.supervisor.signal(syscall.SIGCONT)
		}
	}
}

// Stop asks for the end of the job and does not wait for it. A job that has ended is no error.
func (h *Handle) Stop() error {
	err := h.supervisor.signal(syscall.SIGTERM)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
