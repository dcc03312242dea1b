package cmd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/git"
	"github.com/backburner-cli/backburner/pkg/lease"
	"github.com/backburner-cli/backburner/pkg/pass"
	"github.com/backburner-cli/backburner/pkg/report"
	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/work"
)

func tickCommand() *cli.Command {
	return &cli.Command{
		Name:  "tick",
		Usage: "make one pass over everything that is open",

		CustomHelpTemplate: tickHelp,
		Description: `Loads the state, takes one pass through all phases, saves, and exits. What is
running or waiting goes on with the next tick.

Examples:
   backburner tick                         one pass
   backburner tick --dry-run               what it would begin with; writes nothing
   backburner tick --workstream fix-login  only this one
   */15 * * * * cd /srv/shop && backburner tick`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Usage: "say what the tick would begin with, and write nothing"},
			&cli.StringSliceFlag{Name: "repo", Usage: "only work of this `REPOSITORY`; may be repeated"},
			&cli.StringSliceFlag{Name: "workstream", Usage: "only this workstream `ID`; may be repeated"},
			&cli.StringFlag{Name: "max-agents", Usage: "run at most `N` agents at once"},
			&cli.StringFlag{Name: "deadline", Usage: "be over within this `TIME`, such as 20m"},
			&cli.StringFlag{Name: "on-busy", Usage: "when another tick is running: `skip`, wait or fail"},
			&cli.StringFlag{Name: "fail-on", Usage: "`tasks`: exit with 3 when a task failed"},
			&cli.StringFlag{Name: "report", Usage: "also write the summary, as JSON, to `FILE`"},
		},
		Action: tickAction,
	}
}

func tickAction(c *cli.Context) error {
	if c.NArg() > 0 {
		return usage("tick takes no arguments: %q", c.Args().Slice())
	}
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	repos, err := repositories(cfg)
	if err != nil {
		return err
	}
	missing, err := withoutRepository(repos)
	if err != nil {
		return err
	}
	only, err := selection(c, repos)
	if err != nil {
		return err
	}
	started := time.Now()
	set := settings(cfg, tickID(started), started)
	set.Only, set.Notices = only, missing
	if c.Bool("dry-run") {
		return dryRun(c, cfg, set, repos)
	}
	return runTick(c, cfg, set, repos)
}

// selection is the choice that --repo and --workstream make; nil is everything.
func selection(c *cli.Context, repos pass.Repositories) (func(*work.Workstream) bool, error) {
	ids, names := c.StringSlice("workstream"), c.StringSlice("repo")
	if len(ids)+len(names) == 0 {
		return nil, nil
	}
	wantedRepo, wanted := make(map[string]bool), make(map[string]bool)
	for _, n := range names {
		if _, ok := repos[n]; !ok {
			return nil, noRepository(n, repos)
		}
		wantedRepo[n] = true
	}
	for _, id := range ids {
		wanted[id] = true
	}
	return func(w *work.Workstream) bool {
		return (len(ids) == 0 || wanted[w.ID]) && (len(names) == 0 || wantedRepo[w.Repository])
	}, nil
}

func noRepository(name string, repos pass.Repositories) error {
	return usage("--repo %s: no such repository is configured; there is %s", name, strings.Join(slices.Sorted(maps.Keys(repos)), ", "))
}

// withoutRepository says which paths have no repository. That one is missing
// must not stop the others; that all are is a fault of the configuration.
func withoutRepository(repos pass.Repositories) (missing []string, err error) {
	for _, id := range slices.Sorted(maps.Keys(repos)) {
		if path := repos[id].Path; path != "" {
			if _, _, err := git.Locate(path); err != nil {
				missing = append(missing, "repository "+id+": "+err.Error())
			}
		}
	}
	if len(missing) > 0 && len(missing) == len(repos) {
		return nil, usage("%s", strings.Join(missing, "\n"))
	}
	return missing, nil
}

func tickID(now time.Time) string {
	return now.UTC().Format("20060102T150405Z") + "-" + strings.ToLower(rand.Text()[:6])
}

// overdue ends a tick that nothing else could end by its deadline, as a crash would.
func overdue() {
	fmt.Fprintln(os.Stderr, "backburner: the tick is a minute beyond its deadline, and something in it does not end; the next tick goes on")
	os.Exit(exitError)
}

// runTick takes the lease, makes the pass, and says what it did.
func runTick(c *cli.Context, cfg *config.Config, set pass.Settings, repos pass.Repositories) error {
	var held *lease.Lease
	st, err := openStore(cfg, false, func() error { return held.Check() })
	if err != nil {
		return err
	}
	held, err = takeLease(c, cfg, set)
	if held == nil || err != nil {
		return tickError(c.Context, cfg, work.Tick{}, err)
	}
	defer held.Release()
	defer time.AfterFunc(cfg.Tick.Deadline+time.Minute, overdue).Stop()
	p := passage{store: st, lease: held, set: set, repos: repos}
	tick, err := p.make(held.Context(), c, cfg)
	if printErr := printTick(c, cfg, p, tick); err == nil {
		err = printErr
	}
	return tickError(c.Context, cfg, tick, err)
}

