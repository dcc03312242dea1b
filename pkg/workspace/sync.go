package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/git"
)

// Base is what a repository looks like.
type Base struct {
	SHA, Tree string // of the base branch
	// Upstream is the full name of the base branch's upstream; "" when it has none, and for remote repositories.
	Upstream string
	// Ahead counts the commits that only the base branch has, Behind those that only its upstream has.
	Ahead, Behind int
	// Branches has the commit of each branch that was asked for and is there, by short name.
	Branches map[string]string
	// Moved says that something was fetched.
	Moved bool
}

// Diverged says that the base branch and its upstream each have commits of their own.
func (b Base) Diverged() bool { return b.Ahead > 0 && b.Behind > 0 }

// seen is what the store was last brought up to: seen.json.
type seen struct {
	Base     string            `json:"base"` // name of the base branch
	SHA      string            `json:"sha"`
	Tree     string            `json:"tree"`
	Branches map[string]string `json:"branches,omitempty"`
	Upstream upstream          `json:"upstream,omitzero"`
}

// upstream is how the base branch stands to what it follows.
type upstream struct {
	Name   string `json:"name"`
	SHA    string `json:"sha,omitempty"` // known when the counts below had to be asked for
	Ahead  int    `json:"ahead,omitempty"`
	Behind int    `json:"behind,omitempty"`
}

// Sync looks at the base branch and at branches (short names) of the repository, and fetches into the store what moved since the last time. It
// makes the store when there is none. When nothing moved it costs one git process, however many branches.
func (m *Manager) Sync(ctx context.Context, repo Repository, branches ...string) (Base, error) {
	if err := m.open(); err != nil {
		return Base{}, err
	}
	h := m.home(repo)
	defer m.lock("store " + h.dir)()
	if err := checkBranches(repo, branches); err != nil {
		return Base{}, err
	}
	last := h.readSeen()
	now, err := m.look(ctx, h, branches)
	if err != nil {
		return Base{}, err
	}
	if now.Upstream, err = m.countUpstream(ctx, h, last, now); err != nil {
		return Base{}, err
	}
	missing := !h.exists()
	moved := missing || h.lost() || !last.covers(now, branches) || !h.shows(now)
	if moved {
		now, err = m.fetch(ctx, h, last, now, branches)
		if err != nil {
			return Base{}, fmt.Errorf("fetch %s: %w", repo.Where(), err)
		}
	}
	if missing && len(branches) > 0 { // there was work in it
		m.noteAnew(h, 0)
	}
	now.Tree = cmp.Or(now.Tree, last.Tree)
	if moved || last.Upstream != now.Upstream {
		if err := h.writeSeen(last.with(now, branches)); err != nil {
			return Base{}, err
		}
	}
	return Base{
		SHA: now.SHA, Tree: now.Tree, Upstream: now.Upstream.Name, Ahead: now.Upstream.Ahead, Behind: now.Upstream.Behind,
		Branches: now.Branches, Moved: moved,
	}, nil
}

func checkBranches(repo Repository, branches []string) error {
	if err := git.CheckBranch(repo.Base); err != nil {
		return fmt.Errorf("base branch: %w", err)
	}
	for _, branch := range branches {
		if err := git.CheckBranch(branch); err != nil {
			return err
		}
	}
	return nil
}

// shows says whether the store has the base branch where it was last seen: somebody may have removed it.
func (h home) shows(now seen) bool {
	have, err := git.ReadRef(os.DirFS(h.storeDir()), tracking(now.Base))
	return err == nil && have == now.SHA
}

// covers says whether the store shows what now shows, of the base branch and of branches.
func (s seen) covers(now seen, branches []string) bool {
	if s.Base != now.Base || s.SHA != now.SHA {
		return false
	}
	for _, branch := range branches {
		if s.Branches[branch] != now.Branches[branch] {
			return false
		}
	}
	return true
}

// with is now, and what s knows of branches that now was not asked for.
func (s seen) with(now seen, asked []string) seen {
	all := maps.Clone(s.Branches)
	if all == nil {
		all = map[string]string{}
	}
	for _, branch := range asked {
		delete(all, branch)
	}
	maps.Copy(all, now.Branches)
	now.Branches = all
	return now
}

func (h home) readSeen() seen {
	var s seen
	content, err := atomicfile.Read(filepath.Join(h.dir, "seen.json"), 64<<20)
	if err != nil || json.Unmarshal(content, &s) != nil {
		return seen{} // as if nothing had been fetched yet
	}
	return s
}

func (h home) writeSeen(s seen) error {
	content, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteRelaxed(filepath.Join(h.dir, "seen.json"), append(content, '\n'), 0o666)
}

