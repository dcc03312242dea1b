package local

import (
	"os"
	"path/filepath"
	"testing"
)

// Not every file system can exchange two names; then the old folder is put
// aside first.
func TestReplaceFolderWithoutExchange(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, bundleScratch+"1"), filepath.Join(dir, bundleFolder)
	for _, folder := range []string{from, to} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(folder)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := replaceByRenames(from, to); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != bundleFolder {
		t.Errorf("the folder has %v, %v", entries, err)
	}
	if _, err := os.Stat(filepath.Join(to, bundleScratch+"1")); err != nil {
		t.Errorf("not replaced: %v", err)
	}
}
