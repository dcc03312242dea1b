package agent

import (
	"os"
	"slices"
	"strings"

	"github.com/backburner-cli/backburner/pkg/proc"
)

// environment is what a run may see: the allow-list, the preset's and the configured names, and nothing that speaks for the user to
// git or to GitHub.
func (a *Agent) environment(c Call, call invocation) []string {
	allow := slices.Clone(a.preset.pass)
	var set []string
	for _, entry := range a.config.Env {
		if strings.Contains(entry, "=") {
			set = append(set, entry)
		} else {
			allow = append(allow, entry)
		}
	}
	for _, s := range c.Tools {
		allow = append(allow, s.Env...)
		if s.BearerEnv != "" {
			allow = append(allow, s.BearerEnv)
		}
	}
	env := proc.Environment(os.Environ(), allow)
	for _, entry := range a.preset.set {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") }) {
			env = append(env, entry)
		}
	}
	env = append(env, proc.Unprivileged(c.Workspace, c.Dir)...)
	env = append(env, call.env...)
	return append(env, set...)
}
