package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

func demoCommand() *cli.Command {
	return &cli.Command{
		Name: "demo", Usage: "show everything once, in a throw-away repository", ArgsUsage: "[DIR]",
		Description: `Makes a small git repository in a temporary folder (or in DIR, which must not be
there yet), and runs real ticks in it with a scripted agent that needs no account and
no network. It changes nothing else on this machine.

Examples:
   backburner demo
   backburner demo /tmp/try`,
		Action: demoAction,
	}
}

// The demo's repository. Its gates are git commands, so that nothing but git is
// needed.
const (
	demoSpec = `# Greet people

The program should greet. Put the text into greeting.txt.
Changes are noted in CHANGELOG.md, as always.
`
	demoReadme    = "# A small project\n"
	demoChangelog = "# Changes\n\n- The project begins.\n"
	demoConfig    = `# Written by "backburner demo".
[[repository]]
path = "."
base = "main"

# A scripted agent; yours would be: preset = "claude", "codex", ...
[agent.scripted]
preset = "custom"
command = [%q, "demo-agent"]

# What must pass after every step of building, and before work counts as ready.
[gate.fast]
steps = [{ name = "changelog", run = ["git", "grep", "-q", "greet", "--", "CHANGELOG.md"] }]
[gate.full]
steps = [{ name = "greeting", run = ["git", "grep", "-q", "Hello", "--", "greeting.txt"] }]
`
)

