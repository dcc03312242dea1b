//go:build linux && (amd64 || arm64)

package cmd

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// request is something a person asks of backburner.
func (s *soak) request() {
	id := s.any(s.open())
	switch n := s.dice.IntN(24); {
	case id == "" || n < 4 && len(s.open()) < 8:
		s.add()
	case n < 8:
		s.ask("answer", id, "This one.")
	case n < 12:
		s.ask("approve", id)
	case n == 12:
		s.ask("approve", id, "--reject", "Do it otherwise.")
	case n < 16:
		s.ask("retry", id, "Mind the gap.")
	case n == 16:
		s.ask("hold", id, "--now")
	case n == 17:
		s.ask("hold", "--all")
		s.ask("resume", "--all")
	case n == 18:
		s.ask("resume", id)
	case n == 19 && s.dice.IntN(2) == 0:
		s.ask("cancel", id)
	case n == 20:
		s.ask("prioritize", id, fmt.Sprint(s.dice.IntN(9)))
	case n == 21:
		s.editSpec()
	default:
		s.ask("merge", id)
	}
}

// add asks for new work, by a file or a request.
func (s *soak) add() {
	id := fmt.Sprintf("w%03d", len(s.journal))
	if s.dice.IntN(2) == 0 {
		s.note("new spec %s", id)
		s.wish(s.write("shop/.backburner/specs/"+id+".md", "# Work "+id+"\n\nAdd a line.\n"))
		return
	}
	s.wish(s.write("asked/"+id+".md", "# Work "+id+"\n\nAdd a line.\n"))
	s.ask("add", filepath.Join(s.dir, "asked", id+".md"))
}

func (s *soak) editSpec() {
	specs, _ := filepath.Glob(filepath.Join(s.shop(), ".backburner", "specs", "*.md"))
	path := s.any(specs)
	s.note("edit of %s", filepath.Base(path))
	text, err := os.ReadFile(path)
	s.wish(err)
	s.wish(os.WriteFile(path, append(text, "And another.\n"...), 0o644))
}

// person does something in the user's repository.
func (s *soak) person() {
	name := fmt.Sprintf("file%d.txt", s.dice.IntN(8))
	switch s.dice.IntN(6) {
	case 0, 1:
		s.note("a person commits %s", name)
		s.appendTo(name, "a person's")
		_, err := s.git(s.shop(), "commit", "-q", "-m", "by hand", "--", name)
		s.wish(err)
	case 2:
		s.note("a person changes %s", name)
		s.appendTo(name, "unfinished")
	case 3:
		s.note("a person makes a file")
		s.wish(s.write("shop/notes.txt", "to do\n"))
	case 4:
		s.cleanUp()
	default:
		s.publishedBranch()
	}
}

func (s *soak) appendTo(name, text string) {
	f, err := os.OpenFile(filepath.Join(s.shop(), name), os.O_APPEND|os.O_WRONLY, 0)
	s.wish(err)
	if err == nil {
		_, err = fmt.Fprintf(f, "%s %d\n", text, len(s.journal))
		s.wish(err)
		s.wish(f.Close())
	}
}

// cleanUp is what a person does who wants a clean checkout, also when a git was
// killed in it: its locks are the user's, so that backburner does not touch them.
func (s *soak) cleanUp() {
	s.note("a person cleans the checkout")
	for _, pattern := range []string{"*.lock", "refs/heads/*.lock"} {
		locks, _ := filepath.Glob(filepath.Join(s.shop(), ".git", pattern))
		for _, lock := range locks {
			s.wish(os.Remove(lock))
		}
	}
	_, err := s.git(s.shop(), "reset", "-q", "--hard")
	s.wish(err)
	s.wish(os.RemoveAll(filepath.Join(s.shop(), "notes.txt")))
}

// publishedBranch has a person commit on a branch that was published, or delete
// it. The checkout is not touched.
func (s *soak) publishedBranch() {
	said, err := s.git(s.shop(), "for-each-ref", "--format=%(refname)", "refs/heads/backburner/")
	s.wish(err)
	ref := s.any(strings.Fields(said))
	if ref == "" {
		return
	}
	s.touched[ref] = true
	if s.dice.IntN(3) == 0 {
		s.note("a person deletes %s", ref)
		_, _ = s.git(s.shop(), "update-ref", "-d", ref) // a tick may have its lock
		return
	}
	s.note("a person commits on %s", ref)
	commit, err := s.git(s.shop(), "commit-tree", "-p", ref, "-m", "by hand", ref+"^{tree}")
	if err == nil {
		_, _ = s.git(s.shop(), "update-ref", ref, commit, commit+"^")
	}
}

// helpAll answers, approves and retries whatever waits for a person.
func (s *soak) helpAll() {
	s.ask("resume", "--all")
	for _, w := range s.view() {
		switch {
		case w.Held:
			s.ask("resume", w.ID)
		case w.Status == "awaiting_input":
			s.ask("answer", w.ID, "This one.")
		case w.Status == "awaiting_approval":
			s.ask("approve", w.ID)
		case w.Status == "paused_budget":
			s.ask("resume", w.ID)
		case w.Status != "ready_to_merge" && w.Status != "new":
			s.ask("retry", w.ID)
		}
	}
}

// item is what status says of a workstream.
type item struct {
	ID, Status, Reason, Detail, Next string
	Held                             bool
}

func (s *soak) view() []item {
	var view struct{ Workstreams []item }
	said := s.ask("status", "--json")
	if err := json.Unmarshal([]byte(said), &view); err != nil {
		s.note("THAT MUST NOT BE: status: %v", err)
	}
	return view.Workstreams
}

// open are the ids of the workstreams that are not archived.
func (s *soak) open() []string {
	files, _ := filepath.Glob(filepath.Join(s.state(), "workstreams", "*.json"))
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".json")
	}
	return files
}

func (s *soak) any(of []string) string {
	if len(of) == 0 {
		return ""
	}
	return of[s.dice.IntN(len(of))]
}

// wish notes what should have worked.
func (s *soak) wish(err error) {
	if err != nil {
		s.note("THAT MUST NOT BE: %v", err)
	}
}
