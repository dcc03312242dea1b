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
	env = append(env, withoutCredentials(c)...)
	env = append(env, call.env...)
	return append(env, set...)
}

// withoutCredentials switches off what would let a program push with the user's rights although it has neither
// token nor agent: helpers of git's configuration, SSH keys in the home directory, the login of gh.
func withoutCredentials(c Call) []string {
	return []string{
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=", // also keeps git from asking core.askPass
		"GIT_SSH_COMMAND=false",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=credential.helper", "GIT_CONFIG_VALUE_0=", // empties the list
		"GH_CONFIG_DIR=" + c.path("gh"),
	}
}
