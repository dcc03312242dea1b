package workspace

import (
	"context"
	"errors"
	"fmt"

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

	base string // commit of the base, when it has all of that
}

// Checkpoint commits what is uncommitted in the workspace (not what is ignored) with message, after taking in the commits that are
// already there, and makes the result durable in the store: objects, then the branch. A checkpoint that a kill interrupted is taken
// again with the same result.
//
// Work on another branch or on a detached HEAD is taken over when it follows the branch, and so is a merge that was resolved and not committed.
func (m *Manager) Checkpoint(ctx context.Context, repo Repository, ws Workspace, message string) (Checkpoint, error) {
	s, leave, err := m.enter(ctx, repo, ws)
	if err != nil {
		return Checkpoint{}, err
	}
	defer leave()
	done, err := s.checkpoint(ctx, message)
	if denied(err) || done.Problem != "" && saysDenied(done.Detail) {
		unlock(s.dir)
		done, err = s.checkpoint(ctx, message)
	}
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
	c, err := openClone(s.dir)
	if err != nil {
		return Checkpoint{}, err
	}
	defer c.close()
	local, err := s.start(ctx, c)
	if err != nil {
		return Checkpoint{}, err
	}
	if local == "" {
		return Checkpoint{}, fmt.Errorf("the store has no branch %s", s.given.Branch)
	}
	if err := s.identify(ctx); err != nil {
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
	} else {
		s.proven(taken.head)
	}
	if result, err = s.describe(ctx, taken.head, result); err != nil {
		return result, err
	}
	return result, s.noteTaken(c, result)
}

// noteTaken remembers what is known of what was taken in, and that what the agent threw away on the way to it is no longer wanted.
func (s *space) noteTaken(c *clone, result Checkpoint) error {
	k := s.memory()
	before := k
	if k.Head == result.Commit {
		k.Tree, k.Base, k.DiffHash = result.Tree, result.base, ""
		if k.Base != "" {
			k.DiffHash = result.DiffHash
		}
	}
	if result.Problem == "" {
		k.Reviewed = c.journalled()
	}
	if k == before {
		return nil
	}
	return s.remember(k)
}

// commitRest commits what is not committed yet.
func (s *space) commitRest(ctx context.Context, c *clone, t *taken, message string, result *Checkpoint) error {
	if err := s.complete(ctx, c); err != nil {
		return err
	}
	status, err := s.status(ctx)
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
		refused := refusal(err)
		if refused == nil {
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
	k := s.memory()
	if k.Head == head && head == believed && k.Tree != "" && base != "" && k.Base == base { // nothing new, and that was compared before
		result.Commit, result.Tree, result.DiffHash, result.base = head, k.Tree, k.DiffHash, base
		return result, nil
	}
	fork := base // what follows the base has all of it
	if base != "" && base != believed {
		if fork, err = s.store.MergeBase(ctx, head, base); err != nil {
			return result, err
		}
	}
	against := []string{believed}
	if fork != "" {
		against = append(against, fork)
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
	if fork == base {
		result.base = base
	}
	return result, nil
}
