package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// closed saves a closed workstream with a memory.
func closed(t *testing.T, s *Store, id string, at time.Time) *work.Workstream {
	t.Helper()
	w := typical(id)
	w.Status, w.ChangedAt = work.Closed, at
	w.Tasks, w.Evidence = nil, nil // name executions that are not there
	if err := s.Save(w); err != nil {
		t.Fatal(err)
	}
	if err := s.AppendMemory(id, "memory of "+id, 1000); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestArchiveAndUnarchive(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	w := closed(t, s, "x", noon)
	mustSave(t, s, "y")
	w.Title = "said at the end"
	if err := s.Archive(w); err != nil {
		t.Fatal(err)
	}
	month := s.path("archive", "2026-11")
	if path, err := s.Archived("x"); err != nil || path != filepath.Join(month, "x.json") {
		t.Errorf("%s %v", path, err)
	}
	if b := mustLoad(t, s); len(b.Workstreams) != 1 || exists(s.Folder("x")) || read(t, filepath.Join(month, "x", "memory.md")) != "memory of x\n" {
		t.Errorf("%v", b.Workstreams)
	}
	got, archived, err := s.Workstream("x")
	if err != nil || !archived || !reflect.DeepEqual(got, w) {
		t.Errorf("%v %v %+v", err, archived, got)
	}
	if err := s.Save(typical("x")); !errors.Is(err, ErrArchived) {
		t.Errorf("a new workstream took an archived one's id: %v", err)
	}

	back, err := s.Unarchive("x")
	if err != nil || !reflect.DeepEqual(back, w) {
		t.Fatalf("%v %+v", err, back)
	}
	if text, err := s.Memory("x"); err != nil || text != "memory of x\n" {
		t.Errorf("%q %v", text, err)
	}
	if path, err := s.Archived("x"); err != nil || path != "" {
		t.Errorf("still archived: %s %v", path, err)
	}
	if _, archived, err := s.Workstream("x"); err != nil || archived {
		t.Errorf("%v %v", archived, err)
	}
	back.Title = "reopened"
	if err := s.Save(back); err != nil {
		t.Error(err)
	}
	if len(mustLoad(t, s).Workstreams) != 2 {
		t.Error("it is not on the board")
	}
}

func TestArchiveRefuses(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	open := mustSave(t, s, "x")[0]
	if err := s.Archive(open); err == nil || !strings.Contains(err.Error(), "it is building") {
		t.Errorf("%v", err)
	}
	stale := closed(t, s, "y", noon)
	other := mustLoad(t, s).Workstreams["y"]
	other.Title = "newer"
	if err := s.Save(other); err != nil {
		t.Fatal(err)
	}
	if err := s.Archive(stale); !errors.As(err, new(*ConflictError)) || !exists(s.workstreamFile("y")) {
		t.Errorf("%v", err)
	}
	for _, id := range []string{"nothing", "../x", ""} {
		if _, err := s.Unarchive(id); err == nil {
			t.Errorf("%q came from the archive", id)
		}
		if _, _, err := s.Workstream(id); err == nil {
			t.Errorf("%q was found", id)
		}
	}
	if _, err := s.Unarchive("nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := s.Unarchive("x"); err == nil {
		t.Error("an open workstream was reopened")
	}
}

// A crash between the record and the folder, in both directions.
func TestArchiveCutShort(t *testing.T) {
	for name, heal := range map[string]func(t *testing.T, s *Store){
		"reopened": func(t *testing.T, s *Store) {
			if _, err := s.Unarchive("x"); err != nil {
				t.Fatal(err)
			}
			if text, err := s.Memory("x"); err != nil || text != "memory of x\n" {
				t.Errorf("%q %v", text, err)
			}
		},
		"left alone": func(t *testing.T, s *Store) {
			mustLoad(t, s)
			if _, err := s.Expire(noon, RetentionPolicy{}); err != nil {
				t.Fatal(err)
			}
			if exists(s.Folder("x")) || !exists(s.path("archive/2026-11/x/memory.md")) {
				t.Error("the folder did not follow")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustOpen(t, t.TempDir())
			closed(t, s, "x", noon)
			closed(t, s, "y", noon)
			// The record is archived, or archived still, and the folder is
			// among the open ones: what both ways leave.
			if err := os.MkdirAll(s.path("archive/2026-11"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(s.workstreamFile("x"), s.path("archive/2026-11/x.json")); err != nil {
				t.Fatal(err)
			}
			if problems := Verify(s.dir); len(problems) != 1 || !strings.Contains(problems[0].Detail, "is in the archive") {
				t.Errorf("%v", problems)
			}
			heal(t, s)
			if problems := Verify(s.dir); len(problems) != 0 {
				t.Errorf("%v", problems)
			}
			if text, err := s.Memory("y"); err != nil || text != "memory of y\n" {
				t.Errorf("another's folder was moved: %q %v", text, err)
			}
		})
	}
}

// A file system that lost half of a rename shows the record in both places: the
// open one counts, and archiving it again leaves one.
func TestArchiveOverACopy(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	w := closed(t, s, "x", noon)
	if err := os.MkdirAll(s.path("archive/2026-10/x"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, month := range []string{"2026-10", "2026-11"} {
		write(t, s.path("archive", month, "other"), "")
		if err := os.Link(s.workstreamFile("x"), s.path("archive", month, "x.json")); err != nil {
			t.Fatal(err)
		}
	}
	write(t, s.path("archive/2026-11/x/memory.md"), "older")
	if len(mustLoad(t, s).Workstreams) != 1 {
		t.Error("the open one does not count")
	}
	for range 2 { // one copy each
		if err := s.Archive(w); err != nil {
			t.Fatal(err)
		}
		var err error
		if w, err = s.Unarchive("x"); err != nil {
			t.Fatal(err)
		}
	}
	if path, err := s.Archived("x"); path != "" || err != nil {
		t.Errorf("%s %v", path, err)
	}
	if text, err := s.Memory("x"); err != nil || text != "memory of x\n" {
		t.Errorf("%q %v", text, err)
	}
	aside, err := filepath.Glob(s.path("quarantine/2026-11/*-x/memory.md"))
	if err != nil || len(aside) != 1 || read(t, aside[0]) != "older" {
		t.Errorf("what was in the way is gone: %v %v", aside, err)
	}
}

func TestUnarchiveWhileOpen(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	if err := s.Archive(closed(t, s, "x", noon)); err != nil {
		t.Fatal(err)
	}
	write(t, s.workstreamFile("x"), plain+"}")
	if _, err := s.Unarchive("x"); !errors.Is(err, fs.ErrExist) || !exists(s.path("archive/2026-11/x.json")) {
		t.Errorf("%v", err)
	}
}
