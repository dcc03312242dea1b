package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/export"
	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

func salvageCommand() *cli.Command {
	return group("salvage", "work that was put aside instead of being lost",
		`When a workspace has to be cleaned, what lies in it is saved first: uncommitted
changes, untracked files, commits that are on no branch. Nothing of it is thrown
away as long as its work is known. Repositories and filled submodules in a workspace are
moved to .backburner/aside instead, and kept there for 14 days.

Examples:
   backburner salvage list
   backburner salvage show fix-login
   backburner salvage restore fix-login`,
		salvageListCommand(), salvageShowCommand(), salvageRestoreCommand(),
	)
}

// shelf is everything that was saved.
type shelf struct {
	trees   *workspace.Manager
	items   []shelved
	damaged error // what cannot be read; nil when all of it can
}

// shelved is one piece of saved work with what the state knows of it.
type shelved struct {
	workspace.Salvage
	repo     workspace.Repository
	work     *work.Workstream // nil: the state does not know it any more
	archived bool
}

// readShelf opens the shelf and finds what the command's argument means, which may
// be left out where least is 0. Whoever gets it closes its trees.
func readShelf(c *cli.Context, least int) (*config.Config, *shelf, []shelved, error) {
	cfg, st, err := readState(c, least, 1)
	if err != nil {
		return nil, nil, nil, err
	}
	all, err := openShelf(c.Context, cfg, st)
	if err != nil {
		return nil, nil, nil, err
	}
	if all.damaged != nil {
		fmt.Fprintf(c.App.ErrWriter, "backburner: %v\nsee: backburner state verify\n", all.damaged)
	}
	found := all.items
	if c.Args().Present() {
		if found, err = all.matching(c.Args().First()); err != nil {
			all.trees.Close()
			return nil, nil, nil, err
		}
	}
	return cfg, all, found, nil
}

// openShelf finds what was saved of all repositories, also of those that are no
// longer configured, newest first.
func openShelf(ctx context.Context, cfg *config.Config, st *store.Store) (*shelf, error) {
	repos, err := repositories(cfg)
	if err != nil {
		return nil, err
	}
	s := &shelf{trees: workspaces(cfg)}
	ids, err := s.trees.Stores()
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(slices.Values(ids)) {
		repo := workspace.Repository{ID: id}
		if r, ok := repos[id]; ok {
			repo = r.Repository
		}
		if err := s.add(ctx, st, repo); err != nil {
			s.damaged = errors.Join(s.damaged, fmt.Errorf("%s: %w", repo.ID, err))
		}
	}
	slices.SortStableFunc(s.items, func(a, b shelved) int { return b.Manifest.At.Compare(a.Manifest.At) })
	return s, nil
}

func (s *shelf) add(ctx context.Context, st *store.Store, repo workspace.Repository) error {
	saved, err := s.trees.Salvages(ctx, repo)
	for _, one := range saved {
		item := shelved{Salvage: one, repo: repo}
		if w, archived, err := st.Workstream(one.Manifest.Workspace); err == nil && w.Repository == repo.ID {
			item.work, item.archived = w, archived
		}
		s.items = append(s.items, item)
	}
	return err
}

// matching are the items that a name means; it is an error when there are none.
func (s *shelf) matching(name string) ([]shelved, error) {
	meant := make(map[string]bool)
	var all []workspace.Salvage
	for _, item := range s.items {
		all = append(all, item.Salvage)
	}
	for _, one := range workspace.Matching(all, name) {
		meant[one.Ref] = true
	}
	found := slices.Collect(func(yield func(shelved) bool) {
		for _, item := range s.items {
			if meant[item.Ref] && !yield(item) {
				return
			}
		}
	})
	if len(found) == 0 {
		return nil, usage("nothing is saved as %s; see: backburner salvage list", work.Printable(name))
	}
	return found, nil
}

