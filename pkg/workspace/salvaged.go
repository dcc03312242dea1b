package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/git"
)

// Salvage is one piece of saved work.
type Salvage struct {
	Ref      string
	Commit   string
	Parents  []string // the branch's commit, and then what was found beside it
	Manifest Manifest
}

// Name is what people call it by: <workspace>/<task>/<n>.
func (s Salvage) Name() string { return strings.TrimPrefix(s.Ref, salvages) }

// Matching are those that a name means: a reference, what Name says, or the beginning of that: a workspace, or a task of one.
func Matching(all []Salvage, name string) []Salvage {
	name = strings.Trim(strings.TrimPrefix(name, salvages), "/")
	return slices.Collect(func(yield func(Salvage) bool) {
		for _, s := range all {
			if (s.Name() == name || strings.HasPrefix(s.Name(), name+"/")) && !yield(s) {
				return
			}
		}
	})
}

// made says whether the root was made: whoever only looks must not do that, nor mark a folder that has only specs in it.
func (m *Manager) made() bool {
	_, err := os.Lstat(filepath.Join(m.given, rootMark))
	return err == nil
}

// Stores lists the repositories that have a store, by id.
func (m *Manager) Stores() ([]string, error) {
	if !m.made() {
		return nil, nil
	}
	if err := m.open(); err != nil {
		return nil, err
	}
	var ids []string
	for _, dir := range folders(filepath.Join(m.root, "stores")) {
		if id, err := url.PathUnescape(filepath.Base(dir)); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Salvages lists what was saved of a repository, newest first. The error names what cannot be read; the list is of the rest.
func (m *Manager) Salvages(ctx context.Context, repo Repository) ([]Salvage, error) {
	if !m.made() {
		return nil, nil
	}
	if err := m.open(); err != nil {
		return nil, err
	}
	h := m.home(repo)
	if !h.exists() {
		return nil, nil
	}
	notes, err := m.notes(ctx, h)
	list := make([]Salvage, 0, len(notes))
	for _, note := range notes {
		salvage := Salvage{Ref: note.Name, Commit: note.Object, Parents: note.Parents}
		_, body, _ := strings.Cut(note.Message, "\n\n")
		_ = json.Unmarshal([]byte(body), &salvage.Manifest) // a reference that somebody else made there is shown without
		list = append(list, salvage)
	}
	return list, err
}

// notes reads the references of saved work: all at once, or, where one of them is damaged, each by itself.
func (m *Manager) notes(ctx context.Context, h home) ([]git.Note, error) {
	store := m.store(h)
	notes, err := store.Notes(ctx, salvages)
	if err == nil || ctx.Err() != nil {
		return notes, err
	}
	refs, refsErr := git.AllRefs(os.DirFS(h.storeDir()), salvages)
	if refsErr != nil {
		return nil, err
	}
	err = nil
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		one, oneErr := store.Notes(ctx, ref)
		if oneErr != nil {
			err = errors.Join(err, fmt.Errorf("%s cannot be read: %w", strings.TrimPrefix(ref, salvages), oneErr))
		}
		notes = append(notes, one...)
	}
	return notes, err
}

// Contents is what a salvage has that the branch had not.
type Contents struct {
	Review
	Commits []git.LogEntry // that were found beside the branch, oldest first; at most 100 of the newest
}

// ShowSalvage is the difference between the branch and what was saved, at most limit bytes of it as a patch.
func (m *Manager) ShowSalvage(ctx context.Context, repo Repository, s Salvage, limit int64) (Contents, error) {
	const listed = 100
	if len(s.Parents) == 0 {
		return Contents{}, fmt.Errorf("%s is not something that backburner saved", s.Ref)
	}
	review, err := m.Diff(ctx, repo, s.Parents[0], s.Commit, limit)
	if err != nil {
		return Contents{}, err
	}
	log, err := m.Log(ctx, repo, s.Parents[0], s.Commit, listed+1)
	if err != nil {
		return Contents{}, err
	}
	return Contents{review, log[:len(log)-1]}, nil // the last one is the salvage
}

// ReturnSalvage merges the files that were saved into the branch of a clean workspace, as one commit with message, and says what the branch is then.
// That it has them already changes nothing. The error names the files in conflict, if any; then nothing was changed either.
func (m *Manager) ReturnSalvage(ctx context.Context, repo Repository, ws Workspace, saved Salvage, message string) (Checkpoint, error) {
	s, leave, err := m.enter(ctx, repo, ws)
	if err != nil {
		return Checkpoint{}, err
	}
	defer leave()
	state, err := s.clean(ctx)
	if err != nil {
		return Checkpoint{}, err
	}
	merged, err := s.store.MergeTree(ctx, state.Head, saved.Commit)
	if err != nil {
		return Checkpoint{}, err
	}
	if len(merged.Conflicts) > 0 {
		return Checkpoint{}, fmt.Errorf("%s conflicts with %s in %s", saved.Name(), ws.Branch, few(merged.Conflicts))
	}
	if merged.Tree == state.Tree {
		return s.describe(ctx, state.Head, Checkpoint{})
	}
	return s.grow(ctx, state.Head, git.NewCommit{Tree: merged.Tree, Parents: []string{state.Head}, Message: message})
}

// BranchSalvage makes a branch of the repository (short name) that has all that was saved, its commits included, unless there is another of that name.
// No working tree is touched.
func (m *Manager) BranchSalvage(ctx context.Context, repo Repository, branch string, saved Salvage) (Published, error) {
	if err := m.open(); err != nil {
		return Published{}, err
	}
	if err := git.CheckBranch(branch); err != nil {
		return Published{}, err
	}
	if repo.Path == "" {
		return Published{}, errors.New("the repository is not on this machine")
	}
	done, err := m.publishLocal(ctx, m.home(repo), git.Heads+branch, saved.Commit, git.ZeroID(saved.Commit))
	if err != nil {
		return done, fmt.Errorf("make the branch %s: %w", branch, err)
	}
	return done, nil
}

// CopySalvage writes the files that were saved into the folder dir, which is made; one that is there must be empty.
func (m *Manager) CopySalvage(ctx context.Context, repo Repository, dir string, saved Salvage) error {
	if err := m.open(); err != nil {
		return err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("%w: name a folder that can be made", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s is not empty: name a folder that is not there yet", dir)
	}
	admin, err := m.temporary("copy")
	if err != nil {
		return err
	}
	defer removeTree(admin)
	h := m.home(repo)
	if _, err := makeAdmin(admin, h.storeDir(), git.Heads+"copy"); err != nil {
		return err
	}
	copied := m.git.Private(admin).Sharing(h.storeDir()).WithWorkTree(dir)
	if err := copied.ReadTree(ctx, saved.Commit); err != nil {
		return fmt.Errorf("copy %s to %s: %w", saved.Name(), dir, err)
	}
	return nil
}

// ExpireSalvages forgets what was saved before a time of workspaces that nobody knows any more, in all stores, and says under which references it was.
// dry only says so.
func (m *Manager) ExpireSalvages(ctx context.Context, before time.Time, known func(workspace string) bool, dry bool) ([]string, error) {
	ids, err := m.Stores()
	if err != nil {
		return nil, err
	}
	var expired []string
	for _, id := range ids {
		h := m.home(Repository{ID: id})
		// Without a process, as most stores have none, or only what is known.
		refs, err := git.AllRefs(os.DirFS(h.storeDir()), salvages)
		if err != nil || len(refs) == 0 {
			continue
		}
		all, err := m.Salvages(ctx, h.repo)
		if ctx.Err() != nil {
			return expired, err
		} // what cannot be read is kept
		for _, s := range all {
			if s.Manifest.At.IsZero() || !s.Manifest.At.Before(before) || known(s.Manifest.Workspace) {
				continue
			}
			if !dry {
				if err := m.store(h).DeleteRef(ctx, s.Ref, s.Commit); err != nil {
					return expired, err
				}
			}
			expired = append(expired, s.Ref)
		}
	}
	return expired, nil
}
