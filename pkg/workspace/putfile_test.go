package workspace_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/git"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// A file that backburner puts on a branch is one commit, also when it is asked for again, and in the place of what was there.
func TestPutFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	put := func(text string) workspace.Checkpoint {
		t.Helper()
		c, err := w.m.PutFile(context.Background(), w.repo, ws, "docs/plans/ws-1.md", []byte(text), "Plan")
		if err != nil {
			t.Fatal(err)
		}
		ws.Head = c.Commit
		w.pristine(ws)
		return c
	}
	start := ws.Head
	first := put("one\n")
	if !first.NetNew || first.DiffHash == "" || !slices.Equal(first.Changed, []string{"docs/plans/ws-1.md"}) {
		t.Errorf("put %+v", first)
	}
	if again := put("one\n"); again.Commit != first.Commit || again.NetNew {
		t.Errorf("put again %+v, want %s", again, first.Commit)
	}
	if got := w.read(dir, "docs/plans/ws-1.md"); got != "one\n" {
		t.Errorf("the workspace has %q", got)
	}
	put("two\n")
	if got := w.store("log", "--format=%s", start+".."+ws.Head); got != "Plan\nPlan" {
		t.Errorf("history %q", got)
	}
	w.sound()
}

// Where a repository has no room for the file, everything stays as it is.
func TestPutFileHasNoRoom(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before func(w *world)
		after  func(dir string) error
		want   string
	}{
		"a file for a folder": {before: func(w *world) { w.write(w.user, "docs", "text") }, want: "something else of the repository has its place"},
		"a link for a folder": {before: func(w *world) {
			if err := os.Symlink("/tmp", w.user+"/docs"); err != nil {
				w.t.Fatal(err)
			}
		}, want: "docs/plan.md"},
		"something is not committed": {after: func(dir string) error { return os.WriteFile(dir+"/left.txt", nil, 0o644) }, want: "changed: left.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if test.before != nil {
				test.before(w)
				w.commitIn(w.user, "docs")
			}
			ws, dir := w.started()
			if test.after != nil {
				if err := test.after(dir); err != nil {
					t.Fatal(err)
				}
			}
			_, err := w.m.PutFile(context.Background(), w.repo, ws, "docs/plan.md", []byte("x"), "Plan")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q in it", err, test.want)
			}
			if got := w.store("rev-parse", git.Heads+ws.Branch); got != ws.Head {
				t.Errorf("the branch is at %s, want %s", got, ws.Head)
			}
		})
	}
}
