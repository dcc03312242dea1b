package workspace

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/backburner-cli/backburner/pkg/git"
)

// denied says whether an error is that this user may not read or write something.
func denied(err error) bool {
	var failed *git.Error
	if errors.As(err, &failed) {
		return saysDenied(failed.Stderr)
	}
	return errors.Is(err, fs.ErrPermission)
}

func saysDenied(text string) bool {
	return strings.Contains(strings.ToLower(text), "permission denied")
}

// unlock takes back the rights that an agent took away from everybody in a workspace: what nobody may read is neither committed nor saved, and
// where nobody may write nothing can be put in order. Of these rights git keeps none.
func unlock(dir string) {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() || os.Chmod(dir, info.Mode()|0o700) != nil {
		return
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() && !entry.Type().IsRegular() {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return nil
		}
		wanted := info.Mode() | 0o400
		if entry.IsDir() {
			wanted |= 0o300
		}
		if wanted != info.Mode() {
			_ = root.Chmod(name, wanted) // before it is looked into
		}
		return nil
	})
}
