package agent

import (
	"context"
	"fmt"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

// Adopt takes over a run whose tick died: one that still goes on is ended, with everything it started, and one that has ended counts
// as if it had been waited for. name is the agent that ran it; one that is not configured any more cannot be understood, so its run
// counts as cut.
func (p *Pool) Adopt(ctx context.Context, name string, c Call) Outcome {
	exit, err := proc.End(ctx, c.Dir)
	if err != nil {
		exit = notStarted(proc.ReasonLost, fmt.Errorf("end the run %s: %w", c.Execution, err))
	}
	a := p.agents[name]
	if name == "" {
		return Outcome{Class: work.ClassInterrupted, Detail: "the record of the run cannot be read, so it does not count", Exit: exit}
	}
	if a == nil {
		return Outcome{Class: work.ClassInterrupted, Detail: fmt.Sprintf("agent %q, which ran it, is not configured any more", name), Exit: exit}
	}
	return a.Collect(c, exit)
}
