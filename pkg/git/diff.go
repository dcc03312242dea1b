package git

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Change is one path that differs between two trees.
type Change struct {
	Path             string
	Status           byte // 'A' added, 'M' modified, 'D' deleted, 'T' changed its type
	OldMode, NewMode string
	Object           string // id of what is there now
	Added, Deleted   int    // lines; both 0 for binary files
	Binary           bool
}

// Gitlink says that one side is a submodule.
func (c Change) Gitlink() bool { return c.OldMode == "160000" || c.NewMode == "160000" }

// Comparison is how a commit differs from another.
type Comparison struct {
	Changes []Change
	// Hash is the same for the same difference: paths, modes and contents before and after. "" when there is none.
	Hash string
}

// Paths lists the changed paths.
func (c Comparison) Paths() []string {
	paths := make([]string, len(c.Changes))
	for i, change := range c.Changes {
		paths[i] = change.Path
	}
	return paths
}

// Lines counts added and deleted lines.
func (c Comparison) Lines() (added, deleted int) {
	for _, change := range c.Changes {
		added += change.Added
		deleted += change.Deleted
	}
	return added, deleted
}

// Compare says which tree commit has, and how it differs from each of the commits against, in one process.
func (r Repo) Compare(ctx context.Context, commit string, against ...string) (tree string, differences []Comparison, err error) {
	if err := checkIDs(append([]string{commit}, against...)...); err != nil {
		return "", nil, err
	}
	var pairs bytes.Buffer
	for _, other := range against {
		fmt.Fprintf(&pairs, "%s %s\n", commit, other)
	}
	result, err := r.run(ctx, call{
		args: []string{
			"diff-tree", "--stdin", "-r", "-z", "--raw", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-abbrev",
			"--always", "--format=%H %T",
		},
		stdin: pairs.Bytes(),
	})
	if err != nil {
		return "", nil, err
	}
	tree, differences, err = parseComparisons(string(result.Stdout))
	if err == nil && len(differences) != len(against) {
		err = fmt.Errorf("compare %s: %d answers to %d questions", commit, len(differences), len(against))
	}
	return tree, differences, err
}

// parseComparisons reads, for each pair, "<commit> <tree>\0", then ":<modes, ids> <status>\0<path>\0" for each path, then
// "<added>\t<deleted>\t<path>\0" for each in the same order.
func parseComparisons(said string) (tree string, all []Comparison, err error) {
	p := comparisonParser{tokens: strings.Split(strings.TrimSuffix(said, "\x00"), "\x00")}
	for len(p.tokens) > 0 {
		token := strings.TrimPrefix(p.next(), "\n")
		known := true
		switch {
		case token == "":
		case token[0] == ':':
			known = p.change(token)
		case strings.Contains(token, "\t"):
			known = p.count(token)
		default:
			p.finish()
			_, tree, _ = strings.Cut(token, " ")
			p.all = append(p.all, Comparison{})
		}
		if !known {
			return "", nil, fmt.Errorf("read difference: %q", token)
		}
	}
	p.finish()
	return tree, p.all, nil
}

type comparisonParser struct {
	tokens  []string
	all     []Comparison
	raw     bytes.Buffer // what the hash of the last one is of
	counted int          // changes of the last one whose lines are known
}

func (p *comparisonParser) next() string {
	token := p.tokens[0]
	p.tokens = p.tokens[1:]
	return token
}

func (p *comparisonParser) finish() {
	if len(p.all) > 0 && p.raw.Len() > 0 {
		sum := sha256.Sum256(p.raw.Bytes())
		p.all[len(p.all)-1].Hash = hex.EncodeToString(sum[:])
	}
	p.raw.Reset()
	p.counted = 0
}

func (p *comparisonParser) change(token string) bool {
	fields := strings.Fields(token[1:])
	if len(fields) != 5 || len(p.all) == 0 || len(p.tokens) == 0 {
		return false
	}
	path := p.next()
	fmt.Fprintf(&p.raw, "%s %s\x00", token, path)
	last := &p.all[len(p.all)-1]
	last.Changes = append(last.Changes, Change{Path: path, Status: fields[4][0], OldMode: fields[0], NewMode: fields[1], Object: fields[3]})
	return true
}

func (p *comparisonParser) count(token string) bool {
	fields := strings.SplitN(token, "\t", 3)
	if len(fields) != 3 || len(p.all) == 0 {
		return false
	}
	changes := p.all[len(p.all)-1].Changes
	if p.counted >= len(changes) || changes[p.counted].Path != fields[2] {
		return false
	}
	change := &changes[p.counted]
	p.counted++
	if fields[0] == "-" {
		change.Binary = true
		return true
	}
	var err1, err2 error
	change.Added, err1 = strconv.Atoi(fields[0])
	change.Deleted, err2 = strconv.Atoi(fields[1])
	return err1 == nil && err2 == nil
}

// Patch is the difference between two commits as a table for people and as a patch, at most limit bytes of both; truncated says that there was more.
func (r Repo) Patch(ctx context.Context, from, to string, limit int64) (stat string, patch []byte, truncated bool, err error) {
	if err := checkIDs(from, to); err != nil {
		return "", nil, false, err
	}
	result, err := r.run(ctx, call{
		args:  []string{"diff-tree", "--stat=100", "-p", "-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color", from, to},
		limit: limit,
	})
	table, patch, _ := bytes.Cut(result.Stdout, []byte("\n\n")) // no line of the table is empty
	return string(table), patch, result.Truncated, err
}
