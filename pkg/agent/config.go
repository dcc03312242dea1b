package agent

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Config is one configured agent.
type Config struct {
	// Name is what the configuration calls it.
	Name string
	// Preset is one of [Presets].
	Preset string
	// Model is the command line's own name of a model; empty is its own choice.
	Model string
	// Command is the program and its first arguments; empty is the preset's program. A relative path is one
	// below the working directory of this process.
	Command []string
	// Args come after the preset's arguments.
	Args []string
	// Wrap is the command under which the agent is run ("bwrap", ...).
	Wrap []string
	// Env are names to pass through, and NAME=value to set.
	Env []string
	// Slots is how many runs may go on at once; at least 1.
	Slots int
	// MaxTurns caps the turns of one run where the command line can; 0 is no cap.
	MaxTurns int
	// Timeout is the longest run, Idle the longest silence; 0 is no limit.
	Timeout time.Duration
	Idle    time.Duration
	// MaxOutput is how many bytes of output are kept; 0 is no limit.
	MaxOutput int64
	// Price is used when the command line does not state what a run cost.
	Price *Price
}

// Price is in US dollars per million tokens.
type Price struct {
	Input, CacheRead, Output float64
}

// Agent is a configured command line that can run tasks. It is safe for use by several goroutines.
type Agent struct {
	config Config
	preset preset
	self   []string
}

// New makes an agent. self is the command line of this program, by which runs are supervised (see proc.Start).
func New(c Config, self []string) (*Agent, error) {
	p, ok := presets[c.Preset]
	if !ok {
		return nil, fmt.Errorf("agent %s: preset %q is not supported; there are %s, where custom runs a command of yours", c.Name, c.Preset,
			strings.Join(known(), ", "))
	}
	if len(c.Command) == 0 {
		if p.program == "" {
			return nil, fmt.Errorf("agent %s: a custom agent needs a command", c.Name)
		}
		c.Command = []string{p.program}
	}
	c.Command = slices.Clone(c.Command)
	if name := c.Command[0]; strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		abs, err := filepath.Abs(name)
		if err != nil {
			return nil, fmt.Errorf("agent %s: %w", c.Name, err)
		}
		c.Command[0] = abs
	}
	c.Slots = max(c.Slots, 1)
	return &Agent{config: c, preset: p, self: self}, nil
}

// Name is what the configuration calls the agent.
func (a *Agent) Name() string { return a.config.Name }

// Slots is how many runs of the agent may go on at once.
func (a *Agent) Slots() int { return a.config.Slots }

// Timeout is the longest run; 0 is no limit.
func (a *Agent) Timeout() time.Duration { return a.config.Timeout }

// Resumes reports whether a later run can go on with the session of an earlier one.
func (a *Agent) Resumes() bool { return a.preset.resumes }

// TakesTools reports whether a run can be given MCP servers.
func (a *Agent) TakesTools() bool { return a.preset.tools }
