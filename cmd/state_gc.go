package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/pass"
	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

func stateGCCommand() *cli.Command {
	return &cli.Command{
		Name: "gc", Usage: "remove what is too old or too large now, instead of bit by bit",
		Description: `Every tick removes some of what [retention] lets go of, once a day; this removes all
of it at once: executions, archived workstreams, decided requests, logs of ticks,
what dead processes left half made, workspaces that were set aside, and saved work
whose workstream went out of the archive. Open work loses nothing.

Examples:
   backburner state gc --dry-run
   backburner state gc
   backburner config keys retention`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Usage: "only say what would be removed; needs no lease"},
			onBusyFlag(),
		},
		CustomHelpTemplate: leaseHelp,
		Action:             stateGC,
	}
}

// collected is what gc removed, or would, as JSON.
type collected struct {
	store.Removed
	Runs    int      `json:"unfinished"` // folders of processes that died
	Aside   int      `json:"aside"`      // workspaces that were set aside
	Salvage []string `json:"salvage"`    // references
	Packed  int      `json:"packed"`     // stores
	DryRun  bool     `json:"dry_run"`
}

func stateGC(c *cli.Context) error {
	cfg, st, err := readState(c, 0, 0)
	if err != nil {
		return err
	}
	var done collected
	if c.Bool("dry-run") || !exists(cfg.State.Dir) { // nor is a state made where none is
		done, err = collect(c.Context, cfg, st, true)
		done.DryRun = c.Bool("dry-run")
	} else {
		err = underLease(c, cfg, func(ctx context.Context, st *store.Store) error {
			var err error
			done, err = collect(ctx, cfg, st, false)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("state gc: %w", err)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, done)
	}
	return printCollected(c.App.Writer, done)
}

func collect(ctx context.Context, cfg *config.Config, st *store.Store, dry bool) (collected, error) {
	done := collected{DryRun: dry, Salvage: []string{}}
	now, keep := time.Now(), retention(cfg)
	trees := workspaces(cfg)
	if !dry {
		var err error
		if trees, err = ownWorkspaces(cfg, st); err != nil {
			return done, err
		}
	}
	defer trees.Close()
	removed, err := st.Collect(now, keep, dry)
	done.Removed = removed
	wasted, wasteErr := trees.Wasted(pass.AsideFor)
	done.Runs, done.Aside, done.Bytes = wasted.Runs, wasted.Aside, done.Bytes+wasted.Bytes
	err = errors.Join(err, wasteErr)
	if keep.Archive > 0 {
		gone, salvageErr := trees.ExpireSalvages(ctx, now.Add(-keep.Archive), st.Known, dry)
		done.Salvage, err = append(done.Salvage, gone...), errors.Join(err, salvageErr)
	}
	if dry || !exists(cfg.Workspace.Root) {
		return done, err
	}
	var left workspace.Leftovers
	left, leftErr := trees.CleanLeftovers(ctx, pass.AsideFor)
	done.Runs, done.Aside, done.Packed = left.Runs, left.Aside, left.Packed
	return done, errors.Join(err, leftErr)
}

func printCollected(out io.Writer, done collected) error {
	verb, end := "removed", "freed"
	if done.DryRun {
		verb, end = "would remove", "would free"
	}
	var b strings.Builder
	for _, row := range []struct {
		n    int
		what string
	}{
		{done.Executions, "executions"}, {done.Workstreams, "archived workstreams"}, {done.Requests, "decided requests"},
		{done.Logs, "days of ticks"}, {done.Leftovers, "half-written files"}, {done.Runs, "unfinished folders of dead processes"},
		{done.Aside, "workspaces that were set aside"}, {len(done.Salvage), "pieces of saved work"},
	} {
		if row.n > 0 {
			fmt.Fprintf(&b, "%s %d %s\n", verb, row.n, row.what)
		}
	}
	if b.Len() == 0 {
		fmt.Fprintln(&b, "nothing to remove")
	} else {
		fmt.Fprintf(&b, "%s %s\n", end, bytesText(done.Bytes))
	}
	if done.Packed > 0 {
		fmt.Fprintf(&b, "packed %d git stores\n", done.Packed)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// bytesText is a number of bytes for people.
func bytesText(n int64) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 10<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 10<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