// look lists the repository's references, in one process.
func (m *Manager) look(ctx context.Context, h home, branches []string) (seen, error) {
	if h.repo.Path != "" {
		return m.lookLocal(ctx, h.repo, branches)
	}
	return m.lookRemote(ctx, h, branches)
}

func (m *Manager) lookLocal(ctx context.Context, repo Repository, branches []string) (seen, error) {
	dir, common, err := git.Locate(repo.Path)
	if err != nil {
		return seen{}, err
	}
	if _, err := os.Stat(filepath.Join(common, "shallow")); err == nil {
		return seen{}, fmt.Errorf("%s is a shallow clone: run git fetch --unshallow there (in GitHub Actions: fetch-depth: 0)", repo.Path)
	}
	patterns := []string{git.Heads + repo.Base, git.Remotes + "origin/" + repo.Base}
	for _, branch := range branches {
		patterns = append(patterns, git.Heads+branch)
	}
	refs, err := m.git.Foreign(dir).Refs(ctx, patterns...)
	if err != nil {
		return seen{}, err
	}
	now := seen{Base: repo.Base, Branches: map[string]string{}}
	byName := map[string]git.Ref{}
	for _, ref := range refs {
		byName[ref.Name] = ref
	}
	base, ok := byName[git.Heads+repo.Base]
	if !ok {
		return seen{}, m.explainMissingBase(ctx, dir, repo)
	}
	now.SHA, now.Tree = base.Object, base.Tree
	now.Upstream = upstream{Name: base.Upstream, Ahead: base.Ahead, Behind: base.Behind}
	if same, ok := byName[git.Remotes+"origin/"+repo.Base]; ok && base.Upstream == "" {
		now.Upstream = upstream{Name: same.Name, SHA: same.Object} // nothing is configured: origin's branch of that name is meant
	}
	for _, branch := range branches {
		if ref, ok := byName[git.Heads+branch]; ok {
			now.Branches[branch] = ref.Object
		}
	}
	return now, nil
}

// explainMissingBase says what to do about a base branch that is not there.
func (m *Manager) explainMissingBase(ctx context.Context, dir string, repo Repository) error {
	refs, err := m.git.Foreign(dir).Refs(ctx, git.Heads)
	if err != nil {
		return err
	}
	if len(refs) == 0 {
		return fmt.Errorf("%s has no commits yet: make a first commit on the branch %s", repo.Path, repo.Base)
	}
	var names []string
	for _, ref := range refs[:min(len(refs), 5)] {
		names = append(names, strings.TrimPrefix(ref.Name, git.Heads))
	}
	return fmt.Errorf("%s has no branch %s: set base to the branch it uses (there are %s)", repo.Path, repo.Base, strings.Join(names, ", "))
}

func (m *Manager) lookRemote(ctx context.Context, h home, branches []string) (now seen, err error) {
	if err := m.makeStore(ctx, h, "sha1"); err != nil {
		return seen{}, err
	}
	defer func() {
		// The store was made to ask from, before the format of the answer's object ids was known.
		if err == nil && formatOf(now.SHA) != "sha1" && h.readSeen().SHA == "" {
			err = m.discard(h.storeDir())
		}
	}()
	names := []string{git.Heads + h.repo.Base}
	for _, branch := range branches {
		names = append(names, git.Heads+branch)
	}
	refs, err := m.store(h).RemoteRefs(ctx, h.repo.URL, names...)
	if err != nil {
		return seen{}, err
	}
	now = seen{Base: h.repo.Base, SHA: refs[names[0]], Branches: map[string]string{}}
	if now.SHA == "" {
		return seen{}, fmt.Errorf("%s has no branch %s: push a first commit to it, or set base to the branch it uses", h.repo.Where(), h.repo.Base)
	}
	for _, branch := range branches {
		if id := refs[git.Heads+branch]; id != "" {
			now.Branches[branch] = id
		}
	}
	return now, nil
}

// countUpstream counts what the base branch and its upstream have on each other, where the listing did not and nobody counted before.
func (m *Manager) countUpstream(ctx context.Context, h home, last, now seen) (upstream, error) {
	if now.Upstream.SHA == "" || now.Upstream.SHA == now.SHA {
		return now.Upstream, nil
	}
	if last.SHA == now.SHA && last.Upstream.SHA == now.Upstream.SHA {
		return last.Upstream, nil
	}
	dir, _, err := git.Locate(h.repo.Path)
	if err != nil {
		return upstream{}, err
	}
	counted := now.Upstream
	counted.Ahead, counted.Behind, err = m.git.Foreign(dir).AheadBehind(ctx, now.SHA, now.Upstream.SHA)
	return counted, err
}
