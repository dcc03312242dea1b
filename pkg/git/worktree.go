package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Status is how a working tree differs from its index, and its index from HEAD.
type Status struct {
	Head    string // the commit of HEAD; "" when there is none yet
	Branch  string // short name; "" when HEAD is detached
	Entries []StatusEntry
}

// StatusEntry is one path that differs.
type StatusEntry struct {
	Path string
	// Code is that of git status: "??" untracked, else what the index and the working tree did to it (".M", "A.", ".D").
	Code string
	// Nested says that the path is an untracked repository of its own.
	Nested bool
}

// Gone says that the path is not in the working tree.
func (e StatusEntry) Gone() bool { return strings.HasSuffix(e.Code, "D") }

// Paths lists the paths of all entries.
func (s Status) Paths() []string {
	paths := make([]string, len(s.Entries))
	for i, e := range s.Entries {
		paths[i] = e.Path
	}
	return paths
}

// Status compares the working tree with the index and HEAD. Ignored files are left out. It does not look into submodules: git would run what
// their configuration says. It writes nothing, but for a private repository's index, in which git notes the files that it had to read
// and found unchanged: else it would read them again each time.
func (r Repo) Status(ctx context.Context) (Status, error) {
	c := call{args: []string{
		"status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all", "--no-ahead-behind",
	}}
	if r.private {
		c.env = []string{"GIT_OPTIONAL_LOCKS=1"}
	}
	result, err := r.run(ctx, c)
	if err != nil {
		return Status{}, err
	}
	if strings.Contains(string(result.Stderr), "could not open directory") { // git goes on without it
		return Status{}, &Error{Args: c.args, Dir: r.name(), Stderr: tail(result.Stderr)}
	}
	return parseStatus(string(result.Stdout))
}

func parseStatus(said string) (Status, error) {
	var s Status
	for line := range strings.SplitSeq(strings.TrimSuffix(said, "\x00"), "\x00") {
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "#":
			s.header(rest)
		case "?":
			s.Entries = append(s.Entries, StatusEntry{Path: strings.TrimSuffix(rest, "/"), Code: "??", Nested: strings.HasSuffix(rest, "/")})
		case "1", "u":
			// "1 XY sub mH mI mW hH hI path", "u XY sub m1 m2 m3 mW h1 h2 h3 path"
			fields := map[string]int{"1": 8, "u": 10}[kind]
			parts := strings.SplitN(rest, " ", fields)
			if len(parts) < fields {
				return s, fmt.Errorf("read status: %q", line)
			}
			s.Entries = append(s.Entries, StatusEntry{Path: parts[fields-1], Code: parts[0]})
		case "":
		default:
			return s, fmt.Errorf("read status: %q", line)
		}
	}
	return s, nil
}

func (s *Status) header(text string) {
	key, value, _ := strings.Cut(text, " ")
	switch {
	case key == "branch.oid" && value != "(initial)":
		s.Head = value
	case key == "branch.head" && value != "(detached)":
		s.Branch = value
	}
}

// Stage brings what entries name into the index, with the filters that the user configured. Nested repositories are passed over.
//
// It is update-index and not add: add looks into submodules, by running git there with the configuration found there.
func (r Repo) Stage(ctx context.Context, entries []StatusEntry) error {
	var gone, there []string
	for _, e := range entries {
		switch {
		case e.Nested:
		case e.Gone():
			gone = append(gone, e.Path)
		default:
			there = append(there, e.Path)
		}
	}
	// A path that is gone because a link or a file took the place of one of its folders cannot be looked at: it is removed by name.
	if clash(gone, there) {
		if err := r.updateIndex(ctx, "--force-remove", gone); err != nil {
			return err
		}
		gone = nil
	}
	return r.updateIndex(ctx, "--add", append(gone, there...))
}

func (r Repo) updateIndex(ctx context.Context, how string, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	args := []string{"update-index", how, "--remove", "--replace", "-z", "--stdin"}
	result, err := r.run(ctx, call{args: args, stdin: []byte(strings.Join(paths, "\x00") + "\x00")})
	if err == nil && strings.Contains(string(result.Stderr), "Ignoring path ") { // .GIT, git~1: other systems take them for git's own folder
		err = &Error{Args: args, Dir: r.name(), Stderr: tail(result.Stderr)}
	}
	return err
}

