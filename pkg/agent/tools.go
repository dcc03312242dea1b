package agent

import (
	"encoding/json"
	"os"
)

// reading are the shell commands that a role that only reads may run, where a command line would let it run none by itself: what a
// reviewer needs to see a change.
var reading = []string{"git status", "git log", "git diff", "git show", "git blame", "git ls-files", "git merge-base", "git rev-parse", "cat", "grep", "head", "ls", "tail", "wc"}

// shellTools are they as gemini and its descendants name them.
func shellTools() []string {
	var all []string
	for _, command := range reading {
		all = append(all, "run_shell_command("+command+")")
	}
	return all
}

// permissions are the server's tools as a command line names them in a list of what is allowed.
func (s Server) permissions(server, separator string) []string {
	if len(s.Allowed) == 0 {
		return []string{server}
	}
	var all []string
	for _, tool := range s.Allowed {
		all = append(all, server+separator+tool)
	}
	return all
}

// expanded maps every variable of the server to a reference that the agent replaces by its value: no secret is written down.
func (s Server) expanded(before, after string) map[string]string {
	env := map[string]string{}
	for _, name := range s.Env {
		env[name] = before + name + after
	}
	return env
}

// writeTools writes the servers in the form that claude and most others read.
func writeTools(c Call) error {
	servers := map[string]any{}
	for _, s := range c.Tools {
		if len(s.Command) > 0 {
			servers[s.Name] = map[string]any{"command": s.Command[0], "args": s.Command[1:], "env": s.expanded("${", "}")}
			continue
		}
		entry := map[string]any{"type": "http", "url": s.URL}
		if s.BearerEnv != "" {
			entry["headers"] = map[string]string{"Authorization": "Bearer ${" + s.BearerEnv + "}"}
		}
		servers[s.Name] = entry
	}
	text, err := json.MarshalIndent(map[string]any{"mcpServers": servers}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(c.path(toolsFile), append(text, '\n'), 0o600)
}
