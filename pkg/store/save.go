package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/work"
)

// ConflictError is returned by Save when the file is not the one that was
// loaded: somebody else saved, removed or made it. Nothing was written.
type ConflictError struct {
	ID   string
	Path string
	Held int64 // version the caller holds; 0: it is new
	Disk int64 // version of the file; 0: there is none
}

func (e *ConflictError) Error() string {
	happened := fmt.Sprintf("version %d was loaded, and the file is version %d now", e.Held, e.Disk)
	switch {
	case e.Disk == 0:
		happened = fmt.Sprintf("version %d was loaded, and the file is gone", e.Held)
	case e.Held == 0:
		happened = fmt.Sprintf("it is new, and there is a file with version %d already", e.Disk)
	}
	return fmt.Sprintf("workstream %s: somebody else changed %s: %s; nothing was saved, the next tick goes on from the file", e.ID, e.Path, happened)
}

// RecordError is returned by Save when it is the record or its file that cannot be
// saved, whatever else can: somebody spoiled the file, or its id is taken.
type RecordError struct {
	ID  string
	Err error
}

func (e *RecordError) Error() string {
	return fmt.Sprintf("save workstream %.100s: %v", e.ID, e.Err)
}

func (e *RecordError) Unwrap() error { return e.Err }

// ErrArchived is in the error of saving a new workstream whose id is taken by
// an archived one.
var ErrArchived = errors.New("a workstream of this id is in the archive")

// Save writes a workstream, durably and in one step, and counts its version
// up. It writes nothing when the file says the same already, and returns a
// *ConflictError when the file is not the version that w holds, or a *RecordError.
// Any other error would meet other records as well. On an error w keeps its version.
func (s *Store) Save(w *work.Workstream) error {
	err := s.save(w)
	var conflict *ConflictError
	var record *RecordError
	if err == nil || errors.As(err, &conflict) || errors.As(err, &record) {
		return err
	}
	return fmt.Errorf("save workstream %.100s: %w", w.ID, err)
}

func (s *Store) save(w *work.Workstream) error {
	if why := problem(w); why != "" {
		return &RecordError{w.ID, fmt.Errorf("%s; a file like that would be set aside by the next tick", why)}
	}
	if err := s.migrate(); err != nil {
		return err
	}
	path := s.workstreamFile(w.ID)
	old, err := atomicfile.Read(path, maxRecord)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		if fileTrouble(path, err) {
			err = &RecordError{w.ID, err}
		}
		return err
	}
	if missing {
		if w.Version != 0 {
			return &ConflictError{ID: w.ID, Path: path, Held: w.Version}
		}
		if err := s.claimName(w.ID); err != nil {
			return err
		}
		return s.replace(w, path, nil, nil)
	}
	disk, base, err := s.onTop(workstreamRecord, path, old)
	if err == nil && disk.ID != w.ID {
		err = foldError(w.ID, disk.ID)
	}
	if err != nil {
		return &RecordError{w.ID, err}
	}
	if version := max(disk.Version, 1); version != w.Version {
		return &ConflictError{ID: w.ID, Path: path, Held: w.Version, Disk: version}
	}
	return s.replace(w, path, old, base)
}

// replace writes the next version of a workstream over old, on top of base,
// unless old says the same.
func (s *Store) replace(w *work.Workstream, path string, old, base []byte) error {
	next := *w
	next.Schema = s.format.schema
	data, err := encode(workstreamShape(), &next, base)
	if err != nil {
		return &RecordError{w.ID, err}
	}
	if bytes.Equal(data, old) {
		w.Schema = next.Schema
		return nil
	}
	next.Version++
	if data, err = encode(workstreamShape(), &next, base); err != nil {
		return &RecordError{w.ID, err}
	}
	if err := s.put(path, data); err != nil {
		return err
	}
	w.Schema, w.Version = next.Schema, next.Version
	s.noteName(w.ID)
	return nil
}

// head is what must be known of a file that is about to be replaced.
type head struct {
	Schema  int    `json:"schema"`
	Version int64  `json:"version"`
	ID      string `json:"id"`
}

