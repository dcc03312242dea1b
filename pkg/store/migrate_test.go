package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/work"
)

// madeUp is the current format as if there had been a schema 0 in which a
// workstream's title was called "name" and an agent's failures "fails".
var madeUp = format{schema: 1, migrations: map[int]migration{0: func(k kind, fields map[string]json.RawMessage) error {
	switch k {
	case workstreamRecord:
		if string(fields["name"]) == `"impossible"` {
			return errors.New("no title can be made of that")
		}
		fields["title"] = fields["name"]
		delete(fields, "name")
	case agentsRecord:
		fields["agents"] = json.RawMessage(strings.ReplaceAll(string(fields["agents"]), "fails", "failures"))
	}
	return nil
}}}

// old makes a state folder of schema 0.
func old(t *testing.T) string {
	dir := t.TempDir()
	s := &Store{dir: dir}
	write(t, s.path("meta.json"), `{"schema":0,"created_by":"long ago","x":1}`)
	for _, id := range []string{"a", "b", "c"} {
		write(t, s.workstreamFile(id), fmt.Sprintf(`{"schema":0,"version":4,"id":%q,"kind":"spec","status":"new","name":"Title of %s","mood":1}`, id, id))
	}
	write(t, s.path("agents.json"), `{"schema":0,"agents":{"claude":{"fails":3}}}`)
	write(t, s.path("requests/r1.json"), `{"id":"r1","verb":"retry"}`)
	write(t, s.path("archive/2026-10/d.json"), `{"schema":0,"id":"d","kind":"spec","status":"closed","name":"Title of d"}`)
	write(t, s.path("executions/d.0001/execution.json"), `{"id":"d.0001"}`)
	write(t, s.path("workstreams/notes.txt"), "mine")
	return dir
}

func checkMigrated(t *testing.T, b *work.Board) {
	t.Helper()
	if len(b.Workstreams) != 3 || len(b.Requests) != 1 || b.Agents.Agents["claude"].Failures != 3 {
		t.Errorf("%+v", b)
	}
	for id, w := range b.Workstreams {
		if w.Title != "Title of "+id || w.Version != 4 || w.Schema != 1 {
			t.Errorf("%+v", w)
		}
	}
}

func TestMigrate(t *testing.T) {
	dir := old(t)
	before := tree(t, dir)
	s, err := open(dir, Options{}, madeUp)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Submit(&work.Request{ID: "r2", Verb: work.VerbRetry}); err != nil {
		t.Fatal(err) // a command, which has no lease, must not migrate
	}
	if err := os.Remove(s.requestFile("r2")); err != nil || !strings.Contains(before, `\"schema\":0`) {
		t.Fatal(err)
	}
	if exists(s.path("migrated")) {
		t.Error("submitting a request migrated the state")
	}
	checkMigrated(t, mustLoad(t, s))

	again, err := Open(dir, Options{}) // without any migration
	if err != nil {
		t.Fatal(err)
	}
	b := mustLoad(t, again)
	checkMigrated(t, b)
	if text := read(t, s.path("meta.json")); !strings.Contains(text, `"x": 1`) || !strings.Contains(text, "long ago") {
		t.Errorf("meta.json lost something: %s", text)
	}
	if text := read(t, s.workstreamFile("a")); !strings.Contains(text, `"mood"`) || strings.Contains(text, `"name"`) {
		t.Errorf("a.json: %s", text)
	}
	for name, want := range map[string]string{"meta.json": "long ago", "workstreams/a.json": `"name":"Title of a"`, "agents.json": "fails", "requests/r1.json": "retry"} {
		if text := read(t, s.path("migrated/schema-0", name)); !strings.Contains(text, want) {
			t.Errorf("the copy of %s is %s", name, text)
		}
	}

	// What is not rewritten is brought up when it is read, and saved as new.
	w, err := s.Unarchive("d")
	if err != nil || w.Title != "Title of d" {
		t.Fatalf("from the archive: %v, %v", w, err)
	}
	e, err := s.Execution("d.0001")
	if err != nil || e.Schema != 1 {
		t.Fatalf("an execution: %v, %v", e, err)
	}
	if err := errors.Join(s.Save(w), s.SaveExecution(e)); err != nil {
		t.Fatal(err)
	}
	if text := read(t, s.workstreamFile("d")); strings.Contains(text, `"name"`) || !strings.Contains(text, `"schema": 1`) {
		t.Errorf("d.json: %s", text)
	}
	mustLoad(t, again)
}

// Whatever write a migration dies at, the next one finishes it, and the copy is
// of the old files.
func TestMigrateCutShort(t *testing.T) {
	for allowed := 0; ; allowed++ {
		dir := old(t)
		writes := 0
		cut := errors.New("cut")
		s, err := open(dir, Options{Check: func() error {
			if writes++; writes > allowed {
				return cut
			}
			return nil
		}}, madeUp)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = s.Load(t.Context())
		finished := err == nil
		if !finished && !errors.Is(err, cut) {
			t.Fatalf("after %d writes: %v", allowed, err)
		}
		again, err := open(dir, Options{}, madeUp)
		if err != nil {
			t.Fatal(err)
		}
		checkMigrated(t, mustLoad(t, again))
		if text := read(t, again.path("migrated/schema-0/workstreams/c.json")); !strings.Contains(text, `"name":"Title of c"`) {
			t.Errorf("after %d writes the copy is %s", allowed, text)
		}
		if finished {
			if allowed < 6 {
				t.Errorf("only %d writes", allowed)
			}
			return
		}
	}
}

func TestMigrateInMemoryWhenReadOnly(t *testing.T) {
	dir := old(t)
	before := tree(t, dir)
	s, err := open(dir, Options{ReadOnly: true}, madeUp)
	if err != nil {
		t.Fatal(err)
	}
	checkMigrated(t, mustLoad(t, s))
	if tree(t, dir) != before {
		t.Error("something was written")
	}
}

// One record that cannot be migrated concerns nobody else.
func TestMigrateSetsAsideWhatItCannot(t *testing.T) {
	dir := old(t)
	s, err := open(dir, Options{}, madeUp)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.workstreamFile("bad"), `{"schema":0,"id":"bad","name":"impossible"}`)
	write(t, s.workstreamFile("worse"), `{"schema":0`)
	b, aside, err := s.Load(t.Context())
	if err != nil || len(aside) != 2 || !strings.Contains(aside[0].Err.Error(), "no title can be made of that") {
		t.Errorf("%v, %v", aside, err)
	}
	checkMigrated(t, b)
}
