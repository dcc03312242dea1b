package cmd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Scripts under testdata/script are the specification: the real binary, the
// real git, real processes; the agents are shell scripts that keep the custom
// agent's contract.

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"backburner": func() { os.Exit(Main(os.Args)) },
	})
}

func TestScript(t *testing.T) {
	params := testscript.Params{
		Dir:                 "../testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Cmds:                scriptCommands,
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Geteuid() == 0, nil
			case "mounts":
				return exec.Command("unshare", "-rm", "true").Run() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
	}
	if testing.Short() { // those in which things happen at once; the race detector is to see them
		for _, about := range []string{"cancel", "dispatch_pace", "hold", "settle", "sync", "tick"} {
			files, err := filepath.Glob("../testdata/script/" + about + "*.txtar")
			if err != nil {
				t.Fatal(err)
			}
			params.Files = append(params.Files, files...)
		}
		params.Dir = ""
	}
	testscript.Run(t, params)
}

// setup gives a script what every user has: a home with a git identity, and
// nothing of the machine it runs on.
func setup(env *testscript.Env) error {
	setUpGitHub(env)
	home := filepath.Join(env.WorkDir, ".home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	identity := "[user]\n\tname = Jo Developer\n\temail = jo@example.org\n[init]\n\tdefaultBranch = main\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(identity), 0o644); err != nil {
		return err
	}
	for key, value := range map[string]string{
		"HOME": home, "TZ": "UTC", "LC_ALL": "C", "NO_COLOR": "1", "USER": "jo",
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
	} {
		env.Setenv(key, value)
	}
	return nil
}
