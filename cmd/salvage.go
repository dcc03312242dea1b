package cmd

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
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
away as long as its work is known.

Examples:
   backburner salvage list
   backburner salvage show fix-login
   backburner salvage restore fix-login`,
		salvageListCommand(), salvageShowCommand(), salvageRestoreCommand(),
	)
}

// shelf is everything that was saved.
type shelf struct {
	trees *workspace.Manager
	items []shelved
}

// shelved is one piece of saved work with what the state knows of it.
type shelved struct {
	workspace.Salvage
	repo     workspace.Repository
	work     *work.Workstream // nil: the state does not know it any more
	archived bool
}

// openShelf finds what was saved of all repositories, also of those that are no
// longer configured, newest first. Whoever gets it closes its trees.
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
			return nil, err
		}
	}
	slices.SortStableFunc(s.items, func(a, b shelved) int { return b.Manifest.At.Compare(a.Manifest.At) })
	return s, nil
}

func (s *shelf) add(ctx context.Context, st *store.Store, repo workspace.Repository) error {
	saved, err := s.trees.Salvages(ctx, repo)
	if err != nil {
		return err
	}
	for _, one := range saved {
		item := shelved{Salvage: one, repo: repo}
		if w, archived, err := st.Workstream(one.Manifest.Workspace); err == nil && w.Repository == repo.ID {
			item.work, item.archived = w, archived
		}
		s.items = append(s.items, item)
	}
	return nil
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
	cfg, st, err := readState(c, 0, 1)
	if err != nil {
		return err
	}
	all, err := openShelf(c.Context, cfg, st)
	if err != nil {
		return err
	}
	defer all.trees.Close()
	items := all.items
	if name := c.Args().First(); name != "" {
		if items, err = all.matching(name); err != nil {
			return err
		}
	}
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

func salvageShowCommand() *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "what is in a piece of saved work", ArgsUsage: "NAME",
		Description: `NAME is what the list says, a reference, or the id of a workstream, which means the
newest of it. Shows where it is from, commits, files and changes, cut when they are
long. --patch prints the changes alone and whole, for git apply.

Examples:
   backburner salvage show fix-login
   backburner salvage show fix-login/t2/1 --stat
   backburner salvage show fix-login/t2/1 --patch > fix.patch`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "stat", Usage: "without the changes themselves"},
			&cli.BoolFlag{Name: "patch", Usage: "the changes alone, and all of them"},
		},
		Action: salvageShow,
	}
}

const (
	patchShown = 64 << 10  // bytes of a patch that are shown
	patchWhole = 256 << 20 // at most, with --patch
)

func salvageShow(c *cli.Context) error {
	cfg, st, err := readState(c, 1, 1)
	if err != nil {
		return err
	}
	all, err := openShelf(c.Context, cfg, st)
	if err != nil {
		return err
	}
	defer all.trees.Close()
	found, err := all.matching(c.Args().First())
	if err != nil {
		return err
	}
	limit := int64(patchShown)
	if c.Bool("patch") {
		limit = patchWhole
	}
	contents, err := all.trees.ShowSalvage(c.Context, found[0].repo, found[0].Salvage, limit)
	if err != nil {
		return err
	}
	if c.Bool("patch") {
		return printPatch(c.App.Writer, contents)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, shownOf(found[0], contents, !c.Bool("stat")))
	}
	printContents(plain{c.App.Writer}, found[0], contents, c.Bool("stat"))
	if more := len(found) - 1; more > 0 {
		fmt.Fprintf(c.App.Writer, "\n%d more of it: backburner salvage list %s\n", more, work.Printable(c.Args().First()))
	}
	return nil
}

// printPatch prints the patch as it is, but for a terminal.
func printPatch(out io.Writer, contents workspace.Contents) error {
	if contents.Truncated {
		return fmt.Errorf("the changes are larger than %d MiB: backburner salvage restore NAME --branch BRANCH makes a branch of them", patchWhole>>20)
	}
	if file, ok := out.(*os.File); ok && isTerminal(file) {
		out = plain{out}
	}
	_, err := out.Write(contents.Patch)
	return err
}

// shownCommit is a commit of saved work as JSON.
type shownCommit struct {
	Commit  string `json:"commit"`
	Subject string `json:"subject"`
	Author  string `json:"author"`
}

// shown is a piece of saved work with what is in it, as JSON.
type shown struct {
	shelvedRecord
	Manifest  workspace.Manifest `json:"manifest"`
	Commits   []shownCommit      `json:"commits"`
	Stat      string             `json:"stat"`
	Patch     string             `json:"patch,omitempty"`
	Truncated bool               `json:"truncated"` // the patch is not all of it
}

func shownOf(s shelved, contents workspace.Contents, patch bool) shown {
	all := shown{shelvedRecord: recordOf(s), Manifest: s.Manifest, Commits: []shownCommit{}, Stat: contents.Stat, Truncated: contents.Truncated}
	for _, e := range contents.Commits {
		all.Commits = append(all.Commits, shownCommit{e.Commit, e.Subject, e.Author.String()})
	}
	if patch {
		all.Patch = string(contents.Patch)
	}
	return all
}

func printContents(out io.Writer, s shelved, contents workspace.Contents, stat bool) {
	m, r := s.Manifest, recordOf(s)
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(out, "%-11s %s\n", label, text)
		}
	}
	line("saved", r.Name+", "+m.At.Local().Format(time.DateTime))
	line("of", m.Workspace+" ("+orName(r.Status, "not known any more")+"), branch "+m.Branch)
	line("because", r.Reason)
	line("holds", r.holds())
	line("interrupted", m.Operation)
	line("damaged", m.Damage)
	line("put aside", strings.Join(m.Nested, ", "))
	if m.On != "" && m.On != m.Branch {
		line("it was on", m.On)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Refs)) {
		line("", fmt.Sprintf("%.12s %s", m.Refs[name], name))
	}
	if r.RestoredAt != nil {
		line("put back", r.RestoredAt.Local().Format(time.DateTime))
	}
	for _, e := range contents.Commits {
		line("commit", fmt.Sprintf("%.12s %s", e.Commit, e.Subject))
	}
	fmt.Fprintf(out, "\n%s\n", strings.TrimRight(contents.Stat, "\n"))
	if r.Tips > 0 {
		fmt.Fprintf(out, "These are its files. The commits above come with: backburner salvage restore %s --branch BRANCH\n", r.Name)
	}
	if stat {
		return
	}
	fmt.Fprintf(out, "\n%s", contents.Patch)
	if contents.Truncated {
		fmt.Fprintf(out, "\n(the rest: backburner salvage show %s --patch)\n", r.Name)
	}
}
