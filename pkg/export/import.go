package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// Target is where a state is made of a file.
type Target struct {
	Dir          string // the state folder, absolute
	Repositories []workspace.Repository
	Trees        func(made time.Time) *workspace.Manager // for the state that was made then; closed by the caller
}

// Imported says what was made.
type Imported struct {
	CreatedBy   string    `json:"created_by"`
	CreatedAt   time.Time `json:"created_at"`
	Workstreams int       `json:"workstreams"`
	References  int       `json:"references"`
	Branches    []string  `json:"branches"` // made anew in repositories
	Notices     []string  `json:"notices"`
}

// Import makes a state of a file that Write wrote, and brings the work in it into the stores. With an error there is no state: at most objects that
// nothing names.
func Import(ctx context.Context, in io.Reader, to Target) (Imported, error) {
	if err := to.unused(); err != nil {
		return Imported{}, err
	}
	draft, err := to.draft()
	if err != nil {
		return Imported{}, err
	}
	defer os.RemoveAll(draft)
	m, err := extract(ctx, in, draft)
	if err != nil {
		return Imported{}, err
	}
	i := importing{Target: to, draft: draft, manifest: m}
	i.done = Imported{CreatedBy: m.CreatedBy, CreatedAt: m.CreatedAt, Branches: []string{}, Notices: []string{}}
	if err := i.check(); err != nil {
		return i.done, err
	}
	if err := i.adapt(ctx); err != nil {
		return i.done, err
	}
	i.trees = to.Trees(i.state.Made())
	if err := i.unpack(ctx); err != nil {
		return i.done, err
	}
	syscall.Sync() // thousands of files, none of which may be half of itself after a power loss
	if err := i.place(); err != nil {
		return i.done, err
	}
	i.publish(ctx)
	return i.done, nil
}

const draftMark = ".import-"

// unused fails unless the state folder is absent or empty.
func (to Target) unused() error {
	entries, err := os.ReadDir(to.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("there is a state in %s: move it away first, or name another folder with --state", to.Dir)
	}
	return err
}

// draft makes the folder in which everything is put together, beside the state's,
// and removes those of imports that died.
func (to Target) draft() (string, error) {
	parent := filepath.Dir(to.Dir)
	if err := atomicfile.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	prefix := "." + filepath.Base(to.Dir) + draftMark
	entries, err := os.ReadDir(parent)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && e.IsDir() && strings.HasPrefix(e.Name(), prefix) && time.Since(info.ModTime()) > 24*time.Hour {
			if err := os.RemoveAll(filepath.Join(parent, e.Name())); err != nil {
				return "", err
			}
		}
	}
	return os.MkdirTemp(parent, prefix)
}

// importing is one import on its way.
type importing struct {
	Target
	draft    string
	manifest manifest
	state    *store.Store
	board    *work.Board
	trees    *workspace.Manager
	done     Imported
}

func (i *importing) stateDir() string { return filepath.Join(i.draft, "state") }

// check reads all of the state, and refuses one that no tick could use.
func (i *importing) check() error {
	if _, err := os.Stat(filepath.Join(i.stateDir(), "meta.json")); err != nil {
		return errors.New("there is no state in it")
	}
	for _, p := range store.Verify(i.stateDir()) {
		switch p.Severity {
		case store.Fail:
			return fmt.Errorf("its state cannot be used: %s", p.Detail)
		case store.Warn:
			i.done.Notices = append(i.done.Notices, p.String())
		}
	}
	return nil
}

// adapt lets the state speak of the repositories as they are called here.
func (i *importing) adapt(ctx context.Context) error {
	st, err := store.Open(i.stateDir(), store.Options{CreatedBy: i.manifest.CreatedBy})
	if err != nil {
		return err
	}
	i.state = st
	for n := range i.manifest.Repositories {
		r := &i.manifest.Repositories[n]
		if _, ok := i.here(r.ID); ok {
			continue
		}
		if len(i.manifest.Repositories) != 1 || len(i.Repositories) != 1 {
			return fmt.Errorf("it has work on the repository %s, and none of that name is configured here: the name is that of its folder, or of a link to it", r.ID)
		}
		name := i.Repositories[0].ID
		if err := st.RenameRepository(ctx, r.ID, name); err != nil {
			return err
		}
		i.done.Notices = append(i.done.Notices, fmt.Sprintf("the repository was called %s there, and is %s here", r.ID, name))
		r.ID = name
	}
	i.board, _, err = st.Load(ctx)
	if err == nil {
		i.done.Workstreams = len(i.board.Workstreams)
	}
	return err
}

// here is the repository of that id.
func (i *importing) here(id string) (workspace.Repository, bool) {
	at := slices.IndexFunc(i.Repositories, func(r workspace.Repository) bool { return r.ID == id })
	if at < 0 {
		return workspace.Repository{}, false
	}
	return i.Repositories[at], true
}

// unpack brings the work into the stores.
func (i *importing) unpack(ctx context.Context) error {
	for _, r := range i.manifest.Repositories {
		repo, _ := i.here(r.ID)
		if len(r.Refs) == 0 {
			continue
		}
		if _, err := i.trees.Sync(ctx, repo); err != nil {
			return err
		}
		c := workspace.Carried{Refs: r.Refs, Without: r.Without}
		if r.Bundle != "" {
			c.Bundle = filepath.Join(i.draft, filepath.FromSlash(r.Bundle))
		}
		if err := i.trees.Unpack(ctx, repo, c); err != nil {
			return err
		}
		i.done.References += len(r.Refs)
	}
	return nil
}

// place gives the state its name.
func (i *importing) place() error {
	if err := os.Remove(i.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("a state appeared in %s meanwhile: %w", i.Dir, err)
	}
	return atomicfile.Rename(i.stateDir(), i.Dir)
}

// publish gives back to the repositories the branches that were published where
// the state is from: without them the next tick would take them for deleted.
func (i *importing) publish(ctx context.Context) {
	for _, w := range i.board.Workstreams {
		repo, ok := i.here(w.Repository)
		if !ok || repo.Path == "" || w.Published == "" || !w.Status.Open() { // a remote repository is the same one
			continue
		}
		got, err := i.trees.Publish(ctx, repo, w.Branch, w.Published, "")
		switch {
		case err != nil:
			i.done.Notices = append(i.done.Notices, w.Branch+": "+err.Error())
		case got.Status == workspace.PublishPushed:
			i.done.Branches = append(i.done.Branches, w.Branch)
		case got.Status != workspace.PublishAlready:
			i.done.Notices = append(i.done.Notices, w.Branch+": "+got.Detail)
		}
	}
	slices.Sort(i.done.Branches)
}
