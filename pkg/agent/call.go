package agent

import (
	"encoding/json"
	"regexp"
	"sync"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

// Call is one run of an agent. Paths are absolute.
type Call struct {
	// Execution is the run's id, Dir its folder, with prompt.md and packet.json in it; a folder serves one run.
	Execution, Dir string
	// Workspace is the checkout it works in.
	Workspace string
	// Task is the kind of task; a kind without a role is the prioritizer's.
	Task               work.TaskKind
	TaskID, Workstream string
	// Session is the conversation to go on with; empty starts a new one. Previous are that session's totals
	// ([Outcome.Totals] of its last run).
	Session  string
	Previous work.Usage
	// Timeout cuts the agent's own limit short, because the tick ends; 0 does not.
	Timeout time.Duration
	// BudgetUSD caps the cost where the command line can; 0 is no cap.
	BudgetUSD float64
	// Schema is the JSON schema of the answer, for command lines that can be held to one.
	Schema json.RawMessage
	// Tools are MCP servers for this run, and no others.
	Tools []Server
}

// Server is an MCP server that a run is given.
type Server struct {
	Name    string
	Command []string // started by the agent; or
	URL     string   // reached over HTTP
	// Env are names of variables that a started server gets from this process's environment.
	Env []string
	// BearerEnv names the variable with the token for URL; empty is no token.
	BearerEnv string
	// Allowed are the tools that may be used without asking; none means all.
	Allowed []string
}

func (c Call) role() work.Role {
	if r := c.Task.Role(); r != "" {
		return r
	}
	return work.Prioritizer
}

// sessionID is what a session's id may look like where it becomes an argument.
var sessionID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$`) })

// resume is the session to go on with; an id that could be taken for something else is none.
func (c Call) resume() string {
	if sessionID().MatchString(c.Session) {
		return c.Session
	}
	return ""
}

// Outcome is how a run ended.
type Outcome struct {
	// Class is "" when the run was fine, and the failure's class otherwise.
	Class work.Class
	// Detail says in one line for people why it failed.
	Detail string
	// Result is the answer; zero when there is none that could be read.
	Result work.Result
	// Session is the conversation's id; empty when the command line stated none.
	Session string
	// SessionLost says that the session cannot be gone on with: it is not there any more, or is full.
	SessionLost bool
	// Usage is what this run consumed, and Totals what its session has consumed up to now. Input tokens include those read from a
	// cache.
	Usage, Totals work.Usage
	// ResetAt is when a quota is free again; zero when the command line does not say.
	ResetAt time.Time
	// Denials are the tools that were refused.
	Denials []string
	// Capped is the cap that ended the run: "turns", "budget" or empty.
	Capped string
	// Exit is how the process ended.
	Exit proc.Exit
}
