package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Ref is one reference of a repository on this machine.
type Ref struct {
	Name       string // full
	Object     string // what it names
	Tree       string // of the commit; empty for other objects
	Upstream   string // full name of the branch's configured upstream, or empty
	Ahead      int    // commits that the upstream has not
	Behind     int    // commits that only the upstream has
	CheckedOut string // the working tree that has the branch checked out, or empty
}

const refFormat = "%(refname)%00%(objectname)%00%(tree)%00%(upstream)%00%(upstream:track,nobracket)%00%(worktreepath)%00"

// Refs lists references whose full name is one of patterns or lies below it. Names that are not there are left out.
func (r Repo) Refs(ctx context.Context, patterns ...string) ([]Ref, error) {
	args := []string{"for-each-ref", "--format=" + refFormat}
	for _, p := range patterns {
		if err := CheckRef(strings.TrimSuffix(p, "/")); err != nil {
			return nil, err
		}
		args = append(args, p)
	}
	result, err := r.run(ctx, call{args: args})
	if err != nil {
		return nil, err
	}
	return parseRefs(string(result.Stdout))
}

func parseRefs(said string) ([]Ref, error) {
	const fields = 6
	parts := strings.Split(said, "\x00")
	if len(parts)%fields != 1 {
		return nil, fmt.Errorf("read references: %d fields do not make whole lines", len(parts))
	}
	refs := make([]Ref, 0, len(parts)/fields)
	for ; len(parts) > fields; parts = parts[fields:] {
		ref := Ref{
			Name: strings.TrimPrefix(parts[0], "\n"), Object: parts[1], Tree: parts[2],
			Upstream: parts[3], CheckedOut: parts[5],
		}
		for word := range strings.SplitSeq(parts[4], ", ") {
			_, _ = fmt.Sscanf(word, "ahead %d", &ref.Ahead)
			_, _ = fmt.Sscanf(word, "behind %d", &ref.Behind)
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// RemoteRefs asks the repository at url for the references called names, by full name -> object id. Names that are not there are left out.
func (r Repo) RemoteRefs(ctx context.Context, url string, names ...string) (map[string]string, error) {
	args := []string{"ls-remote", "--quiet", target}
	for _, name := range names {
		if err := CheckRef(name); err != nil {
			return nil, err
		}
		args = append(args, name)
	}
	c, err := r.remoteCall(ctx, url, args)
	if err != nil {
		return nil, err
	}
	result, err := r.run(ctx, c)
	if err != nil {
		return nil, err
	}
	wanted := make(map[string]bool, len(names))
	for _, name := range names {
		wanted[name] = true
	}
	found := map[string]string{}
	for line := range strings.Lines(string(result.Stdout)) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		// A pattern of ls-remote also matches the ends of longer names.
		if wanted[name] && IsObjectID(id) {
			found[name] = id
		}
	}
	return found, nil
}

// UpdateRef sets the reference name to the object id, if and only if it is old now: "" means anything, [ZeroID] that it does not exist.
// The error of a reference that is something else wraps ErrMoved. It is durable when this returns, and so are the objects of the repository.
func (r Repo) UpdateRef(ctx context.Context, name, id, old string) error {
	if err := errors.Join(CheckRef(name), checkIDs(id)); err != nil {
		return err
	}
	args := []string{"update-ref", "--no-deref", "-m", "backburner", name, id}
	if old != "" {
		if err := checkIDs(old); err != nil {
			return err
		}
		args = append(args, old)
	}
	if err := r.settleObjects(); err != nil {
		return err
	}
	if _, err := r.run(ctx, call{args: args}); err != nil {
		return moved(err)
	}
	return r.settleRef(name)
}

// DeleteRef removes the reference name if it is old now. The error of one that is something else wraps ErrMoved.
func (r Repo) DeleteRef(ctx context.Context, name, old string) error {
	if err := errors.Join(CheckRef(name), checkIDs(old)); err != nil {
		return err
	}
	_, err := r.run(ctx, call{args: []string{"update-ref", "--no-deref", "-d", name, old}})
	return moved(err)
}

// ErrMoved says that a reference is not what the caller saw.
var ErrMoved = errors.New("moved by somebody else")

// ErrNoRoom says that there is a reference which leaves no room for another: as they are like files, there is no a/b beside a.
var ErrNoRoom = errors.New("another reference is in the way")

func moved(err error) error {
	var failed *Error
	if !errors.As(err, &failed) {
		return err
	}
	if strings.Contains(failed.Stderr, "exists; cannot create") {
		return fmt.Errorf("%w: %w", ErrNoRoom, err)
	}
	for _, sign := range []string{"but expected", "reference already exists", "unable to resolve reference"} {
		if strings.Contains(failed.Stderr, sign) {
			return fmt.Errorf("%w: %w", ErrMoved, err)
		}
	}
	return err
}

// Note is a reference with the parents and the message of the commit it names.
type Note struct {
	Name, Object string
	Parents      []string
	Message      string
}

// Notes lists the references below prefix (which ends in a slash), newest commit first, or the one reference that prefix is.
func (r Repo) Notes(ctx context.Context, prefix string) ([]Note, error) {
	if err := CheckRef(strings.TrimSuffix(prefix, "/")); err != nil {
		return nil, err
	}
	const fields = 4
	said, err := r.text(ctx, "for-each-ref", "--sort=-committerdate", "--format=%(refname)%00%(objectname)%00%(parent)%00%(contents)%00", prefix)
	if err != nil {
		return nil, err
	}
	var notes []Note
	for parts := strings.Split(said, "\x00"); len(parts) > fields; parts = parts[fields:] {
		notes = append(notes, Note{strings.TrimPrefix(parts[0], "\n"), parts[1], strings.Fields(parts[2]), parts[3]})
	}
	return notes, nil
}
