package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MergeBase is the best common ancestor of two commits; "" when they have none.
func (r Repo) MergeBase(ctx context.Context, a, b string) (string, error) {
	if err := checkIDs(a, b); err != nil {
		return "", err
	}
	result, err := r.run(ctx, call{args: []string{"merge-base", a, b}, answers: []int{1}})
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(result.Stdout)), nil
}

// IsAncestor says whether the commit descendant has the commit ancestor in its history.
func (r Repo) IsAncestor(ctx context.Context, ancestor, descendant string) (bool, error) {
	if err := checkIDs(ancestor, descendant); err != nil {
		return false, err
	}
	if ancestor == descendant {
		return true, nil
	}
	result, err := r.run(ctx, call{args: []string{"merge-base", "--is-ancestor", ancestor, descendant}, answers: []int{1}})
	return err == nil && result.Exit == 0, err
}

// HasCommit says whether the repository has the commit id.
func (r Repo) HasCommit(ctx context.Context, id string) (bool, error) {
	_, err := r.TreeOf(ctx, id)
	var failed *Error
	if errors.As(err, &failed) {
		return false, nil
	}
	return err == nil, err
}

// MissingCommits are those of ids that the repository has not got as commits, in one process.
func (r Repo) MissingCommits(ctx context.Context, ids []string) ([]string, error) {
	if err := checkIDs(ids...); err != nil || len(ids) == 0 {
		return nil, err
	}
	result, err := r.run(ctx, call{args: []string{"cat-file", "--batch-check=%(objecttype)"}, stdin: []byte(strings.Join(ids, "\n") + "\n")})
	if err != nil {
		return nil, err
	}
	said := strings.Split(strings.TrimSuffix(string(result.Stdout), "\n"), "\n")
	if len(said) != len(ids) {
		return nil, fmt.Errorf("look for commits: %d answers to %d questions", len(said), len(ids))
	}
	var missing []string
	for i, answer := range said {
		if answer != "commit" {
			missing = append(missing, ids[i])
		}
	}
	return missing, nil
}

// Unreached lists the commits, among all objects of the repository and of those it borrows, that no reference reaches and no other such commit
// has for a parent.
func (r Repo) Unreached(ctx context.Context) ([]string, error) {
	// What lies beside borrowed objects to speed up reading them is somebody else's word for what is in them.
	plain := []Setting{{"core.commitGraph", "false"}, {"core.multiPackIndex", "false"}}
	result, err := r.run(ctx, call{args: []string{"cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)"}, config: plain})
	if err != nil {
		return nil, err
	}
	var ids strings.Builder
	for line := range strings.Lines(string(result.Stdout)) {
		if id, ok := strings.CutPrefix(line, "commit "); ok {
			ids.WriteString(id)
		}
	}
	result, err = r.run(ctx, call{args: []string{"rev-list", "--parents", "--stdin", "--not", "--all"}, stdin: []byte(ids.String()), config: plain})
	if err != nil {
		return nil, err
	}
	parents := map[string]bool{}
	var commits []string
	for line := range strings.Lines(string(result.Stdout)) {
		for i, id := range strings.Fields(line) {
			if i == 0 {
				commits = append(commits, id)
			} else {
				parents[id] = true
			}
		}
	}
	return slices.DeleteFunc(commits, func(id string) bool { return parents[id] }), nil
}

