package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestLinkExclusive tests the way that file systems without an exclusive rename
// need, which the tests of Create do not come to on Linux.
func TestLinkExclusive(t *testing.T) {
	dir := t.TempDir()
	temporary, path := filepath.Join(dir, "t"), filepath.Join(dir, "a")
	for _, round := range []struct {
		content string
		want    error
		names   int
	}{{"first", nil, 1}, {"second", fs.ErrExist, 2}} {
		if err := os.WriteFile(temporary, []byte(round.content), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := linkExclusive(temporary, path); !errors.Is(err, round.want) {
			t.Errorf("%s: %v, want %v", round.content, err, round.want)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != "first" {
			t.Errorf("content %q, %v; want first", got, err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != round.names {
			t.Errorf("%d names (%v), want %d", len(entries), err, round.names)
		}
	}
}
