package git

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
)

// Unmerged lists the paths that the index has in conflict.
func (r Repo) Unmerged(ctx context.Context) ([]string, error) {
	result, err := r.run(ctx, call{args: []string{"ls-files", "--unmerged", "-z"}})
	if err != nil {
		return nil, err
	}
	var paths []string
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(result.Stdout), "\x00"), "\x00") {
		_, path, ok := strings.Cut(entry, "\t")
		if ok && (len(paths) == 0 || paths[len(paths)-1] != path) {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// Submodules lists the paths at which the index has a commit of another repository.
func (r Repo) Submodules(ctx context.Context) ([]string, error) {
	return r.listed(ctx, "160000 ", "\t", "--stage")
}

// LeftOut lists the paths that the index says are not to be in the working tree (skip-worktree).
func (r Repo) LeftOut(ctx context.Context) ([]string, error) {
	return r.listed(ctx, "S ", " ", "-t")
}

// listed are the paths of the entries that ls-files shows with a prefix; the path begins after the separator.
func (r Repo) listed(ctx context.Context, prefix, separator, how string) ([]string, error) {
	result, err := r.run(ctx, call{args: []string{"ls-files", "-z", how}})
	if err != nil {
		return nil, err
	}
	var paths []string
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(result.Stdout), "\x00"), "\x00") {
		if _, path, ok := strings.Cut(entry, separator); ok && strings.HasPrefix(entry, prefix) {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// CheckOut writes files of the index that are not in the working tree. Those that are there stay as they are.
func (r Repo) CheckOut(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	_, err := r.run(ctx, call{
		args: []string{"checkout-index", "--quiet", "--index", "-z", "--stdin"}, stdin: []byte(strings.Join(paths, "\x00") + "\x00"),
	})
	return err
}

// ErrInTheWay says that something of another kind has the place of a file or of one of its folders.
var ErrInTheWay = errors.New("something else of the repository has its place, or that of one of its folders")

// PutFile makes of the tree of a commit one with a file at path, in place of what is there, and says which. A file that has the place
// of one of the folders on the way is ErrInTheWay, and stays. The index it needs is made in the folder scratch; no reference moves.
func (r Repo) PutFile(ctx context.Context, scratch, commit, path string, content []byte) (tree string, err error) {
	if err := checkIDs(commit); err != nil {
		return "", err
	}
	r = r.WithIndex(filepath.Join(scratch, "index"))
	if _, err := r.run(ctx, call{args: []string{"read-tree", commit}}); err != nil {
		return "", err
	}
	blob, err := r.run(ctx, call{args: []string{"hash-object", "-w", "--stdin"}, stdin: content})
	if err != nil {
		return "", err
	}
	entry := "100644," + strings.TrimSpace(string(blob.Stdout)) + "," + path
	// Not by --index-info, which gives a file the place of a folder without a word.
	_, err = r.run(ctx, call{args: []string{"update-index", "--add", "--cacheinfo", entry}})
	var refused *Error
	switch {
	case errors.As(err, &refused) && strings.Contains(refused.Stderr, "as both a file and as a directory"):
		return "", ErrInTheWay
	case err != nil:
		return "", err
	}
	return r.WriteTree(ctx)
}
