//go:build linux && (amd64 || arm64)

package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// scene is a state of the world and the job that a tick does in it.
type scene struct {
	name    string
	prepare func(*worker) error // makes it at w.at()
	goal    goal
	again   string              // the request by which a person has the tick try again
	help    func(*worker) error // what a person does where no tick can; may be nil
	from    string              // the file from which on it is swept by kills; what comes before is swept in another scene
	until   string              // the file until which it is swept
	sample  map[string]int      // the modes that it is swept in, and how many points of each a sample has
}

// begins and ends report whether a scene begins to be new, or ceases to be, with a change.
func (s scene) begins(c change) bool { return s.from == "" || filepath.Base(c.path) == s.from }
func (s scene) ends(c change) bool   { return s.until != "" && filepath.Base(c.path) == s.until }

// scenes together are the life of a piece of work, once in one tick and once in steps.
var scenes = []scene{
	{"build", (*worker).prepareBuild, built, "retry", nil, "", "", map[string]int{"tree": 4, "tick": 3}},
	{"resume", (*worker).prepareResume, built, "retry", nil, "", "prompt.md", map[string]int{"tree": 1, "tick": 1, "fault": 1, "child": 1}},
	{"ask", (*worker).prepareAsk, asked, "retry", nil, "exit.json", "", map[string]int{"tree": 1, "tick": 1, "fault": 1, "child": 1}},
	{"plan", (*worker).preparePlan, planned, "retry", nil, "", "", map[string]int{"tree": 1, "tick": 1, "fault": 1, "child": 1}},
	{"work", (*worker).prepareWork, worked, "retry", nil, "", "", map[string]int{"fault": 2, "child": 2}},
	{"reconcile", (*worker).prepareReconcile, reconciled, "retry", nil, "", "", map[string]int{"tree": 1, "tick": 1, "fault": 1, "child": 1}},
	{"merge", (*worker).prepareMerge, merged, "merge", (*worker).freeCheckout, "", "", map[string]int{"tree": 2, "tick": 1, "fault": 2, "child": 1}},
	{"cancel", (*worker).prepareCancel, cancelled, "cancel", nil, "", "", map[string]int{"tree": 1, "tick": 1, "fault": 1, "child": 1}},
}

func sceneNamed(name string) scene {
	for _, s := range scenes {
		if s.name == name {
			return s
		}
	}
	panic("no scene " + name)
}

// sweepAgent keeps books, in the file LEDGER, of what it wrote. What it does beyond
// its work depends on words of the spec.
const sweepAgent = `says() { grep -q "$1" "$BACKBURNER_PACKET_FILE"; }
write() {
	echo "hello $BACKBURNER_EXECUTION" > $1
	echo "$BACKBURNER_EXECUTION" >> 'LEDGER'
	: > 'LEDGER'.$1
}
case $BACKBURNER_TASK_KIND in
plan)
	if says 'Ask first' && ! says 'In English'; then
		echo '{"status":"needs_input","questions":["In which language?"]}' > "$BACKBURNER_RESULT_FILE"
	else
		echo '{"status":"done","plan":{"summary":"s","files":{"create":["hello.txt"]},"acceptance_criteria":["a"]}}' > "$BACKBURNER_RESULT_FILE"
	fi ;;
implement)
	if says 'Break down'; then write hello.txt; exit 1
	elif says 'At once'; then write hello.txt; echo second > second.txt
	elif test -f hello.txt; then write second.txt
	else write hello.txt
	fi ;;
reconcile_mainline)
	git merge -q --no-ff --no-commit "$(sed -n 's/.*--no-commit \([0-9a-f]*\)` + "`" + `.*/\1/p' "$BACKBURNER_PROMPT_FILE")"
	write hello.txt
	git add hello.txt
	git commit -q --no-edit ;;
esac
`

