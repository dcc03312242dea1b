package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/work"
)

// stepsFile is the list of what the steps did, in the folder of the execution.
const stepsFile = "steps.json"

// Runner runs gates.
type Runner struct {
	self []string // command line of this program, for supervisors
	env  []string
	wrap []string
}

// New makes a runner. self is the command line of this program, env the
// environment of all steps, wrap a command that each step is run under.
func New(self, env, wrap []string) *Runner {
	return &Runner{self: self, env: env, wrap: wrap}
}

var errGateTimeout = errors.New("time limit of the gate reached")

// Run runs a gate to its first red step; the other steps of that one's group
// are waited for. When ctx ends, so do the running steps, in less than five
// seconds.
func (r *Runner) Run(ctx context.Context, c Call) Outcome {
	if c.Gate.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Gate.Timeout, errGateTimeout)
		defer cancel()
	}
	reports := writtenAt(c.Workspace, c.Gate.Coverage)
	var done []result
	for _, group := range groups(c.Gate.Steps) {
		if err := ctx.Err(); err != nil {
			return r.report(c, done, stopped(ctx))
		}
		done = append(done, r.runGroup(ctx, c, group)...)
		if bad := firstRed(done); bad != nil {
			return r.report(c, done, red(bad.Reason, bad.detail))
		}
	}
	if len(done) == 0 {
		return red(NoCommand, fmt.Sprintf("gate %s has no command to run; give it steps in the configuration", c.Gate.Name))
	}
	for i, coverage := range c.Gate.Coverage {
		if reason, detail := coverage.judge(c.Workspace, reports[i]); reason != "" {
			return r.report(c, done, red(reason, detail))
		}
	}
	return r.report(c, done, Outcome{Green: true, Detail: flaky(done)})
}

// numbered is a step with its place in the gate.
type numbered struct {
	Step
	number int // from 1
}

// groups cuts the steps into what runs at once. Steps without a command are
// left out: they cannot show anything.
func groups(steps []Step) [][]numbered {
	var out [][]numbered
	last := ""
	for i, s := range steps {
		if len(s.Run) == 0 {
			continue
		}
		s.Name = nameOf(s)
		if s.Group != "" && s.Group == last {
			out[len(out)-1] = append(out[len(out)-1], numbered{s, i + 1})
		} else {
			out = append(out, []numbered{{s, i + 1}})
		}
		last = s.Group
	}
	return out
}

func nameOf(s Step) string {
	if name := work.Printable(s.Name); name != "" {
		return name
	}
	return work.Clip(work.Printable(filepath.Base(s.Run[0])), 40)
}

// result is what one step did.
type result struct {
	work.StepResult
	detail string
}

func (r *Runner) runGroup(ctx context.Context, c Call, group []numbered) []result {
	results := make([]result, len(group))
	var wait sync.WaitGroup
	for i, step := range group {
		wait.Go(func() { results[i] = r.runStep(ctx, c, step) })
	}
	wait.Wait()
	return results
}

// firstRed is the step that decides. One that was cut decides only when no
// other step of its group failed by itself.
func firstRed(done []result) *result {
	var cut *result
	for i := range done {
		switch _, machine := classes[done[i].Reason]; {
		case done[i].Reason == "":
		case !machine:
			return &done[i]
		case cut == nil:
			cut = &done[i]
		}
	}
	return cut
}

// stopped is the outcome of a run whose context ended between two steps.
func stopped(ctx context.Context) Outcome {
	if errors.Is(context.Cause(ctx), errGateTimeout) {
		return red(Timeout, errGateTimeout.Error())
	}
	return red(Interrupted, "the run was stopped before all steps had run")
}

// report completes an outcome and keeps what the steps did beside their logs.
func (r *Runner) report(c Call, done []result, o Outcome) Outcome {
	for _, d := range done {
		o.Steps = append(o.Steps, d.StepResult)
	}
	content, err := json.MarshalIndent(o.Steps, "", "  ")
	if err == nil {
		err = atomicfile.WriteRelaxed(filepath.Join(c.Dir, stepsFile), append(content, '\n'), 0o644)
	}
	if err != nil && o.Green { // a green that leaves no trace is not shown to anybody
		steps := o.Steps
		o = red(NotRun, err.Error())
		o.Steps = steps
	}
	return o
}

func flaky(done []result) string {
	var names []string
	for _, d := range done {
		if d.Tries > 1 {
			names = append(names, fmt.Sprintf("%s passed only when tried %d times", d.Name, d.Tries))
		}
	}
	return strings.Join(names, "; ")
}
