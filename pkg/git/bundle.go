package git

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
)

// Bundle writes the references called names, with all they need that the commit without has not ("": nothing is left out), into the file path.
// It says whether there was anything: references that without has all of are not in a bundle.
func (r Repo) Bundle(ctx context.Context, path string, names []string, without string) (bool, error) {
	list := []string{"for-each-ref", "--format=%(refname)"}
	if without != "" {
		if err := checkIDs(without); err != nil {
			return false, err
		}
		list = append(list, "--no-merged="+without)
	}
	for _, name := range names {
		if err := CheckRef(name); err != nil {
			return false, err
		}
	}
	if len(names) == 0 {
		return false, nil
	}
	said, err := r.text(ctx, append(list, names...)...)
	if err != nil || said == "" {
		return false, err
	}
	want := said + "\n"
	if without != "" {
		want += "^" + without + "\n"
	}
	_, err = r.run(ctx, call{args: []string{"bundle", "create", "--quiet", path, "--stdin"}, stdin: []byte(want)})
	return err == nil, err
}

// Unbundle takes the objects of a bundle into the repository; no reference is written. The error wraps ErrLacking when the repository has not got what
// the bundle builds on.
func (r Repo) Unbundle(ctx context.Context, path string) error {
	if !filepath.IsAbs(path) {
		return &NameError{path, "is not an absolute path"}
	}
	_, err := r.run(ctx, call{args: []string{"bundle", "unbundle", path}})
	var failed *Error
	if errors.As(err, &failed) && strings.Contains(failed.Stderr, "lacks these prerequisite commits") {
		return errors.Join(ErrLacking, err)
	}
	return err
}

// ErrLacking says that a repository has not got the commits that others build on.
var ErrLacking = errors.New("commits are missing that this builds on")

// Complete fails unless the repository has the commits ids with everything they need.
func (r Repo) Complete(ctx context.Context, ids []string) error {
	if err := checkIDs(ids...); err != nil || len(ids) == 0 {
		return err
	}
	_, err := r.run(ctx, call{
		args: []string{"rev-list", "--objects", "--stdin", "--not", "--all", "--quiet"}, stdin: []byte(strings.Join(ids, "\n") + "\n"),
	})
	return err
}
