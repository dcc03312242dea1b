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

func TestExecution(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	if _, err := s.Execution("x.0001"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	dir, err := s.NewExecutionDir("x.0001")
	if err != nil || dir != s.ExecutionDir("x.0001") {
		t.Fatal(dir, err)
	}
	e := &work.Execution{ID: "x.0001", Workstream: "x", Kind: work.ByAgent, StartedAt: noon}
	if err := s.SaveExecution(e); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "stdout"), strings.Repeat("x", 1000))
	e.EndedAt, e.Outcome = noon.Add(time.Minute), "ok"
	if err := s.SaveExecution(e); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Execution("x.0001"); err != nil || !reflect.DeepEqual(got, e) {
		t.Errorf("%v %+v", err, got)
	}
	size := 1000 + len(read(t, filepath.Join(dir, "execution.json")))
	if notes := readEnded(s.endedFile("2026-11-30")); !reflect.DeepEqual(notes, []ended{{id: "x.0001", bytes: int64(size)}}) {
		t.Errorf("%v, want %d bytes", notes, size)
	}
}

// A crash left the folder of an execution that no workstream names yet.
func TestNewExecutionDirIsEmpty(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	write(t, filepath.Join(s.ExecutionDir("x.0001"), "deep", "result.json"), "of a dead tick")
	outside := t.TempDir()
	write(t, filepath.Join(outside, "mine"), "")
	if err := os.Symlink(outside, s.ExecutionDir("x.0002")); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"x.0001", "x.0002"} {
		dir, err := s.NewExecutionDir(id)
		if err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
			t.Errorf("%v %v", entries, err)
		}
	}
	if !exists(filepath.Join(outside, "mine")) {
		t.Error("a link was followed")
	}
}

func TestExecutionIDs(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	long := strings.Repeat("x", 80)
	for id, ok := range map[string]bool{
		"x.0001": true, "a-b_c.d.0001": true, long + ".12345": true, "x": true,
		"": false, ".0001": false, "..": false, "../x.0001": false, "a/b.0001": false, "x.": false, "-x.0001": false,
		long + "x.0001": false, "x.0001\n": false, "x.\u0661": false, "a..0001": false, "x.1234567890123456789012345678901234567890123456789012345678901234567890123456789012345": false,
	} {
		dir, err := s.NewExecutionDir(id)
		if (err == nil) != ok {
			t.Errorf("%q: %v", id, err)
		}
		if ok != (filepath.Base(s.ExecutionDir(id)) == id) || filepath.Dir(s.ExecutionDir(id)) != s.path("executions") {
			t.Errorf("%q is in %s", id, s.ExecutionDir(id))
		}
		if !ok && (dir != "" || s.SaveExecution(&work.Execution{ID: id}) == nil) {
			t.Errorf("%q was saved", id)
		}
		if _, err := s.Execution(id); err == nil {
			t.Errorf("%q was read", id)
		}
	}
	if exists(s.path("executions", nowhere)) {
		t.Error("something was put nowhere")
	}
	for _, id := range []string{"../x", "", ".", "a/b"} {
		if dir := s.Folder(id); filepath.Dir(dir) != s.path("workstreams") {
			t.Errorf("%q is in %s", id, dir)
		}
		if err := s.AppendMemory(id, "text", 100); err == nil {
			t.Errorf("%q has a memory", id)
		}
		if text, err := s.Memory(id); text != "" || err != nil {
			t.Errorf("%q: %q %v", id, text, err)
		}
	}
}
