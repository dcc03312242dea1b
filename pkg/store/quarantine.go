package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
)

// Quarantined is a file that could not be used.
type Quarantined struct {
	Path  string // where it was found
	Aside string // where it is now; "" when it was left where it was
	ID    string // of the workstream, repository or request; "" for the others
	Err   error  // why it cannot be used
}

// String is a sentence for people that ends in what to do.
func (q Quarantined) String() string {
	if q.Aside == "" {
		return fmt.Sprintf("%s cannot be used and was left where it is: %v", q.Path, q.Err)
	}
	return fmt.Sprintf("%s could not be used and was set aside: %v; repair %s and move it back, or remove it", q.Path, q.Err, q.Aside)
}

// fileTrouble reports whether an error of reading a file is about that file
// alone. Everything else (no descriptors left, no memory, the folder's
// permissions) concerns all files, and none of them may pay for it.
func fileTrouble(path string, err error) bool {
	if errors.Is(err, fs.ErrPermission) {
		_, folderTrouble := os.Lstat(path)
		return folderTrouble == nil
	}
	return errors.Is(err, atomicfile.ErrTooLarge) || errors.Is(err, atomicfile.ErrNotRegular) || errors.Is(err, syscall.EIO)
}

// setAside moves a file that cannot be used out of the way, unless the store is
// read-only or the file is only newer than this program. A file that cannot be
// moved stays and is reported again by the next load.
func (s *Store) setAside(path, id string, why error) Quarantined {
	q := Quarantined{Path: path, ID: id, Err: why}
	var schema *SchemaError
	if s.readOnly || errors.As(why, &schema) && schema.Have > schema.Want {
		return q
	}
	folder := filepath.Base(filepath.Dir(path))
	if filepath.Dir(path) == s.dir {
		folder = ""
	}
	// The time keeps apart what was set aside under one name; the nanoseconds
	// are there because a test, or a loop, may do that twice in a second.
	to := s.path("quarantine", folder, s.now().UTC().Format("20060102T150405.000000000Z-")+filepath.Base(path))
	if err := s.rename(path, to); err != nil {
		q.Err = fmt.Errorf("%w (and it could not be set aside: %w)", why, err)
		return q
	}
	q.Aside = to
	return q
}
