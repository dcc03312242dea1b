package config

import "time"

// Gate is a named set of commands that must pass.
type Gate struct {
	Steps    []Step        `toml:"steps" example:"[{ name = \"test\", run = [\"go\", \"test\", \"./...\"] }]" doc:"commands, run one after the other"`
	Parallel bool          `toml:"parallel" default:"false" doc:"run all steps at once"`
	Groups   [][]string    `toml:"groups" example:"[[\"vet\", \"lint\"], [\"test\"]]" doc:"names of steps to run at once, group after group"`
	Timeout  time.Duration `toml:"timeout" default:"0s" min:"0s" max:"168h" doc:"longest run of the whole gate; 0s: no limit"`
	Skip     bool          `toml:"skip" default:"false" doc:"run no gate before a prepared merge is pushed; only for merge, which without steps is the full gate"`
}

// Step is one command of a gate.
type Step struct {
	Name       string        `toml:"name" example:"\"test\"" check:"step" doc:"what people know it by; default: the command"`
	Run        []string      `toml:"run" example:"[\"go\", \"test\", \"./...\"]" check:"argv" required:"true" doc:"command and arguments; there is no shell"`
	Timeout    time.Duration `toml:"timeout" default:"15m" min:"1s" max:"168h" doc:"longest run"`
	Retries    int           `toml:"retries" default:"0" min:"0" max:"20" doc:"times a failed run is repeated"`
	RetryCodes []int         `toml:"retry_codes" example:"[75]" min:"1" max:"255" doc:"exit codes that are repeated; default: all but 0"`
	Dir        string        `toml:"dir" example:"\"web\"" check:"inside" doc:"folder in the repository; default: its root"`
	Env        []string      `toml:"env" example:"[\"CI=true\"]" check:"env" doc:"environment: NAME is passed through, NAME=value is set"`
	Coverage   *Coverage     `toml:"coverage" example:"{ file = \"cover.out\", format = \"go\", minimum = 80.0 }" doc:"coverage report that the command writes, and the least it may show"`
}

// Coverage is a threshold on the report that a step writes.
type Coverage struct {
	File    string  `toml:"file" example:"\"cover.out\"" check:"inside" required:"true" doc:"report, in the repository"`
	Format  string  `toml:"format" example:"\"go\"" enum:"go,lcov,cobertura,jacoco" required:"true" doc:"its format"`
	Minimum float64 `toml:"minimum" example:"80.0" required:"true" min:"0" max:"100" doc:"least coverage in percent"`
}

// Gate resolves what a gate's name means for a repository: its own gate where it
// has one, else the common one; merge falls back to full. It reports false when
// no commands are configured.
func (c *Config) Gate(repo *Repository, name string) (Gate, bool) {
	if gate, there := c.gate(repo, name); there || name != "merge" || gate.Skip {
		return gate, there
	}
	return c.gate(repo, "full")
}

func (c *Config) gate(repo *Repository, name string) (Gate, bool) {
	if repo != nil && repo.Gates[name] != "" {
		name = repo.Gates[name]
	}
	gate := c.Gates[name]
	return gate, len(gate.Steps) > 0 && !gate.Skip
}

// Order is the gate's steps as the groups in which they run: those of one group
// at once, one group after the other.
func (g Gate) Order() [][]Step {
	var order [][]Step
	switch {
	case len(g.Groups) > 0:
		byName := map[string]Step{}
		for _, s := range g.Steps {
			byName[s.Name] = s
		}
		for _, names := range g.Groups {
			group := make([]Step, 0, len(names))
			for _, name := range names {
				group = append(group, byName[name])
			}
			order = append(order, group)
		}
	case g.Parallel && len(g.Steps) > 0:
		order = append(order, g.Steps)
	default:
		for _, s := range g.Steps {
			order = append(order, []Step{s})
		}
	}
	return order
}
