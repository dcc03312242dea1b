package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/backburner-cli/backburner/pkg/git"
)

// Outcome is what came of restoring a workspace.
type Outcome string

// What can come of it.
const (
	Recovered Outcome = "recovered"
	Skipped   Outcome = "skipped"  // there was nothing to do
	Rejected  Outcome = "rejected" // it is not where workspaces are
	Failed    Outcome = "failed"
)

// Restored is how a workspace was restored.
type Restored struct {
	Outcome    Outcome
	SalvageRef string   // what was found there; "" when there was nothing to save
	Detail     string   // for people
	Changed    int      // files that differed from the branch
	Commits    int      // tips of lines of commits, stashed ones too, that were in no checkpoint
	Aside      []string // where the workspace, or parts of it, were moved
}

// Restore puts the workspace back on its branch at the commit that is believed in, clean. Whatever is found there is first saved
// in the store; an operation in progress is dropped, and locks of dead processes are removed. One that cannot be put in order is moved aside as it is
// and made anew. Ignored files stay.
//
// Trouble is in the outcome; the error is that of ctx, ErrAtWork, or one that is [git.Outside]: what cannot be saved for the moment stays as it is.
func (m *Manager) Restore(ctx context.Context, repo Repository, ws Workspace, task string) (Restored, error) {
	s, leave, err := m.enter(ctx, repo, ws)
	var result Restored
	if err == nil {
		defer leave()
		if result, err = s.restore(ctx, task); err == nil {
			return result, nil
		}
	}
	if ctx.Err() != nil {
		return Restored{}, ctx.Err()
	}
	if errors.Is(err, ErrAtWork) || git.Outside(err) {
		return Restored{}, err
	}
	var rejected *RejectedError
	if errors.As(err, &rejected) {
		return Restored{Outcome: Rejected, Detail: err.Error()}, nil
	}
	result.Outcome, result.Detail = Failed, err.Error() // what was kept before it failed is still told
	return result, nil
}

func (s *space) restore(ctx context.Context, task string) (Restored, error) {
	there, err := s.there()
	if err != nil {
		return Restored{}, err
	}
	if !there {
		return Restored{Outcome: Skipped, Detail: "there is no workspace; the next refresh makes it"}, nil
	}
	unlock(s.dir)
	if err := s.nobodyAtWork(); err != nil {
		return Restored{}, err
	}
	target, err := s.target(ctx)
	if err != nil {
		return Restored{}, err
	}
	if err := s.identify(ctx); err != nil {
		return Restored{}, err
	}
	result, err := s.putInOrder(ctx, task, target)
	if err == nil || ctx.Err() != nil || git.Outside(err) {
		return result, err
	}
	return s.makeAnew(ctx, target, result, err)
}

// ErrAtWork says that somebody is in the middle of something in a workspace: it is left alone until that is over.
var ErrAtWork = errors.New("somebody is at work in the workspace")

// nobodyAtWork fails when a person's git holds a lock, or is in the middle of an operation.
func (s *space) nobodyAtWork() error {
	c, err := openClone(s.dir)
	if err != nil {
		return err
	}
	defer c.close()
	locks, operation := c.locks(), c.look().operation
	if len(locks) == 0 && operation == "" {
		return nil
	}
	if busy, _ := git.AtWork(s.dir); !busy {
		return nil
	}
	if operation != "" {
		return fmt.Errorf("%w: a %s is in progress", ErrAtWork, operation)
	}
	return fmt.Errorf("%w and holds .git/%s", ErrAtWork, locks[0])
}

// target is the commit to go back to.
func (s *space) target(ctx context.Context) (string, error) {
	c, err := openClone(s.dir)
	if err != nil {
		return "", err
	}
	defer c.close()
	local, err := s.recall(ctx, c)
	switch {
	case err != nil:
		return "", err
	case local == "":
		return "", errors.New(s.gone())
	case s.given.Head == "" || s.given.Head == local:
		return local, nil
	}
	has, err := s.store.HasCommit(ctx, s.given.Head)
	if err == nil && !has {
		err = fmt.Errorf("the store has not got commit %s", short(s.given.Head))
	}
	return s.given.Head, err
}

// putInOrder saves what is there and brings files, branch and the workspace's own repository to target.
func (s *space) putInOrder(ctx context.Context, task, target string) (Restored, error) {
	c, err := openClone(s.dir)
	if err != nil {
		return Restored{}, err
	}
	defer c.close()
	local, err := s.start(ctx, c)
	if err != nil {
		return Restored{}, err
	}
	if err := s.complete(ctx, c); err != nil {
		return Restored{}, err
	}
	f := c.look()
	ordered, err := s.inOrder(ctx, c, f, local, target)
	if err != nil {
		return Restored{}, err
	}
	if ordered {
		return Restored{Outcome: Skipped, Detail: "it is on its branch and clean"}, s.settle(ctx, c, target)
	}
	found, err := s.salvage(ctx, c, f, local, task)
	if err != nil {
		return Restored{}, err
	}
	result := Restored{
		Outcome: Recovered, SalvageRef: found.ref, Changed: found.manifest.Changed, Commits: found.commits,
	}
	result.Detail = found.manifest.summary(found.commits)
	if result.Aside, err = s.clearAway(ctx, c, found.manifest); err != nil {
		return result, err
	}
	return result, s.reset(ctx, c, local, target)
}

