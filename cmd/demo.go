package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/work"
)

func demoCommand() *cli.Command {
	return &cli.Command{
		Name: "demo", Usage: "show everything once, in a throw-away repository", ArgsUsage: "[DIR]",
		Description: `Makes a small git repository in a temporary folder, or in DIR, which must not be there
yet or be empty, and runs real ticks in it with a scripted agent that needs no account,
no network and no money. It changes nothing else on this machine.

Examples:
   backburner demo
   backburner demo /tmp/try`,
		Action: demoAction,
	}
}

func demoAction(c *cli.Context) error {
	if err := wantArgs(c, 0, 1); err != nil {
		return err
	}
	dir, err := demoFolder(c.Args().First())
	if err != nil {
		return err
	}
	s := &stage{ctx: c.Context, dir: dir, style: style(c), out: c.App.Writer}
	if c.Bool("json") {
		s.out = io.Discard
	}
	w := demoStory(s)
	switch signalled := (signalError{}); {
	case errors.As(context.Cause(c.Context), &signalled):
		return &codeError{signalled.code(), fmt.Errorf("the demo was stopped; remove %s when you like", dir)}
	case s.err != nil:
		return fmt.Errorf("the demo could not go on: %w; what it made is in %s", s.err, dir)
	case c.Bool("json"):
		return printJSON(c.App.Writer, map[string]any{"dir": dir, "id": w.ID, "status": w.Status, "branch": w.Branch, "head": w.Head})
	}
	return nil
}

// demoFolder makes the folder of the demo.
func demoFolder(wanted string) (string, error) {
	if wanted == "" {
		return os.MkdirTemp("", "backburner-demo-")
	}
	dir, err := filepath.Abs(wanted)
	if err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o755); !errors.Is(err, os.ErrExist) {
		return dir, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		return "", usage("%s is there already, and is no empty folder; name one that is not there", dir)
	}
	return dir, nil
}

// The demo's repository. Its gates are git's own checks, so that nothing but
// git is needed.
const (
	demoSpec = `# Greet people

Put a greeting into greeting.txt, and note it in CHANGELOG.md.
`
	demoReadme    = "# A small project\n"
	demoChangelog = "# Changes\n\n- The project begins.\n"
	demoConfig    = `[[repository]]
path = "."
base = "main"

[agent.scripted]                # yours would be claude, codex, gemini, ...
preset = "custom"
command = [%q, "demo-agent"]

[gate.fast]                     # must pass after every step of building
steps = [
  { name = "whitespace", run = ["git", "diff", "--check", "origin/main"] },
]

[gate.full]                     # must pass before a branch counts as ready
steps = [
  { name = "changelog", run = ["git", "grep", "greet", "--", "CHANGELOG.md"] },
]
`
	// What the gates find must not depend on the user's git configuration.
	demoAttributes = "*.txt text eol=lf whitespace=trailing-space\n"
)

// demoStory is the demo: commands that are really run, one after the other. It
// returns the work as it is in the end.
func demoStory(s *stage) *work.Workstream {
	s.say("One small piece of work, from a note to a branch that is ready to merge. Git, ticks, gates and state are real; only the",
		"agent is scripted, so that this needs no account, no network and no money. It happens in "+s.dir)

	s.chapter("You write down what you want")
	name := s.program()
	s.repository(map[string]string{
		"README.md": demoReadme, "CHANGELOG.md": demoChangelog, ".gitattributes": demoAttributes,
		".backburner/specs/greet.md": demoSpec, "backburner.toml": fmt.Sprintf(demoConfig, name),
	})
	s.show("The note is .backburner/specs/greet.md:", demoSpec)
	s.show("backburner.toml says who works on it, and which commands judge the work:", fmt.Sprintf(demoConfig, filepath.Base(name)))

	s.chapter("A tick picks it up, and the planner has a question")
	s.backburner("tick")
	s.expect(work.AwaitingInput)
	s.say("The tick is over, and nothing runs. The next one may come from cron, hours later. Until you answer, it has nothing to do.")
	s.backburner("answer", "greet", "everybody")

	s.chapter("The next tick makes a plan, and waits for you to approve it")
	s.backburner("tick")
	s.show("The plan:", planText(s.expect(work.AwaitingApproval)))
	s.backburner("approve", "greet")

	s.chapter("The next tick builds, and the gates judge")
	s.backburner("tick")
	s.expect(work.ReadyToMerge)
	s.say("The builder left a blank at the end of a line. The fast gate turned red, its log went back to the builder, and the repair passed.",
		"The full gate passed on the very commit that was then published as a branch.")

	s.chapter("What you have now")
	s.backburner("status")
	s.git("log", "--oneline", "main..backburner/greet")
	s.git("diff", "main...backburner/greet")
	s.git("status")
	s.say("Your own checkout was never touched.")
	w := s.expect(work.ReadyToMerge)
	demoEnd(s, name)
	return w
}

// demoEnd says what to type next.
func demoEnd(s *stage, name string) {
	commands := [][2]string{{"cd " + shellWord(s.dir), ""}}
	if filepath.IsAbs(name) {
		commands = append(commands, [2]string{"alias backburner=" + shellWord(name), ""})
	}
	s.chapter("Where to look, and what to do next")
	s.list(append(commands, [][2]string{
		{"backburner status greet", "all about it: plan, gates, thread, folders"},
		{"backburner logs --list greet", "every run of the agent and of a gate"},
		{"backburner logs greet.0004", "one of them: what the red gate said"},
		{"ls .backburner/state", "the state: JSON and plain files"},
		{"backburner merge greet && backburner tick", "merge it into main"},
	}...))
	s.say("To forget all of it:")
	s.list([][2]string{{"rm -rf " + shellWord(s.dir), ""}})
	s.say("In a repository of yours, begin with:")
	s.list([][2]string{{"backburner init", "writes a backburner.toml from what it finds"}})
}

// planText is a plan in a few lines.
func planText(w *work.Workstream) string {
	if w == nil || w.Plan == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintln(&b, w.Plan.Summary)
	fmt.Fprintf(&b, "creates %s\n", strings.Join(w.Plan.Files.Create, ", "))
	fmt.Fprintf(&b, "changes %s\n", strings.Join(w.Plan.Files.Modify, ", "))
	for _, criterion := range w.Plan.AcceptanceCriteria {
		fmt.Fprintf(&b, "done when %s\n", criterion)
	}
	return b.String()
}
