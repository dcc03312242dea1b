package workspace_test

import (
	"strings"
	"testing"
)

// What the base has is public, also where an agent merged it before anybody else looked.
func TestOutgoingIsNotOfTheBase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	begin := ws.Head
	w.write(w.user, "theirs.txt", "theirs\n")
	w.run(w.user, "git", "add", ".")
	w.run(w.user, "git", "commit", "-q", "-m", "by people")
	theirs := w.run(w.user, "git", "rev-parse", "HEAD")
	w.sync(ws.Branch)
	w.write(dir, "ours.txt", "ours\n")
	w.run(dir, "git", "add", ".")
	w.run(dir, "git", "commit", "-q", "-m", "by the agent")
	w.run(dir, "git", "merge", "-q", "--no-edit", theirs)
	ws.Head = w.checkpoint(ws, "").Commit

	var shown strings.Builder
	large, err := w.m.Outgoing(t.Context(), w.repo, ws.Head, []string{begin}, &shown)
	if err != nil || len(large) > 0 {
		t.Fatal(large, err)
	}
	if said := shown.String(); strings.Contains(said, "theirs.txt") || strings.Contains(said, "by people") || !strings.Contains(said, "by the agent") {
		t.Errorf("shown is %s", said)
	}
}