const sweepConfig = `
[[repository]]
path = "."
plan_approval = "APPROVAL"
[agent.mine]
preset = "custom"
command = ["sh", "agent.sh"]
[gate.fast]
steps = [{ name = "there", run = ["test", "-f", "second.txt"] }]
[gate.full]
steps = [{ name = "hello", run = ["grep", "-q", "hello", "hello.txt"] }]
[retry]
attempts = ATTEMPTS
`

// lay makes a repository that has an origin, and one piece of work, its spec.
func (w *worker) lay(approval, attempts, spec string) error {
	settings := strings.NewReplacer("APPROVAL", approval, "ATTEMPTS", attempts)
	for name, text := range map[string]string{
		"home/.gitconfig":                 "[user]\n\tname = Jo\n\temail = jo@example.org\n",
		"shop/.backburner/specs/greet.md": "# Greet\n\n" + spec + "\n",
		"shop/backburner.toml":            settings.Replace(sweepConfig),
		"shop/agent.sh":                   strings.ReplaceAll(sweepAgent, "LEDGER", w.ledger()),
		"ledger":                          "",
	} {
		path := filepath.Join(w.at(), name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return w.gits([]string{"init", "-q", "-b", "main"}, []string{"add", "."}, []string{"commit", "-q", "-m", "first"},
		[]string{"init", "-q", "--bare", w.origin()}, []string{"remote", "add", "origin", w.origin()})
}

// gits runs git in the user's repository, several times.
func (w *worker) gits(calls ...[]string) error {
	for _, args := range calls {
		if _, err := w.git(w.shop(), args...); err != nil {
			return err
		}
	}
	return nil
}

// commit is a person's change on the base.
func (w *worker) commit(name, text string) error {
	if err := os.WriteFile(filepath.Join(w.shop(), name), []byte(text), 0o644); err != nil {
		return err
	}
	return w.gits([]string{"add", name}, []string{"commit", "-q", "-m", "of a person"})
}

// prepareBuild is one piece of work that needs everything: a plan, a build, a
// red gate that is repaired, and qa.
func (w *worker) prepareBuild() error { return w.lay("auto", "2", "Say hello.") }

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
	return w.commit("other.txt", "other\n")
}

// prepareAsk is one whose planner has a question.
func (w *worker) prepareAsk() error { return w.lay("required", "2", "Say hello. Ask first.") }

// preparePlan is the same, answered.
func (w *worker) preparePlan() error {
	return errors.Join(w.prepareAsk(), w.backburner("tick"), w.backburner("answer", "greet", "In English."))
}

// prepareWork is one whose plan was approved.
func (w *worker) prepareWork() error {
	return errors.Join(w.lay("required", "2", "Say hello. At once."), w.backburner("tick"), w.backburner("approve", "greet"))
}

// prepareReconcile is one that was ready when somebody did the same on the base.
func (w *worker) prepareReconcile() error {
	return errors.Join(w.lay("auto", "2", "Say hello. At once."), w.backburner("tick"), w.commit("hello.txt", "hello from somebody\n"))
}

// prepareMerge is one that a person wishes to be merged.
func (w *worker) prepareMerge() error {
	return errors.Join(w.prepareBuild(), w.backburner("tick"), w.backburner("merge", "greet"))
}

// prepareCancel is one whose builder broke down, leaving work behind, and that a
// person wants no more.
func (w *worker) prepareCancel() error {
	return errors.Join(w.lay("auto", "1", "Say hello. Break down."), w.backburner("tick"), w.backburner("cancel", "greet"))
}

// freeCheckout is what a person does whose git was killed while it brought the
// user's checkout forward: its locks are the user's, and so are half-written
// files, so that backburner touches neither. That must have been said.
func (w *worker) freeCheckout() error {
	inTheWay := regexp.MustCompile(`not merged: .*(\.lock': File exists|not committed|would be overwritten by merge)`)
	if !inTheWay.MatchString(w.said()) {
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
	return w.gits([]string{"reset", "-q", "--hard"}, []string{"clean", "-fdq"})
}
