package store

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
)

// File is a file of a state folder.
type File struct {
	Name string // below the folder, with slashes
	Size int64
}

// Files lists everything that makes a state: what is in the folder but for the
// lease, half-written files, and what is no plain file.
func (s *Store) Files() ([]File, error) {
	var files []File
	err := filepath.WalkDir(s.dir, func(at string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a request that was decided, or a write that ended
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(s.dir, at)
		if err != nil || !entry.Type().IsRegular() || !Carries(filepath.ToSlash(rel)) {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			files = append(files, File{filepath.ToSlash(rel), info.Size()})
		}
		return err
	})
	return files, err
}

// Carries reports whether a file of that name, below a state folder, belongs to
// what is taken elsewhere with it.
func Carries(name string) bool {
	if !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") {
		return false
	}
	if _, temporary := atomicfile.IsTemporary(path.Base(name)); temporary {
		return false
	}
	first, _, _ := strings.Cut(name, "/")
	return slices.Contains(ours, first) && !strings.HasPrefix(first, "lease.")
}

// Dir is the state folder.
func (s *Store) Dir() string { return s.dir }

// RenameRepository makes what is open in the state belong to a repository of
// another id.
func (s *Store) RenameRepository(ctx context.Context, from, to string) error {
	board, _, err := s.Load(ctx)
	if err != nil {
		return err
	}
	for _, w := range board.Workstreams {
		if w.Repository == from {
			w.Repository = to
			if err := s.Save(w); err != nil {
				return err
			}
		}
	}
	for _, r := range board.Requests {
		if r.Repository == from {
			r.Repository = to
			if err := s.SaveRequest(r); err != nil {
				return err
			}
		}
	}
	r := board.Repositories[from]
	if r == nil {
		return nil
	}
	old := s.path("repositories", from+".json")
	if r.ID = to; board.Repositories[to] == nil {
		err = s.SaveRepository(r)
	}
	if err != nil {
		return err
	}
	return s.remove(old)
}
