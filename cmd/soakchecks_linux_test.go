//go:build linux && (amd64 || arm64)

package cmd

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/lease"
	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/work"
)

// sight is what must not change in the user's repository during a tick.
type sight struct {
	checkout string            // status and contents of what is not committed
	on       string            // what HEAD names
	branches map[string]string // full name -> commit
}

func (s *soak) look() sight {
	v := sight{branches: map[string]string{}}
	var err error
	v.on, err = s.git(s.shop(), "symbolic-ref", "HEAD")
	s.wish(err)
	status, err := s.git(s.shop(), "status", "--porcelain", "-uall", "--", ".", ":!.backburner")
	s.wish(err)
	stash, err := s.git(s.shop(), "stash", "list")
	s.wish(err)
	diff, err := s.git(s.shop(), "diff", "HEAD", "--", ".", ":!.backburner")
	s.wish(err)
	v.checkout = strings.Join([]string{status, stash, diff}, "\n")
	refs, err := s.git(s.shop(), "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/")
	s.wish(err)
	for line := range strings.Lines(refs) {
		name, commit, _ := strings.Cut(strings.TrimSpace(line), " ")
		v.branches[name] = commit
	}
	return v
}

// sound says what is promised and does not hold after a tick.
func (s *soak) sound() error {
	s.settle()
	all := []error{
		s.impossible(), s.readable(), s.free(), s.untouched(), s.forward(), s.kept(), s.once(), s.runOnce(), s.intact(), s.leftovers(),
	}
	if s.whole {
		all = append(all, s.quiet())
	}
	return errors.Join(all...)
}

// settle waits for the git that a killed tick had started: it is not supervised,
// and ends by itself.
func (s *soak) settle() {
	for range 1000 {
		git := false
		for _, command := range s.processes() {
			git = git || strings.HasPrefix(command, "git ") || strings.Contains(command, "/git ")
		}
		if !git {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (s *soak) impossible() error {
	for _, line := range s.journal {
		if strings.Contains(line, "THAT MUST NOT BE") {
			return errors.New(line)
		}
	}
	return nil
}

// readable checks every file of the state.
func (s *soak) readable() error {
	var bad []error
	for _, p := range store.Verify(s.state()) {
		if !strings.HasPrefix(p.Next, "nothing") {
			bad = append(bad, errors.New(p.String()))
		}
	}
	return errors.Join(bad...)
}

func (s *soak) free() error {
	holder, alive, err := lease.Peek(s.state(), time.Now())
	if alive {
		err = fmt.Errorf("the lease is held by %v", holder)
	}
	return err
}

// quiet checks that nothing runs that a tick has started, when the last one came
// to its end.
func (s *soak) quiet() error {
	left := s.processes()
	if len(left) > 0 {
		return fmt.Errorf("still running: %v", left)
	}
	return nil
}

// untouched checks the user's checkout. A merge may bring it forward; when it is
// killed at that, the user has to clean up.
func (s *soak) untouched() error {
	now := s.look()
	if now.on != s.before.on {
		return fmt.Errorf("the checkout was on %s and is on %s", s.before.on, now.on)
	}
	if now.checkout == s.before.checkout {
		return nil
	}
	if !s.whole && s.merging() {
		s.cleanUp()
		return nil
	}
	return fmt.Errorf("the checkout was\n%s\nand is\n%s", s.before.checkout, now.checkout)
}

// merging says whether a tick died over a merge.
func (s *soak) merging() bool {
	for _, id := range s.open() {
		var w work.Workstream
		if readInto(filepath.Join(s.state(), "workstreams", id+".json"), &w) != nil {
			continue
		}
		if slices.ContainsFunc(w.Intents, func(i work.Intent) bool { return i.Kind == "merge" }) {
			return true
		}
	}
	return false
}

// forward checks that no branch of the user's lost a commit.
func (s *soak) forward() error {
	now := s.look()
	for name, old := range s.before.branches {
		if s.touched[name] || now.branches[name] == old {
			continue
		}
		if now.branches[name] == "" {
			return fmt.Errorf("%s is gone; it was at %s", name, old)
		}
		if _, err := s.git(s.shop(), "merge-base", "--is-ancestor", old, now.branches[name]); err != nil {
			return fmt.Errorf("%s went from %s to %s, which does not follow", name, old, now.branches[name])
		}
	}
	return nil
}

// kept checks that all that agents noted in the ledger is in a reference of the
// store, or where they left it.
func (s *soak) kept() error {
	if _, err := os.Stat(s.storeDir()); err != nil {
		return nil // no tick has come so far
	}
	objects, err := s.git(s.storeDir(), "rev-list", "--objects", "--all")
	if err != nil {
		return err
	}
	ledger, err := os.ReadFile(filepath.Join(s.dir, "ledger"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var lost []error
	for line := range strings.Lines(string(ledger)) {
		what, id := strings.Fields(line)[0], strings.Fields(line)[1]
		if !strings.Contains(objects, id) && !s.there(what, id) {
			lost = append(lost, fmt.Errorf("lost: %s", line))
		}
	}
	return errors.Join(lost...)
}

// there says whether something is still in a workspace, or in what was put aside.
func (s *soak) there(what, id string) bool {
	var found bool
	for _, folder := range []string{"workspaces", "aside"} {
		_ = filepath.WalkDir(filepath.Join(s.shop(), ".backburner", folder), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
			case entry.Name() == ".git":
				said, err := s.git(filepath.Dir(path), "rev-list", "--objects", "--reflog", "--all", "HEAD")
				found = found || err == nil && strings.Contains(said, id)
				return fs.SkipDir
			case entry.Type().IsRegular() && what == "blob":
				text, _ := os.ReadFile(path)
				found = found || fmt.Sprintf("%x", sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(text)), text...))) == id
			}
			return nil
		})
	}
	return found
}

