package cmd

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/pass"
	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

func stateVerifyCommand() *cli.Command {
	return &cli.Command{
		Name: "verify", Usage: "read all of the state, and look whether git has what it names",
		Description: `Reads every file of the state, history included, checks the git stores, and whether
they have the branches, commits and saved work that the state names. Writes nothing;
safe while a tick runs, though what is saved meanwhile may be told once too often.

Examples:
   backburner state verify
   backburner state verify --json | jq '.findings[] | select(.severity != "note")'`,
		CustomHelpTemplate: helpWith(`
EXIT CODES:
   0 nothing that needs a person · 1 something does · 2 usage or configuration

--config, --state, --json and --verbose go with every command; see: backburner help
`),
		Action: stateVerify,
	}
}

// stateFinding is something about the state, as JSON.
type stateFinding struct {
	Severity store.Severity `json:"severity"`
	Where    string         `json:"where"` // below the state folder, or below the workspace root
	Detail   string         `json:"detail"`
	Next     string         `json:"next"`
}

func stateVerify(c *cli.Context) error {
	cfg, _, err := readState(c, 0, 0)
	if err != nil {
		return err
	}
	found, trouble := verifyAll(c.Context, cfg)
	person := 0
	for _, f := range found {
		if f.Severity != store.Note {
			person++
		}
	}
	if c.Bool("json") {
		err = printJSON(c.App.Writer, map[string]any{"ok": person == 0 && trouble == nil, "findings": found})
	} else if len(found) > 0 || trouble == nil {
		err = printVerified(c.App.Writer, found, cfg.State.Dir)
	}
	if trouble != nil {
		return trouble
	}
	if err == nil && person > 0 {
		err = fmt.Errorf("state verify: findings that need a person: %d", person)
	}
	return err
}

// verifyAll looks at the state's files, and at git; the worst comes first.
func verifyAll(ctx context.Context, cfg *config.Config) ([]stateFinding, error) {
	repos, err := repositories(cfg)
	if err != nil {
		return nil, err
	}
	found := []stateFinding{}
	for _, p := range store.Verify(cfg.State.Dir) {
		found = append(found, stateFinding{p.Severity, p.Path, p.Detail, p.Next})
	}
	inGit, err := auditStores(ctx, cfg, repos)
	found = append(found, inGit...)
	order := []store.Severity{store.Fail, store.Warn, store.Note}
	slices.SortStableFunc(found, func(a, b stateFinding) int {
		return slices.Index(order, a.Severity) - slices.Index(order, b.Severity)
	})
	return found, err
}

// auditStores looks whether the stores are whole and have what open work names.
func auditStores(ctx context.Context, cfg *config.Config, repos pass.Repositories) ([]stateFinding, error) {
	st, err := openStore(cfg, true, nil)
	if err != nil {
		return nil, nil // told by the check of the files
	}
	board, _, err := st.Load(ctx)
	if err != nil {
		return nil, err
	}
	claims := make(map[string][]workspace.Claim)
	var found []stateFinding
	for _, w := range sorted(board) {
		if _, ok := repos[w.Repository]; !ok {
			found = append(found, stateFinding{
				store.Warn, "workstreams/" + w.ID + ".json", unconfigured(w), "configure it again, or give the work up: backburner cancel " + w.ID,
			})
			continue
		}
		for _, c := range w.Claims() {
			claims[w.Repository] = append(claims[w.Repository], workspace.Claim(c))
		}
	}
	trees := workspaces(cfg)
	defer trees.Close()
	for _, id := range slices.Sorted(maps.Keys(repos)) {
		faults, err := trees.Audit(ctx, repos[id].Repository, claims[id])
		if err != nil {
			return found, err
		}
		for _, f := range faults {
			found = append(found, stateFinding{severity(f), f.Path, f.Detail, f.Next})
		}
	}
	return found, nil
}

// unconfigured says why nothing happens to work.
func unconfigured(w *work.Workstream) string {
	return "its repository " + w.Repository + " is not configured (a local one is called like its folder), so nothing happens to it"
}

// sorted are the workstreams of a board by id.
func sorted(board *work.Board) []*work.Workstream {
	all := make([]*work.Workstream, 0, len(board.Workstreams))
	for _, id := range slices.Sorted(maps.Keys(board.Workstreams)) {
		all = append(all, board.Workstreams[id])
	}
	return all
}

func severity(f workspace.Fault) store.Severity {
	switch {
	case f.Broken:
		return store.Fail
	case f.Heals:
		return store.Note
	}
	return store.Warn
}

func printVerified(out io.Writer, found []stateFinding, dir string) error {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%-4s  %s: %s\n      -> %s\n", f.Severity, work.Printable(f.Where), work.Printable(f.Detail), work.Printable(f.Next))
	}
	if len(found) == 0 {
		fmt.Fprintf(&b, "%s is in order, and so are the git stores\n", dir)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
