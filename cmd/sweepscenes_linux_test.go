//go:build linux && (amd64 || arm64)

package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// scene is a state of the world and the job that a tick does in it.
type scene struct {
	name       string
	prepare    func(*worker) error // makes it at w.at()
	unfinished func(*worker) error // nil when the job is done, once
	again      string              // the request by which a person has the tick try again
	help       func(*worker) error // what a person does where no tick can; may be nil
}

var scenes = []scene{
	{"build", (*worker).prepareBuild, (*worker).unbuilt, "retry", nil},
	{"merge", (*worker).prepareMerge, (*worker).unmerged, "merge", (*worker).freeCheckout},
	{"resume", (*worker).prepareResume, (*worker).unbuilt, "retry", nil},
}

// prepareBuild is a repository with one piece of work that needs everything: a
// plan, a build, a red gate that is repaired, and qa. Its agent keeps books, in
// the file ledger, of what it wrote.
func (w *worker) prepareBuild() error {
	ledger := filepath.Join(w.at(), "ledger")
	for name, text := range map[string]string{
		"home/.gitconfig":                 "[user]\n\tname = Jo\n\temail = jo@example.org\n",
		"shop/.backburner/specs/greet.md": "# Greet\n\nSay hello.\n",
		"shop/backburner.toml": `
[[repository]]
path = "."
plan_approval = "auto"
[agent.mine]
preset = "custom"
command = ["sh", "agent.sh"]
[gate.fast]
steps = [{ name = "there", run = ["test", "-f", "second.txt"] }]
[gate.full]
steps = [{ name = "hello", run = ["grep", "-q", "hello", "hello.txt"] }]
`,
		"shop/agent.sh": `case $BACKBURNER_TASK_KIND in
plan) echo '{"status":"done","plan":{"summary":"s","files":{"create":["hello.txt"]},"acceptance_criteria":["a"]}}' > "$BACKBURNER_RESULT_FILE" ;;
implement)
	if test -f hello.txt; then file=second.txt; else file=hello.txt; fi
	echo "hello $BACKBURNER_EXECUTION" > $file
	echo "$BACKBURNER_EXECUTION" >> '` + ledger + `'
	: > '` + ledger + `'.$file ;;
esac
`,
	} {
		path := filepath.Join(w.at(), name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "first"}} {
		if _, err := w.git(w.shop(), args...); err != nil {
			return err
		}
	}
	return nil
}

// prepareMerge is the same, built, and a person's wish to merge it.
func (w *worker) prepareMerge() error {
	if err := w.prepareBuild(); err != nil {
		return err
	}
	if err := w.backburner("tick"); err != nil {
		return err
	}
	return w.backburner("merge", "greet")
}

// prepareResume is the same, when the tick was killed with all that it had
// started while the builder had repaired what a gate found and not yet ended;
// and then somebody moved the base.
func (w *worker) prepareResume() error {
	if err := w.prepareBuild(); err != nil {
		return err
	}
	run := trace(trial{do: killTree, to: "ledger.second.txt"}, []string{w.bin, "tick"}, w.shop(), w.env, w.output)
	if err := within(run.gone, "all that was traced to die"); err != nil {
		return err
	}
	if run.hit == "" {
		return fmt.Errorf("the builder was not met: %v", run.err)
	}
	if err := os.WriteFile(filepath.Join(w.shop(), "other.txt"), []byte("other\n"), 0o644); err != nil {
		return err
	}
	if _, err := w.git(w.shop(), "add", "other.txt"); err != nil {
		return err
	}
	_, err := w.git(w.shop(), "commit", "-q", "-m", "second")
	return err
}

// freeCheckout is what a person does whose git was killed while it brought the
// user's checkout forward: its locks are the user's, and so are half-written
// files, so that backburner touches neither. That must have been said.
func (w *worker) freeCheckout() error {
	said := w.said()
	if !strings.Contains(said, "not merged: ") || !strings.Contains(said, ".lock': File exists") && !strings.Contains(said, "not committed") {
		return errors.New("and nobody was told")
	}
	for _, pattern := range []string{"*.lock", "refs/heads/*.lock"} {
		locks, _ := filepath.Glob(filepath.Join(w.shop(), ".git", pattern))
		for _, lock := range locks {
			if err := os.Remove(lock); err != nil {
				return err
			}
		}
	}
	for _, args := range [][]string{{"reset", "-q", "--hard"}, {"clean", "-fdq"}} {
		if _, err := w.git(w.shop(), args...); err != nil {
			return err
		}
	}
	return nil
}
