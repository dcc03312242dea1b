package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// NotRepositoryError says that there is no git repository at a path.
type NotRepositoryError struct{ Path string }

func (e *NotRepositoryError) Error() string {
	return fmt.Sprintf("%s is not a git repository: run git init there, or correct the path", e.Path)
}

// Locate finds the repository whose top level path is, without a process: its own folder, and the folder it shares with its linked
// working trees (the same one for an ordinary repository). The error is a *NotRepositoryError when there is none.
func Locate(path string) (dir, common string, err error) {
	start, err := filepath.Abs(path)
	if err != nil {
		return "", "", err
	}
	if isRepository(start) {
		return start, start, nil
	}
	if dir, common, ok := repositoryOf(start); ok {
		return dir, common, nil
	}
	return "", "", &NotRepositoryError{path}
}

// repositoryOf is the repository of the working tree at path.
func repositoryOf(path string) (dir, common string, ok bool) {
	dir = filepath.Join(path, ".git")
	if isRepository(dir) {
		return dir, dir, true
	}
	content, err := readPath(dir)
	if err != nil {
		return "", "", false
	}
	target, linked := strings.CutPrefix(strings.TrimSpace(string(content)), "gitdir: ")
	if !linked {
		return "", "", false
	}
	if dir = target; !filepath.IsAbs(dir) {
		dir = filepath.Join(path, dir)
	}
	common = commonOf(dir)
	return dir, common, isRepository(common)
}

// commonOf is the folder that the repository dir shares with its linked working trees.
func commonOf(dir string) string {
	shared, err := readPath(filepath.Join(dir, "commondir"))
	if err != nil {
		return dir
	}
	common := strings.TrimSpace(string(shared))
	if !filepath.IsAbs(common) {
		common = filepath.Join(dir, common)
	}
	return common
}

// IsRepository says whether git can work with dir as a repository's own folder: its HEAD names something, it has objects and refs, and packed
// references, if any, are a file; git would wait for a pipe.
func IsRepository(dir string) bool {
	if !isRepository(dir) {
		return false
	}
	if info, err := os.Lstat(filepath.Join(dir, "packed-refs")); err == nil && !info.Mode().IsRegular() {
		return false
	}
	content, err := readPath(filepath.Join(dir, "HEAD"))
	head := strings.TrimSpace(string(content))
	return err == nil && (strings.HasPrefix(head, "ref: refs/") || IsObjectID(head))
}

func isRepository(dir string) bool {
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	_, err := os.Stat(filepath.Join(dir, "HEAD"))
	return err == nil
}
