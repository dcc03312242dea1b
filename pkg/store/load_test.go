package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/work"
)

const plain = `{"schema":1,"version":3,"id":"x","kind":"spec","status":"building","repository":"shop"`

func TestLoadSetsAside(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		make    func(path string) error // instead of content
		why     string
		stays   bool
	}{
		"empty":              {content: "", why: "unexpected end of JSON"},
		"half":               {content: plain, why: "unexpected end of JSON"},
		"two values":         {content: plain + "}{}", why: "after top-level value"},
		"null":               {content: "null", why: "schema 0"},
		"a list":             {content: "[]", why: "cannot unmarshal array"},
		"no schema":          {content: `{"id":"x"}`, why: "schema 0"},
		"newer schema":       {content: `{"schema":2,"id":"x","status":{}}`, why: "upgrade backburner", stays: true},
		"schema no number":   {content: `{"schema":"1"}`, why: "schema"},
		"another id":         {content: strings.Replace(plain, `"x"`, `"y"`, 1) + "}", why: `it holds the workstream "y"`},
		"hostile id":         {content: strings.Replace(plain, `"x"`, `"../../x"`, 1) + "}", why: "it holds the workstream"},
		"unknown status":     {content: strings.Replace(plain, "building", "done", 1) + "}", why: `status "done" is not known`},
		"unknown phase":      {content: plain + `,"phase":"x"}`, why: `phase "x" is not known`},
		"unknown kind":       {content: strings.Replace(plain, "spec", "epic", 1) + "}", why: `kind "epic" is not known`},
		"null task":          {content: plain + `,"tasks":[null]}`, why: "task 1 is null"},
		"task without id":    {content: plain + `,"tasks":[{}]}`, why: "task 1 has no id"},
		"unknown task":       {content: plain + `,"tasks":[{"id":"t1","status":"pending","kind":"dance"}]}`, why: `kind "dance" is not known`},
		"unknown task state": {content: plain + `,"tasks":[{"id":"t1","status":"tired","kind":"plan"}]}`, why: `status "tired" is not known`},
		"hostile execution":  {content: plain + `,"tasks":[{"id":"t1","status":"pending","kind":"plan","executions":["../../etc/passwd"]}]}`, why: "execution"},
		"hostile gate log":   {content: plain + `,"tasks":[{"id":"t1","status":"pending","kind":"plan","context":{"gate_log":"/etc/passwd"}}]}`, why: "gate_log"},
		"hostile gate run":   {content: plain + `,"gate_run":"..0001"}`, why: "gate_run"},
		"hostile evidence":   {content: plain + `,"evidence":{"fast":{"execution":"a/b"}}}`, why: "evidence"},
		"null question":      {content: plain + `,"questions":[null]}`, why: "null"},
		"not UTF-8 in id":    {content: "{\"schema\":1,\"id\":\"\xff\"}", why: "it holds"},
		"too large":          {content: plain + `,"title":"` + strings.Repeat("x", maxRecord) + `"}`, why: "too large"},
		"link":               {make: func(path string) error { return os.Symlink("/etc/passwd", path) }, why: "not a regular file"},
		"pipe":               {make: func(path string) error { return syscall.Mkfifo(path, 0o644) }, why: "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mustOpen(t, t.TempDir())
			mustSave(t, s, "fine")
			path := s.workstreamFile("x")
			if c.make == nil {
				write(t, path, c.content)
			} else if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			board, aside, err := s.Load(t.Context())
			if err != nil || len(board.Workstreams) != 1 || len(aside) != 1 {
				t.Fatalf("%v, %v, %v", board, aside, err)
			}
			q := aside[0]
			if !strings.Contains(q.Err.Error(), c.why) || q.ID != "x" || q.Path != path || !strings.Contains(q.String(), path) {
				t.Errorf("%+v", q)
			}
			if exists(path) != c.stays || (q.Aside == "") != c.stays {
				t.Errorf("stays %v: %+v", c.stays, q)
			}
			if !c.stays && (!exists(q.Aside) || filepath.Dir(q.Aside) != s.path("quarantine", "workstreams")) {
				t.Errorf("moved to %s", q.Aside)
			}
			if !c.stays {
				mustLoad(t, s)
				if err := s.Save(typical("x")); err != nil {
					t.Errorf("the id is not free again: %v", err)
				}
			}
		})
	}
}

func TestLoadLeavesWhatIsNotOurs(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	mustSave(t, s, "x")
	for _, name := range []string{"notes.txt", "x.json.bak", ".hidden.json", "my notes.json", "-rf.json", "x/memory.md", "x.orig"} {
		write(t, s.path("workstreams", name), "{")
	}
	before := tree(t, s.dir)
	mustLoad(t, s)
	if tree(t, s.dir) != before {
		t.Error("something was moved")
	}
}