// TreeOf is the tree of a commit.
func (r Repo) TreeOf(ctx context.Context, commit string) (string, error) {
	if err := checkIDs(commit); err != nil {
		return "", err
	}
	return r.text(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{tree}")
}

// AheadBehind counts the commits that only a has, and those that only b has.
func (r Repo) AheadBehind(ctx context.Context, a, b string) (ahead, behind int, err error) {
	if err := checkIDs(a, b); err != nil {
		return 0, 0, err
	}
	said, err := r.text(ctx, "rev-list", "--left-right", "--count", a+"..."+b, "--")
	if err != nil {
		return 0, 0, err
	}
	if _, err := fmt.Sscan(said, &ahead, &behind); err != nil {
		return 0, 0, fmt.Errorf("count commits: %q: %w", said, err)
	}
	return ahead, behind, nil
}

// Tips are those of the commits that ids name which neither known nor another of them reaches, sorted. Ids that name no commit, or nothing that is
// there, are passed over.
func (r Repo) Tips(ctx context.Context, ids, known []string) ([]string, error) {
	if err := checkIDs(append(append([]string{}, ids...), known...)...); err != nil {
		return nil, err
	}
	want := strings.Join(ids, "\n") + "\n^" + strings.Join(known, "\n^") + "\n"
	result, err := r.run(ctx, call{args: []string{"rev-list", "--parents", "--ignore-missing", "--stdin"}, stdin: []byte(want), config: unaided})
	if err != nil {
		return nil, err
	}
	reached := map[string]bool{}
	var commits []string
	for line := range strings.Lines(string(result.Stdout)) {
		chain := strings.Fields(line)
		commits = append(commits, chain[0])
		for _, parent := range chain[1:] {
			reached[parent] = true
		}
	}
	commits = slices.DeleteFunc(commits, func(id string) bool { return reached[id] })
	slices.Sort(commits)
	return commits, nil
}

// MergeTree is what merging two commits would give.
type MergeTree struct {
	Tree      string   // with conflict markers in the conflicting files, if any
	Conflicts []string // paths
}

// MergeTree merges the commit theirs into the commit ours without a checkout.
func (r Repo) MergeTree(ctx context.Context, ours, theirs string) (MergeTree, error) {
	if err := checkIDs(ours, theirs); err != nil {
		return MergeTree{}, err
	}
	args := []string{"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs}
	result, err := r.run(ctx, call{args: args, answers: []int{1}})
	if err != nil {
		return MergeTree{}, err
	}
	fields := strings.Split(strings.TrimSuffix(string(result.Stdout), "\x00"), "\x00")
	// Exit code 1 means a conflict, but also a commit that is not there: only an answer that begins with a tree is one.
	if !IsObjectID(fields[0]) {
		return MergeTree{}, &Error{Args: args, Dir: r.name(), Exit: result.Exit, Stderr: tail(result.Stderr)}
	}
	merged := MergeTree{Tree: fields[0]}
	if result.Exit == 1 {
		merged.Conflicts = fields[1:]
	}
	return merged, nil
}

// NewCommit is a commit to make from a tree.
type NewCommit struct {
	Tree    string
	Parents []string
	Message string
	// Author is who wrote it, when it is not the repository's identity, and AuthorDate when, as git writes dates.
	Author     Identity
	AuthorDate string
}

// CommitTree makes a commit; no reference moves. Its object id is durable when this returns.
func (r Repo) CommitTree(ctx context.Context, c NewCommit) (string, error) {
	if err := checkIDs(append([]string{c.Tree}, c.Parents...)...); err != nil {
		return "", err
	}
	args := []string{"commit-tree", c.Tree}
	for _, parent := range c.Parents {
		args = append(args, "-p", parent)
	}
	if r.sign {
		args = append(args, "-S")
	}
	env := r.identity.env()
	if c.Author != (Identity{}) {
		env = append(env, "GIT_AUTHOR_NAME="+c.Author.Name, "GIT_AUTHOR_EMAIL="+c.Author.Email)
	}
	if c.AuthorDate != "" {
		env = append(env, "GIT_AUTHOR_DATE="+c.AuthorDate)
	}
	result, err := r.run(ctx, call{args: args, stdin: []byte(c.Message), env: env})
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(result.Stdout)), r.settleObjects()
}

// LogEntry is one commit of a log.
type LogEntry struct {
	Commit     string
	Tree       string
	Parents    []string
	Author     Identity
	AuthorDate string // "@<seconds> <zone>", as git takes dates
	Subject    string
	Message    string // subject and body
}

const logFormat = "%H%x00%T%x00%P%x00%an%x00%ae%x00%ad%x00%s%x00%B%x00"

// Log lists the commits that head has and base has not, oldest first, at most limit of the newest (0: all). base may be empty.
func (r Repo) Log(ctx context.Context, base, head string, limit int) ([]LogEntry, error) {
	if err := checkIDs(head); err != nil {
		return nil, err
	}
	args := []string{"log", "--reverse", "--topo-order", "--no-show-signature", "--no-color", "--date=raw", "--format=" + logFormat}
	if limit > 0 {
		args = append(args, fmt.Sprintf("--max-count=%d", limit))
	}
	args = append(args, head)
	if base != "" {
		if err := checkIDs(base); err != nil {
			return nil, err
		}
		args = append(args, "^"+base)
	}
	result, err := r.run(ctx, call{args: append(args, "--")})
	if err != nil {
		return nil, err
	}
	return parseLog(string(result.Stdout)), nil
}

func parseLog(said string) []LogEntry {
	const fields = 8
	parts := strings.Split(said, "\x00")
	var entries []LogEntry
	for ; len(parts) > fields; parts = parts[fields:] {
		entries = append(entries, LogEntry{
			Commit: strings.TrimPrefix(parts[0], "\n"), Tree: parts[1], Parents: strings.Fields(parts[2]),
			Author: Identity{parts[3], parts[4]}, AuthorDate: "@" + parts[5], Subject: parts[6], Message: parts[7],
		})
	}
	return entries
}