func demoAction(c *cli.Context) error {
	if err := wantArgs(c, 0, 1); err != nil {
		return err
	}
	me, err := self()
	if err != nil {
		return err
	}
	dir, err := demoFolder(c.Args().First())
	if err != nil {
		return err
	}
	d := &demo{ctx: c.Context, out: c.App.Writer, dir: dir, self: me[0]}
	d.story()
	if d.err != nil {
		return fmt.Errorf("the demo stopped: %w; what it made is in %s", d.err, dir)
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
	if err := os.Mkdir(dir, 0o755); err != nil {
		if errors.Is(err, os.ErrExist) {
			return "", usage("%s is there already; name a folder that is not", dir)
		}
		return "", err
	}
	return dir, nil
}

// demo tells a story of commands that are really run, one after the other. The
// first that fails ends it; err says why.
type demo struct {
	ctx  context.Context
	out  io.Writer
	dir  string
	self string
	step int
	err  error
}

func (d *demo) story() {
	d.say("backburner works through issues and specs while nobody watches. Here it does so once, in a", "repository made for this:", "  "+d.dir)

	d.chapter("A repository, and a piece of work written down")
	d.setUp()
	d.show(".backburner/specs/greet.md", demoSpec)
	d.show("two gates, commands that judge the work", "fast  CHANGELOG.md mentions the change   after every step of building\nfull  greeting.txt says Hello            before it counts as ready\n")

	d.chapter("A tick picks it up; the planner has a question")
	d.backburner("tick")
	d.expect(work.AwaitingInput)
	d.say("Nothing runs now. The question waits in the state, however long it takes you:")
	d.backburner("answer", "greet", "The whole world.")

	d.chapter("The next tick plans; a plan waits for your approval")
	d.backburner("tick")
	d.expect(work.AwaitingApproval)
	d.backburner("approve", "greet")

	d.chapter("The next tick builds, repairs what the gate found, verifies, and publishes a branch")
	d.backburner("tick")
	d.expect(work.ReadyToMerge)
	d.say("The builder forgot the changelog; the red gate went back to it with its log, and it mended that.")

	d.chapter("What there is to look at")
	d.backburner("status")
	d.git("log", "--oneline", "--graph", "main", "backburner/greet")
	d.git("diff", "--stat", "main...backburner/greet")
	d.git("status", "--short", "--branch")
	d.say("Your own checkout was never touched.")
	d.ending()
}

func (d *demo) ending() {
	if d.err != nil {
		return
	}
	fmt.Fprintf(d.out, `
Where to look (in %s):
  backburner status greet          everything about this piece of work, with its thread
  backburner logs --list greet     what the agent and the gates said
  .backburner/state                all of it, as JSON and plain files
  backburner.toml                  the configuration; the scripted agent is the "custom" one

What you could do now:
  backburner merge greet && backburner tick     merge it into main
  rm -rf %s     forget all of this

In a repository of yours, begin with: backburner init
%s`, d.dir, d.dir, d.where())
}

// where says how to come by the commands above; "go run" leaves no program.
func (d *demo) where() string {
	if strings.Contains(d.self, "go-build") {
		return "(\"go install .\" puts backburner on your PATH)\n"
	}
	return "(backburner is " + d.self + " here)\n"
}

// setUp makes the repository.
func (d *demo) setUp() {
	files := map[string]string{
		"README.md": demoReadme, "CHANGELOG.md": demoChangelog,
		".backburner/specs/greet.md": demoSpec, "backburner.toml": fmt.Sprintf(demoConfig, d.self),
	}
	for name, text := range files {
		path := filepath.Join(d.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			d.fail(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			d.fail(err)
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "."},
		{"-c", "user.name=Demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "Begin"},
	} {
		d.run(append([]string{"git"}, args...), true)
	}
}

func (d *demo) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

func (d *demo) chapter(title string) {
	if d.err != nil {
		return
	}
	d.step++
	fmt.Fprintf(d.out, "\n%d. %s\n", d.step, title)
}

func (d *demo) say(lines ...string) {
	if d.err == nil {
		fmt.Fprintf(d.out, "\n   %s\n", strings.Join(lines, "\n   "))
	}
}

func (d *demo) show(title, text string) {
	if d.err == nil {
		fmt.Fprintf(d.out, "\n   %s:\n%s", title, indent(text, "   | "))
	}
}

// backburner runs this very program, as one would type it.
func (d *demo) backburner(args ...string) {
	d.typed("backburner", args)
	d.run(append([]string{d.self}, args...), false)
}

func (d *demo) git(args ...string) {
	d.typed("git", args)
	d.run(append([]string{"git"}, args...), false)
}

func (d *demo) typed(name string, args []string) {
	if d.err != nil {
		return
	}
	line := name
	for _, a := range args {
		if strings.ContainsAny(a, " ") {
			a = `"` + a + `"`
		}
		line += " " + a
	}
	fmt.Fprintf(d.out, "\n   $ %s\n", line)
}

const demoLimit = 2 * time.Minute // of one command

func (d *demo) run(args []string, silent bool) {
	if d.err != nil {
		return
	}
	got, err := proc.Run(d.ctx, proc.Command{Args: args, Dir: d.dir, Env: demoEnvironment(), Timeout: demoLimit, MaxOutput: 1 << 20})
	if err != nil {
		d.fail(err)
		return
	}
	if got.Exit != 0 {
		d.fail(fmt.Errorf("%s: exit code %d: %s", strings.Join(args, " "), got.Exit, strings.TrimSpace(string(got.Stderr))))
		return
	}
	if !silent {
		fmt.Fprint(d.out, indent(string(got.Stdout)+string(got.Stderr), "   "))
	}
}

// demoEnvironment is this process's without settings of backburner and without
// a surrounding git or GitHub Actions run.
func demoEnvironment() []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "BACKBURNER_") && !strings.HasPrefix(e, "GIT_") && !strings.HasPrefix(e, "GITHUB_") {
			env = append(env, e)
		}
	}
	return env
}

// expect ends the story unless the work is where the story says.
func (d *demo) expect(want work.Status) {
	if d.err != nil {
		return
	}
	w, err := demoState(d.dir)
	switch {
	case err != nil:
		d.fail(err)
	case w.Status != want:
		d.fail(fmt.Errorf("the work is %s, and not %s: %s", w.Status, want, w.Detail))
	}
}

func indent(text, by string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(by+line, " \n") + "\n")
	}
	return b.String()
}
