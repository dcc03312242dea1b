package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/work"
)

// Archive saves a workstream that is closed and moves it to the month it
// changed last. The record goes first and the folder follows; when a crash came
// between the two, Expire takes the folder along later.
func (s *Store) Archive(w *work.Workstream) error {
	if err := s.Save(w); err != nil {
		return err
	}
	if err := s.archive(w); err != nil {
		return fmt.Errorf("archive workstream %s: %w", w.ID, err)
	}
	return nil
}

func (s *Store) archive(w *work.Workstream) error {
	if w.Status.Open() {
		return fmt.Errorf("it is %s", w.Status)
	}
	// A copy in the archive can only be of this workstream before it was
	// reopened, by hand or on a file system that lost half of a rename.
	older, err := s.Archived(w.ID)
	if err == nil && older != "" {
		err = s.remove(older)
	}
	if err != nil {
		return err
	}
	closed := w.ChangedAt.UTC()
	if closed.IsZero() { // written by hand; the year 1 would expire at once
		closed = s.now().UTC()
	}
	to := s.path("archive", closed.Format(monthFormat), w.ID+".json")
	if err := s.rename(s.workstreamFile(w.ID), to); err != nil {
		return err
	}
	s.forgetName(w.ID)
	return s.moveFolder(s.Folder(w.ID), strings.TrimSuffix(to, ".json"))
}

// moveFolder moves a workstream's folder, if there is one. What is in the way
// is older and is set aside.
func (s *Store) moveFolder(from, to string) error {
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Lstat(to); err == nil {
		if q := s.setAside(to, filepath.Base(to), fs.ErrExist); q.Aside == "" {
			return q.Err
		}
	}
	return s.rename(from, to)
}

// Archived is where the record of an archived workstream is, "" when there is
// none of that id. Its folder has the same name without the .json.
func (s *Store) Archived(id string) (string, error) {
	if err := checkID("workstream", id); err != nil {
		return "", err
	}
	months, err := s.months()
	if err != nil {
		return "", err
	}
	for _, month := range slices.Backward(months) {
		path := s.path("archive", month, id+".json")
		if _, err := os.Lstat(path); err == nil {
			return path, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", nil
}

// Known reports whether there is a workstream of that id, open, archived or set
// aside because its file could not be used. In doubt there is.
func (s *Store) Known(id string) bool {
	if work.BadID(id) != "" {
		return true // not one of ours to judge
	}
	if _, err := os.Lstat(s.workstreamFile(id)); !errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if path, err := s.Archived(id); err != nil || path != "" {
		return true
	}
	aside, err := readNames(s.path("quarantine", "workstreams"))
	return err != nil || slices.ContainsFunc(aside, func(name string) bool { return strings.HasSuffix(name, "-"+id+".json") })
}

// months lists the archive's folders, oldest first.
func (s *Store) months() ([]string, error) {
	entries, err := os.ReadDir(s.path("archive"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var months []string
	for _, entry := range entries {
		if _, ok := monthEnd(entry.Name()); ok && entry.IsDir() {
			months = append(months, entry.Name())
		}
	}
	return months, nil
}

// Unarchive moves a workstream back among the open ones and returns it. The
// folder goes first: whatever a crash leaves, an open workstream has its folder.
func (s *Store) Unarchive(id string) (*work.Workstream, error) {
	w, err := s.unarchive(id)
	if err != nil {
		return nil, fmt.Errorf("reopen workstream %.100s: %w", id, err)
	}
	return w, nil
}

func (s *Store) unarchive(id string) (*work.Workstream, error) {
	path, err := s.Archived(id)
	if err != nil {
		return nil, err
	}
	if path == "" {
		return nil, fmt.Errorf("it is not in the archive: %w", fs.ErrNotExist)
	}
	w, err := s.readWorkstream(id, path)
	if err != nil {
		return nil, err
	}
	open := s.workstreamFile(id)
	if _, err := os.Lstat(open); err == nil {
		return nil, fmt.Errorf("%s: %w", open, fs.ErrExist)
	}
	if err := s.moveFolder(strings.TrimSuffix(path, ".json"), s.Folder(id)); err != nil {
		return nil, err
	}
	if err := s.rename(path, open); err != nil {
		return nil, err
	}
	s.noteName(id)
	return w, nil
}

// Workstream reads one workstream, open or archived, without the rest of the
// board; fs.ErrNotExist when there is none.
func (s *Store) Workstream(id string) (w *work.Workstream, archived bool, err error) {
	if err := checkID("workstream", id); err != nil {
		return nil, false, err
	}
	w, err = s.readWorkstream(id, s.workstreamFile(id))
	if !errors.Is(err, fs.ErrNotExist) {
		return w, false, err
	}
	path, err := s.Archived(id)
	if err != nil {
		return nil, false, err
	}
	if path == "" {
		return nil, false, fmt.Errorf("workstream %s: %w", id, fs.ErrNotExist)
	}
	w, err = s.readWorkstream(id, path)
	return w, true, err
}

func (s *Store) readWorkstream(id, path string) (*work.Workstream, error) {
	data, err := atomicfile.Read(path, maxRecord)
	if err != nil {
		return nil, err
	}
	w, err := s.decodeWorkstream(id, data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w (repair it, or remove it)", path, err)
	}
	return w, nil
}
