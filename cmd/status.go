package cmd

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/forge/local"
	"github.com/backburner-cli/backburner/pkg/lease"
	"github.com/backburner-cli/backburner/pkg/pass"
	"github.com/backburner-cli/backburner/pkg/report"
	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/work"
)

func statusCommand() *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "what is going on, what comes next, and why not more", ArgsUsage: "[ID]",
		Description: `Reads the state and writes nothing; safe while a tick runs.

Examples:
   backburner status
   backburner status fix-login
   backburner status --json | jq '.workstreams[] | select(.status == "blocked")'`,
		Action: statusAction,
	}
}

func statusAction(c *cli.Context) error {
	cfg, st, err := readState(c, 0, 1)
	if err != nil {
		return err
	}
	if id := c.Args().First(); id != "" {
		return statusOf(c, cfg, st, id)
	}
	board, bad, err := st.Load(c.Context)
	if err != nil {
		return err
	}
	view, err := viewOf(cfg, st, board, time.Now())
	if err != nil {
		return err
	}
	for _, q := range bad {
		view.Problems = append(view.Problems, q.String())
	}
	if c.Bool("json") {
		return report.StatusJSON(c.App.Writer, view)
	}
	return report.Status(c.App.Writer, view, style(c))
}

// readState checks the number of arguments and opens the state for reading.
func readState(c *cli.Context, least, most int) (*config.Config, *store.Store, error) {
	if err := wantArgs(c, least, most); err != nil {
		return nil, nil, err
	}
	cfg, err := loadConfig(c)
	if err != nil {
		return nil, nil, err
	}
	st, err := openStore(cfg, true, nil)
	return cfg, st, err
}

// viewOf is what status shows of a board.
func viewOf(cfg *config.Config, st *store.Store, board *work.Board, now time.Time) (report.View, error) {
	repos, err := repositories(cfg)
	if err != nil {
		return report.View{}, err
	}
	view := report.View{Now: now, Hold: board.Agents.Hold}
	for _, r := range board.Requests {
		view.Requests = append(view.Requests, report.RequestOf(r))
	}
	for _, id := range slices.Sorted(maps.Keys(repos)) {
		if repo := board.Repositories[id]; repo != nil {
			for _, t := range repo.Troubles {
				view.Troubles = append(view.Troubles, report.Trouble{Repository: id, Trouble: t})
			}
		}
	}
	byID := make(map[string]*work.Workstream, len(board.Workstreams))
	for id, w := range board.Workstreams {
		byID[id] = w
	}
	for _, i := range preview(cfg, board, settings(cfg, "", now), repos, now) {
		view.Workstreams = append(view.Workstreams, itemOf(byID[i.ID], i))
	}
	tick, err := st.LastTick()
	if err != nil {
		return view, err
	}
	if tick != nil {
		view.LastTick = &report.LastTick{ID: tick.ID, StartedAt: tick.StartedAt, EndedAt: tick.EndedAt, Outcome: tick.Outcome, Error: tick.Error}
	}
	view.Lease = leaseOf(cfg.State.Dir, now)
	return view, nil
}

// preview is what the next tick begins with. What a dead tick left is its
// first business; no tick of this moment has it.
func preview(cfg *config.Config, board *work.Board, set pass.Settings, repos pass.Repositories, now time.Time) []pass.Intention {
	all := pass.Preview(board, set, repos, now)
	if leaseOf(cfg.State.Dir, now) != nil {
		return all
	}
	for n, i := range all {
		switch w := board.Workstreams[i.ID]; {
		case w.Running() != nil:
			all[n].Next = "take over from a tick that died: the " + w.Running().Kind.Who() + " is ended if it still runs, else its result counts"
		case w.GateRun != "":
			all[n].Next = "take over from a tick that died: its gate is run again"
		default:
			continue
		}
		all[n].Act = work.MoveOn
	}
	return all
}

func itemOf(w *work.Workstream, i pass.Intention) report.Item {
	if i.Act == work.Nothing {
		return report.ItemOf(w, "", i.Next)
	}
	return report.ItemOf(w, i.Next, "")
}

// leaseOf is who runs a tick now; nil when nobody does.
func leaseOf(dir string, now time.Time) *report.Lease {
	h, alive, err := lease.Peek(dir, now)
	if err != nil || h == nil || !alive {
		return nil
	}
	return &report.Lease{Host: h.Host, PID: h.PID, TickID: h.TickID, Token: h.Token, AcquiredAt: h.AcquiredAt, RenewedAt: h.RenewedAt, ExpiresAt: h.ExpiresAt}
}

const threadShown = 8 << 10 // bytes of the end of a thread

func statusOf(c *cli.Context, cfg *config.Config, st *store.Store, id string) error {
	w, archived, err := findWorkstream(st, id)
	if err != nil {
		return err
	}
	now := time.Now()
	d := report.Detail{Item: report.ItemOf(w, "", work.Next(w, work.Policy{}, now).Why), Workstream: w, Now: now}
	if !archived {
		item, err := itemFor(c.Context, cfg, st, w, now)
		if err != nil {
			return err
		}
		d.Item = item
	}
	if c.Bool("json") {
		return report.StatusJSON(c.App.Writer, report.View{Workstreams: []report.Item{d.Item}, Lease: leaseOf(cfg.State.Dir, now), Now: now})
	}
	if path := workspacePath(cfg, id); exists(path) {
		d.Workspace = path
	}
	d.Executions = filepath.Dir(st.ExecutionDir(id + ".0001"))
	folder := st.Folder(id)
	if review := filepath.Join(folder, "review"); exists(review) {
		d.Review = review
	}
	if d.Thread, err = local.Thread(folder, threadShown); err != nil {
		return err
	}
	return report.StatusOf(c.App.Writer, d, style(c))
}

// itemFor looks at one workstream in the light of the whole board, which says
// whether there is a place for it.
func itemFor(ctx context.Context, cfg *config.Config, st *store.Store, w *work.Workstream, now time.Time) (report.Item, error) {
	board, _, err := st.Load(ctx)
	if err != nil {
		return report.Item{}, err
	}
	view, err := viewOf(cfg, st, board, now)
	for _, i := range view.Workstreams {
		if i.ID == w.ID {
			return i, err
		}
	}
	return report.ItemOf(w, "", ""), err
}

func findWorkstream(st *store.Store, id string) (*work.Workstream, bool, error) {
	w, archived, err := st.Workstream(id)
	if work.BadID(id) != "" || errors.Is(err, fs.ErrNotExist) {
		return nil, false, usage("there is no workstream %s; see: backburner status", work.Printable(id))
	}
	return w, archived, err
}

func workspacePath(cfg *config.Config, id string) string {
	return workspaces(cfg).Path(id)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// style is how text is laid out on stdout.
func style(c *cli.Context) report.Style {
	if f, ok := c.App.Writer.(*os.File); ok {
		return report.StyleOf(f, os.Getenv)
	}
	return report.Style{}
}
