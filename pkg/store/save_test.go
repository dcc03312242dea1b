package store

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/work"
)

func TestSaveAndLoad(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	w := mustSave(t, s, "totals")[0]
	if w.Version != 1 {
		t.Errorf("the first version is %d", w.Version)
	}
	w.Title = "Totals <&> \u2028"
	if err := s.Save(w); err != nil || w.Version != 2 {
		t.Fatalf("version %d, %v", w.Version, err)
	}
	got := mustLoad(t, mustOpen(t, s.dir)).Workstreams["totals"]
	if !reflect.DeepEqual(got, w) {
		t.Errorf("loaded %+v\nsaved  %+v", got, w)
	}
	if text := read(t, s.workstreamFile("totals")); !strings.Contains(text, "\n  \"title\": \"Totals <&> ") {
		t.Errorf("not for reading:\n%s", text)
	}
}

func TestSaveCostsTwoFsyncs(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	w := typical("totals")
	for i, change := range []func(){
		func() {},
		func() { w.Title = "other" },
		func() { w.Tasks = nil },
	} {
		before := atomicfile.Syncs()
		change()
		if err := s.Save(w); err != nil {
			t.Fatal(err)
		}
		if n := atomicfile.Syncs() - before; n != 2 {
			t.Errorf("save %d: %d fsyncs", i, n)
		}
	}
}

func TestSavingTheSameWritesNothing(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	mustSave(t, s, "totals")
	cost := 1.5
	for _, err := range []error{
		s.SaveRepository(&work.Repository{ID: "shop", Base: "abc"}),
		s.SaveAgents(&work.AgentStates{Agents: map[string]work.AgentState{"b": {Failures: 1}, "a": {Failures: 2}}}),
		s.SaveLedger(&work.Ledger{Days: map[string]map[string]work.Cost{"2026-11-30": {"totals.0001": {USD: &cost}}}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	before := tree(t, s.dir)
	again := mustOpen(t, s.dir)
	b := mustLoad(t, again)
	w := b.Workstreams["totals"]
	for _, err := range []error{
		again.Save(w), again.SaveRepository(b.Repositories["shop"]), again.SaveAgents(b.Agents), again.SaveLedger(b.Spending),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if tree(t, s.dir) != before || w.Version != 1 {
		t.Error("saving what was loaded wrote something")
	}
}

func TestSaveConflict(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(t *testing.T, s *Store)
		held      func(t *testing.T, s *Store) *work.Workstream
		want      ConflictError
		words     string
	}{
		"changed": {
			held: func(t *testing.T, s *Store) *work.Workstream { return mustSave(t, s, "x")[0] },
			meanwhile: func(t *testing.T, s *Store) {
				w := mustLoad(t, s).Workstreams["x"]
				w.Title = "theirs"
				if err := s.Save(w); err != nil {
					t.Fatal(err)
				}
			},
			want:  ConflictError{Held: 1, Disk: 2},
			words: "version 1 was loaded, and the file is version 2 now",
		},
		"vanished": {
			held: func(t *testing.T, s *Store) *work.Workstream { return mustSave(t, s, "x")[0] },
			meanwhile: func(t *testing.T, s *Store) {
				if err := os.Remove(s.workstreamFile("x")); err != nil {
					t.Fatal(err)
				}
			},
			want:  ConflictError{Held: 1},
			words: "the file is gone",
		},
		"appeared": {
			held:      func(*testing.T, *Store) *work.Workstream { return typical("x") },
			meanwhile: func(t *testing.T, s *Store) { mustSave(t, s, "x") },
			want:      ConflictError{Disk: 1},
			words:     "it is new, and there is a file with version 1 already",
		},
	} {
		t.Run(name, func(t *testing.T) {
			mine, theirs := mustOpen(t, t.TempDir()), (*Store)(nil)
			theirs = mustOpen(t, mine.dir)
			w := c.held(t, mine)
			held := w.Version
			c.meanwhile(t, theirs)
			before := tree(t, mine.dir)
			w.Title = "mine"
			err := mine.Save(w)
			var conflict *ConflictError
			if !errors.As(err, &conflict) {
				t.Fatalf("no conflict: %v", err)
			}
			c.want.ID, c.want.Path = "x", mine.workstreamFile("x")
			if *conflict != c.want || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%+v\n%v", *conflict, err)
			}
			if tree(t, mine.dir) != before || w.Version != held {
				t.Error("a refused save changed something")
			}
		})
	}
}

// A file made by hand has no version; it can be loaded and saved all the same.
func TestSaveOfAFileWithoutVersion(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	write(t, s.workstreamFile("x"), `{"schema":1,"id":"x","kind":"spec","status":"new","repository":"shop"}`)
	w := mustLoad(t, s).Workstreams["x"]
	w.Title = "changed"
	if err := s.Save(w); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(typical("x")); !errors.As(err, new(*ConflictError)) {
		t.Errorf("a new workstream replaced a loaded one: %v", err)
	}
}

func TestSaveRefuses(t *testing.T) {
	infinite := math.Inf(1)
	for name, c := range map[string]struct {
		change func(w *work.Workstream)
		want   string
	}{
		"path":            {func(w *work.Workstream) { w.ID = "../x" }, "starts with ."},
		"slash":           {func(w *work.Workstream) { w.ID = "a/b" }, `has '/'`},
		"file of another": {func(w *work.Workstream) { w.ID = "a.JSON" }, "ends in .json"},
		"no status":       {func(w *work.Workstream) { w.Status = "" }, "status"},
		"null task":       {func(w *work.Workstream) { w.Tasks = append(w.Tasks, nil) }, "task 5 is null"},
		"twice a task":    {func(w *work.Workstream) { w.Tasks[1].ID = "t1" }, "two tasks"},
		"bad execution":   {func(w *work.Workstream) { w.Tasks[1].Executions = []string{"../../etc"} }, "execution"},
		"too large":       {func(w *work.Workstream) { w.Spec.Body = strings.Repeat("x", maxRecord) }, "at most"},
		"no number":       {func(w *work.Workstream) { w.Spending.CostUSD = infinite }, "unsupported value"},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustOpen(t, t.TempDir())
			before := tree(t, s.dir)
			w := typical("x")
			c.change(w)
			err := s.Save(w)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "save workstream ") {
				t.Errorf("%v", err)
			}
			if tree(t, s.dir) != before || w.Version != 0 {
				t.Error("something was written")
			}
		})
	}
}

