package workspace

import (
	"context"
	"fmt"
	"strings"

	"github.com/backburner-cli/backburner/pkg/git"
)

// PrepareStatus says how a workspace was found, or made.
type PrepareStatus string

// Deferred means: try again later, nothing is wrong. Blocked means that it cannot be used as it is.
const (
	UpToDate           PrepareStatus = "up_to_date"
	FastForwarded      PrepareStatus = "fast_forwarded"
	Rewritten          PrepareStatus = "rewritten" // people replaced what was published, and the workspace is at what they put there
	Joined             PrepareStatus = "joined"    // people added to what was published, and that was merged with what is here
	Created            PrepareStatus = "created"
	DeferredFetch      PrepareStatus = "deferred_fetch"       // the store has nothing yet
	DeferredLocked     PrepareStatus = "deferred_locked"      // somebody is at work in it
	BlockedDirty       PrepareStatus = "blocked_dirty"        // it holds work that is in no checkpoint
	BlockedDiverged    PrepareStatus = "blocked_diverged"     // the branch and the repository's branch each have commits of their own
	BlockedWrongBranch PrepareStatus = "blocked_wrong_branch" // it is on another branch, or on none
	BlockedMissing     PrepareStatus = "blocked_missing"      // the branch's commit is nowhere
)

// Prepared is a workspace as Prepare left it.
type Prepared struct {
	Status PrepareStatus
	Head   string // commit of the branch; "" when there is none
	Tree   string
	Detail string // for people
	Kept   string // reference of what the branch was, when it was Rewritten just now
	Remote string // commit of the repository's branch, when Head has all of that and more
}

// Prepare makes the workspace when it is not there: on its branch as the store or else the repository has it, or on a new branch from the base.
// One that is there is compared with what is believed of it and with the repository's branch as of the last Sync, and fast-forwarded to that
// when it is clean and behind, or when people rewrote there what is published and the workspace has nothing else. When everything is as it was it costs one git process, and none when this process has just seen that.
func (m *Manager) Prepare(ctx context.Context, repo Repository, ws Workspace) (Prepared, error) {
	if err := m.open(); err != nil {
		return Prepared{}, err
	}
	if !m.home(repo).exists() {
		return Prepared{Status: DeferredFetch, Detail: "the repository was not fetched yet"}, nil
	}
	s, leave, err := m.enter(ctx, repo, ws)
	if err != nil {
		return Prepared{}, err
	}
	defer leave()
	p, err := s.prepare(ctx)
	if err != nil {
		return p, fmt.Errorf("prepare workspace %s: %w", ws.ID, err)
	}
	return p, nil
}

func (s *space) prepare(ctx context.Context) (Prepared, error) {
	there, err := s.there()
	if err != nil {
		return Prepared{}, err
	}
	if !there {
		return s.create(ctx)
	}
	c, err := openClone(s.dir)
	if err != nil {
		return Prepared{}, err
	}
	defer c.close()
	local, err := s.start(ctx, c)
	if err != nil {
		return Prepared{}, err
	}
	if local == "" {
		return Prepared{Status: BlockedMissing, Detail: s.gone()}, nil
	}
	if blocked, err := s.believed(ctx, local); err != nil || blocked.Status != "" {
		return blocked, err
	}
	if lock := c.held(s.m.now()); lock != "" {
		return Prepared{Status: DeferredLocked, Head: local, Detail: "somebody is at work in its workspace and holds .git/" + lock}, nil
	}
	f := c.look()
	if blocked := s.inspect(f, local); blocked.Status != "" {
		return blocked, nil
	}
	if s.stillClean(local) {
		return s.follow(ctx, c, f, local)
	}
	status, err := s.status(ctx)
	if err != nil {
		return Prepared{}, err
	}
	if len(status.Entries) > 0 {
		return Prepared{Status: BlockedDirty, Head: local, Detail: "its workspace has changes that are in no checkpoint (" + few(status.Paths()) + "); a retry puts them aside"}, nil
	}
	return s.follow(ctx, c, f, local)
}

