package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/git"
)

// salvages is where salvaged work is kept: <workspace>/<task>/<n> below it.
const salvages = "refs/backburner/salvage/"

// Manifest says what was salvaged, and from where. It is the message of the commit that a salvage reference names; the commit's tree are the
// files as they were found, and its parents are the commits that were found.
type Manifest struct {
	Workspace string            `json:"workspace"`
	Task      string            `json:"task"`
	Branch    string            `json:"branch"`
	Believed  string            `json:"believed,omitempty"`  // commit that the branch was thought to be at
	Head      string            `json:"head,omitempty"`      // commit that the workspace was at
	On        string            `json:"on,omitempty"`        // branch that it was on; "" when HEAD was detached
	Operation string            `json:"operation,omitempty"` // what git was in the middle of
	Refs      map[string]string `json:"refs,omitempty"`      // its branches, and what else named commits that are in no checkpoint
	Damage    string            `json:"damage,omitempty"`    // why commits are missing here
	Paths     []string          `json:"paths,omitempty"`     // files that differ from the branch, at most 200 of them
	Changed   int               `json:"changed"`             // how many those were
	New       int               `json:"new,omitempty"`       // how many of them the branch has not
	Nested    []string          `json:"nested,omitempty"`    // repositories in it, which are put aside and not in here
	At        time.Time         `json:"at"`
}

// saved is one salvage.
type saved struct {
	ref      string
	manifest Manifest
	commits  int // commits that are in no branch of the store
}

// salvage saves the files and commits of a workspace under a new reference in the store. head is the branch's commit in the store.
// The files are in backburner's index after that.
func (s *space) salvage(ctx context.Context, c *clone, f found, head, task string) (saved, error) {
	manifest := Manifest{
		Workspace: s.given.ID, Task: task, Branch: s.given.Branch, Believed: s.given.Head, Head: f.head,
		On: strings.TrimPrefix(f.branch, git.Heads), Operation: f.operation, Damage: f.damage, At: s.m.now().UTC(),
	}
	parents, err := s.salvageCommits(ctx, c, f, head, &manifest)
	if err != nil {
		return saved{}, err
	}
	ref, err := s.salvageOn(ctx, parents, &manifest)
	return saved{ref, manifest, len(parents) - 1}, err
}

// salvageOn saves the files of the working tree as a commit with these parents, and says which reference has it.
func (s *space) salvageOn(ctx context.Context, parents []string, manifest *Manifest) (string, error) {
	tree, err := s.salvageFiles(ctx, manifest)
	if err != nil {
		return "", err
	}
	return s.keepAs(ctx, manifest, tree, parents)
}

const manifestPaths = 200 // paths in a manifest, at most

// keepAs keeps a tree with the manifest that describes it.
func (s *space) keepAs(ctx context.Context, manifest *Manifest, tree string, parents []string) (string, error) {
	message, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return "", err
	}
	return s.keep(ctx, manifest.Task, git.NewCommit{
		Tree: tree, Parents: parents, Message: fmt.Sprintf("salvage %s of %s\n\n%s\n", manifest.Task, s.given.ID, message),
	})
}

// KeptRewritten stands for the task in a salvage of what people replaced on the published branch.
const KeptRewritten = "rewritten"

// keepReplaced keeps the commit from, all that the branch was, as it differs from the commit to, which people put in its place.
func (s *space) keepReplaced(ctx context.Context, from, to string) (string, error) {
	tree, differences, err := s.store.Compare(ctx, from, to)
	if err != nil {
		return "", err
	}
	paths := differences[0].Paths()
	manifest := Manifest{
		Workspace: s.given.ID, Task: KeptRewritten, Branch: s.given.Branch, Believed: from, Head: from, On: s.given.Branch,
		Refs: map[string]string{s.branch: from}, Changed: len(paths), Paths: paths[:min(len(paths), manifestPaths)], At: s.m.now().UTC(),
	}
	return s.keepAs(ctx, &manifest, tree, []string{to, from})
}

// interrupted stands for a task where saved work is named that was found when a move from one commit to another was to be finished.
const interrupted = "interrupted"

// keepForeign saves the working tree when files in it are neither as the commit from has them nor as the commit to, between which it was being
// moved when that was interrupted: somebody changed them since, or git had half written them.
func (s *space) keepForeign(ctx context.Context, from, to string) error {
	differs := map[string]int{}
	commits := slices.Compact([]string{from, to})
	for _, commit := range commits {
		if err := s.tree.ReadIndex(ctx, commit); err != nil {
			return err
		}
		status, err := s.status(ctx)
		if err != nil {
			return err
		}
		for _, path := range status.Paths() {
			if _, err := os.Lstat(filepath.Join(s.dir, path)); err == nil {
				differs[path]++
			}
		}
	}
	for _, times := range differs {
		if times == len(commits) {
			return s.keepMoved(ctx, to)
		}
	}
	return nil
}

