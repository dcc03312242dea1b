package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/backburner-cli/backburner/pkg/git"
)

// named is every commit that its own repository names, by name: HEAD and all references, those of further working trees too, all that is
// stashed, what an operation in progress keeps, and where HEAD has been since the first reviewed bytes of its journal.
func (c *clone) named(f found, reviewed int64) map[string]string {
	files := c.files()
	names, _ := git.AllRefs(files, "refs/")
	if names == nil {
		names = map[string]string{}
	}
	add := func(name, id string) {
		if git.IsObjectID(id) && id != git.ZeroID(id) {
			names[name] = id
		}
	}
	add("HEAD", f.head)
	for i, id := range c.journal("logs/refs/stash", 0) {
		add(fmt.Sprintf("stash@{%d}", i), id)
	}
	for i, id := range c.journal("logs/HEAD", reviewed) {
		add(fmt.Sprintf("HEAD@{%d}", i), id)
	}
	for _, name := range []string{
		"ORIG_HEAD", "MERGE_HEAD", "MERGE_AUTOSTASH", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "AUTO_MERGE",
		"rebase-merge/autostash", "rebase-merge/orig-head", "rebase-apply/autostash", "rebase-apply/orig-head", "rebase-apply/abort-safety",
	} {
		content, _ := files.ReadFile(name)
		add(name, strings.TrimSpace(string(content)))
	}
	trees, _ := fs.ReadDir(files, "worktrees")
	for _, tree := range trees {
		dir := path.Join("worktrees", tree.Name())
		if content, err := files.ReadFile(path.Join(dir, "HEAD")); err == nil {
			add(dir+"/HEAD", strings.TrimSpace(string(content))) // one on a branch is named by that
		}
		for i, id := range c.journal(path.Join(dir, "logs/HEAD"), 0) {
			add(fmt.Sprintf("%s/HEAD@{%d}", dir, i), id)
		}
	}
	return names
}

// journal lists what a reference has been, newest first, after the first from bytes of its journal. One that got shorter is read whole.
func (c *clone) journal(name string, from int64) []string {
	content, err := c.files().ReadFile(name)
	if err != nil {
		return nil
	}
	if from <= int64(len(content)) {
		content = content[from:]
	}
	var ids []string
	for line := range strings.Lines(string(content)) {
		fields := strings.SplitN(line, " ", 3)
		if len(fields) == 3 && git.IsObjectID(fields[1]) && !slices.Contains(ids[max(0, len(ids)-1):], fields[1]) {
			ids = append(ids, fields[1])
		}
	}
	slices.Reverse(ids)
	return ids
}

// journalled is how long the journal of HEAD is.
func (c *clone) journalled() int64 {
	info, err := c.root.Lstat(".git/logs/HEAD")
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// unsaved are the commits among names that neither head, nor the base, nor another of them reaches.
func (s *space) unsaved(ctx context.Context, c *clone, names map[string]string, head string) ([]string, error) {
	known := []string{head}
	if base, err := s.base(); err == nil && base != "" {
		known = append(known, base)
	}
	ids := slices.Sorted(maps.Values(names))
	ids = slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return slices.Contains(known, id) })
	if len(ids) == 0 {
		return nil, nil
	}
	if err := c.lend(s.home.pool); err != nil {
		return nil, fmt.Errorf("read the workspace's objects: %w", err)
	}
	tips, err := s.store.Borrowing(c.objects()).Tips(ctx, ids, known)
	var unreadable *git.Error
	if errors.As(err, &unreadable) {
		return ids, nil // whoever takes them in finds out which can be read
	}
	return tips, err
}
