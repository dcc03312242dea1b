package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
)

// recordFolders are the folders, "" the state folder itself, whose records are
// migrated on disk. Archive and executions are brought up when they are read:
// there may be very many, and nothing writes them again.
var recordFolders = []struct {
	name string
	kind kind
}{
	{"workstreams", workstreamRecord},
	{"repositories", repositoryRecord},
	{"requests", requestRecord},
	{"", ""},
}

// singles are the records in the state folder itself.
var singles = map[string]kind{"agents.json": agentsRecord, "spending.json": spendingRecord}

// migrate brings an older state folder to the current schema: a copy of the old
// files, then every record, then meta.json. A crash on the way repeats it, with
// the first copy kept and records already done left alone.
func (s *Store) migrate() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.onDisk == s.format.schema || s.readOnly {
		return nil
	}
	if err := s.keepCopy(); err != nil {
		return fmt.Errorf("keep a copy of the state of schema %d: %w", s.onDisk, err)
	}
	for path, k := range s.records() {
		if err := s.migrateRecord(k, path); err != nil {
			return fmt.Errorf("migrate the state from schema %d: %w", s.onDisk, err)
		}
	}
	m, err := s.readMeta()
	if err != nil {
		return err
	}
	m.Schema = s.format.schema
	if err := s.overwrite(metaRecord, s.path("meta.json"), metaShape(), m); err != nil {
		return fmt.Errorf("migrate the state from schema %d: %w", s.onDisk, err)
	}
	s.onDisk = s.format.schema
	return nil
}

// records are the files that a migration rewrites. A folder that cannot be
// listed is left to the load that follows, which reports it.
func (s *Store) records() map[string]kind {
	found := make(map[string]kind)
	for _, folder := range recordFolders {
		names, _ := readNames(s.path(folder.name))
		for _, name := range names {
			k := folder.kind
			if folder.name == "" {
				k = singles[name]
			}
			if _, ours := recordID(name); ours && k != "" {
				found[s.path(folder.name, name)] = k
			}
		}
	}
	return found
}

func (s *Store) migrateRecord(k kind, path string) error {
	data, err := atomicfile.Read(path, maxRecord)
	if errors.Is(err, fs.ErrNotExist) || fileTrouble(path, err) {
		return nil // the load that follows reports it
	}
	if err != nil {
		return err
	}
	upgraded, err := s.format.upgrade(k, data)
	if err != nil || string(upgraded) == string(data) {
		return nil // likewise
	}
	return s.put(path, append(upgraded, '\n'))
}

// keepCopy copies the records and meta.json to migrated/schema-<n>, once. Files
// are only ever replaced and never changed in place, so a second name for the
// old file is a copy; where there are no links the bytes are copied.
func (s *Store) keepCopy() error {
	final := s.path("migrated", fmt.Sprintf("schema-%d", s.onDisk))
	if _, err := os.Lstat(final); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.mayWrite(); err != nil {
		return err
	}
	unfinished := s.path("migrated", fmt.Sprintf(".schema-%d", s.onDisk))
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	files := s.records()
	files[s.path("meta.json")] = ""
	for path := range files {
		rel, err := filepath.Rel(s.dir, path)
		if err != nil {
			return err
		}
		if err := copyFile(path, filepath.Join(unfinished, rel)); err != nil {
			return err
		}
	}
	return s.rename(unfinished, final)
}

func copyFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), folderMode); err != nil {
		return err
	}
	if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	data, err := atomicfile.Read(from, maxRecord)
	if err != nil && fileTrouble(from, err) {
		return nil // the load that follows sets it aside, which keeps it too
	}
	if err != nil {
		return err
	}
	return atomicfile.Write(to, data, fileMode)
}
