package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/lease"
	"github.com/backburner-cli/backburner/pkg/pass"
	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

func salvageRestoreCommand() *cli.Command {
	return &cli.Command{
		Name: "restore", Usage: "put saved work back: onto its branch, into a branch of yours, or into a folder", ArgsUsage: "NAME",
		Description: `NAME is what the list says, or the id of a workstream of which one thing was saved.

Without a flag its files go back onto the branch of the workstream, as a commit, and
the next tick goes on from there. --branch makes a branch in your repository that
has everything that was saved, commits and stashes included. --to writes the files
into a new folder. Your own checkout is never touched, what was saved stays saved,
and doing it twice does no harm.

Examples:
   backburner salvage restore fix-login/t2/1
   backburner salvage restore fix-login/t2/1 --branch rescue
   backburner salvage restore fix-login/t2/1 --to /tmp/rescue`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "branch", Usage: "make the branch `NAME` of it instead"},
			&cli.StringFlag{Name: "to", Usage: "write its files into the new folder `DIR` instead"},
			onBusyFlag(),
		},
		CustomHelpTemplate: leaseHelp,
		Action:             salvageRestore,
	}
}

func salvageRestore(c *cli.Context) error {
	if c.IsSet("branch") && c.IsSet("to") {
		return usage("either --branch or --to")
	}
	cfg, all, found, err := readShelf(c, 1)
	if err != nil {
		return err
	}
	defer all.trees.Close()
	if len(found) > 1 {
		return usage("%d things are saved as %s: name one of them, such as %s; see: backburner salvage list %s",
			len(found), work.Printable(c.Args().First()), found[0].Name(), work.Printable(c.Args().First()))
	}
	var done restored
	switch s := found[0]; {
	case c.IsSet("to"):
		done, err = restoreTo(c.Context, all.trees, s, c.String("to"))
	case c.IsSet("branch"):
		done, err = restoreBranch(c.Context, all.trees, s, c.String("branch"))
	default:
		done, err = restoreWork(c, cfg, s)
	}
	if err != nil {
		return fmt.Errorf("salvage restore %s: %w", found[0].Name(), err)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, done)
	}
	_, err = fmt.Fprintln(c.App.Writer, done.Said)
	return err
}

// restored is what came of it, as JSON.
type restored struct {
	Name    string `json:"name"`
	Changed bool   `json:"changed"` // false: it was there already
	Branch  string `json:"branch,omitempty"`
	Commit  string `json:"commit,omitempty"`
	Folder  string `json:"folder,omitempty"`
	Said    string `json:"said"`
}

func restoreTo(ctx context.Context, trees *workspace.Manager, s shelved, dir string) (restored, error) {
	if dir == "" {
		return restored{}, usage("--to needs a folder")
	}
	if err := trees.CopySalvage(ctx, s.repo, dir, s.Salvage); err != nil {
		return restored{}, err
	}
	return restored{Name: s.Name(), Changed: true, Commit: s.Commit, Folder: dir, Said: "its files are in " + dir}, nil
}

func restoreBranch(ctx context.Context, trees *workspace.Manager, s shelved, branch string) (restored, error) {
	done, err := trees.BranchSalvage(ctx, s.repo, branch, s.Salvage)
	if err != nil {
		return restored{}, err
	}
	r := restored{Name: s.Name(), Branch: branch, Commit: s.Commit}
	look := fmt.Sprintf("look with git log --stat -m --first-parent %s", shellWord(branch))
	switch done.Status {
	case workspace.PublishPushed:
		r.Changed, r.Said = true, "it is the branch "+branch+" of "+s.repo.Path+"; "+look
	case workspace.PublishAlready:
		r.Said = "it was the branch " + branch + " already; " + look
	default:
		return r, fmt.Errorf("there is a branch %s already, which has other commits: choose another name", branch)
	}
	return r, nil
}

// restoreWork puts it back onto the branch of its workstream, in place of a tick.
func restoreWork(c *cli.Context, cfg *config.Config, s shelved) (restored, error) {
	elsewhere := fmt.Sprintf("; put it elsewhere with --branch or --to, see: backburner %s --help", words(c.Command))
	if s.work == nil || s.archived {
		return restored{}, errors.New("its work is over and has no workspace" + elsewhere)
	}
	var done work.Checkpoint
	err := underLease(c, cfg, func(ctx context.Context, st *store.Store) error {
		repos, err := repositories(cfg)
		if err != nil {
			return err
		}
		repo, ok := repos[s.repo.ID]
		if !ok {
			return fmt.Errorf("the repository %s is not configured any more%s", s.repo.ID, elsewhere)
		}
		w, _, err := st.Workstream(s.work.ID) // as it is now that nobody else changes it
		if err != nil {
			return err
		}
		trees, err := ownWorkspaces(cfg, st)
		if err != nil {
			return err
		}
		defer trees.Close()
		done, err = pass.Returner{Store: st, Workspaces: trees, Now: time.Now}.TakeBack(ctx, repo, w, s.Salvage)
		return err
	})
	if err != nil {
		return restored{}, err
	}
	r := restored{Name: s.Name(), Branch: s.work.Branch, Commit: done.Commit, Changed: done.Commit != ""}
	r.Said = fmt.Sprintf("%d file(s) are back on %s; the next tick goes on from there", done.Changed, s.work.Branch)
	if !r.Changed {
		r.Said = s.work.Branch + " has its files already"
	}
	if s.work.Status == work.Blocked {
		r.Said += "; it is blocked: backburner retry " + s.work.ID
	}
	return r, nil
}

func onBusyFlag() cli.Flag {
	return &cli.StringFlag{Name: "on-busy", Usage: "when a tick is running: fail, or `wait` for its end", Value: "fail"}
}

// underLease runs what changes the state or the stores in place of a tick.
func underLease(c *cli.Context, cfg *config.Config, do func(context.Context, *store.Store) error) error {
	var held *lease.Lease
	st, err := openStore(cfg, false, func() error { return held.Check() })
	if err != nil {
		return err
	}
	if !c.IsSet("on-busy") {
		cfg.Tick.OnBusy = "fail"
	}
	held, err = takeLease(c, cfg, pass.Settings{Tick: tickID(time.Now())})
	if err != nil {
		return err
	}
	if held == nil {
		return &codeError{exitBusy, errors.New("a tick is running")}
	}
	defer held.Release()
	return do(held.Context(), st)
}