// onTop looks at a file that is about to be replaced: what it is, and what of
// it a new record is put on top of, which is the file in the current schema.
func (s *Store) onTop(k kind, path string, old []byte) (disk head, base []byte, err error) {
	if err := json.Unmarshal(old, &disk); err != nil {
		return head{}, nil, fmt.Errorf("%s was changed by somebody else and cannot be read (%w); the next tick sets it aside", path, err)
	}
	if disk.ID == "" && k == workstreamRecord {
		return head{}, nil, fmt.Errorf("%s was changed by somebody else and is no record any more; the next tick sets it aside", path)
	}
	if disk.Schema > s.format.schema {
		return head{}, nil, &SchemaError{Path: path, Have: disk.Schema, Want: s.format.schema}
	}
	if disk.Schema == s.format.schema {
		return disk, old, nil
	}
	base, err = s.format.upgrade(k, old)
	if err != nil {
		return head{}, nil, fmt.Errorf("%s: %w", path, err)
	}
	return disk, base, nil
}

// claimName returns an error when a new workstream must not be called id: an
// archived one is, or an open one that a file system which ignores case would
// keep in the same file.
func (s *Store) claimName(id string) error {
	if path, err := s.Archived(id); err != nil {
		return err
	} else if path != "" {
		return &RecordError{id, fmt.Errorf("%w: %s; reopen it, or choose another id", ErrArchived, path)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folded == nil {
		names, err := readNames(s.path("workstreams"))
		if err != nil {
			return err
		}
		s.setNames(names)
	}
	if other, taken := s.folded[strings.ToLower(id)]; taken && other != id {
		return &RecordError{id, foldError(id, other)}
	}
	return nil
}

func foldError(id, other string) error {
	return fmt.Errorf("id %q differs from the existing %q only in upper and lower case, and some file systems keep both in one file; choose another id", id, other)
}

// setNames takes over which workstreams are open. s.mu is held.
func (s *Store) setNames(names []string) {
	s.folded = make(map[string]string, len(names))
	for _, name := range names {
		if id, ok := recordID(name); ok {
			s.folded[strings.ToLower(id)] = id
		}
	}
}

func (s *Store) noteName(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folded != nil {
		s.folded[strings.ToLower(id)] = id
	}
}

func (s *Store) forgetName(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folded[strings.ToLower(id)] == id {
		delete(s.folded, strings.ToLower(id))
	}
}

// SaveRepository writes what is remembered of a repository, unless the file
// says the same already.
func (s *Store) SaveRepository(r *work.Repository) error {
	if err := checkID("repository", r.ID); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	r.Schema = s.format.schema
	return s.saveRecord(repositoryRecord, s.path("repositories", r.ID+".json"), repositoryShape(), r)
}

// SaveAgents writes agents.json, unless it says the same already.
func (s *Store) SaveAgents(a *work.AgentStates) error {
	a.Schema = s.format.schema
	return s.saveRecord(agentsRecord, s.path("agents.json"), agentsShape(), a)
}

// SaveLedger writes spending.json, unless it says the same already.
func (s *Store) SaveLedger(l *work.Ledger) error {
	l.Schema = s.format.schema
	return s.saveRecord(spendingRecord, s.path("spending.json"), spendingShape(), l)
}

// saveRecord writes a record that has no version: the last writer wins.
func (s *Store) saveRecord(k kind, path string, sh *shape, record any) error {
	err := s.migrate()
	if err == nil {
		err = s.overwrite(k, path, sh, record)
	}
	if err != nil {
		return fmt.Errorf("save %s: %w", k, err)
	}
	return nil
}

func (s *Store) overwrite(k kind, path string, sh *shape, record any) error {
	old, err := atomicfile.Read(path, maxRecord)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var base []byte
	if err == nil {
		if _, base, err = s.onTop(k, path, old); err != nil {
			return err
		}
	}
	data, err := encode(sh, record, base)
	if err != nil || bytes.Equal(data, old) {
		return err
	}
	return s.put(path, data)
}
