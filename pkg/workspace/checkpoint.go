package workspace

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/backburner-cli/backburner/pkg/git"
)

// Problem is why what is in a workspace cannot simply be committed on its branch.
type Problem string

// What can be wrong. Whatever it is, the work is salvaged.
const (
	DetachedHead        Problem = "detached_head"         // at a commit that does not follow the branch
	WrongBranch         Problem = "wrong_branch"          // on another branch, which does not follow the workspace's
	HistoryRewritten    Problem = "history_rewritten"     // commits that were there before are no longer in the branch
	OperationInProgress Problem = "operation_in_progress" // an unfinished merge, rebase, cherry-pick, revert
	NestedRepository    Problem = "nested_repository"     // a repository in the repository, whose files git does not take
	Replaced            Problem = "replaced"              // .git is gone or is something else
	Damaged             Problem = "damaged"               // its commits cannot be read, or are not what they say
	Uncommittable       Problem = "uncommittable"         // git refuses a file
)

// Checkpoint is what an agent left behind.
type Checkpoint struct {
	Commit     string // of the branch now, durable in the store
	Tree       string
	DiffHash   string   // the same for the same difference to the base; "" when there is none
	Changed    []string // paths, compared with the commit that was believed in
	Insertions int
	Deletions  int
	NetNew     bool // the tree is another than that of the commit that was believed in

	Problem Problem
	Salvage string // reference of what could not be committed; "" without a problem
	Detail  string // for people: what the problem is, or what was put right
}

// Checkpoint commits what is uncommitted in the workspace (not what is ignored) with message, after taking in the commits that are already there, and makes
// the result durable in the store: objects, then the branch. A checkpoint that a kill interrupted is taken again with the same result.
//
// Work on another branch or on a detached HEAD is taken over when it follows the branch, and so is a merge that was resolved and not committed.
func (m *Manager) Checkpoint(ctx context.Context, repo Repository, ws Workspace, message string) (Checkpoint, error) {
	s, leave, err := m.enter(repo, ws)
	if err != nil {
		return Checkpoint{}, err
	}
	defer leave()
	done, err := s.checkpoint(ctx, message)
	if now, _ := s.local(); errors.Is(err, git.ErrMoved) || err == nil && now != done.Commit {
		// A git process that a killed run started was still at it. It has ended now: nobody else has the store.
		done, err = s.checkpoint(ctx, message)
	}
	if err != nil {
		return done, fmt.Errorf("checkpoint of workspace %s: %w", ws.ID, err)
	}
	return done, nil
}

func (s *space) checkpoint(ctx context.Context, message string) (Checkpoint, error) {
	local, err := s.local()
	if err != nil {
		return Checkpoint{}, err
	}
	if local == "" {
		return Checkpoint{}, fmt.Errorf("the store has no branch %s", s.given.Branch)
	}
	if err := s.identify(ctx); err != nil {
		return Checkpoint{}, err
	}
	c, err := openClone(s.dir)
	if err != nil {
		return Checkpoint{}, err
	}
	defer c.close()
	if err := s.ready(ctx, local); err != nil {
		return Checkpoint{}, err
	}
	if local, err = s.local(); err != nil {
		return Checkpoint{}, err
	}
	f := c.look()
	taken, err := s.takeOver(ctx, c, f, local)
	if err != nil {
		return Checkpoint{}, err
	}
	result := Checkpoint{Problem: taken.problem, Detail: taken.detail}
	if result.Problem == "" {
		if err := s.commitRest(ctx, c, &taken, message, &result); err != nil {
			return result, err
		}
	}
	if result.Problem != "" {
		saved, err := s.salvage(ctx, c, f, taken.head, "checkpoint")
		if err != nil {
			return result, err
		}
		result.Salvage = saved.ref
	}
	return s.describe(ctx, taken.head, result)
}

// taken is the branch after the workspace's own commits were taken in.
type taken struct {
	head    string // of the branch in the store
	merging string // the other side of a merge that waits for its commit
	problem Problem
	detail  string
}

// takeOver takes the workspace's own commits into the store and moves the branch to them, if they follow it.
func (s *space) takeOver(ctx context.Context, c *clone, f found, local string) (taken, error) {
	stop := func(p Problem, detail string) (taken, error) {
		return taken{head: local, problem: p, detail: detail}, nil
	}
	t := taken{head: local}
	switch {
	case f.damage != "":
		return stop(Replaced, f.damage)
	case f.head == "":
		return stop(HistoryRewritten, "the branch "+strings.TrimPrefix(f.branch, git.Heads)+" has no commits")
	case f.operation == "merge" && f.merging != "":
		open, err := s.unresolved(ctx, c)
		if err != nil || len(open) > 0 {
			return taken{head: local, problem: OperationInProgress, detail: "a merge with conflicts in " + few(open)}, err
		}
		t.merging = f.merging
		t.detail = "the merge was resolved and not committed; it is now"
	case f.operation != "" && f.operation != "bisect":
		return stop(OperationInProgress, "a "+f.operation+" is in progress")
	}
	// A HEAD that is where backburner last left it has nothing new: the branch may be ahead of it, when a kill cut the last checkpoint short.
	if t.merging != "" || f.head != local && f.head != s.memory().Head {
		return s.takeCommits(ctx, c, f, t)
	}
	if f.branch == s.branch {
		return t, nil
	}
	behind, err := s.leftBehind(ctx, c, f, local)
	if err != nil || behind {
		return taken{head: local, problem: notFollowing(f, s.branch), detail: elsewhere(f) + ", without the commits of the branch"}, err
	}
	t.detail = elsewhere(f) + "; that was put right"
	return t, nil
}

