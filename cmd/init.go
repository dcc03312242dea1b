package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/agent"
	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/forge/github"
	"github.com/backburner-cli/backburner/pkg/git"
)

// setupCommands are about the machine and the configuration, not about work.
func setupCommands() []*cli.Command {
	return []*cli.Command{initCommand(), doctorCommand()}
}

func initCommand() *cli.Command {
	return &cli.Command{
		Name: "init", Usage: "write a configuration from what is found, or a schedule",
		Description: `Writes backburner.toml at the top of the repository one stands in, with the agents
that are installed and the commands by which the project is checked. Read it: the
gates are a guess.

Examples:
   backburner init                    write backburner.toml
   backburner init --print            look at it first
   backburner init --github           for the issues and pull requests of origin's repository
   backburner init --cron             a line for crontab
   backburner init --github-actions   write .github/workflows/backburner.yml`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "print", Usage: "print it, and write nothing"},
			&cli.BoolFlag{Name: "force", Usage: "replace a file that is there"},
			&cli.BoolFlag{Name: "github", Usage: "take work from the repository on GitHub that origin names, instead of from specs"},
			&cli.BoolFlag{Name: "cron", Usage: "print a line for crontab instead"},
			&cli.BoolFlag{Name: "github-actions", Usage: "write a scheduled workflow instead"},
		},
		Action: initAction,
	}
}

func initAction(c *cli.Context) error {
	if c.NArg() > 0 {
		return usage("init takes no arguments: %q", c.Args().Slice())
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	top := topLevel(dir)
	if top == "" {
		return usage("%s is not in a git repository: go to the one that backburner should work on, or run git init", dir)
	}
	switch {
	case c.Bool("cron") && c.Bool("github-actions"):
		return usage("--cron and --github-actions are two schedules; choose one")
	case c.Bool("cron"):
		return initCron(c, top)
	case c.Bool("github-actions"):
		return initActions(c, top)
	}
	return initConfig(c, top)
}

// initConfig writes the configuration of the repository at top.
func initConfig(c *cli.Context, top string) error {
	path := filepath.Join(top, config.FileName)
	if given := c.String("config"); given != "" {
		abs, err := filepath.Abs(given)
		if err != nil {
			return err
		}
		path = abs
	}
	found := look(top)
	if c.Bool("github") {
		slug, err := originSlug(c.Context, top)
		if err != nil {
			return usage("%v; or write slug = \"OWNER/NAME\" yourself", err)
		}
		found.Slug = slug
	}
	if filepath.Dir(path) != top {
		found.Path = top
	}
	text := config.Example(found)
	if c.Bool("print") {
		_, err := c.App.Writer.Write(text)
		return err
	}
	if err := writeNew(path, text, c.Bool("force")); err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, map[string]any{
			"path": path, "slug": found.Slug, "base": found.Base, "agents": orEmpty(found.Agents), "fast": commandsOf(found.Fast), "full": commandsOf(found.Full),
		})
	}
	_, err := fmt.Fprint(c.App.Writer, written(path, found))
	return err
}

// look finds out what a configuration of the repository at top needs.
func look(top string) config.Found {
	found := config.Found{Base: guessBase(top), Agents: agent.Installed(os.Getenv("PATH"))}
	found.Fast, found.Full = config.Guess(os.DirFS(top))
	return found
}

// originSlug is the repository on GitHub that the remote origin of the one at top names.
func originSlug(ctx context.Context, top string) (string, error) {
	dir, _, err := git.Locate(top)
	if err != nil {
		return "", err
	}
	url, err := git.New(git.Options{}).Foreign(dir).PushURL(ctx, "origin")
	if err != nil {
		return "", err
	}
	if url == "" {
		return "", fmt.Errorf("%s has no remote called origin: add it with git remote add origin URL", top)
	}
	return github.Slug(url, os.Getenv("BACKBURNER_GITHUB_API_URL"))
}

// written says what is in the new configuration, and what to do next.
func written(path string, found config.Found) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("wrote %s", path)
	if found.Slug != "" {
		line("   GitHub  %s", found.Slug)
	}
	line("   base    %s", found.Base)
	if len(found.Agents) > 0 {
		line("   agents  %s", strings.Join(found.Agents, ", "))
	} else {
		line("   agents  none found: install one, or name a program of yours as [agent.mine]")
	}
	for _, g := range []struct {
		name  string
		steps []config.Step
	}{{"fast", found.Fast}, {"full", found.Full}} {
		if len(g.steps) > 0 {
			line("   %s    %s", g.name, strings.Join(commandsOf(g.steps), "; "))
		} else {
			line("   %s    no command found: until there is one, nothing is tested", g.name)
		}
	}
	line("")
	line("Next: read it, above all the gates, which are a guess; then")
	line("   backburner doctor                  is all there?")
	if found.Slug != "" {
		line("   label an issue backburner          a piece of work")
	} else {
		line("   write .backburner/specs/ID.md      a piece of work, as for a colleague")
	}
	line("   backburner tick                    the first pass")
	line("   backburner init --cron             let it run")
	line("Commit %s and the specs, if any; what else is in .backburner ignores itself.", filepath.Base(path))
	return b.String()
}

// commandsOf are the commands of steps as one types them.
func commandsOf(steps []config.Step) []string {
	all := make([]string, 0, len(steps))
	for _, s := range steps {
		all = append(all, strings.Join(s.Run, " "))
	}
	return all
}

// orEmpty makes JSON say [] and not null.
func orEmpty(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// writeNew writes a file that must not be there, unless it may be replaced.
func writeNew(path string, text []byte, replace bool) error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if replace {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(path, flags, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return usage("%s is there already and was left as it is; look at a new one with --print, replace it with --force", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