func (s *space) keepMoved(ctx context.Context, to string) error {
	if err := s.identify(ctx); err != nil {
		return err
	}
	_, err := s.salvageOn(ctx, []string{to}, &Manifest{
		Workspace: s.given.ID, Task: interrupted, Branch: s.given.Branch, Believed: s.given.Head, Head: to, At: s.m.now().UTC(),
	})
	return err
}

// salvageCommits takes every commit that the workspace names and the store has not into the store, and says what the salvage's parents
// are: the branch's commit first.
func (s *space) salvageCommits(ctx context.Context, c *clone, f found, head string, manifest *Manifest) ([]string, error) {
	parents := []string{head}
	if f.damage != "" {
		return parents, nil
	}
	names := c.named(f, s.memory().Reviewed)
	tips, err := s.unsaved(ctx, c, names, head)
	if err != nil || len(tips) == 0 {
		return parents, err
	}
	parents = append(parents, tips...)
	manifest.Refs = names
	maps.DeleteFunc(names, func(name, id string) bool { return !strings.HasPrefix(name, git.Heads) && !slices.Contains(tips, id) })
	err = s.importCommits(ctx, c, tips, head)
	unreadable := refusal(err)
	if unreadable == nil {
		return parents, err
	}
	// One damaged commit must not cost the others: each by itself.
	manifest.Damage = unreadable.Error()
	whole := parents[:1]
	for _, id := range tips {
		if err := s.importCommits(ctx, c, []string{id}, head); err == nil {
			whole = append(whole, id)
		} else if refusal(err) == nil {
			return nil, err
		}
	}
	return whole, nil
}

// salvageFiles brings the working tree into backburner's index and makes a tree of it.
func (s *space) salvageFiles(ctx context.Context, manifest *Manifest) (string, error) {
	status, err := s.status(ctx)
	if err != nil {
		return "", err
	}
	var paths []string
	for _, entry := range status.Entries {
		if entry.Nested {
			manifest.Nested = append(manifest.Nested, entry.Path)
			continue
		}
		paths = append(paths, entry.Path)
		if entry.Code == "??" {
			manifest.New++
		}
	}
	manifest.Changed = len(paths)
	manifest.Paths = paths[:min(len(paths), manifestPaths)]
	refused, err := s.stageMost(ctx, status.Entries)
	if err != nil {
		return "", err
	}
	if len(refused) > 0 {
		manifest.Damage = strings.TrimSpace(manifest.Damage + " git takes no " + few(refused))
	}
	return s.tree.WriteTree(ctx)
}

// stageMost stages all entries that git takes, and says which it does not. A group that is refused is tried in halves.
func (s *space) stageMost(ctx context.Context, entries []git.StatusEntry) (refused []string, err error) {
	err = s.tree.Stage(ctx, entries)
	switch {
	case refusal(err) == nil:
		return nil, err
	case len(entries) == 1:
		return []string{entries[0].Path}, nil
	}
	half := len(entries) / 2
	for _, part := range [][]git.StatusEntry{entries[:half], entries[half:]} {
		more, err := s.stageMost(ctx, part)
		if err != nil {
			return nil, err
		}
		refused = append(refused, more...)
	}
	return refused, nil
}

// keep makes a commit and names it by the first free number below the task, unless the last one there is the same.
func (s *space) keep(ctx context.Context, task string, c git.NewCommit) (string, error) {
	dir := salvages + refComponent(s.given.ID) + "/" + refComponent(task) + "/"
	last := ""
	for n := 1; ; n++ {
		ref := dir + strconv.Itoa(n)
		taken, err := s.store.ReadRef(ref)
		if err != nil {
			return "", err
		}
		if taken != "" {
			last = taken
			continue
		}
		if last != "" {
			log, err := s.store.Log(ctx, "", last, 1)
			if err == nil && log[0].Tree == c.Tree && slices.Equal(log[0].Parents, c.Parents) {
				return dir + strconv.Itoa(n-1), nil
			}
		}
		commit, err := s.store.CommitTree(ctx, c)
		if err != nil {
			return "", err
		}
		if err := s.store.UpdateRef(ctx, ref, commit, git.ZeroID(commit)); err != nil {
			return "", fmt.Errorf("keep what was found: %w", err)
		}
		return ref, nil
	}
}

// refComponent is text as one component of a reference's name.
func refComponent(text string) string {
	name := component(text)
	name = strings.ReplaceAll(name, "..", "%2E%2E")
	if rest, ok := strings.CutSuffix(name, ".lock"); ok {
		name = rest + "%2Elock"
	}
	if rest, ok := strings.CutSuffix(name, "."); ok {
		name = rest + "%2E"
	}
	if strings.HasPrefix(name, "-") {
		name = "%2D" + name[1:]
	}
	return name
}
