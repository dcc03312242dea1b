package config

import (
	"slices"
	"time"
)

// Config is everything that can be set. Paths in it are absolute, except those
// that are documented as inside a repository.
type Config struct {
	State        State                 `toml:"state" doc:"where the state is kept"`
	Tick         Tick                  `toml:"tick" doc:"one pass: how much at once, how long"`
	GitHub       GitHub                `toml:"github" doc:"GitHub: addresses, whom to trust, labels"`
	Forge        Forge                 `toml:"forge" doc:"the local forge"`
	Workspace    Workspace             `toml:"workspace" doc:"where checkouts are kept"`
	Repositories []Repository          `toml:"repository" doc:"a managed repository; one block each"`
	Git          Git                   `toml:"git" doc:"the commits that backburner makes itself"`
	Agents       map[string]Agent      `toml:"agent" doc:"a coding agent's command line; one table each"`
	Roles        Roles                 `toml:"roles" doc:"role -> agents in order of preference; a role left out may use every agent"`
	Gates        map[string]Gate       `toml:"gate" doc:"commands that must pass: fast, full, merge, and profiles a plan may name"`
	Mainline     Mainline              `toml:"mainline" doc:"keeping a branch up to date with its base"`
	Retry        Retry                 `toml:"retry" doc:"how often to try again"`
	Budget       Budget                `toml:"budget" doc:"caps; 0 means no limit"`
	Retention    Retention             `toml:"retention" doc:"what clean removes; 0 keeps for ever"`
	Capabilities map[string]Capability `toml:"capability" doc:"what some tasks need; provided by an MCP server"`
	MCP          map[string]MCPServer  `toml:"mcp" doc:"an MCP server; its table's name is its handle"`
	Notifiers    map[string]Notifier   `toml:"notify" doc:"where to tell of transitions"`

	file       string            // as shown to people; empty without a file
	base       string            // folder that relative paths start from
	agentOrder []string          // agents as the file has them
	origins    map[string]Origin // key -> where it was set; absent: default
}

// State says where the board is kept.
type State struct {
	Dir     string `toml:"dir" default:".backburner/state" check:"path" doc:"folder of the state"`
	Backend string `toml:"backend" default:"dir" enum:"dir,git" doc:"\"dir\" for one host; \"git\" shares the state on a branch"`
	Branch  string `toml:"branch" default:"refs/heads/backburner-state" check:"ref" doc:"branch that holds the state; only for backend = \"git\""`
	Remote  string `toml:"remote" example:"\"https://github.com/acme/backburner-state.git\"" check:"remote" doc:"URL or path of the repository with that branch; default: the first repository"`
}

// Tick bounds one pass.
type Tick struct {
	MaxActive   int           `toml:"max_active" default:"5" min:"1" max:"10000" doc:"workstreams in progress"`
	MaxAgents   int           `toml:"max_agents" default:"2" min:"1" max:"1000" doc:"agents at once"`
	MaxGates    int           `toml:"max_gates" default:"2" min:"1" max:"1000" doc:"gates at once"`
	Deadline    time.Duration `toml:"deadline" default:"50m" min:"1m" max:"168h" doc:"a tick stops starting work in time to end before it"`
	Queue       bool          `toml:"queue" default:"true" doc:"queue new work when all places are taken; false defers it on its thread"`
	Prioritizer bool          `toml:"prioritizer" default:"false" doc:"let the prioritizer role reorder the queue"`
	OnBusy      string        `toml:"on_busy" default:"skip" enum:"skip,wait,fail" doc:"when another tick is running"`
	FailOn      string        `toml:"fail_on" default:"none" enum:"none,tasks" doc:"\"tasks\": exit code 3 when a task failed"`
}

// GitHub says how GitHub is reached, who is believed there, and which words
// people use to ask for something.
type GitHub struct {
	APIURL            string        `toml:"api_url" example:"\"https://github.example.org/api/v3\"" check:"url" doc:"REST root, GraphQL is <api_url>/graphql; default from GH_HOST, else github.com"`
	CloneURL          string        `toml:"clone_url" example:"\"git@github.com:{slug}.git\"" check:"clone_url" doc:"template with {slug}; default https://<host>/{slug}.git; also ssh, http and file URLs"`
	TrustedUsers      []string      `toml:"trusted_users" example:"[\"octocat\"]" check:"login" doc:"believed beside people with write access"`
	TrustedBots       []string      `toml:"trusted_bots" example:"[\"renovate[bot]\"]" check:"login" doc:"bots that may ask for something"`
	UntrustedComments bool          `toml:"untrusted_comments" default:"false" doc:"show agents what others wrote, marked as untrusted"`
	CommandPrefix     string        `toml:"command_prefix" default:"/backburner" check:"command_prefix" doc:"first word of a comment that is a command"`
	Assignee          string        `toml:"assignee" example:"\"acme-bot\"" check:"login" doc:"assigning an issue to this account adds it"`
	RateReserve       int           `toml:"rate_reserve" default:"500" min:"0" max:"5000" doc:"requests of the hourly rate limit left to others"`
	WriteInterval     time.Duration `toml:"write_interval" default:"1s" min:"0s" max:"1m" doc:"least time between two changes; GitHub asks for a second"`
	Labels            Labels        `toml:"labels" doc:"labels that ask for something"`
}

