package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Rebasing finds the working tree in which the reference name (full) is being rebased, in the repository whose own folder is common; "" when
// in none. Git lists such a branch as checked out nowhere, and cannot finish the rebase when somebody else moves it.
func Rebasing(common, name string) (path string) {
	trees := map[string]string{common: filepath.Dir(common)}
	linked, _ := os.ReadDir(filepath.Join(common, "worktrees"))
	for _, tree := range linked {
		dir := filepath.Join(common, "worktrees", tree.Name())
		if at, err := readPath(filepath.Join(dir, "gitdir")); err == nil {
			trees[dir] = filepath.Dir(strings.TrimSpace(string(at)))
		}
	}
	for dir, path := range trees {
		for _, file := range []string{"rebase-merge/head-name", "rebase-apply/head-name", "rebase-merge/update-refs"} {
			if content, err := readPath(filepath.Join(dir, file)); err == nil && slices.Contains(strings.Fields(string(content)), name) {
				return path
			}
		}
	}
	return ""
}