// once checks that nothing was told or pushed twice.
func (s *soak) once() error {
	var twice []error
	for _, pattern := range []string{"workstreams/*/thread.md", "archive/*/*/thread.md"} {
		threads, _ := filepath.Glob(filepath.Join(s.state(), pattern))
		for _, path := range threads {
			if err := toldEach(path, nil, nil); err != nil {
				twice = append(twice, fmt.Errorf("%s: %w", path, err))
			}
		}
	}
	pushes, _ := os.ReadFile(filepath.Join(s.dir, "pushes"))
	seen := map[string]bool{}
	for line := range strings.Lines(string(pushes)) {
		if seen[line] {
			twice = append(twice, fmt.Errorf("pushed twice: %s", line))
		}
		seen[line] = true
	}
	return errors.Join(twice...)
}

// runOnce checks that no task was run again after a run that counted.
func (s *soak) runOnce() error {
	records, err := filepath.Glob(filepath.Join(s.state(), "executions", "*", "execution.json"))
	if err != nil {
		return err
	}
	slices.Sort(records) // by workstream, then by age
	counted := map[string]string{}
	for _, record := range records {
		var x work.Execution
		if err := readInto(record, &x); err != nil {
			return err
		}
		if x.Kind != work.ByAgent {
			continue
		}
		task := x.Workstream + "/" + x.Task
		if before := counted[task]; before != "" {
			return fmt.Errorf("%s ran %s again, which %s had done", x.ID, task, before)
		}
		if x.Class == "" && x.Outcome != "" && x.Outcome != "needs_input" {
			counted[task] = x.ID
		}
	}
	return nil
}

func (s *soak) intact() error {
	for _, dir := range []string{s.storeDir(), s.shop(), filepath.Join(s.dir, "origin.git")} {
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		if _, err := s.git(dir, "fsck", "--no-progress", "--no-dangling"); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	return nil
}

var leftover = regexp.MustCompile(`\.tmp-[0-9a-z]+$|/\.backburner/tmp/|/\.review\.|/tmp_[a-z]+_[0-9A-Za-z]+$|\.lock$|\.exit\.json\.`)

// leftovers checks that what kills leave lying about does not add up.
func (s *soak) leftovers() error {
	var left []string
	err := filepath.WalkDir(filepath.Join(s.shop(), ".backburner"), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil, !leftover.MatchString(path), strings.Contains(path, "/workspaces/"), strings.Contains(path, "/aside/"):
			return nil // gone meanwhile, or an agent's own
		case entry.IsDir():
			left = append(left, path)
			return fs.SkipDir
		case filepath.Base(path) != "lease.lock":
			left = append(left, path)
		}
		return nil
	})
	if err == nil && len(left) > 10+3*s.kills {
		err = fmt.Errorf("%d files were left by %d kills: %s", len(left), s.kills, strings.Join(left[:10], " "))
	}
	return err
}

// explained checks that every workstream waits for a person or is over, and that
// status says for what.
func (s *soak) explained() error {
	var bad []error
	for _, w := range s.view() {
		switch w.Status {
		case "awaiting_input", "awaiting_approval", "ready_to_merge", "blocked", "paused_budget", "failed":
		default:
			if !strings.Contains(w.Next, "tried again after") {
				bad = append(bad, fmt.Errorf("%s is still %s: %s: %s", w.ID, w.Status, w.Detail, w.Next))
			}
		}
		if w.Next == "" {
			bad = append(bad, fmt.Errorf("%s is %s, and nobody is told why", w.ID, w.Status))
		}
	}
	return errors.Join(bad...)
}
