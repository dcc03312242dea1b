package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/backburner-cli/backburner/pkg/git"
)

// Repository is a managed repository.
type Repository struct {
	ID     string // names its folders; any text
	Path   string // of a repository on this machine; then URL is empty
	URL    string // of a remote repository
	Base   string // branch that work starts from
	Author string // "Name <mail>"; empty: the identity configured in the repository at Path, or for the user, else backburner's own
	Sign   bool   // commits, as the user configured signing
}

// Where is how people know the repository.
func (r Repository) Where() string {
	if r.Path != "" {
		return r.Path
	}
	return git.Redact(r.URL)
}

// Workspace is what the caller believes about a workspace.
type Workspace struct {
	ID     string // any text
	Branch string // short name
	Head   string // commit of the branch; "" before the workspace was made

	Published string // commit that the repository's branch was last brought to; "" when it never was
}

// Manager keeps the stores and workspaces under one root. It may be used by many goroutines; two calls for the same workspace, and two fetches
// of the same repository, wait for each other. That no other process uses the root at the same time is for the caller to see to.
type Manager struct {
	given string // root as configured
	owner Owner
	git   *git.Git
	now   func() time.Time

	setUp  sync.Once
	root   string // absolute, symbolic links resolved
	failed error  // of the set-up

	mu         sync.Mutex
	locks      map[string]*sync.Mutex
	identities map[string]git.Identity
	origins    map[string]string // path of a repository -> where git pushes from there
	clean      map[string]string // workspaces that were just seen to be clean, and at which commit
	session    *session
	anew       []string // repositories whose store was lost and made anew
}

// New returns a Manager for the folder root, which is made when it is first needed.
func New(root string, g *git.Git, now func() time.Time) *Manager {
	return &Manager{given: root, git: g, now: now, locks: map[string]*sync.Mutex{}, identities: map[string]git.Identity{},
		origins: map[string]string{}, clean: map[string]string{}}
}

// OwnedBy is m, working for a state, whose own the root becomes. Two states in one root would take each other's workspaces for their own. It is
// called before anything else.
func (m *Manager) OwnedBy(state Owner) *Manager {
	m.owner = state
	return m
}

// RejectedError says that a path is not where it has to be.
type RejectedError struct{ Path, Reason string }

func (e *RejectedError) Error() string { return fmt.Sprintf("%s is rejected: %s", e.Path, e.Reason) }

// open makes the root on the first call.
func (m *Manager) open() error {
	m.setUp.Do(func() { m.root, m.failed = setUpRoot(m.given, m.owner) })
	return m.failed
}

// lock holds the mutex called name until the returned function is called.
func (m *Manager) lock(name string) func() {
	m.mu.Lock()
	l := m.locks[name]
	if l == nil {
		l = &sync.Mutex{}
		m.locks[name] = l
	}
	m.mu.Unlock()
	l.Lock()
	return l.Unlock
}

// component is id as one element of a path: letters, digits, "_", "-" and inner dots stay, everything else is written as %XX.
func component(id string) string {
	var b strings.Builder
	for i := range len(id) {
		c := id[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() == 0 {
		return "%"
	}
	return b.String()
}

// Path is where the workspace id is, whether it is there or not.
func (m *Manager) Path(id string) string {
	root := m.given
	if m.open() == nil {
		root = m.root
	}
	return filepath.Join(root, "workspaces", component(id))
}

// contained says where path really is, and fails with a *RejectedError when that is outside the root.
// What is not there yet is judged by the folder it would be in.
func (m *Manager) contained(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		real, err = filepath.EvalSymlinks(filepath.Dir(path))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	if err != nil {
		return &RejectedError{path, err.Error()}
	}
	if rel, err := filepath.Rel(m.root, real); err != nil || !filepath.IsLocal(rel) {
		return &RejectedError{path, "it leads out of " + m.root + ", to " + real}
	}
	return nil
}

// home holds the paths of one repository.
type home struct {
	dir  string // stores/<repository>
	pool string // pools/<repository>/objects
	repo Repository
}

func (m *Manager) home(repo Repository) home {
	id := component(repo.ID)
	return home{
		dir:  filepath.Join(m.root, "stores", id),
		pool: filepath.Join(m.root, "pools", id, "objects"),
		repo: repo,
	}
}

func (h home) storeDir() string          { return filepath.Join(h.dir, "git") }
func (h home) adminDir(id string) string { return filepath.Join(h.dir, "admin", component(id)) }

// exists says whether there is a store that git takes for one: what is left of one by a disk, or by somebody's hand, counts as none.
func (h home) exists() bool {
	return git.IsRepository(h.storeDir())
}

// leavings are the folders of objects in which what a lost store had may still be: the pool, and stores that were put aside because git
// did not take them for one any more.
func (h home) leavings() []string {
	aside, _ := filepath.Glob(filepath.Join(h.dir, "..", "..", "aside", storeAside+filepath.Base(h.dir)+"-*", "objects")) // [component] leaves nothing to match
	return append(aside, h.pool)
}

const storeAside = "store-"

// store is the repository's store.
func (m *Manager) store(h home) git.Repo { return m.git.Private(h.storeDir()) }

// ownIdentity is who commits when nobody is configured.
var ownIdentity = git.Identity{Name: "backburner", Email: "backburner@localhost"}

// identity is who commits; asked for once.
func (m *Manager) identity(ctx context.Context, repo Repository) (git.Identity, error) {
	if repo.Author != "" {
		return git.ParseIdentity(repo.Author)
	}
	m.mu.Lock()
	known, ok := m.identities[repo.ID]
	m.mu.Unlock()
	if ok {
		return known, nil
	}
	asked := m.store(m.home(repo))
	if repo.Path != "" {
		dir, _, err := git.Locate(repo.Path)
		if err != nil {
			return git.Identity{}, err
		}
		asked = m.git.Foreign(dir)
	}
	who, err := asked.Author(ctx)
	var none *git.Error
	if errors.As(err, &none) {
		who, err = ownIdentity, nil
	}
	if err != nil {
		return git.Identity{}, fmt.Errorf("ask for the author: %w", err)
	}
	m.mu.Lock()
	m.identities[repo.ID] = who
	m.mu.Unlock()
	return who, nil
}
