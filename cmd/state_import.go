package cmd

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/export"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

func stateImportCommand() *cli.Command {
	return &cli.Command{
		Name: "import", Usage: "make a state of a file that export wrote", ArgsUsage: "FILE | -",
		Description: `Only where there is no state yet, and all of it or nothing. Clone the repository and
bring the configuration first: the file has what its base branch has not. Branches that
were published where it is from are made again in the repository, when they are missing.
Let only one of the two states go on.

Examples:
   backburner state import backup.tar.gz
   backburner --state /srv/state state import backup.tar.gz
   backburner state import backup.tar.gz && backburner tick`,
		Action: stateImport,
	}
}

func stateImport(c *cli.Context) error {
	if err := wantArgs(c, 1, 1); err != nil {
		return err
	}
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	if _, err := openStore(cfg, true, nil); err != nil {
		return err
	}
	repos, err := repositories(cfg)
	if err != nil {
		return err
	}
	name, in := c.Args().First(), c.App.Reader
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	var trees *workspace.Manager
	defer func() {
		if trees != nil {
			trees.Close()
		}
	}()
	dir, err := realPath(cfg.State.Dir)
	if err != nil {
		return err
	}
	done, err := export.Import(c.Context, in, export.Target{Dir: dir, Repositories: inOrder(repos), Trees: func(made time.Time) *workspace.Manager {
		trees = workspaces(cfg).OwnedBy(workspace.Owner{State: dir, Made: made})
		return trees
	}})
	if err != nil {
		return fmt.Errorf("state import %s: %w", name, err)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, done)
	}
	return printImported(c.App.Writer, cfg, done)
}

// realPath is where a path leads, of which the end may not be there yet.
func realPath(path string) (string, error) {
	at := nearest(path)
	rest, err := filepath.Rel(at, path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(at)
	return filepath.Join(real, rest), err
}

func printImported(out io.Writer, cfg *config.Config, done export.Imported) error {
	var b strings.Builder
	for _, n := range done.Notices {
		fmt.Fprintln(&b, "note: "+n)
	}
	for _, branch := range done.Branches {
		fmt.Fprintf(&b, "made the branch %s again\n", branch)
	}
	fmt.Fprintf(&b, "%s: %d open workstreams, %d branches and pieces of saved work, as of %s\n",
		cfg.State.Dir, done.Workstreams, done.References, done.CreatedAt.Local().Format(time.DateTime))
	fmt.Fprintln(&b, "go on with: backburner doctor, then backburner tick; and let the state it is from rest")
	_, err := io.WriteString(out, b.String())
	return err
}
