package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/git"
)

// space is one workspace while a call works on it.
type space struct {
	m      *Manager
	home   home
	given  Workspace
	branch string // full name
	dir    string // the working tree
	admin  string // backburner's own index and HEAD
	store  git.Repo
	tree   git.Repo // the store, with the working tree and the admin folder
	author git.Identity

	rewritten bool // it is at what people put in the place of what was published
}

// known is what was last brought about: known.json in the admin folder. It is a memory, not the truth: what it says is used
// only where it agrees with the references.
type known struct {
	Head string `json:"head"`
	Tree string `json:"tree"`
	// Base is a commit of the base that Head has all of, and DiffHash that of the difference between the two; "" when that is not known.
	Base     string `json:"base,omitempty"`
	DiffHash string `json:"diff_hash,omitempty"`
	// Author is who the workspace's own repository commits as.
	Author string `json:"author,omitempty"`
	// Moving is the commit that a clean working tree was being taken to; no agent ran since.
	Moving string `json:"moving,omitempty"`
	// Reviewed is how many bytes of the journal of HEAD there were when the work was last taken in or put aside: what is only in those is
	// no longer wanted.
	Reviewed int64 `json:"reviewed,omitempty"`
}

// enter prepares for work on a workspace, which the returned function ends.
func (m *Manager) enter(ctx context.Context, repo Repository, ws Workspace) (*space, func(), error) {
	if err := m.open(); err != nil {
		return nil, nil, err
	}
	if err := checkWorkspace(ws); err != nil {
		return nil, nil, err
	}
	if repo.Base == "" { // it is configured no more
		repo.Base = m.home(repo).readSeen().Base
	}
	if err := m.revive(ctx, repo, ws); err != nil {
		return nil, nil, err
	}
	leave := m.lock("workspace " + component(ws.ID))
	s, err := m.space(repo, ws)
	if err != nil {
		leave()
		return nil, nil, err
	}
	stop := watchPipes(s.dir)
	return s, func() { stop(); leave() }, nil
}

func checkWorkspace(ws Workspace) error {
	if ws.ID == "" {
		return &git.NameError{Name: "", Reason: "is no name for a workspace"}
	}
	if err := git.CheckBranch(ws.Branch); err != nil {
		return err
	}
	if ws.Head != "" && !git.IsObjectID(ws.Head) {
		return &git.NameError{Name: ws.Head, Reason: "is not a full object id"}
	}
	return nil
}

func (m *Manager) space(repo Repository, ws Workspace) (*space, error) {
	h := m.home(repo)
	s := &space{
		m: m, home: h, given: ws, branch: git.Heads + ws.Branch,
		dir: m.Path(ws.ID), admin: h.adminDir(ws.ID),
	}
	if err := m.contained(s.dir); err != nil {
		return nil, err
	}
	s.store = m.store(h)
	s.tree = s.at(s.admin, s.dir)
	return s, nil
}

// recall gives the branch back to a store that lost it, from the commit that is believed in. That one may be in the workspace's own repository
// only. It says which commit the branch is at, "" when it is nowhere.
func (s *space) recall(ctx context.Context, c *clone) (string, error) {
	local, err := s.local()
	if err != nil || local != "" || s.given.Head == "" {
		return local, err
	}
	has, err := s.store.HasCommit(ctx, s.given.Head)
	if err != nil {
		return "", err
	}
	if !has {
		if err := s.importCommits(ctx, c, []string{s.given.Head}); refusal(err) != nil {
			return "", nil
		} else if err != nil {
			return "", err
		}
	}
	return s.given.Head, s.store.UpdateRef(ctx, s.branch, s.given.Head, git.ZeroID(s.given.Head))
}

// identify makes s commit as the repository's author.
func (s *space) identify(ctx context.Context) error {
	who, err := s.m.identity(ctx, s.home.repo)
	if err != nil {
		return err
	}
	s.author = who
	s.store = s.store.As(who, s.home.repo.Sign)
	s.tree = s.tree.As(who, s.home.repo.Sign)
	return nil
}

// at is the store, with an admin folder and a working tree.
func (s *space) at(admin, dir string) git.Repo {
	return s.m.git.Private(admin).Sharing(s.home.storeDir()).WithWorkTree(dir)
}

// local is the commit of the branch in the store, remote what the repository has under its name, and base that of the base branch. Each
// may be "".
func (s *space) local() (string, error)  { return s.store.ReadRef(s.branch) }
func (s *space) remote() (string, error) { return s.store.ReadRef(tracking(s.given.Branch)) }
func (s *space) base() (string, error)   { return s.store.ReadRef(tracking(s.home.repo.Base)) }

func (s *space) there() (bool, error) {
	info, err := os.Lstat(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !info.IsDir() {
		return false, &RejectedError{s.dir, "it is not a folder"}
	}
	return true, nil
}

func (s *space) memory() known {
	var k known
	content, err := atomicfile.Read(filepath.Join(s.admin, "known.json"), 1<<16)
	if err != nil || json.Unmarshal(content, &k) != nil {
		return known{}
	}
	return k
}

func (s *space) remember(k known) error {
	content, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return atomicfile.WriteRelaxed(filepath.Join(s.admin, "known.json"), append(content, '\n'), 0o666)
}

// makeAdmin makes the admin folder of a workspace whose branch is branch, and says whether there was one, with an index, already.
func makeAdmin(dir, store, branch string) (kept bool, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return false, err
	}
	_, err = os.Lstat(filepath.Join(dir, "index"))
	kept = err == nil
	for name, content := range map[string]string{"HEAD": "ref: " + branch + "\n", "commondir": store + "\n"} {
		path := filepath.Join(dir, name)
		if have, err := os.ReadFile(path); err == nil && string(have) == content {
			continue
		}
		if name == "HEAD" {
			kept = false // of another branch
		}
		if err := atomicfile.WriteRelaxed(path, []byte(content), 0o666); err != nil { // the store may have moved, with the root
			return false, err
		}
	}
	return kept, nil
}