func TestLoadSetsAsideTheOtherRecords(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	for _, name := range []string{"agents.json", "spending.json", "repositories/shop.json", "requests/r1.json"} {
		write(t, s.path(name), `{"schema":1,"id":"else"`)
	}
	board, aside, err := s.Load(t.Context())
	if err != nil || len(aside) != 4 {
		t.Fatalf("%v %v", aside, err)
	}
	if board.Agents == nil || board.Spending == nil || len(board.Repositories) != 0 || len(board.Requests) != 0 {
		t.Errorf("%+v", board)
	}
	for _, q := range aside {
		if q.Aside == "" || !exists(q.Aside) || exists(q.Path) {
			t.Errorf("%+v", q)
		}
	}
	for _, err := range []error{s.SaveAgents(board.Agents), s.SaveLedger(board.Spending)} {
		if err != nil {
			t.Error(err)
		}
	}
}

// A second broken file of the same name does not replace the first.
func TestSetAsideKeepsAll(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	at := noon
	s.now = func() time.Time { at = at.Add(1); return at }
	for _, content := range []string{"1", "2", "3"} {
		write(t, s.workstreamFile("x"), content)
		if _, aside, err := s.Load(t.Context()); err != nil || len(aside) != 1 {
			t.Fatal(aside, err)
		}
	}
	if entries, _ := os.ReadDir(s.path("quarantine", "workstreams")); len(entries) != 3 {
		t.Errorf("%v", entries)
	}
}

func TestLoadFillsTheBoard(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	hold := &work.Hold{By: "ann", At: noon}
	for _, err := range []error{
		s.Save(typical("a")), s.Save(typical("b")),
		s.SaveRepository(&work.Repository{ID: "shop"}),
		s.SaveAgents(&work.AgentStates{Hold: hold}),
		s.SaveLedger(&work.Ledger{Days: map[string]map[string]work.Cost{"2026-11-30": {}}}),
		s.Submit(&work.Request{Verb: work.VerbRetry, Workstream: "a"}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	b := mustLoad(t, s)
	if len(b.Workstreams) != 2 || b.Repositories["shop"] == nil || len(b.Requests) != 1 || b.Hold == nil || b.Hold.By != "ann" || len(b.Spending.Days) != 1 {
		t.Errorf("%+v", b)
	}
}

func TestLoadStopsWhenCancelled(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	mustSave(t, s, "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Load(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Trouble that concerns every file must not empty the board.
func TestFileTrouble(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x.json")
	write(t, file, "{}")
	for err, want := range map[error]bool{
		syscall.EMFILE: false, syscall.ENFILE: false, syscall.ENOMEM: false, syscall.ENOTDIR: false,
		syscall.EIO: true, syscall.EACCES: true, atomicfile.ErrTooLarge: true, atomicfile.ErrNotRegular: true,
	} {
		if got := fileTrouble(file, err); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
	if fileTrouble(filepath.Join(file, "not-searchable"), syscall.EACCES) {
		t.Error("a folder that cannot be searched is taken for a bad file in it")
	}
}

func TestLoadOfAFolderThatCannotBeListed(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	if err := os.Remove(s.path("workstreams")); err != nil {
		t.Fatal(err)
	}
	write(t, s.path("workstreams"), "")
	if _, _, err := s.Load(t.Context()); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("%v", err)
	}
}

func FuzzWorkstream(f *testing.F) {
	f.Add([]byte(plain + "}"))
	f.Add([]byte(`{"schema":1,"id":"x","tasks":[{"id":"t1"},null],"Tasks":[{"id":1}]}`))
	f.Add([]byte(`{"schema":0,"id":"x"}`))
	f.Add([]byte(`{"schema":1,"version":-1,"id":"x","kind":"spec","status":"new","new":{"a":[{"id":"b","c":{}}]}}`))
	if data, err := encode(nil, typical("x"), nil); err == nil {
		f.Add(data)
	}
	s := &Store{format: madeUp}
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := s.decodeWorkstream("x", data)
		if err != nil {
			return
		}
		// What was loaded can be saved over what it was loaded from, is the
		// same then, and saving that once more changes nothing.
		first, err := encode(workstreamShape(), w, data)
		if err != nil {
			t.Fatalf("%v", err)
		}
		again, err := s.decodeWorkstream("x", first)
		if err != nil {
			t.Fatalf("%v in %s", err, first)
		}
		second, err := encode(workstreamShape(), again, first)
		if err != nil || string(first) != string(second) {
			t.Fatalf("%v\n%s\n%s", err, first, second)
		}
	})
}
