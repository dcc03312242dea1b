package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/export"
	"github.com/backburner-cli/backburner/pkg/pass"
	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

func stateExportCommand() *cli.Command {
	return &cli.Command{
		Name: "export", Usage: "one file of the state and the work in it, to go on elsewhere or as a backup", ArgsUsage: "[FILE | -]",
		Description: `Writes a .tar.gz with the state and, as git bundles, the branches and the saved work
that the repositories have not got. What lies uncommitted in workspaces is saved first
and so is in it. Not in it: the repositories themselves, the configuration, ignored
files of workspaces. What agents were told and said is in it: keep it as private.

FILE must not be there yet; - is stdout. No tick runs meanwhile.

Examples:
   backburner state export
   backburner state export --on-busy wait "backup-$(date +%F).tar.gz"
   backburner state export - | ssh build 'cd shop && backburner state import -'`,
		Flags:              []cli.Flag{onBusyFlag()},
		CustomHelpTemplate: leaseHelp,
		Action:             stateExport,
	}
}

func stateExport(c *cli.Context) error {
	cfg, st, err := readState(c, 0, 1)
	if err != nil {
		return err
	}
	if !exists(filepath.Join(st.Dir(), "meta.json")) {
		return fmt.Errorf("state export: there is no state in %s", st.Dir())
	}
	name := c.Args().First()
	switch {
	case name == "":
		name = "backburner-state-" + time.Now().UTC().Format("20060102T150405Z") + ".tar.gz"
	case name == "-":
		if f, ok := c.App.Writer.(*os.File); ok && isTerminal(f) {
			return usage("state export: stdout is a terminal: name a file")
		}
	}
	var done export.Written
	err = underLease(c, cfg, func(ctx context.Context, st *store.Store) error {
		var err error
		done, err = exportTo(ctx, c, cfg, st, name)
		return err
	})
	if err != nil {
		return fmt.Errorf("state export: %w", err)
	}
	out := c.App.Writer
	if name == "-" {
		out = c.App.ErrWriter
	}
	if c.Bool("json") {
		return printJSON(out, exported{name, done})
	}
	return printExported(out, name, done)
}

// exported is what was written, as JSON.
type exported struct {
	File string `json:"file"`
	export.Written
}

// exportTo writes the file under another name first, unless it is stdout.
func exportTo(ctx context.Context, c *cli.Context, cfg *config.Config, st *store.Store, name string) (export.Written, error) {
	repos, err := repositories(cfg)
	if err != nil {
		return export.Written{}, err
	}
	trees, err := ownWorkspaces(cfg, st)
	if err != nil {
		return export.Written{}, err
	}
	defer trees.Close()
	scratch, err := os.MkdirTemp("", "backburner-export-")
	if err != nil {
		return export.Written{}, err
	}
	defer os.RemoveAll(scratch)
	from := export.Source{State: st, Trees: trees, Repositories: inOrder(repos), By: "backburner " + version(), Now: time.Now()}
	if name == "-" {
		return export.Write(ctx, c.App.Writer, from, scratch)
	}
	if err := beside(name, cfg.State.Dir); err != nil {
		return export.Written{}, err
	}
	var done export.Written
	err = newFile(name, func(out io.Writer) error {
		done, err = export.Write(ctx, out, from, scratch)
		return err
	})
	return done, err
}

// beside fails for a file that would be within the state that it is made of.
func beside(name, dir string) error {
	parent, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err != nil {
		return err
	}
	if parent, err = filepath.Abs(parent); err != nil {
		return err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	if rel, err := filepath.Rel(dir, parent); err == nil && filepath.IsLocal(rel) {
		return fmt.Errorf("%s is within the state: name a file elsewhere", name)
	}
	return nil
}

// newFile makes a file that only its owner may read, whole or not at all.
func newFile(name string, write func(io.Writer) error) error {
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, fmt.Errorf("%s is there already: name another file, or remove it", name))
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".part-") // readable for its owner alone
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), name) // which fails when the name was taken meanwhile
}

// inOrder are the repositories by id.
func inOrder(repos pass.Repositories) []workspace.Repository {
	var all []workspace.Repository
	for _, id := range slices.Sorted(maps.Keys(repos)) {
		all = append(all, repos[id].Repository)
	}
	return all
}

func printExported(out io.Writer, name string, done export.Written) error {
	var b strings.Builder
	for _, n := range done.Notices {
		fmt.Fprintln(&b, "note: "+n)
	}
	for _, s := range done.Saved {
		fmt.Fprintf(&b, "saved what lay uncommitted in a workspace: %s\n", s)
	}
	fmt.Fprintf(&b, "%s: %d open workstreams, %d branches and pieces of saved work, %d files, %s before compression\n",
		name, done.Workstreams, done.References, done.Files, bytesText(done.Bytes))
	fmt.Fprintln(&b, "not in it: the repositories themselves, the configuration, ignored files of workspaces")
	fmt.Fprintf(&b, "elsewhere, in a clone of the repository: backburner state import %s\n", name)
	_, err := io.WriteString(out, b.String())
	return err
}