// start sees to it that the admin folder of a workspace that is there can be used, and finishes a move that a kill cut short. It says which commit
// the branch is at; "" when it is nowhere.
func (s *space) start(ctx context.Context, c *clone) (string, error) {
	local, err := s.recall(ctx, c)
	if err != nil || local == "" {
		return "", err
	}
	kept, err := makeAdmin(s.admin, s.home.storeDir(), s.branch)
	if err != nil {
		return "", err
	}
	if !kept {
		return local, s.tree.ReadIndex(ctx, local)
	}
	to := s.memory().Moving
	if to == "" {
		return local, nil
	}
	if err := s.keepForeign(ctx, local, to); err != nil {
		return "", fmt.Errorf("save what lies in a workspace whose move was interrupted: %w", err)
	}
	if err := s.tree.ReadTree(ctx, to); err != nil {
		return "", fmt.Errorf("finish what was interrupted: %w", err)
	}
	return to, s.arrive(ctx, c, local, to)
}

// status compares the working tree with backburner's index. An index that git cannot read, as a power loss may leave it, is made again.
func (s *space) status(ctx context.Context) (git.Status, error) {
	status, err := s.tree.Status(ctx)
	if denied(err) {
		unlock(s.dir)
		status, err = s.tree.Status(ctx)
	}
	if refusal(err) == nil || denied(err) {
		return status, err
	}
	local, readErr := s.local()
	if readErr != nil || local == "" {
		return status, err
	}
	if removeErr := os.Remove(filepath.Join(s.admin, "index")); removeErr != nil {
		return status, err
	}
	if err := s.tree.ReadIndex(ctx, local); err != nil {
		return status, err
	}
	return s.tree.Status(ctx)
}

// refusal is what git had against what it was given; nil when it had nothing, and when the trouble was elsewhere, such as a full disk: that must
// never pass for damage, for the sake of which something is given up.
func refusal(err error) *git.Error {
	var refused *git.Error
	if !errors.As(err, &refused) || git.Outside(err) {
		return nil
	}
	return refused
}

// treeOf is the tree of a commit of the store, from memory when it can be.
func (s *space) treeOf(ctx context.Context, commit string) (string, error) {
	if k := s.memory(); k.Head == commit && k.Tree != "" {
		return k.Tree, nil
	}
	if seen := s.home.readSeen(); seen.SHA == commit && seen.Tree != "" {
		return seen.Tree, nil
	}
	return s.store.TreeOf(ctx, commit)
}

// hand makes the workspace's own repository show head on its branch, with the objects it needs, and remembers that. withIndex gives it
// backburner's index as well.
func (s *space) hand(c *clone, head, tree string, withIndex bool) error {
	if err := s.m.refreshPool(s.home); err != nil {
		return err
	}
	l, err := s.layout(head)
	if err != nil {
		return err
	}
	if withIndex {
		l.indexOf = filepath.Join(s.admin, "index")
	}
	if err := c.arrange(l); err != nil {
		return err
	}
	now := known{Head: head, Tree: tree, Author: l.author.String(), Reviewed: c.journalled()}
	if k := s.memory(); k.Head == head {
		now.Base, now.DiffHash = k.Base, k.DiffHash
	}
	return s.remember(now)
}

func (s *space) layout(head string) (layout, error) {
	base, err := s.base()
	if err != nil {
		return layout{}, err
	}
	author := s.author
	if author == (git.Identity{}) {
		// Asking who commits costs a process; when nothing is committed, the workspace stays with who it has.
		if author, err = git.ParseIdentity(s.memory().Author); err != nil {
			author = ownIdentity
		}
	}
	return layout{
		branch: s.branch, head: head, base: tracking(s.home.repo.Base), baseID: base, pool: s.home.pool, author: author,
	}, nil
}

// move takes the clean working tree and the branch from one commit to another. A kill half-way is made good by the next call.
func (s *space) move(ctx context.Context, c *clone, from, to string) error {
	author := s.memory().Author
	if err := s.remember(known{Moving: to, Author: author}); err != nil {
		return err
	}
	if err := s.tree.SwitchTree(ctx, from, to); err != nil {
		return errors.Join(err, s.remember(known{Head: from, Author: author}))
	}
	return s.arrive(ctx, c, from, to)
}

// advance sets the branch in the store to the commit to, which it may have been set to already by a process that outlived its run.
func (s *space) advance(ctx context.Context, from, to string) error {
	if from == to {
		return nil
	}
	err := s.store.UpdateRef(ctx, s.branch, to, from)
	if errors.Is(err, git.ErrMoved) {
		if now, readErr := s.local(); readErr == nil && now == to {
			return nil
		}
	}
	return err
}

// arrive makes the branch and the workspace's repository follow the working tree.
func (s *space) arrive(ctx context.Context, c *clone, from, to string) error {
	if err := s.advance(ctx, from, to); err != nil {
		return err
	}
	tree, err := s.treeOf(ctx, to)
	if err != nil {
		return err
	}
	return s.hand(c, to, tree, true)
}
