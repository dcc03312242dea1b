package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

// What was taken away is given back, below the folder and nowhere else.
func TestUnlock(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	dir := filepath.Join(t.TempDir(), "dir")
	for path, mode := range map[string]os.FileMode{outside: 0, filepath.Join(dir, "a", "b", "file"): 0, filepath.Join(dir, "a", "run"): 0o111} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "a", "link")); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"a/b", "a", "."} {
		if err := os.Chmod(filepath.Join(dir, folder), 0); err != nil {
			t.Fatal(err)
		}
	}
	unlock(dir)
	for path, want := range map[string]os.FileMode{
		dir: 0o700, filepath.Join(dir, "a", "b"): 0o700, filepath.Join(dir, "a", "b", "file"): 0o400, filepath.Join(dir, "a", "run"): 0o511, outside: 0,
	} {
		if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s is %v, want %v (%v)", path, info.Mode().Perm(), want, err)
		}
	}
}