// takeLease takes the right to run; nil without an error when another tick has
// it and this one is to be skipped.
func takeLease(c *cli.Context, cfg *config.Config, set pass.Settings) (*lease.Lease, error) {
	o := lease.Options{TickID: set.Tick}
	l, err := lease.Acquire(c.Context, cfg.State.Dir, o)
	var busy *lease.HeldError
	if !errors.As(err, &busy) {
		return l, err
	}
	switch cfg.Tick.OnBusy {
	case "fail":
		return nil, &codeError{exitBusy, err}
	case "wait":
		if f, ok := c.App.ErrWriter.(*os.File); c.Bool("verbose") || ok && isTerminal(f) {
			fmt.Fprintf(c.App.ErrWriter, "backburner: waiting: %s holds the lease since %s\n", busy.Holder, busy.Holder.AcquiredAt.Local().Format(time.DateTime))
		}
		return lease.Wait(c.Context, cfg.State.Dir, o)
	}
	return nil, nil
}

// passage is one pass on its way.
type passage struct {
	store *store.Store
	lease *lease.Lease
	set   pass.Settings
	repos pass.Repositories
	board *work.Board
}

// make loads the board, makes the pass, and returns what it did.
func (p *passage) make(ctx context.Context, c *cli.Context, cfg *config.Config) (work.Tick, error) {
	failed := func(err error) (work.Tick, error) {
		return work.Tick{ID: p.set.Tick, Outcome: "error", Error: err.Error()}, err
	}
	board, bad, err := p.store.Load(ctx)
	if err != nil {
		p.board = work.NewBoard()
		return failed(err)
	}
	p.board = board
	for _, q := range bad {
		p.set.Notices = append(p.set.Notices, q.String())
	}
	if t := p.lease.TookOver(); t != nil {
		p.set.TookOver = t.String()
	}
	progress := watch(c, p.store)
	defer progress.Close()
	with, done, err := collaborators(cfg, p.store, logger(c, progress))
	if err != nil {
		return failed(err)
	}
	defer done()
	with.Lease, with.Watch = p.lease.Check, watcher{progress}
	tick, err := pass.New(p.board, p.set, p.repos, with).Run(ctx)
	for _, id := range c.StringSlice("workstream") {
		if p.board.Workstreams[id] == nil {
			tick.Notices = append(tick.Notices, notThere(p.store, id))
		}
	}
	return tick, err
}

// notThere says why a workstream that was asked for is not on the board.
func notThere(st *store.Store, id string) string {
	if w, _, err := st.Workstream(id); err == nil {
		return "--workstream " + id + ": it is " + string(w.Status)
	}
	return "--workstream " + work.Printable(id) + ": there is no such workstream; see: backburner status"
}

// printTick says what a tick did: on stdout, and where else it was asked for.
func printTick(c *cli.Context, cfg *config.Config, p passage, tick work.Tick) error {
	var err error
	switch {
	case c.Bool("json"):
		err = report.TickJSON(c.App.Writer, tick)
	case os.Getenv("GITHUB_ACTIONS") == "true":
		err = report.Actions(c.App.Writer, tick, rand.Text())
	default:
		err = report.Tick(c.App.Writer, tick, style(c))
	}
	return errors.Join(err, writeReports(c, cfg, p, tick))
}

// writeReports writes the file of --report and the step summary of Actions.
func writeReports(c *cli.Context, cfg *config.Config, p passage, tick work.Tick) error {
	file, summary := c.String("report"), os.Getenv("GITHUB_STEP_SUMMARY")
	if file == "" && summary == "" {
		return nil
	}
	view, err := viewOf(cfg, p.store, p.board, time.Now())
	if err != nil {
		return err
	}
	if file != "" {
		if err := report.WriteFile(file, tick, view); err != nil {
			return err
		}
	}
	if summary != "" && !report.Quiet(tick) {
		return report.AppendSummary(summary, report.Markdown(tick, view))
	}
	return nil
}

// tickError picks the exit code of a tick.
func tickError(ctx context.Context, cfg *config.Config, tick work.Tick, err error) error {
	var signalled signalError
	stopped := errors.As(context.Cause(ctx), &signalled)
	switch {
	case stopped && (err == nil || errors.Is(err, context.Canceled) || errors.Is(err, signalled)):
		return &codeError{signalled.code(), signalled}
	case err != nil:
		return err
	case cfg.Tick.FailOn == "tasks" && tick.Failed > 0:
		return &codeError{exitTasks, fmt.Errorf("%d run(s) failed", tick.Failed)}
	}
	return nil
}