// takeCommits takes in commits that the store may not have.
func (s *space) takeCommits(ctx context.Context, c *clone, f found, t taken) (taken, error) {
	local := t.head
	ids := []string{f.head}
	if t.merging != "" {
		ids = append(ids, t.merging)
	}
	if err := s.importCommits(ctx, c, ids, local); err != nil {
		var unreadable *git.Error
		if !errors.As(err, &unreadable) {
			return t, err
		}
		return taken{head: local, problem: Damaged, detail: unreadable.Error()}, nil
	}
	follows, err := s.store.IsAncestor(ctx, local, f.head)
	if err != nil {
		return t, err
	}
	if follows && f.branch != s.branch {
		behind, err := s.leftBehind(ctx, c, f, local)
		if err != nil {
			return t, err
		}
		follows = !behind
		t.detail = elsewhere(f) + "; its commits were taken over"
	}
	if !follows {
		return taken{head: local, problem: notFollowing(f, s.branch), detail: elsewhere(f) + ", which does not follow " + short(local)}, nil
	}
	if f.head == local {
		return t, nil
	}
	if err := s.advance(ctx, local, f.head); err != nil {
		return t, err
	}
	t.head = f.head
	// From here on HEAD in the workspace is where backburner knows it to be.
	if err := s.remember(known{Head: f.head, Author: s.memory().Author}); err != nil {
		return t, err
	}
	return t, s.tree.ReadIndex(ctx, f.head)
}

// leftBehind says whether the workspace's branch has commits that HEAD, which is elsewhere, has not.
func (s *space) leftBehind(ctx context.Context, c *clone, f found, local string) (bool, error) {
	own, err := git.ReadRef(c.files(), s.branch)
	if err != nil || own == "" || own == f.head || own == local || own == s.memory().Head {
		return false, nil // renamed or deleted, or nothing was committed on it
	}
	has, err := s.store.HasCommit(ctx, own)
	if err != nil || !has {
		return true, err
	}
	contained, err := s.store.IsAncestor(ctx, own, f.head)
	return !contained, err
}

func elsewhere(f found) string {
	if f.branch == "" {
		return "HEAD is detached at " + short(f.head)
	}
	return "it is on " + strings.TrimPrefix(f.branch, git.Heads) + " at " + short(f.head)
}

func notFollowing(f found, branch string) Problem {
	switch f.branch {
	case "":
		return DetachedHead
	case branch:
		return HistoryRewritten
	}
	return WrongBranch
}

// importCommits takes commits of the workspace's own repository into the store. local is a commit that the store has.
func (s *space) importCommits(ctx context.Context, c *clone, ids []string, local string) error {
	scratch, err := s.m.temporary("pack")
	if err != nil {
		return err
	}
	defer removeTree(scratch)
	known := []string{local}
	if base, err := s.base(); err == nil && base != "" {
		known = append(known, base)
	}
	_, err = s.store.Borrowing(c.objects()).Import(ctx, scratch, ids, known)
	return err
}

// unresolved lists the files that a merge left in conflict and in which nobody took the markers out.
func (s *space) unresolved(ctx context.Context, c *clone) ([]string, error) {
	// The index that shows them is the agent's. It is read like any other file, with the store's configuration.
	paths, err := s.tree.WithIndex(filepath.Join(s.dir, ".git", "index")).Unmerged(ctx)
	var unreadable *git.Error
	if errors.As(err, &unreadable) {
		return []string{"(its index cannot be read)"}, nil
	}
	if err != nil {
		return nil, err
	}
	var open []string
	for _, path := range paths {
		if marked(c.root, path) {
			open = append(open, path)
		}
	}
	return open, nil
}

// marked says whether a file below root has conflict markers.
func marked(root *os.Root, path string) bool {
	info, err := root.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := root.Open(path)
	if err != nil {
		return true
	}
	defer file.Close()
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadSlice('\n')
		if strings.HasPrefix(string(line[:min(len(line), 8)]), "<<<<<<< ") || strings.HasPrefix(string(line[:min(len(line), 8)]), ">>>>>>> ") {
			return true
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
		}
		if err != nil {
			return !errors.Is(err, io.EOF)
		}
	}
}

