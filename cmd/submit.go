package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/work"
)

// submit writes the request, after a look whether there is what it is about.
func submit(c *cli.Context, r *work.Request) error {
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	st, err := openStore(cfg, false, nil)
	if err != nil {
		return err
	}
	doubt, err := doubtOf(cfg, st, r)
	if err != nil {
		return err
	}
	r.By = whoami()
	if err := st.Submit(r); err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, r)
	}
	what := string(r.Verb) + " --all"
	if r.Workstream != "" {
		what = string(r.Verb) + " " + r.Workstream
	}
	said := "noted; the next tick does it (backburner tick)"
	switch {
	case leaseOf(cfg.State.Dir, time.Now()) != nil:
		said = "noted; the tick that is running does it"
	case doubt != "":
		said = "noted, but as things stand the next tick refuses it: " + doubt
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s: %s\n", what, said)
	return err
}

// doubtOf fails when there is nothing that the request is about. It says why the
// next tick would refuse the request as things stand; "" when it would not, or
// when that cannot be known.
func doubtOf(cfg *config.Config, st *store.Store, r *work.Request) (doubt string, err error) {
	if r.Verb == work.VerbAdd {
		return "", knownRepository(cfg, r.Repository)
	}
	if r.Workstream == "" {
		return "", nil
	}
	w, archived, err := st.Workstream(r.Workstream)
	if work.BadID(r.Workstream) != "" || errors.Is(err, fs.ErrNotExist) {
		return "", unknown(cfg, r.Workstream)
	}
	if err != nil {
		return "", err
	}
	earlier, err := inbox(cfg)
	if err != nil || slices.ContainsFunc(earlier, func(e *work.Request) bool { return e.Workstream == w.ID }) {
		return "", err // they come first, and may change what it is
	}
	if archived {
		if r.Verb == work.VerbRetry && w.Status == work.Closed {
			return "", nil
		}
		return w.ID + " is over: it is " + string(w.Status), nil
	}
	tried := *r
	tried.ID = "tried"
	a, err := w.Apply(&tried, time.Now()) // on what was just read, and is not saved
	if err != nil || a.Decision == work.Rejected {
		return a.Detail, nil
	}
	return "", nil
}

// inbox is what no tick has decided yet. Only ticks put it in order, so it is
// read without that.
func inbox(cfg *config.Config) ([]*work.Request, error) {
	st, err := openStore(cfg, true, nil)
	if err != nil {
		return nil, err
	}
	requests, _, err := st.Requests()
	return requests, err
}

// knownRepository says at once what enrolment would say of the repository of
// an add.
func knownRepository(cfg *config.Config, name string) error {
	repos, err := repositories(cfg)
	if err != nil {
		return err
	}
	if _, ok := repos[name]; !ok && name != "" {
		return noRepository(name, repos)
	}
	if name == "" && len(repos) > 1 {
		return usage("several repositories are configured: say which with --repo (%s)", strings.Join(slices.Sorted(maps.Keys(repos)), ", "))
	}
	return nil
}

// unknown says that there is no workstream, or that it is only asked for yet.
func unknown(cfg *config.Config, id string) error {
	requests, err := inbox(cfg)
	if err != nil {
		return err
	}
	for _, r := range requests {
		if r.Verb == work.VerbAdd && r.Workstream == id {
			return usage("%s was added, but no tick has taken it up yet; run backburner tick first", id)
		}
	}
	return usage("there is no workstream %s; see: backburner status", work.Printable(id))
}

// whoami is who asks, for the thread.
func whoami() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return filepath.Base(u.Username)
	}
	if name := os.Getenv("USER"); name != "" {
		return name
	}
	return "somebody"
}
