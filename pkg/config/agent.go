package config

import (
	"maps"
	"reflect"
	"slices"
	"time"
)

// custom is the preset of a program that is no known agent but keeps the contract
// of custom agents.
const custom = "custom"

// Presets are the known values of an agent's preset.
func Presets() []string { return fieldNamed(reflect.TypeFor[Agent](), "preset").enum }

// Agent is one configured agent command line.
type Agent struct {
	Preset      string        `toml:"preset" example:"\"claude\"" enum:"claude,codex,gemini,opencode,copilot,qwen,custom" doc:"which command line it is; default: the table's name"`
	Command     []string      `toml:"command" example:"[\"/usr/local/bin/claude\"]" check:"argv" doc:"program and first arguments; needed for \"custom\", else the preset's own"`
	Args        []string      `toml:"args" example:"[\"--verbose\"]" check:"text" doc:"further arguments, put after the preset's"`
	Model       string        `toml:"model" check:"argument" doc:"default: the agent's own choice"`
	Slots       int           `toml:"slots" default:"1" min:"1" max:"100" doc:"runs at once"`
	Timeout     time.Duration `toml:"timeout" default:"45m" min:"1s" max:"168h" doc:"longest run"`
	IdleTimeout time.Duration `toml:"idle_timeout" default:"10m" min:"0s" max:"168h" doc:"longest silence; 0s: no limit"`
	MaxTurns    int           `toml:"max_turns" default:"0" min:"0" max:"100000" doc:"turns of one run, where the agent can cap them; 0: no limit"`
	MaxOutputMB int           `toml:"max_output_mb" default:"64" min:"1" max:"10000" doc:"MB of output kept of one run"`
	Env         []string      `toml:"env" example:"[\"ANTHROPIC_API_KEY\", \"LANG=C.UTF-8\"]" check:"agent_env" doc:"environment: NAME and NAME* are passed through, NAME=value is set"`
	Wrap        []string      `toml:"wrap" example:"[\"bwrap\", \"--dev-bind\", \"/\", \"/\", \"--unshare-pid\"]" check:"argv" doc:"command that the agent is run under, such as bwrap or docker"`
	Price       *Price        `toml:"price" example:"{ input = 3.0, cache_read = 0.3, output = 15.0 }" doc:"where the agent does not tell its cost: US dollars per million tokens"`
}

// Price is what a million tokens cost, in US dollars.
type Price struct {
	Input     float64 `toml:"input" default:"0" min:"0" doc:"US dollars per million input tokens"`
	CacheRead float64 `toml:"cache_read" default:"0" min:"0" doc:"US dollars per million input tokens read from the cache"`
	Output    float64 `toml:"output" default:"0" min:"0" doc:"US dollars per million output tokens"`
}

// Roles are the agents each role may use, in order of preference. A name is one of
// [agent.NAME], or of a preset, which then needs no table.
type Roles struct {
	Planner     []string `toml:"planner" doc:"plans, analyses and answers"`
	Builder     []string `toml:"builder" doc:"implements and addresses reviews"`
	QA          []string `toml:"qa" doc:"verifies"`
	Reviewer    []string `toml:"reviewer" doc:"reviews pull requests"`
	Reconciler  []string `toml:"reconciler" doc:"resolves conflicts with the base"`
	Assessor    []string `toml:"assessor" doc:"looks at an increment before the next; without one nobody does"`
	Prioritizer []string `toml:"prioritizer" doc:"orders the queue, with [tick] prioritizer"`
}

// AgentsFor are the agents of a role such as "builder", in order of preference.
// A role that is not configured may use every agent.
func (c *Config) AgentsFor(role string) []string {
	if named := c.Roles.named(role); len(named) > 0 {
		return slices.Clone(named)
	}
	return c.AgentNames()
}

func (r *Roles) named(role string) []string {
	v := reflect.ValueOf(r).Elem()
	if f := fieldNamed(v.Type(), role); f != nil {
		return v.Field(f.index).Interface().([]string)
	}
	return nil
}

// WithAgents is c with an agent of each named preset, in that order, when none is
// configured; else it is c. Names that are no presets are left out.
func (c *Config) WithAgents(names ...string) *Config {
	if len(c.Agents) > 0 {
		return c
	}
	added := *c
	added.Agents = map[string]Agent{}
	added.agentOrder = nil
	for _, name := range names {
		added.addPreset(name)
	}
	return &added
}

// addPreset adds an agent that is called like its preset. It reports whether there
// is such a preset.
func (c *Config) addPreset(name string) bool {
	if name == custom || !slices.Contains(Presets(), name) {
		return false
	}
	if _, there := c.Agents[name]; there {
		return true
	}
	agent := newWithDefaults[Agent]()
	agent.Preset = name
	c.Agents = maps.Clone(c.Agents)
	if c.Agents == nil {
		c.Agents = map[string]Agent{}
	}
	c.Agents[name] = agent
	c.agentOrder = append(slices.Clip(c.agentOrder), name)
	return true
}

// presetOf is the preset of an agent table: what it says, else its own name, else
// custom when it says what to run.
func presetOf(name string, a Agent) string {
	switch {
	case a.Preset != "":
		return a.Preset
	case slices.Contains(Presets(), name):
		return name
	case len(a.Command) > 0:
		return custom
	}
	return ""
}
