package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

const (
	logFile   = "log"    // in the folder of a step
	maxOutput = 64 << 20 // bytes of one log
	// grace is short because a person who interrupts a tick waits for it.
	grace     = 2 * time.Second
	tailLines = 5 // of the log, in Detail
	tailBytes = 1000
)

// runStep runs a step until it passes or may not be tried again.
func (r *Runner) runStep(ctx context.Context, c Call, s numbered) result {
	res := result{StepResult: work.StepResult{Name: s.Name, Run: s.Run, ExitCode: -1}}
	dir, err := contained(c.Workspace, s.Dir)
	if err != nil {
		res.Reason, res.detail = BadDir, fmt.Sprintf("%s: %v", s.Name, err)
		return res
	}
	job := proc.Job{
		Args: append(slices.Clip(r.wrap), s.Run...), Dir: dir, Env: environment(slices.Concat(r.env, proc.Unprivileged(c.Workspace, c.Dir)), s.Env),
		Stdout: logFile, Stderr: logFile, Timeout: s.Timeout, Grace: grace, MaxOutput: maxOutput,
	}
	if err := findProgram(job); err != nil {
		res.Reason, res.detail = NotFound, fmt.Sprintf("%s: %v; install it, or correct the gate's configuration", s.Name, err)
		return res
	}
	for {
		res.Tries++
		name := folder(s, res.Tries)
		job.Execution = proc.Mark(fmt.Sprintf("%s.%02d.%d", c.Execution, s.number, res.Tries), c.Dir)
		res.Log = name + "/" + logFile
		exit, err := r.supervise(ctx, filepath.Join(c.Dir, name), job)
		res.judge(ctx, s.Step, exit, err)
		if res.detail != "" {
			res.detail += lastLines(filepath.Join(c.Dir, res.Log))
		}
		if !again(s.Step, res.StepResult) || ctx.Err() != nil {
			return res
		}
	}
}

// supervise runs one try of a step in a folder of its own.
func (r *Runner) supervise(ctx context.Context, dir string, job proc.Job) (proc.Exit, error) {
	if err := clear(ctx, dir); err != nil {
		return proc.Exit{}, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return proc.Exit{}, err
	}
	handle, err := proc.Start(r.self, dir, job)
	if err != nil {
		return proc.Exit{}, err
	}
	return handle.Wait(ctx)
}

// clear makes room for a try: a run that a crash cut may have left the folder,
// and even the processes.
func clear(ctx context.Context, dir string) error {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := proc.End(ctx, dir); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// judge notes how a try ended.
func (res *result) judge(ctx context.Context, s Step, exit proc.Exit, err error) {
	res.Reason, res.detail, res.ExitCode = "", "", exit.Code
	say := func(reason, format string, args ...any) {
		res.Reason, res.detail = reason, fmt.Sprintf("%s: ", s.Name)+fmt.Sprintf(format, args...)
	}
	if err != nil {
		res.ExitCode = -1
		say(NotRun, "could not be run: %v", err)
		return
	}
	res.Duration += exit.EndedAt.Sub(exit.StartedAt)
	switch exit.Reason {
	case proc.ReasonExited:
		switch {
		case exit.Signal != "":
			say(Killed, "ended by %s%s", exit.Signal, hint(exit))
		case exit.Code != 0:
			say(StepFailed, "exit code %d%s", exit.Code, hint(exit))
		}
	case proc.ReasonTimeout, proc.ReasonIdle:
		say(Timeout, "not done after %s", s.Timeout)
	case proc.ReasonOutputLimit:
		say(OutputLimit, "wrote more than %d MiB", maxOutput>>20)
	case proc.ReasonStartFailed:
		say(StartFailed, "could not be started: %s", exit.Error)
	case proc.ReasonCancelled:
		if errors.Is(context.Cause(ctx), errGateTimeout) {
			say(Timeout, "%v", errGateTimeout)
			return
		}
		say(Interrupted, "was stopped")
	default:
		say(NotRun, "%s", exit.Error)
	}
}

// hint says what an ending usually means, where people have to look it up.
func hint(exit proc.Exit) string {
	switch {
	case exit.Signal == "SIGKILL":
		return ", perhaps for want of memory"
	case exit.Code == 126:
		return ", usually a command that is not executable"
	case exit.Code == 127:
		return ", usually a command that is not installed"
	}
	return ""
}

// again reports whether a step may be tried once more.
func again(s Step, res work.StepResult) bool {
	return res.Reason == StepFailed && res.Tries <= s.Retries &&
		(len(s.RetryCodes) == 0 || slices.Contains(s.RetryCodes, res.ExitCode))
}

// folder is the name of the folder of one try.
func folder(s numbered, try int) string {
	name := fmt.Sprintf("%02d-%s", s.number, fileName(s.Name))
	if try > 1 {
		name += fmt.Sprintf(".%d", try)
	}
	return name
}

// fileName is a step's name as a part of a file name.
func fileName(name string) string {
	name = strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		}
		return '-'
	}, name), "-")
	if name == "" {
		return "step"
	}
	return name[:min(len(name), 40)]
}

// contained is the folder of a step, whose links do not lead out of the
// workspace. The work under test may have made them.
func contained(workspace, dir string) (string, error) {
	root, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		return "", fmt.Errorf("the workspace is not there: %w", err)
	}
	if dir == "" {
		return root, nil
	}
	if !filepath.IsLocal(dir) {
		return "", fmt.Errorf("its folder %q is not in the workspace", dir)
	}
	path, err := filepath.EvalSymlinks(filepath.Join(root, dir))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("its folder %q is not there", dir)
	}
	if err != nil {
		return "", fmt.Errorf("its folder: %w", err)
	}
	if path != root && !strings.HasPrefix(path, root+string(filepath.Separator)) {
		return "", fmt.Errorf("its folder %q leads out of the workspace", dir)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", fmt.Errorf("its folder %q is not a folder", dir)
	}
	return path, nil
}

// findProgram looks for the program as the supervisor will, so that a missing
// one is told apart from one that fails.
func findProgram(job proc.Job) error {
	name := job.Args[0]
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		name = filepath.Join(job.Dir, name)
	}
	_, err := proc.LookPath(name, valueOf(job.Env, "PATH"))
	return err
}
