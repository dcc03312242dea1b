package agent

import (
	"io"
	"path/filepath"

	"github.com/backburner-cli/backburner/pkg/proc"
)

// preset is what is known of one command line.
type preset struct {
	program string // empty: the configuration's
	// contract says that the answer, the session and the usage are in the result file.
	contract bool
	version  []string // arguments that make it say its version; nil: it cannot
	resumes  bool     // it can go on with a session
	tools    bool     // it can be given MCP servers
	// cumulative says that the tokens it states are those of the whole session.
	cumulative bool
	// pass are names of variables it needs for its own account; set are variables it gets unless the user has them.
	pass, set []string
	// invoke makes the call. It may write files into the folder of the run.
	invoke func(*Agent, Call) (invocation, error)
	// read understands what it printed; stderr is its end.
	read func(stdout io.Reader, stderr []byte, exit proc.Exit) report
	// measure finds what the run consumed where it is not part of the output; nil: it is.
	measure func(Call) tokens
}

// invocation is one call of a command line, without the program.
type invocation struct {
	args []string
	env  []string // NAME=value
}

var presets = map[string]preset{
	"claude":   claude,
	"codex":    codex,
	"gemini":   gemini,
	"opencode": opencode,
	"copilot":  copilot,
	"qwen":     qwen,
	"custom":   custom,
}

// known are the presets, in the order in which an unconfigured backburner would choose.
func known() []string {
	return []string{"claude", "codex", "gemini", "opencode", "copilot", "qwen", "custom"}
}

// Presets are the presets there are, in order of preference; "custom" is the last.
func Presets() []string { return known() }

// Installed are the presets whose program is in pathEnv, a list like that of PATH, in order of preference.
func Installed(pathEnv string) []string {
	var found []string
	for _, name := range known() {
		if program := presets[name].program; program != "" {
			if _, err := proc.LookPath(program, pathEnv); err == nil {
				found = append(found, name)
			}
		}
	}
	return found
}

// The files of a run, beside those of package proc.
const (
	promptFile = "prompt.md"
	packetFile = "packet.json"
	stdoutFile = "stdout"
	stderrFile = "stderr"
	resultFile = "result.json"
	schemaFile = "schema.json"
	toolsFile  = "mcp.json"
)

func (c Call) path(name string) string { return filepath.Join(c.Dir, name) }