// inOrder says whether there is nothing to save and nothing to put right, but for what settle does.
func (s *space) inOrder(ctx context.Context, c *clone, f found, local, target string) (bool, error) {
	if f.damage != "" || f.branch != s.branch || f.operation != "" || local != target {
		return false, nil
	}
	if f.head != local && f.head != s.memory().Head {
		return false, nil
	}
	status, err := s.status(ctx)
	if err != nil || len(status.Entries) > 0 {
		return false, err
	}
	modules, err := s.submodules(ctx, c) // nothing looks into them
	if err != nil || len(modules) > 0 {
		return false, err
	}
	unsaved, err := s.unsaved(ctx, c, c.named(f, s.memory().Reviewed), local)
	return len(unsaved) == 0, err
}

// settle removes locks and lets the workspace's own repository show target.
func (s *space) settle(ctx context.Context, c *clone, target string) error {
	if err := c.settle(); err != nil {
		return err
	}
	tree, err := s.treeOf(ctx, target)
	if err != nil {
		return err
	}
	return s.hand(c, target, tree, true)
}

// clearAway moves what is not in the salvage out of the workspace: repositories in it, and its own one when that is damaged, or holds those of
// submodules. The rest of its own is removed: everything it named is saved.
func (s *space) clearAway(ctx context.Context, c *clone, manifest Manifest) ([]string, error) {
	aside := manifest.Nested
	modules, err := s.submodules(ctx, c)
	if err != nil {
		return nil, err
	}
	aside = append(aside, modules...)
	info, err := c.root.Lstat(".git")
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case !info.IsDir():
		if err := c.root.Remove(".git"); err != nil {
			return nil, err
		}
	case manifest.Damage != "" || c.files().has("modules"):
		aside = append(aside, ".git")
	default:
		if err := s.m.discard(filepath.Join(s.dir, ".git")); err != nil {
			return nil, err
		}
	}
	var where []string
	for _, path := range aside {
		if err := s.m.contained(filepath.Dir(filepath.Join(s.dir, path))); err != nil {
			return where, err
		}
		to, err := s.m.putAside(filepath.Join(s.dir, path), s.given.ID+"-"+filepath.Base(path))
		if err != nil {
			return where, err
		}
		where = append(where, to)
	}
	for _, path := range modules {
		if err := c.root.Mkdir(path, 0o777); err != nil { // as one that was never looked into
			return where, err
		}
	}
	return where, nil
}

// reset takes files, branch and the workspace's own repository to target. The index has all files that are there, and are not ignored.
func (s *space) reset(ctx context.Context, c *clone, local, target string) error {
	k := s.memory()
	k.Moving = target
	if err := s.remember(k); err != nil {
		return err
	}
	if err := s.tree.ReadTree(ctx, target); err != nil {
		return err
	}
	if err := s.arrive(ctx, c, local, target); err != nil {
		return err
	}
	status, err := s.status(ctx)
	if err == nil && len(status.Entries) > 0 {
		err = fmt.Errorf("still there: %s", few(status.Paths()))
	}
	return err
}

// makeAnew moves a workspace that cannot be put in order aside, as it is, and makes it again.
func (s *space) makeAnew(ctx context.Context, target string, result Restored, why error) (Restored, error) {
	aside, err := s.m.putAside(s.dir, s.given.ID)
	if err != nil {
		return result, errors.Join(why, err)
	}
	result.Outcome, result.Aside = Recovered, append(result.Aside, aside)
	result.Detail = fmt.Sprintf("it could not be put in order (%v) and was made anew", why)
	if err := s.build(ctx, target); err != nil {
		return result, errors.Join(why, err)
	}
	now, err := s.local()
	if err == nil && now != target {
		old := now
		if now == "" {
			old = git.ZeroID(target)
		}
		err = s.store.UpdateRef(ctx, s.branch, target, old)
	}
	return result, err
}

// summary is what was saved, in words.
func (m Manifest) summary(commits int) string {
	var parts []string
	if m.Changed > 0 {
		parts = append(parts, several(m.Changed, "changed or new file"))
	}
	if commits > 0 {
		parts = append(parts, several(commits, "tip")+" of branches, stashes or the like, with commits that are in no checkpoint")
	}
	if m.Operation != "" {
		parts = append(parts, "a "+m.Operation+" was dropped")
	}
	if len(m.Nested) > 0 {
		parts = append(parts, "repositories in it were moved aside: "+few(m.Nested))
	}
	if m.Damage != "" {
		parts = append(parts, m.Damage)
	}
	if len(parts) == 0 {
		return "put back on its branch"
	}
	return strings.Join(parts, "; ")
}

// Remove removes a workspace with everything in it. Its branch stays in the store. That nothing in it is still wanted is for the
// caller to see to.
func (m *Manager) Remove(ctx context.Context, repo Repository, id string) error {
	if err := m.open(); err != nil {
		return err
	}
	defer m.lock("workspace " + component(id))()
	dir := m.Path(id)
	if info, err := os.Lstat(dir); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return &RejectedError{dir, "it is a link"}
	}
	if err := m.contained(dir); err != nil {
		return err
	}
	if err := m.discard(dir); err != nil {
		return fmt.Errorf("remove workspace %s: %w", id, err)
	}
	return m.discard(m.home(repo).adminDir(id))
}

func several(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
