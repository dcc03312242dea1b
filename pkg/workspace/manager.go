package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
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
	return r.URL
}

// Workspace is what the caller believes about a workspace.
type Workspace struct {
	ID     string // any text
	Branch string // short name
	Head   string // commit of the branch; "" before the workspace was made
}

// Manager keeps the stores and workspaces under one root. It may be used by many goroutines; two calls for the same workspace, and two fetches
// of the same repository, wait for each other. That no other process uses the root at the same time is for the caller to see to.
type Manager struct {
	given string // root as configured
	git   *git.Git
	now   func() time.Time

	setUp  sync.Once
	root   string // absolute, symbolic links resolved
	failed error  // of the set-up

	mu         sync.Mutex
	locks      map[string]*sync.Mutex
	identities map[string]git.Identity
	session    *session
}

// New returns a Manager for the folder root, which is made when it is first needed.
func New(root string, g *git.Git, now func() time.Time) *Manager {
	return &Manager{given: root, git: g, now: now, locks: map[string]*sync.Mutex{}, identities: map[string]git.Identity{}}
}

// RejectedError says that a path is not where it has to be.
type RejectedError struct{ Path, Reason string }

func (e *RejectedError) Error() string { return fmt.Sprintf("%s is rejected: %s", e.Path, e.Reason) }

// open makes the root on the first call.
func (m *Manager) open() error {
	m.setUp.Do(func() { m.root, m.failed = setUpRoot(m.given) })
	return m.failed
}

// ignored keeps what is made under the root out of git, and nothing else: specs, which people commit, may be beside it.
const ignored = "/.gitignore\n/" + rootMark + "\n/aside/\n/pools/\n/stores/\n/tmp/\n/workspaces/\n"

func setUpRoot(given string) (string, error) {
	abs, err := filepath.Abs(given)
	if err != nil {
		return "", err
	}
	if strings.ContainsAny(abs, "\n\"") {
		return "", &RejectedError{abs, "git cannot borrow objects from a path with a quote or a line break: set [workspace] root to another folder"}
	}
	if err := os.MkdirAll(abs, 0o777); err != nil {
		return "", fmt.Errorf("workspace root: %w", err)
	}
	root, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("workspace root: %w", err)
	}
	if err := claim(root); err != nil {
		return "", err
	}
	ignore := filepath.Join(root, ".gitignore")
	if _, err := os.Lstat(ignore); errors.Is(err, fs.ErrNotExist) {
		if err := atomicfile.WriteRelaxed(ignore, []byte(ignored), 0o666); err != nil {
			return "", err
		}
	}
	return root, nil
}

// rootMark is a file that says that the folders below a root are backburner's, to make and to remove.
const rootMark = ".backburner-root"

// claim makes sure that the root is backburner's own: what is below it is removed when it is no longer needed, so nothing of anybody else may be
// there under the same names.
func claim(root string) error {
	mark := filepath.Join(root, rootMark)
	if _, err := os.Lstat(mark); err == nil {
		return nil
	}
	const next = "set [workspace] root to a folder of its own"
	if _, err := os.Lstat(filepath.Join(root, ".git")); err == nil || filepath.Dir(root) == root {
		return &RejectedError{root, "it is no folder for workspaces alone: " + next}
	}
	if slices.Contains(strings.Split(root, string(filepath.Separator)), ".git") {
		return &RejectedError{root, "it lies within a repository's own folder: " + next}
	}
	for _, name := range []string{"aside", "pools", "stores", "tmp", "workspaces"} {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
			return &RejectedError{filepath.Join(root, name), "it is there already and was not made by backburner: " + next}
		}
	}
	return atomicfile.WriteRelaxed(mark, []byte("The folders here are backburner's: it makes and removes them as it needs.\n"), 0o666)
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

// exists says whether the store was made.
func (h home) exists() bool {
	_, err := os.Stat(filepath.Join(h.storeDir(), "HEAD"))
	return err == nil
}

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
