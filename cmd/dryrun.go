package cmd

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/forge/local"
	"github.com/backburner-cli/backburner/pkg/pass"
	"github.com/backburner-cli/backburner/pkg/report"
	"github.com/backburner-cli/backburner/pkg/work"
)

// forecast is what a tick would begin with, as JSON and for people.
type forecast struct {
	Workstreams []pass.Intention `json:"workstreams"`
	Requests    []report.Request `json:"requests"`
	Specs       []newSpec        `json:"specs"`              // files that are new or were edited
	Problems    []string         `json:"problems,omitempty"` // files that cannot be used
}

// newSpec is a spec file that the tick would take up.
type newSpec struct {
	ID         string `json:"id"`
	Repository string `json:"repository"`
	Path       string `json:"path"`
	Title      string `json:"title"`
	New        bool   `json:"new"` // false: its workstream is there, and the text changed
}

// dryRun prints what the tick would begin with. It takes no lease and writes
// nothing.
func dryRun(c *cli.Context, cfg *config.Config, set pass.Settings, repos pass.Repositories) error {
	st, err := openStore(cfg, true, nil)
	if err != nil {
		return err
	}
	board, bad, err := st.Load(c.Context)
	if err != nil {
		return err
	}
	f := forecast{
		Workstreams: preview(cfg, board, set, repos, time.Now()), Requests: []report.Request{}, Specs: []newSpec{}, Problems: set.Notices,
	}
	for _, q := range bad {
		f.Problems = append(f.Problems, q.String())
	}
	for _, r := range board.Requests {
		f.Requests = append(f.Requests, report.RequestOf(r))
	}
	for _, id := range slices.Sorted(maps.Keys(repos)) {
		if err := f.lookAtSpecs(c, cfg, board, repos[id]); err != nil {
			return err
		}
	}
	if set.Only != nil {
		f.Specs = slices.DeleteFunc(f.Specs, func(s newSpec) bool { return !set.Only(&work.Workstream{ID: s.ID, Repository: s.Repository}) })
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, f)
	}
	return f.print(c.App.Writer)
}

// lookAtSpecs finds the spec files of a repository that the tick would read.
func (f *forecast) lookAtSpecs(c *cli.Context, cfg *config.Config, board *work.Board, repo pass.Repository) error {
	known := map[string]work.SpecFile{}
	if seen := board.Repositories[repo.ID]; seen != nil {
		known = seen.Specs
	}
	specs, problems, err := local.Specs(c.Context, repo.Path, cfg.Forge.SpecsDir, known)
	if err != nil {
		return err
	}
	for _, s := range specs {
		if known[s.Path].Hash != s.Hash {
			f.Specs = append(f.Specs, newSpec{ID: s.ID, Repository: repo.ID, Path: s.Path, Title: s.Title, New: board.Workstreams[s.ID] == nil})
		}
	}
	for _, p := range problems {
		f.Problems = append(f.Problems, p.String())
	}
	return nil
}

func (f *forecast) print(out io.Writer) error {
	for _, p := range f.Problems {
		fmt.Fprintln(out, "problem: "+p)
	}
	for _, r := range f.Requests {
		what := r.Workstream
		if what == "" {
			what = "--all"
		}
		fmt.Fprintf(out, "request: %s %s by %s\n", r.Verb, work.Printable(what), work.Printable(r.By))
	}
	for _, s := range f.Specs {
		what := "its text changed"
		if s.New {
			what = "new: " + s.Title
		}
		fmt.Fprintf(out, "spec %s: %s\n", work.Printable(s.Path), work.Printable(what))
	}
	for _, i := range f.Workstreams {
		fmt.Fprintf(out, "%s (%s): %s\n", i.ID, i.Status, i.Next)
	}
	if len(f.Problems)+len(f.Requests)+len(f.Specs)+len(f.Workstreams) == 0 {
		fmt.Fprintln(out, "nothing to do")
	}
	return nil
}