// gone says that the branch's commits are nowhere, and what is left of it.
func (s *space) gone() string {
	return fmt.Sprintf("the commits of %s are in no repository any more; its files are in %s: copy what you need from there, then cancel it", s.given.Branch, s.dir)
}

// proven notes that the files are those of a commit, now that what ran in the workspace has ended. It holds until the next Prepare, which spares a
// look at all files: whatever runs in a workspace runs after one.
func (s *space) proven(head string) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	s.m.clean[s.given.ID] = head
}

// stillClean says whether this process saw the files to be those of a commit, and nothing has run in the workspace since.
func (s *space) stillClean(head string) bool {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	clean := s.m.clean[s.given.ID]
	delete(s.m.clean, s.given.ID)
	return clean == head && head != ""
}

// believed compares the branch with the commit that the caller believes in.
func (s *space) believed(ctx context.Context, local string) (Prepared, error) {
	if s.given.Head == "" || s.given.Head == local {
		return Prepared{}, nil
	}
	has, err := s.store.HasCommit(ctx, s.given.Head)
	if err != nil {
		return Prepared{}, err
	}
	if has { // a checkpoint that was made just before a kill is ahead of what is believed
		if ahead, err := s.store.IsAncestor(ctx, s.given.Head, local); err != nil || ahead {
			return Prepared{}, err
		}
	}
	remote, err := s.remote()
	if s.rewritten = remote == local && s.given.Head == s.given.Published; err != nil || s.rewritten {
		return Prepared{}, err // it followed what people put there, just before a kill, or is made anew from that
	}
	if !has {
		return Prepared{Status: BlockedMissing, Head: local, Detail: "the store has not got commit " + short(s.given.Head)}, nil
	}
	return Prepared{
		Status: BlockedDiverged, Head: local,
		Detail: fmt.Sprintf("the branch is at %s, which does not follow %s", short(local), short(s.given.Head)),
	}, nil
}

// inspect judges what the workspace's own repository says, before its files are compared.
func (s *space) inspect(f found, local string) Prepared {
	blocked := func(status PrepareStatus, detail string) Prepared {
		return Prepared{Status: status, Head: local, Detail: detail}
	}
	switch {
	case f.damage != "":
		return Prepared{} // made again from the store, as long as the files are those of the branch
	case f.operation != "":
		return blocked(BlockedDirty, "a "+f.operation+" is in progress in its workspace")
	case f.branch == "":
		return blocked(BlockedWrongBranch, "HEAD is detached in its workspace, at "+short(f.head))
	case f.branch != s.branch:
		return blocked(BlockedWrongBranch, "its workspace is on "+strings.TrimPrefix(f.branch, git.Heads))
	case f.head != local && f.head != s.memory().Head:
		return blocked(BlockedDirty, "its workspace has commits that are in no checkpoint, up to "+short(f.head)+"; a retry puts them aside")
	}
	return Prepared{}
}

// follow brings a clean workspace up to the repository's branch.
func (s *space) follow(ctx context.Context, c *clone, f found, local string) (Prepared, error) {
	remote, err := s.remote()
	if err != nil {
		return Prepared{}, err
	}
	if remote == "" || remote == local {
		return s.stay(ctx, c, f, local)
	}
	published := local == s.given.Published // then people set it back, if that is part of this
	ahead, err := s.store.IsAncestor(ctx, remote, local)
	if err != nil {
		return Prepared{}, err
	}
	if ahead && !published {
		p, err := s.stay(ctx, c, f, local)
		p.Remote = remote
		return p, err
	}
	behind, err := s.store.IsAncestor(ctx, local, remote)
	if err != nil {
		return Prepared{}, err
	}
	if !behind && published {
		return s.giveWay(ctx, c, local, remote)
	}
	if !behind {
		return s.join(ctx, c, local, remote)
	}
	if err := s.move(ctx, c, local, remote); err != nil {
		return Prepared{}, err
	}
	tree, err := s.treeOf(ctx, remote)
	return Prepared{Status: FastForwarded, Head: remote, Tree: tree}, err
}

