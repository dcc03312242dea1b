package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// commandGrace is how long a command may take to end after it was asked to; git needs a moment to take its lock files away.
	commandGrace = 2 * time.Second
	// pipeDelay is how long Run goes on reading after the command has exited, when something it left behind keeps the pipes open. It
	// is long enough that on a busy machine nothing of the command's own output is lost.
	pipeDelay = 2 * time.Second
	// defaultMaxOutput bounds a stream in memory when the caller names no bound.
	defaultMaxOutput = 32 << 20
)

// ErrTimeout says that a command ran into its own time limit, not into that of the caller's context.
var ErrTimeout = errors.New("time limit reached")

// Command is one run of a program that is expected to be short and to end by itself.
type Command struct {
	// Args are the program and its arguments. A name without a slash is looked up in the PATH of Env.
	Args []string
	// Dir is the working directory; empty is that of this process.
	Dir string
	// Env is the complete environment. Nil, and only nil, is that of this process.
	Env []string
	// Stdin is what the program can read; nothing of this process's own standard input is ever passed on.
	Stdin []byte
	// Timeout ends the program; 0 is no limit beside that of the context.
	Timeout time.Duration
	// MaxOutput is how many bytes of each stream are kept; 0 is 32 MiB.
	MaxOutput int64
	// Lasting lets the program go on when this process is killed. Any other is then asked to end (on Linux).
	Lasting bool
	// Stdout gets the standard output, all of it, as it comes; nil: it is kept in Result.
	Stdout io.Writer
}

// Result is how a command ended and what it said.
type Result struct {
	// Exit is the exit code, -1 when a signal ended the program.
	Exit int
	// Signal is the name of the signal that ended it ("SIGKILL"), or empty.
	Signal string
	Stdout []byte
	Stderr []byte
	// Truncated says that more was written than MaxOutput, and dropped.
	Truncated bool
	Duration  time.Duration
}

// Run runs a command to its end. That it exits with another code than 0 is not an error: callers look at Exit. Errors are a
// *[StartError], [ErrTimeout] and the error of ctx; with the last two, Result holds what was said until then.
//
// The command has a session of its own, hence no terminal to ask questions on. It ends when this process is killed, unless it is Lasting. When ctx or the timeout ends it, its whole
// process group is asked to end, and two seconds later forced to. A process it leaves behind after an exit of its own is
// let be, but never waited for, even when it holds the pipes.
func Run(ctx context.Context, c Command) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("%s: %w", c.name(), err)
	}
	cmd, err := c.prepare()
	if err != nil {
		return Result{}, err
	}
	stdout, stderr := newCapture(c.MaxOutput), newCapture(c.MaxOutput)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, ErrTimeout)
		defer cancel()
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return Result{}, &StartError{Name: c.name(), Err: err}
	}
	count(c.Args[0])
	ended := endGroupWith(ctx, cmd.Process.Pid)
	err = cmd.Wait()
	result := Result{
		Exit:      cmd.ProcessState.ExitCode(),
		Signal:    signalName(cmd.ProcessState.Sys().(syscall.WaitStatus)),
		Stdout:    stdout.kept.Bytes(),
		Stderr:    stderr.kept.Bytes(),
		Truncated: stdout.truncated || stderr.truncated,
		Duration:  time.Since(begin),
	}
	if ended != nil {
		return result, fmt.Errorf("%s: %w", c.name(), ended)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return result, fmt.Errorf("%s: %w", c.name(), err)
	}
	return result, nil
}

func (c Command) name() string {
	if len(c.Args) == 0 {
		return `""`
	}
	return filepath.Base(c.Args[0])
}

func (c Command) prepare() (*exec.Cmd, error) {
	if len(c.Args) == 0 {
		return nil, &StartError{Name: `""`, Err: ErrNotFound}
	}
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	path, err := lookIn(c.Args[0], c.Dir, env)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: path, Args: c.Args, Dir: c.Dir, Env: env,
		WaitDelay:   pipeDelay,
		SysProcAttr: commandAttributes(c.Lasting),
	}
	if len(c.Stdin) > 0 {
		cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	return cmd, nil
}

// endGroupWith returns when the process has exited, which it sees to when ctx ends first; then it returns why. The process is not
// reaped yet, so that its id, which is that of its group, cannot mean anybody else while the group is signalled.
func endGroupWith(ctx context.Context, pid int) error {
	if ctx.Done() == nil {
		return nil
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		awaitExit(pid)
	}()
	select {
	case <-exited:
		return nil
	case <-ctx.Done():
	}
	_ = unix.Kill(-pid, unix.SIGTERM)
	grace := time.NewTimer(commandGrace)
	defer grace.Stop()
	select {
	case <-exited:
	case <-grace.C:
	}
	_ = unix.Kill(-pid, unix.SIGKILL)
	<-exited
	if cause := context.Cause(ctx); errors.Is(cause, ErrTimeout) {
		return cause
	}
	return ctx.Err()
}

// capture keeps the head of a stream and drops the rest, so that the writer is never held up.
type capture struct {
	kept      bytes.Buffer
	max       int64
	truncated bool
}

var _ io.Writer = (*capture)(nil)

func newCapture(limit int64) *capture {
	if limit <= 0 {
		limit = defaultMaxOutput
	}
	return &capture{max: limit}
}

func (c *capture) Write(p []byte) (int, error) {
	room := c.max - int64(c.kept.Len())
	if int64(len(p)) <= room {
		return c.kept.Write(p)
	}
	c.truncated = true
	c.kept.Write(p[:room])
	return len(p), nil
}

// signalName is the name of the signal that ended a process, empty when none did.
func signalName(status syscall.WaitStatus) string {
	if !status.Signaled() {
		return ""
	}
	return unix.SignalName(status.Signal())
}
