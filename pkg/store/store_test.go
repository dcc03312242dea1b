package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/work"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func mustOpen(tb testing.TB, dir string) *Store {
	tb.Helper()
	s, err := Open(dir, Options{CreatedBy: "test", Now: func() time.Time { return noon }})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func mustSave(tb testing.TB, s *Store, ids ...string) []*work.Workstream {
	tb.Helper()
	var saved []*work.Workstream
	for _, id := range ids {
		w := typical(id)
		if err := s.Save(w); err != nil {
			tb.Fatal(err)
		}
		saved = append(saved, w)
	}
	return saved
}

func mustLoad(tb testing.TB, s *Store) *work.Board {
	tb.Helper()
	b, aside, err := s.Load(tb.Context())
	if err != nil || len(aside) > 0 {
		tb.Fatalf("load: %v, set aside: %v", err, aside)
	}
	return b
}

// tree is everything below a folder: a path with its time and content per line.
// Two equal trees mean that nothing was written between them.
func tree(tb testing.TB, dir string) string {
	tb.Helper()
	var text strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s %s %d", path, info.Mode(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&text, " %q", data)
		}
		text.WriteByte('\n')
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		tb.Fatal(err)
	}
	return text.String()
}

func write(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

func read(tb testing.TB, path string) string {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestOpenMakesTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "state")
	mustOpen(t, dir)
	if got := read(t, filepath.Join(dir, ".gitignore")); got != "*\n" {
		t.Errorf(".gitignore is %q", got)
	}
	want := "{\n  \"schema\": 1,\n  \"created_by\": \"test\",\n  \"created_at\": \"2026-11-30T12:00:00Z\"\n}\n"
	if got := read(t, filepath.Join(dir, "meta.json")); got != want {
		t.Errorf("meta.json is %s", got)
	}

	before, syncs := tree(t, dir), atomicfile.Syncs()
	s := mustOpen(t, dir)
	if b := mustLoad(t, s); len(b.Workstreams) != 0 {
		t.Error("a new board is not empty")
	}
	if tree(t, dir) != before || atomicfile.Syncs() != syncs {
		t.Error("opening and loading an empty board wrote something")
	}
}

// A crash may stop the first Open anywhere; the second one finishes.
func TestOpenFinishesAnUnfinishedFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".gitignore"), "mine\n")
	write(t, filepath.Join(dir, ".meta.json.tmp-abc"), "{")
	mustLoad(t, mustOpen(t, dir))
	if got := read(t, filepath.Join(dir, ".gitignore")); got != "mine\n" {
		t.Errorf("a person's .gitignore was replaced: %q", got)
	}
}

func TestOpenAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			s, err := Open(dir, Options{CreatedBy: fmt.Sprint(i)})
			if err == nil {
				_, _, err = s.Load(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct{ meta, want string }{
		"newer schema":  {`{"schema": 7}`, "newer backburner (schema 7, this one knows 1); upgrade backburner"},
		"older schema":  {`{"schema": 0}`, "schema 0 cannot be brought to schema 1"},
		"negative":      {`{"schema": -3}`, "schema -3 cannot be brought"},
		"not JSON":      {`{"schema": `, "restore it, or remove it"},
		"not a meta":    {`{"a": 1}`, "it has no schema"},
		"too large":     {`{"schema": 1, "x": "` + strings.Repeat("x", maxMeta) + `"}`, "too large"},
		"another shape": {`[1]`, "restore it"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "meta.json"), c.meta)
			before := tree(t, dir)
			for _, readOnly := range []bool{false, true} {
				_, err := Open(dir, Options{ReadOnly: readOnly})
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "meta.json") {
					t.Errorf("read-only %v: %v", readOnly, err)
				}
			}
			if tree(t, dir) != before {
				t.Error("something was written")
			}
		})
	}
}

func TestOpenFolderIsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	write(t, path, "")
	for _, readOnly := range []bool{false, true} {
		if _, err := Open(path, Options{ReadOnly: readOnly}); err == nil {
			t.Errorf("read-only %v: no error", readOnly)
		}
	}
}

func TestReadOnlyWritesNothing(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "state")
	used := t.TempDir()
	s := mustOpen(t, used)
	closed := mustSave(t, s, "open", "closed")[1]
	closed.Status = work.Closed
	if err := s.Archive(closed); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(used, "workstreams", "bad.json"), "{")
	write(t, filepath.Join(used, "requests", "bad.json"), "{")

	for _, dir := range []string{missing, used} {
		before := tree(t, dir)
		s, err := Open(dir, Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		board, aside, err := s.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if dir == missing && (len(board.Workstreams) != 0 || len(aside) != 0) {
			t.Errorf("a missing folder is no empty board: %v %v", board, aside)
		}
		if dir == used && (len(board.Workstreams) != 1 || len(aside) != 2) {
			t.Errorf("%d workstreams, %v set aside", len(board.Workstreams), aside)
		}
		for _, q := range aside {
			if q.Aside != "" || errors.Is(q.Err, ErrReadOnly) {
				t.Errorf("it was tried to set a file aside: %v", q)
			}
		}
		for name, err := range writes(s) {
			if !errors.Is(err, ErrReadOnly) {
				t.Errorf("%s: %v", name, err)
			}
		}
		Verify(dir)
		if after := tree(t, dir); after != before {
			t.Errorf("something was written:\n%s\n%s", before, after)
		}
	}
}

// writes tries every method that writes.
func writes(s *Store) map[string]error {
	request := &work.Request{ID: "20261130T101112.123456789Z-00", Verb: work.VerbRetry, Progress: work.Progress{Decision: work.Applied}}
	_, dirErr := s.NewExecutionDir("new.0001")
	_, expireErr := s.Expire(noon, RetentionPolicy{})
	return map[string]error{
		"Save":            s.Save(typical("new")),
		"SaveRepository":  s.SaveRepository(&work.Repository{ID: "shop"}),
		"SaveAgents":      s.SaveAgents(&work.AgentStates{}),
		"SaveLedger":      s.SaveLedger(&work.Ledger{}),
		"Submit":          s.Submit(&work.Request{Verb: work.VerbRetry}),
		"SettleRequest":   s.SettleRequest(request),
		"SaveExecution":   s.SaveExecution(&work.Execution{ID: "new.0001"}),
		"NewExecutionDir": dirErr,
		"AppendTick":      s.AppendTick(work.Tick{ID: "1", StartedAt: noon}),
		"AppendMemory":    s.AppendMemory("new", "text", 1000),
		"Archive":         s.Archive(typical("new")),
		"Expire":          expireErr,
	}
}

// A pass that lost its lease writes nothing any more.
func TestCheckAbortsEveryWrite(t *testing.T) {
	dir := t.TempDir()
	lost := errors.New("the lease was lost")
	s := mustOpen(t, dir)
	s.check = func() error { return lost }
	before := tree(t, dir)
	for name, err := range writes(s) {
		if !errors.Is(err, lost) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if tree(t, dir) != before {
		t.Error("something was written")
	}
}

// An unreadable file must not be moved either when the lease is gone.
func TestCheckKeepsFilesFromBeingSetAside(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	s.check = func() error { return errors.New("the lease was lost") }
	bad := s.workstreamFile("bad")
	write(t, bad, "{")
	_, aside, err := s.Load(t.Context())
	if err != nil || len(aside) != 1 || aside[0].Aside != "" || !exists(bad) {
		t.Errorf("%v, %v", err, aside)
	}
}
