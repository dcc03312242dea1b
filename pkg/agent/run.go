package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

// Run starts the agent under a supervisor, waits for its end and collects the outcome. When ctx ends, the run is ended, with
// everything it started, and its class is [work.ClassInterrupted].
func (a *Agent) Run(ctx context.Context, c Call) Outcome {
	if ctx.Err() != nil {
		return a.Collect(c, notStarted(proc.ReasonCancelled, ctx.Err()))
	}
	exit, err := a.supervise(ctx, c)
	if err != nil {
		return a.Collect(c, notStarted(proc.ReasonStartFailed, err))
	}
	out := a.Collect(c, exit)
	if exit.Reason == proc.ReasonLost && ctx.Err() == nil { // it was no tick's end that cut it: so it is not free of charge
		out.Class = work.ClassKilled
	}
	if !a.preset.contract && out.Result.Status != "" {
		// For those who look at the folder: nothing of ours reads it.
		text, _ := json.MarshalIndent(out.Result, "", "  ")
		_ = os.WriteFile(c.path(resultFile), append(text, '\n'), 0o644)
	}
	return out
}

func notStarted(reason proc.Reason, err error) proc.Exit {
	return proc.Exit{Code: -1, Reason: reason, Error: err.Error()}
}

func (a *Agent) supervise(ctx context.Context, c Call) (proc.Exit, error) {
	call, err := a.preset.invoke(a, c)
	if err != nil {
		return proc.Exit{}, fmt.Errorf("prepare %s: %w", a.config.Name, err)
	}
	handle, err := proc.Start(a.self, c.Dir, proc.Job{
		Execution: proc.Mark(c.Execution, c.Dir),
		Args:      a.argv(call.args),
		Dir:       c.Workspace,
		Env:       a.environment(c, call),
		Stdin:     c.path(promptFile),
		Stdout:    c.path(stdoutFile),
		Stderr:    c.path(stderrFile),
		Timeout:   shorter(a.config.Timeout, c.Timeout),
		Idle:      a.config.Idle,
		MaxOutput: a.config.MaxOutput,
	})
	if err != nil {
		return proc.Exit{}, err
	}
	return handle.Wait(ctx)
}

func (a *Agent) argv(args []string) []string {
	return slices.Concat(a.config.Wrap, a.config.Command, args)
}

// shorter is the shorter of two limits, where 0 is none.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// versionLimit is how long a command line may take to say its version; some start slowly.
const versionLimit = 20 * time.Second

// Probe finds the agent's program and lets it say its version; "" when it has no way to. The error says which PATH was searched and
// what to do.
func (a *Agent) Probe(ctx context.Context) (version string, err error) {
	if err := a.Missing(); err != nil {
		return "", err
	}
	env := a.environment(Call{Dir: os.TempDir()}, invocation{})
	argv := a.argv(a.preset.version)
	if a.preset.version == nil {
		return "", nil
	}
	result, err := proc.Run(ctx, proc.Command{Args: argv, Dir: os.TempDir(), Env: env, Timeout: versionLimit, MaxOutput: maxTail})
	if err != nil {
		return "", fmt.Errorf("agent %s: %w", a.config.Name, err)
	}
	if result.Exit != 0 {
		return "", fmt.Errorf("agent %s: %s %s: exit code %d: %s", a.config.Name, argv[0], strings.Join(a.preset.version, " "), result.Exit,
			work.Clip(work.Printable(lastLine(work.Redact(string(result.Stderr)))), 300))
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(result.Stdout)), "\n")
	return work.Clip(work.Printable(first), 80), nil
}

// Missing says that the agent's program is not there, which PATH was searched, and what to do; nil when it is.
func (a *Agent) Missing() error {
	env := a.environment(Call{Dir: os.TempDir()}, invocation{})
	program := a.argv(nil)[0]
	if _, err := proc.LookPath(program, pathOf(env)); err != nil {
		return fmt.Errorf("agent %s: %w; install it, or set command = [\"/path/to/%s\"] in [agent.%s]", a.config.Name, err, program, a.config.Name)
	}
	return nil
}

func pathOf(env []string) string {
	for _, entry := range slices.Backward(env) {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			return path
		}
	}
	return ""
}
