package workspace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/backburner-cli/backburner/pkg/git"
)

// PublishStatus is what became of publishing a branch.
type PublishStatus string

// What can become of it.
const (
	PublishPushed      PublishStatus = "pushed"
	PublishAlready     PublishStatus = "already"      // it was there
	PublishLeaseFailed PublishStatus = "lease_failed" // the branch is not what was expected: somebody moved it
	PublishCheckedOut  PublishStatus = "checked_out"  // the user has the branch checked out, or is rebasing it, so it was left alone
	PublishFailed      PublishStatus = "failed"
)

// Published is how publishing a branch went.
type Published struct {
	Status PublishStatus
	Detail string // for people; what to do next, unless it was pushed
	Found  string // the commit that the branch is at, where it was looked at; "" when there is no such branch
}

// Publish sets the branch of the repository to the commit sha of the store, if and only if it is at expectedOld there now ("": does not exist).
//
// In a repository on this machine no working tree is touched, and nothing is pushed on to where that one may have come from.
func (m *Manager) Publish(ctx context.Context, repo Repository, branch, sha, expectedOld string) (Published, error) {
	if err := m.open(); err != nil {
		return Published{}, err
	}
	if err := git.CheckBranch(branch); err != nil {
		return Published{}, err
	}
	if branch == repo.Base {
		return Published{}, fmt.Errorf("publish %s: it is the base branch, which backburner never pushes to", branch)
	}
	h := m.home(repo)
	if expectedOld == "" {
		expectedOld = git.ZeroID(sha)
	}
	var (
		result Published
		err    error
	)
	if repo.Path != "" {
		result, err = m.publishLocal(ctx, h, git.Heads+branch, sha, expectedOld)
	} else {
		result, err = m.publishRemote(ctx, h, git.Heads+branch, sha, expectedOld)
	}
	if err != nil {
		return result, fmt.Errorf("publish %s: %w", branch, err)
	}
	if result.Status == PublishPushed || result.Status == PublishAlready {
		return result, m.notePublished(ctx, h, branch, sha)
	}
	return result, nil
}

func (m *Manager) publishRemote(ctx context.Context, h home, ref, sha, old string) (Published, error) {
	store := m.store(h)
	outcome, said, err := store.Push(ctx, h.repo.URL, ref, sha, old)
	if err != nil {
		return Published{}, fmt.Errorf("%w; check network and access", err)
	}
	switch outcome {
	case git.Pushed:
		return Published{Status: PublishPushed, Found: sha}, nil
	case git.AlreadyThat:
		return Published{Status: PublishAlready, Found: sha}, nil
	case git.LeaseFailed:
		refs, err := store.RemoteRefs(ctx, h.repo.URL, ref)
		if err != nil {
			return Published{}, fmt.Errorf("look why it is not at %s (%s): %w", short(old), said, err)
		}
		found := refs[ref]
		return Published{Status: PublishLeaseFailed, Found: found, Detail: moved(strings.TrimPrefix(ref, git.Heads), old, found)}, nil
	}
	return Published{Status: PublishFailed, Detail: "the remote refused it: " + said}, nil
}

// publishLocal brings a branch into a repository on this machine: first its objects, then, by compare and swap, the reference.
func (m *Manager) publishLocal(ctx context.Context, h home, ref, sha, old string) (Published, error) {
	dir, common, err := git.Locate(h.repo.Path)
	if err != nil {
		return Published{}, err
	}
	target := m.git.Foreign(dir)
	refs, err := target.Refs(ctx, ref)
	if err != nil {
		return Published{}, err
	}
	found, where := "", ""
	for _, r := range refs {
		if r.Name == ref { // and not below it
			found, where = r.Object, r.CheckedOut
		}
	}
	result := Published{Found: found}
	switch {
	case found == sha:
		result.Status = PublishAlready
		return result, nil
	case found != old && (found != "" || old != git.ZeroID(sha)):
		result.Status, result.Detail = PublishLeaseFailed, moved(strings.TrimPrefix(ref, git.Heads), old, found)
		return result, nil
	}
	if err := target.FetchObjects(ctx, h.storeDir(), sha); err != nil {
		return result, err
	}
	if where != "" {
		result.Status = PublishCheckedOut
		result.Detail = fmt.Sprintf("it is checked out in %s: run %s", where, fastForwardCommand(where, sha))
		return result, nil
	}
	if at := git.Rebasing(common, ref); at != "" {
		result.Status, result.Detail = PublishCheckedOut, rebasing(strings.TrimPrefix(ref, git.Heads), at)
		return result, nil
	}
	err = target.Owning(ref).UpdateRef(ctx, ref, sha, old)
	if errors.Is(err, git.ErrMoved) {
		return Published{Status: PublishLeaseFailed, Detail: "somebody moved the branch meanwhile"}, nil
	}
	return Published{Status: PublishPushed, Found: sha}, err
}

// moved says how a branch is not as it was last seen.
func moved(branch, old, found string) string {
	switch {
	case found == "":
		return fmt.Sprintf("the branch %s was deleted; it was at %s", branch, short(old))
	case old == git.ZeroID(old):
		return fmt.Sprintf("there is a branch %s already, at %s, with commits that are not this work's: rename it, or delete it", branch, short(found))
	}
	return fmt.Sprintf("somebody moved the branch %s from %s to %s", branch, short(old), short(found))
}

// notePublished makes the store know what the repository has now, so that the next Sync finds nothing to fetch.
func (m *Manager) notePublished(ctx context.Context, h home, branch, sha string) error {
	defer m.lock("store " + h.dir)()
	store := m.store(h)
	have, err := store.ReadRef(tracking(branch))
	if err != nil {
		return err
	}
	if have != sha {
		if err := store.UpdateRef(ctx, tracking(branch), sha, ""); err != nil {
			return err
		}
	}
	last := h.readSeen()
	if last.SHA == "" || last.Branches[branch] == sha {
		return nil
	}
	last.Branches = maps.Clone(last.Branches)
	if last.Branches == nil {
		last.Branches = map[string]string{}
	}
	last.Branches[branch] = sha
	return h.writeSeen(last)
}
