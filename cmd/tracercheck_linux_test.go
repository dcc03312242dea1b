//go:build linux && (amd64 || arm64)

package cmd

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// TestTracer holds the tracer to what the sweep believes of it: that it sees
// the changes of children too, and that a change it was to prevent is not made.
func TestTracer(t *testing.T) {
	const script = "echo 1 >one; sh -c 'echo 2 >two; mkdir three' & wait; rm one; echo 4 >four"
	run := func(trial trial) (*traced, []string) {
		dir := t.TempDir()
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		got := trace(trial, []string{"/bin/sh", "-c", script}, dir, os.Environ(), out)
		<-got.gone
		if got.err != nil {
			t.Fatal(got.err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return got, names
	}
	all, names := run(trial{})
	var seen []string
	for _, c := range all.changes {
		seen = append(seen, c.String())
	}
	if len(all.changes) != 8 || !slices.Equal(names, []string{"four", "three", "two"}) || all.exitCode() != 0 {
		t.Fatalf("saw %q, which left %v and code %d", seen, names, all.exitCode())
	}
	for _, c := range []struct {
		trial
		left []string
	}{
		{trial{do: killTree, at: 3}, []string{"one"}},                                         // nobody makes two
		{trial{do: killTick, at: 3}, []string{"one", "three", "two"}},                         // the child goes on
		{trial{do: failCall, at: 1, errno: syscall.ENOSPC}, []string{"four", "three", "two"}}, // one is never made
	} {
		got, names := run(c.trial)
		if got.hit == "" || !slices.Equal(names, c.left) {
			t.Errorf("%+v at %q left %v, want %v", c.trial, got.hit, names, c.left)
		}
	}
}
