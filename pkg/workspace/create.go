package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/backburner-cli/backburner/pkg/git"
)

// create makes a workspace that is not there.
func (s *space) create(ctx context.Context) (Prepared, error) {
	start, local, blocked, err := s.origin(ctx)
	if err != nil || blocked.Status != "" {
		return blocked, err
	}
	if err := s.identify(ctx); err != nil {
		return Prepared{}, err
	}
	if local == "" {
		// Before the files: making a reference durable after them would make the disk write all of them at once.
		if err := s.advance(ctx, git.ZeroID(start), start); err != nil {
			return Prepared{}, err
		}
	}
	if err := s.build(ctx, start); err != nil {
		return Prepared{}, err
	}
	p := Prepared{Status: Created, Head: start, Tree: s.memory().Tree}
	if s.rewritten {
		p.Status = Rewritten
	}
	return p, nil
}

// origin decides from which commit a workspace is made. local is what the store has of the branch.
func (s *space) origin(ctx context.Context) (start, local string, blocked Prepared, err error) {
	local, err = s.local()
	if err != nil {
		return "", "", blocked, err
	}
	if local != "" {
		blocked, err = s.believed(ctx, local)
		return local, local, blocked, err
	}
	remote, err := s.remote()
	if err != nil {
		return "", "", blocked, err
	}
	if s.given.Head == "" {
		if err := s.roomForBranch(); err != nil {
			return "", "", blocked, err
		}
		base, err := s.base()
		if start = remote; start == "" {
			start = base
		}
		if start == "" && err == nil {
			blocked = Prepared{Status: DeferredFetch, Detail: "the base branch was not fetched yet"}
		}
		return start, "", blocked, err
	}
	if remote != "" {
		blocked, err = s.believed(ctx, remote)
		return remote, "", blocked, err
	}
	has, err := s.store.HasCommit(ctx, s.given.Head)
	if err == nil && !has {
		blocked = Prepared{
			Status: BlockedMissing, Detail: fmt.Sprintf("commit %s of %s is in no repository", short(s.given.Head), s.given.Branch),
		}
	}
	return s.given.Head, "", blocked, err
}

// roomForBranch fails when a repository on this machine has a branch that leaves no room for the new one: as references are like files, there is
// no a/b beside a. To find that only when the work is published would be late.
func (s *space) roomForBranch() error {
	path := s.home.repo.Path
	if path == "" {
		return nil
	}
	_, common, err := git.Locate(path)
	if err != nil {
		return err
	}
	for parent := s.given.Branch; ; {
		cut := strings.LastIndexByte(parent, '/')
		if cut < 0 {
			return nil
		}
		parent = parent[:cut]
		found, err := git.ReadRef(os.DirFS(common), git.Heads+parent)
		if err != nil {
			return err
		}
		if found != "" {
			return fmt.Errorf("%s has a branch %s, and git has no room for a branch %s beside it: rename it, for example with git -C '%s' branch -m %s %s-old",
				path, parent, s.given.Branch, strings.ReplaceAll(path, "'", `'\''`), parent, parent)
		}
	}
}

// build makes the workspace and its admin folder at commit, first under temporary names. Nothing of it needs to survive a power loss.
func (s *space) build(ctx context.Context, commit string) error {
	tmp, err := s.m.temporary("workspace")
	if err != nil {
		return err
	}
	defer removeTree(tmp)
	dir, admin := filepath.Join(tmp, "files"), filepath.Join(tmp, "admin")
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	if _, err := makeAdmin(admin, s.home.storeDir(), s.branch); err != nil {
		return err
	}
	if err := s.at(admin, dir).ReadTree(ctx, commit); err != nil {
		return err
	}
	tree, err := s.treeOf(ctx, commit)
	if err != nil {
		return err
	}
	made := *s
	made.dir, made.admin = dir, admin
	c, err := openClone(dir)
	if err != nil {
		return err
	}
	err = made.hand(c, commit, tree, true)
	c.close()
	if err != nil {
		return err
	}
	for _, move := range [][2]string{{admin, s.admin}, {dir, s.dir}} {
		if err := s.m.discard(move[1]); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(move[1]), 0o777); err != nil {
			return err
		}
		if err := os.Rename(move[0], move[1]); err != nil {
			return err
		}
	}
	return nil
}