// giveWay brings a clean workspace, all of which was published, to what people made of that. What it was is kept.
func (s *space) giveWay(ctx context.Context, c *clone, local, remote string) (Prepared, error) {
	if err := s.identify(ctx); err != nil {
		return Prepared{}, err
	}
	kept, err := s.keepReplaced(ctx, local, remote)
	if err != nil {
		return Prepared{}, err
	}
	if err := s.move(ctx, c, local, remote); err != nil {
		return Prepared{}, err
	}
	tree, err := s.treeOf(ctx, remote)
	return Prepared{Status: Rewritten, Head: remote, Tree: tree, Kept: kept}, err
}

// join merges what people added to what was published with what was added to it here. What they rewrote, or what conflicts, is for
// people.
func (s *space) join(ctx context.Context, c *clone, local, remote string) (Prepared, error) {
	missing := s.given.Published // which people have
	if missing == "" {
		missing = local
	}
	blocked := Prepared{
		Status: BlockedDiverged, Head: local,
		Detail: fmt.Sprintf("%s is at %s in %s, without %s of this work: merge that into it there",
			strings.TrimPrefix(s.branch, git.Heads), short(remote), s.home.repo.Where(), short(missing)),
	}
	if s.given.Published == "" {
		return blocked, nil
	}
	added, err := s.store.IsAncestor(ctx, s.given.Published, remote)
	if err != nil || !added {
		return blocked, err
	}
	merged, err := s.store.MergeTree(ctx, local, remote)
	if err != nil {
		return Prepared{}, err
	}
	if len(merged.Conflicts) > 0 {
		blocked.Detail = fmt.Sprintf("what was pushed to %s, up to %s, conflicts with what was done here, in %s: take it back there, or do it again when this is published",
			strings.TrimPrefix(s.branch, git.Heads), short(remote), few(merged.Conflicts))
		return blocked, nil
	}
	if err := s.identify(ctx); err != nil {
		return Prepared{}, err
	}
	commit, err := s.store.CommitTree(ctx, git.NewCommit{
		Tree: merged.Tree, Parents: []string{local, remote}, Message: "Merge what was pushed to " + strings.TrimPrefix(s.branch, git.Heads),
	})
	if err != nil {
		return Prepared{}, err
	}
	return Prepared{Status: Joined, Head: commit, Tree: merged.Tree, Remote: remote}, s.move(ctx, c, local, commit)
}

func (s *space) stay(ctx context.Context, c *clone, f found, local string) (Prepared, error) {
	tree, err := s.treeOf(ctx, local)
	if err != nil {
		return Prepared{}, err
	}
	// Nothing in there is trusted to be as it was made: an agent may have left hooks for the next one, or damaged what it borrows.
	withIndex := f.damage != "" || f.head != local || !c.files().has("index")
	if err := s.hand(c, local, tree, withIndex); err != nil {
		return Prepared{}, err
	}
	if err := c.settle(); err != nil {
		return Prepared{}, err
	}
	p := Prepared{Status: UpToDate, Head: local, Tree: tree}
	if s.rewritten {
		p.Status = Rewritten
	}
	return p, nil
}

// short is a commit's id as people read it.
func short(id string) string {
	if len(id) > 12 {
		return id[:12]
	}
	if id == "" {
		return "nothing"
	}
	return id
}

// few is a list of paths as people read it.
func few(paths []string) string {
	const shown = 5
	text := strings.Join(paths[:min(len(paths), shown)], ", ")
	if len(paths) > shown {
		text += fmt.Sprintf(" and %d more", len(paths)-shown)
	}
	return text
}