// Labels are the labels people put on issues and pull requests, by the request
// each one makes.
type Labels struct {
	Add     string `toml:"add" default:"backburner" check:"label" doc:"work on this"`
	Approve string `toml:"approve" default:"backburner:approve" check:"label" doc:"proposal or plan approved"`
	Review  string `toml:"review" default:"backburner:review" check:"label" doc:"review this pull request"`
	Prepare string `toml:"prepare" default:"backburner:prepare-for-merge" check:"label" doc:"merge the base into this pull request"`
	Merge   string `toml:"merge" default:"backburner:merge" check:"label" doc:"merge this when all is well"`
	Hold    string `toml:"hold" default:"backburner:hold" check:"label" doc:"leave this alone"`
}

// Forge configures the local forge.
type Forge struct {
	SpecsDir string `toml:"specs_dir" default:".backburner/specs" check:"inside" doc:"folder in a local repository where <id>.md is a spec to work on"`
}

// Workspace says where stores, workspaces and merge-prep clones are kept.
type Workspace struct {
	Root string `toml:"root" default:".backburner" check:"path" doc:"stores, workspaces and clones are made below it"`
}

// Git is about the commits backburner makes.
type Git struct {
	Author string `toml:"author" example:"\"Jane Doe <jane@example.org>\"" check:"author" doc:"\"Name <mail>\"; default the user's identity, else backburner's own"`
	Sign   bool   `toml:"sign" default:"false" doc:"sign commits as the user's git is set up to"`
}

// Mainline says when a branch is compared with its base.
type Mainline struct {
	CheckBefore []string `toml:"check_before" default:"planning,building,qa" enum:"planning,building,qa" doc:"waves before which the branch is compared with its base"`
	AutoMerge   bool     `toml:"auto_merge" default:"true" doc:"merge the base when that makes no conflict"`
}

// Retry caps what is tried again; the unit is times.
type Retry struct {
	Attempts       int `toml:"attempts" default:"2" min:"1" max:"100" doc:"runs of one task before it counts as failed"`
	GateRetries    int `toml:"gate_retries" default:"2" min:"0" max:"100" doc:"repairs after a red gate, per workstream; 0 switches them off"`
	RepairRounds   int `toml:"repair_rounds" default:"2" min:"0" max:"100" doc:"times a red fast gate goes back to the builder in one tick"`
	EscalateAfter  int `toml:"escalate_after" default:"3" min:"1" max:"1000" doc:"ticks without any change before a person is called"`
	ReviewRounds   int `toml:"review_rounds" default:"3" min:"0" max:"100" doc:"rounds of addressing a review"`
	ConflictRounds int `toml:"conflict_rounds" default:"3" min:"0" max:"100" doc:"rounds of resolving a conflict with the base"`
}

// Retention says how long records are kept. 0 keeps them for ever.
type Retention struct {
	ExecutionsDays int `toml:"executions_days" default:"30" min:"0" max:"36500" doc:"days an execution's files are kept"`
	ExecutionsMB   int `toml:"executions_mb" default:"2048" min:"0" max:"10000000" doc:"MB all of them may take; the oldest go first"`
	ArchiveDays    int `toml:"archive_days" default:"365" min:"0" max:"36500" doc:"days a closed workstream is kept; what was saved of its workspace goes after it"`
}

// File is the configuration file as shown to people, or "" when there is none.
func (c *Config) File() string { return c.file }

// Base is the folder that relative paths of the file were resolved against: the
// file's folder, or the working directory when there is no file or it is the one
// in the user's configuration folder.
func (c *Config) Base() string { return c.base }

// Origin says where the value of a key such as "tick.max_agents" comes from.
func (c *Config) Origin(key string) Origin { return c.origins[key] }

// isSet reports whether the key was given anywhere.
func (c *Config) isSet(key string) bool { return c.origins[key].Kind != FromDefault }

// AgentNames are the configured agents in the order of the file, then those that
// only a role names.
func (c *Config) AgentNames() []string { return slices.Clone(c.agentOrder) }