// On some file systems a.json and A.json are one file.
func TestSaveRefusesIdsThatFoldTogether(t *testing.T) {
	for _, loaded := range []bool{true, false} {
		s := mustOpen(t, t.TempDir())
		first := mustSave(t, s, "Totals")[0]
		other := mustOpen(t, s.dir)
		if loaded {
			mustLoad(t, other)
		}
		for range 2 {
			err := other.Save(typical("totals"))
			if err == nil || !strings.Contains(err.Error(), `id "totals" differs from the existing "Totals" only in upper and lower case`) {
				t.Errorf("loaded %v: %v", loaded, err)
			}
		}
		first.Status = work.Closed
		if err := other.Archive(first); err != nil {
			t.Fatal(err)
		}
		if err := other.Save(typical("totals")); err != nil {
			t.Errorf("loaded %v: the name is free again: %v", loaded, err)
		}
	}
	// What such a file system does is imitated by a file with the other's name.
	s := mustOpen(t, t.TempDir())
	mustSave(t, s, "Totals")
	if err := os.Rename(s.workstreamFile("Totals"), s.workstreamFile("totals")); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(typical("totals")); err == nil || !strings.Contains(err.Error(), "upper and lower case") {
		t.Errorf("%v", err)
	}
}

func TestSaveOverAFileSomebodyBroke(t *testing.T) {
	for content, want := range map[string]string{
		`{"schema":1,`:                      "the next tick sets it aside",
		`{"schema":9,"id":"x","version":1}`: "upgrade backburner",
	} {
		s := mustOpen(t, t.TempDir())
		w := mustSave(t, s, "x")[0]
		write(t, s.workstreamFile("x"), content)
		w.Title = "new"
		if err := s.Save(w); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v", err)
		}
		if read(t, s.workstreamFile("x")) != content {
			t.Error("it was overwritten")
		}
	}
}

func TestSaveErrorsStayVisible(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	if err := os.Remove(s.path("workstreams")); err != nil {
		t.Fatal(err)
	}
	write(t, s.path("workstreams"), "a file")
	err := s.Save(typical("x"))
	if !errors.Is(err, syscall.ENOTDIR) || !strings.Contains(err.Error(), "x.json") {
		t.Errorf("%v", err)
	}
}

// A full disk costs nothing that was there.
func TestSaveOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=128k"); err != nil {
		t.Skipf("needs the right to mount a small file system: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	s := mustOpen(t, dir)
	w := mustSave(t, s, "x")[0]
	before := tree(t, filepath.Join(dir, "workstreams"))
	w.Spec.Body = strings.Repeat("x", 200<<10)
	err := s.Save(w)
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free space") {
		t.Errorf("%v", err)
	}
	after := tree(t, filepath.Join(dir, "workstreams"))
	if trim(after) != trim(before) || w.Version != 1 {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	w.Spec.Body = "short"
	if err := s.Save(w); err != nil {
		t.Errorf("with space again: %v", err)
	}
}

// trim drops the first line of a tree, the folder itself, whose time changes
// when a temporary file comes and goes.
func trim(tree string) string {
	_, rest, _ := strings.Cut(tree, "\n")
	return rest
}

// A removed subfolder is put right, and the folder's name is durable too.
func TestSaveIntoARemovedFolder(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	if err := os.Remove(s.path("workstreams")); err != nil {
		t.Fatal(err)
	}
	mustSave(t, s, "x")
	mustLoad(t, s)
}

// What a dead process left beside a file is neither read nor in the way.
func TestTemporaryFilesLyingAround(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	w := mustSave(t, s, "x")[0]
	ages := map[string]time.Duration{
		"workstreams/.x.json.tmp-1": 2 * leftoverAge, "workstreams/.y.json.tmp-2": leftoverAge / 2,
		"workstreams/x/.thread.md.tmp-6": 2 * leftoverAge, "workstreams/x/review/.plan.md.tmp-7": 2 * leftoverAge,
		"requests/.r.json.tmp-3": 0, ".agents.json.tmp-4": 0, "repositories/.r.json.tmp-5": 0,
	}
	for name, age := range ages {
		write(t, s.path(name), `{"half`)
		if err := os.Chtimes(s.path(name), noon.Add(-age), noon.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if b := mustLoad(t, s); len(b.Workstreams) != 1 || len(b.Requests) != 0 || len(b.Repositories) != 0 {
		t.Errorf("%v", b)
	}
	w.Title = "new"
	if err := s.Save(w); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Expire(noon, RetentionPolicy{}); err != nil {
		t.Fatal(err)
	}
	for name, age := range ages {
		if kept := exists(s.path(name)); kept != (age < leftoverAge) {
			t.Errorf("%s, %v old, was kept: %v", name, age, kept)
		}
	}
}

func TestSaveKeepsNothingOpen(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	w := mustSave(t, s, "x")[0]
	before := descriptors(t)
	for i := range 20 {
		w.Increment = i + 1
		if err := s.Save(w); err != nil {
			t.Fatal(err)
		}
		mustLoad(t, s)
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func descriptors(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no /proc")
	}
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
