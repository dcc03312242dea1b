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
		unreadable := refusal(err)
		if unreadable == nil {
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
	k := s.memory()
	if err := s.remember(known{Head: f.head, Author: k.Author, Reviewed: k.Reviewed}); err != nil {
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

// importCommits takes commits of the workspace's own repository into the store. known are commits that the store has.
func (s *space) importCommits(ctx context.Context, c *clone, ids []string, known ...string) error {
	scratch, err := s.m.temporary("pack")
	if err != nil {
		return err
	}
	defer removeTree(scratch)
	if base, err := s.base(); err == nil && base != "" {
		known = append(known, base)
	}
	if err := c.lend(s.home.pool); err != nil {
		return fmt.Errorf("read the workspace's objects: %w", err)
	}
	_, err = s.store.Borrowing(c.objects()).Import(ctx, scratch, ids, known)
	return err
}

// unresolved lists the files that a merge left in conflict and in which nobody took the markers out.
func (s *space) unresolved(ctx context.Context, c *clone) ([]string, error) {
	// The index that shows them is the agent's. It is read like any other file, with the store's configuration.
	paths, err := s.tree.WithIndex(filepath.Join(s.dir, ".git", "index")).Unmerged(ctx)
	if refusal(err) != nil {
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
