package gate

import (
	"os"
	"strings"

	"github.com/backburner-cli/backburner/pkg/proc"
)

// environment is base with what a step wants: a name is passed through from
// this process, if its environment has it and jobs may see it at all; a
// name=value is set as it stands.
func environment(base, wanted []string) []string {
	env := append([]string{}, base...)
	for _, w := range wanted {
		name, _, set := strings.Cut(w, "=")
		entry := w
		if !set {
			value, ok := os.LookupEnv(name)
			if !ok {
				continue
			}
			entry = name + "=" + value
			if valueOf(proc.Environment([]string{entry}, []string{name}), name) != value {
				continue // a secret of backburner's own
			}
		}
		env = append(without(env, name), entry)
	}
	return env
}

func without(env []string, name string) []string {
	kept := env[:0]
	for _, entry := range env {
		if !strings.HasPrefix(entry, name+"=") {
			kept = append(kept, entry)
		}
	}
	return kept
}

// valueOf is the value of a variable; of several the last one counts.
func valueOf(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(env[i], name+"="); ok {
			return value
		}
	}
	return ""
}
