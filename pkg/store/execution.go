package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/work"
)

// ExecutionDir is the folder of an execution. It need not exist.
func (s *Store) ExecutionDir(id string) string {
	if badExecution(id) != "" {
		id = nowhere
	}
	return s.path("executions", id)
}

// NewExecutionDir makes the empty folder of an execution that is about to
// start, durably. What is there was left by a crash before any workstream named
// it, and is removed.
func (s *Store) NewExecutionDir(id string) (string, error) {
	dir, err := s.newExecutionDir(id)
	if err != nil {
		return "", fmt.Errorf("make folder of execution %.100s: %w", id, err)
	}
	return dir, nil
}

func (s *Store) newExecutionDir(id string) (string, error) {
	if err := checkExecution(id); err != nil {
		return "", err
	}
	dir := s.ExecutionDir(id)
	if err := s.remove(dir); err != nil {
		return "", err
	}
	return dir, atomicfile.MkdirAll(dir, folderMode)
}

// SaveExecution writes execution.json, durably. It is called before a
// workstream names the execution, and once more when the run has ended and its
// artifacts are complete. Whatever the run itself left in the place of the file
// or of its folder gives way: it must not be able to go unrecorded.
func (s *Store) SaveExecution(e *work.Execution) error {
	if err := checkExecution(e.ID); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	e.Schema = s.format.schema
	dir := s.ExecutionDir(e.ID)
	path := filepath.Join(dir, "execution.json")
	if err := s.clearWay(dir, path); err != nil {
		return fmt.Errorf("save execution: %w", err)
	}
	if err := s.saveRecord(executionRecord, path, executionShape(), e); err != nil {
		return err
	}
	if !e.EndedAt.IsZero() {
		s.noteEnded(e.ID, e.EndedAt)
	}
	return nil
}

// clearWay removes what is no folder in the place of an execution's folder, and
// what is no record in the place of its file.
func (s *Store) clearWay(dir, path string) error {
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return s.remove(dir)
	}
	old, err := atomicfile.Read(path, maxRecord)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && json.Valid(old) && len(old) > 0:
		return nil
	case err == nil || fileTrouble(path, err):
		return s.remove(path)
	}
	return err
}

// Execution reads the record of an execution; fs.ErrNotExist when it expired or
// never was.
func (s *Store) Execution(id string) (*work.Execution, error) {
	if err := checkExecution(id); err != nil {
		return nil, err
	}
	path := filepath.Join(s.ExecutionDir(id), "execution.json")
	data, err := atomicfile.Read(path, maxRecord)
	if err != nil {
		return nil, err
	}
	e, err := decodeExecution(s.format, id, data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w (repair it, or remove it)", path, err)
	}
	return e, nil
}

func decodeExecution(f format, id string, data []byte) (*work.Execution, error) {
	e := new(work.Execution)
	if err := decode(f, executionRecord, data, e, &e.Schema); err != nil {
		return nil, err
	}
	if e.ID != id {
		return nil, fmt.Errorf("it holds the execution %.100q", e.ID)
	}
	return e, nil
}