// clash says whether a path that is there lies where a path that is gone had one of its folders.
func clash(gone, there []string) bool {
	present := make(map[string]bool, len(there))
	for _, path := range there {
		present[path] = true
	}
	for _, path := range gone {
		for i := range len(path) {
			if path[i] == '/' && present[path[:i]] {
				return true
			}
		}
	}
	return false
}

// Commit commits the index on the branch of HEAD and says which commit that made; object and reference are durable.
// The error wraps ErrNothing when the index is that of HEAD, and ErrMoved when another process committed meanwhile.
func (r Repo) Commit(ctx context.Context, branch, message string) (string, error) {
	if err := CheckRef(branch); err != nil {
		return "", err
	}
	// Not by standard input: a commit that outlived a killed caller would have the part of the message that was written until then.
	file := filepath.Join(r.dir, "BACKBURNER_MSG")
	if err := os.WriteFile(file, []byte(message), 0o666); err != nil {
		return "", fmt.Errorf("write the commit's message: %w", err)
	}
	result, err := r.run(ctx, call{
		args: []string{
			"commit", "--quiet", "--no-verify", "--no-status", "--cleanup=whitespace", "--allow-empty-message", "--no-edit", "-F", file,
		},
		env: r.identity.env(), answers: []int{1},
	})
	if err != nil {
		return "", moved(err)
	}
	if result.Exit == 1 {
		failed := &Error{Args: []string{"commit"}, Dir: r.name(), Exit: 1, Stderr: tail(append(result.Stderr, result.Stdout...))}
		if strings.Contains(failed.Stderr, "nothing to commit") || strings.Contains(failed.Stderr, "nothing added to commit") {
			return "", fmt.Errorf("%w: %w", ErrNothing, failed)
		}
		return "", failed
	}
	if err := r.Settle(branch); err != nil {
		return "", err
	}
	return r.ReadRef(branch)
}

// ErrNothing says that there is nothing to commit.
var ErrNothing = errors.New("nothing to commit")

// WriteTree writes the index as a tree and says which.
func (r Repo) WriteTree(ctx context.Context) (string, error) { return r.text(ctx, "write-tree") }

// ReadTree makes the index and the working tree those of a commit or tree, from whatever they are now. What the index knows and the
// tree has not is removed, what it does not know and is not in the way is left.
func (r Repo) ReadTree(ctx context.Context, tree string) error {
	if err := checkIDs(tree); err != nil {
		return err
	}
	_, err := r.run(ctx, call{args: []string{"read-tree", "--reset", "-u", "--no-recurse-submodules", tree}})
	return err
}

// ReadIndex makes the index that of a commit or tree and leaves the working tree alone. What it knew of unchanged files it keeps.
func (r Repo) ReadIndex(ctx context.Context, tree string) error {
	if err := checkIDs(tree); err != nil {
		return err
	}
	_, err := r.run(ctx, call{args: []string{"read-tree", "--reset", "--no-recurse-submodules", tree}})
	return err
}

// SwitchTree takes a clean working tree from the commit or tree from to the commit or tree to. It fails, and changes nothing, when a
// file that differs from from, or an untracked one, would be overwritten.
func (r Repo) SwitchTree(ctx context.Context, from, to string) error {
	if err := checkIDs(from, to); err != nil {
		return err
	}
	_, err := r.run(ctx, call{args: []string{"read-tree", "-m", "-u", "--no-recurse-submodules", from, to}})
	return err
}

// FastForward moves the branch that is checked out, its index and its working tree to commit, a descendant; it fails and changes nothing
// when a changed or untracked file is in the way.
func (r Repo) FastForward(ctx context.Context, commit string) error {
	if err := checkIDs(commit); err != nil {
		return err
	}
	_, err := r.run(ctx, call{args: []string{"merge", "--quiet", "--ff-only", "--no-stat", "--no-autostash", "--no-verify-signatures", commit}, env: r.identity.env()})
	return err
}