// shelvedRecord is a piece of saved work as JSON.
type shelvedRecord struct {
	Name       string     `json:"name"`
	Ref        string     `json:"ref"`
	Commit     string     `json:"commit"`
	Repository string     `json:"repository"`
	Workstream string     `json:"workstream"`
	Status     string     `json:"status"` // of the workstream; "" when it is not known any more
	Archived   bool       `json:"archived"`
	Task       string     `json:"task"`
	Branch     string     `json:"branch"`
	At         time.Time  `json:"at"`
	Reason     string     `json:"reason"`
	Changed    int        `json:"changed"` // files
	New        int        `json:"new"`     // of those, untracked
	Tips       int        `json:"tips"`    // branches, stashes and HEADs with commits of their own
	Paths      []string   `json:"paths"`
	RestoredAt *time.Time `json:"restored_at"`
	Next       string     `json:"next"` // what to type
}

func recordOf(s shelved) shelvedRecord {
	m := s.Manifest
	r := shelvedRecord{
		Name: s.Name(), Ref: s.Ref, Commit: s.Commit, Repository: s.repo.ID, Workstream: m.Workspace, Archived: s.archived,
		Task: m.Task, Branch: m.Branch, At: m.At, Changed: m.Changed, New: m.New, Tips: max(0, len(s.Parents)-1), Paths: m.Paths,
		Reason: "not known any more", Next: "backburner salvage show " + s.Name(),
	}
	if s.work == nil {
		return r
	}
	why, restored := s.work.Saved(s.Ref)
	r.Status = string(s.work.Status)
	switch {
	case why != "":
		r.Reason = why
	case m.Task == workspace.KeptRewritten:
		r.Reason = "somebody replaced it on the published branch"
	case m.Task == export.KeptAs:
		r.Reason = "lay uncommitted in its workspace when the state was exported"
	default:
		r.Reason = "lay uncommitted in its workspace"
	}
	if !restored.IsZero() {
		r.RestoredAt = &restored
	}
	return r
}

// holds is what is in it, in words.
func (r shelvedRecord) holds() string {
	var parts []string
	switch {
	case r.New > 0:
		parts = append(parts, fmt.Sprintf("%d file(s) changed, %d of them new", r.Changed, r.New))
	case r.Changed > 0:
		parts = append(parts, fmt.Sprintf("%d file(s) changed", r.Changed))
	}
	if r.Tips > 0 {
		parts = append(parts, fmt.Sprintf("commits on %d tip(s)", r.Tips))
	}
	if len(parts) == 0 {
		return "no files"
	}
	return strings.Join(parts, ", ")
}

func salvageListCommand() *cli.Command {
	return &cli.Command{
		Name: "list", Usage: "what was saved, of which work, and why", ArgsUsage: "[ID]",
		Description: `Reads only; safe while a tick runs. Work that is closed is listed as well.

Examples:
   backburner salvage list
   backburner salvage list fix-login
   backburner salvage list --json | jq -r '.salvage[].ref'`,
		Action: salvageList,
	}
}

func salvageList(c *cli.Context) error {
	_, all, items, err := readShelf(c, 0)
	if err != nil {
		return err
	}
	defer all.trees.Close()
	records := make([]shelvedRecord, len(items))
	for i, item := range items {
		records[i] = recordOf(item)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, map[string]any{"salvage": records})
	}
	return printShelf(c.App.Writer, records, time.Now())
}

// printShelf is for people: two lines each, and what to type.
func printShelf(out io.Writer, records []shelvedRecord, now time.Time) error {
	if len(records) == 0 {
		_, err := fmt.Fprintln(out, "nothing was put aside")
		return err
	}
	var b strings.Builder
	for _, r := range records {
		about := r.Reason
		if r.RestoredAt != nil {
			about += "; put back " + ago(now, *r.RestoredAt) + " ago"
		}
		fmt.Fprintf(&b, "%s  %s ago  %s\n", r.Name, ago(now, r.At), r.holds())
		fmt.Fprintf(&b, "   %s (%s)\n", work.Printable(about), orName(r.Status, "the state does not know this work any more"))
	}
	fmt.Fprintf(&b, "\nlook:      backburner salvage show %s\nput back:  backburner salvage restore %s\n", records[0].Name, records[0].Name)
	_, err := io.WriteString(out, b.String())
	return err
}
