package cmd

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

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
	_, all, found, err := readShelf(c, 1)
	if err != nil {
		return err
	}
	defer all.trees.Close()
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