// commitRest commits what is not committed yet.
func (s *space) commitRest(ctx context.Context, c *clone, t *taken, message string, result *Checkpoint) error {
	status, err := s.tree.Status(ctx)
	if err != nil {
		return err
	}
	for _, entry := range status.Entries {
		if entry.Nested {
			result.Problem, result.Detail = NestedRepository, entry.Path+" is a repository of its own"
			return nil
		}
	}
	if len(status.Entries) == 0 && t.merging == "" {
		return s.afterCommit(ctx, c, t.head)
	}
	if err := s.tree.Stage(ctx, status.Entries); err != nil {
		var refused *git.Error
		if !errors.As(err, &refused) {
			return err
		}
		result.Problem, result.Detail = Uncommittable, refused.Error()
		return nil
	}
	head, err := s.commit(ctx, t, message)
	if err != nil {
		return err
	}
	t.head = head
	return s.afterCommit(ctx, c, head)
}

func (s *space) commit(ctx context.Context, t *taken, message string) (string, error) {
	if t.merging == "" {
		head, err := s.tree.Commit(ctx, s.branch, message)
		if errors.Is(err, git.ErrNothing) { // only times or modes that git does not keep had changed
			return t.head, nil
		}
		return head, err
	}
	tree, err := s.tree.WriteTree(ctx)
	if err != nil {
		return "", err
	}
	merge := git.NewCommit{Tree: tree, Parents: []string{t.head, t.merging}, Message: message}
	head, err := s.store.CommitTree(ctx, merge)
	if err != nil {
		return "", err
	}
	return head, s.advance(ctx, t.head, head)
}

// afterCommit lets the workspace's own repository show what was committed.
func (s *space) afterCommit(ctx context.Context, c *clone, head string) error {
	f := c.look()
	if f.head == head && f.branch == s.branch && f.operation == "" && s.memory().Head == head {
		return nil
	}
	tree := ""
	if k := s.memory(); k.Head == head {
		tree = k.Tree
	}
	if err := s.hand(c, head, tree, f.head != head || f.operation != ""); err != nil {
		return err
	}
	if f.operation != "" {
		return c.settle()
	}
	return nil
}

// describe fills in what the branch is now.
func (s *space) describe(ctx context.Context, head string, result Checkpoint) (Checkpoint, error) {
	base, err := s.base()
	if err != nil {
		return result, err
	}
	believed := s.given.Head
	if believed == "" {
		believed = head
	}
	against := []string{believed}
	if base != "" {
		fork, err := s.store.MergeBase(ctx, head, base)
		if err != nil {
			return result, err
		}
		if fork != "" {
			against = append(against, fork)
		}
	}
	tree, differences, err := s.store.Compare(ctx, head, against...)
	if err != nil {
		return result, err
	}
	result.Commit, result.Tree = head, tree
	result.Changed = differences[0].Paths()
	result.Insertions, result.Deletions = differences[0].Lines()
	result.NetNew = len(differences[0].Changes) > 0
	result.DiffHash = differences[len(differences)-1].Hash
	if k := s.memory(); k.Head == head && k.Tree == "" {
		k.Tree = tree
		return result, s.remember(k)
	}
	return result, nil
}

// State is what a workspace is, when nothing is changed in it.
type State struct {
	Head  string // commit of its HEAD; "" when it has none
	Tree  string // of that commit; "" when the store has not got it
	Clean bool   // on its branch, at the commit that the store has, and nothing differs
	Dirty []string
	// Detail says for people why it is not clean.
	Detail string
}

// Verify says what the workspace is. It changes nothing and costs one git process.
func (m *Manager) Verify(ctx context.Context, repo Repository, ws Workspace) (State, error) {
	s, leave, err := m.enter(repo, ws)
	if err != nil {
		return State{}, err
	}
	defer leave()
	state, err := s.verify(ctx)
	if err != nil {
		return state, fmt.Errorf("verify workspace %s: %w", ws.ID, err)
	}
	return state, nil
}

func (s *space) verify(ctx context.Context) (State, error) {
	local, err := s.local()
	if err != nil {
		return State{}, err
	}
	c, err := openClone(s.dir)
	if err != nil {
		return State{}, err
	}
	defer c.close()
	if err := s.ready(ctx, local); err != nil {
		return State{}, err
	}
	f := c.look()
	status, err := s.tree.Status(ctx)
	if err != nil {
		return State{}, err
	}
	state := State{Head: f.head, Dirty: status.Paths()}
	if f.head == status.Head {
		if state.Tree, err = s.treeOf(ctx, f.head); err != nil {
			return state, err
		}
	}
	switch {
	case f.damage != "":
		state.Detail = f.damage
	case f.head != status.Head:
		state.Detail = "HEAD is at " + short(f.head) + " and not at " + short(status.Head)
	case f.branch != s.branch:
		state.Detail = elsewhere(f)
	case f.operation != "":
		state.Detail = "a " + f.operation + " is in progress"
	case len(state.Dirty) > 0:
		state.Detail = "changed: " + few(state.Dirty)
	}
	state.Clean = state.Detail == ""
	return state, nil
}
