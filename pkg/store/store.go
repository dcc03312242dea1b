package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
)

// ErrReadOnly is what every write to a store opened read-only ends in.
var ErrReadOnly = errors.New("the state was opened for reading only")

// Options are how a store is opened.
type Options struct {
	CreatedBy string           // program and version, noted in meta.json when it is made
	Now       func() time.Time // nil: time.Now
	ReadOnly  bool             // create and write nothing; a missing folder is an empty board
	Check     func() error     // asked before each write; its error aborts the write. nil: no check
}

// Store is a state folder. Its methods may be called from several goroutines,
// but two saves of one workstream at once are for the caller to avoid.
type Store struct {
	dir      string
	now      func() time.Time
	readOnly bool
	check    func() error
	format   format

	mu      sync.Mutex
	onDisk  int               // schema of the folder
	made    time.Time         // when the folder was
	folded  map[string]string // lower-case id -> id of open workstreams; nil until it is needed
	stamped time.Time         // of the last request submitted here
}

// meta is the content of meta.json.
type meta struct {
	Schema    int       `json:"schema"`
	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
}

const (
	fileMode   = 0o644
	folderMode = 0o755
	maxMeta    = 64 << 10
)

// Open opens the state folder dir, and makes it when it is not there. A folder
// written by a newer program is refused with a *SchemaError; one written by an
// older program is migrated by the first load or save, which happens under the
// lease, and a copy of the old files is kept.
func Open(dir string, o Options) (*Store, error) {
	return open(dir, o, current)
}

func open(dir string, o Options, f format) (*Store, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("state folder %s: %w", dir, err)
	}
	s := &Store{dir: abs, now: o.Now, readOnly: o.ReadOnly, check: o.Check, format: f, onDisk: f.schema}
	if s.now == nil {
		s.now = time.Now
	}
	m, err := s.readMeta()
	if errors.Is(err, fs.ErrNotExist) {
		if o.ReadOnly {
			return s, nil
		}
		if err := s.create(o.CreatedBy); err != nil {
			return nil, fmt.Errorf("make state folder: %w", err)
		}
		m, err = s.readMeta()
	}
	if err != nil {
		return nil, err
	}
	if err := f.canRead(s.path("meta.json"), m.Schema); err != nil {
		return nil, err
	}
	s.onDisk, s.made = m.Schema, m.CreatedAt
	return s, nil
}

// Made is when the state was made. It tells two states apart, wherever they are.
func (s *Store) Made() time.Time { return s.made }

// create lays out a new state folder. meta.json comes last: with it the folder
// is complete, and whatever a crash or another process left of the rest is used.
func (s *Store) create(by string) error {
	if err := s.mine(); err != nil {
		return err
	}
	for _, folder := range []string{"workstreams", "executions", "requests"} {
		if err := atomicfile.MkdirAll(s.path(folder), folderMode); err != nil {
			return err
		}
	}
	m, err := json.MarshalIndent(meta{Schema: s.format.schema, CreatedBy: by, CreatedAt: s.now().UTC()}, "", "  ")
	if err != nil {
		return err
	}
	for _, file := range []struct {
		name string
		data []byte
	}{{".gitignore", []byte("*\n")}, {"meta.json", append(m, '\n')}} {
		err := atomicfile.Create(s.path(file.name), file.data, fileMode)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// ours are the names in a state folder.
var ours = []string{
	".gitignore", "agents.json", "archive", "claims", "executions", "expiry", "lease.json", "lease.lock", "mcp.json", "meta.json",
	"migrated", "quarantine", "repositories", "requests", "spending.json", "ticks", "workstreams",
}

// mine refuses to make a state folder of one that has other things in it: what
// is kept here is removed when it is old.
func (s *Store) mine() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		_, temporary := atomicfile.IsTemporary(e.Name())
		if !temporary && !slices.Contains(ours, e.Name()) && !strings.HasPrefix(e.Name(), "lease.json.bad-") {
			return fmt.Errorf("%s has %s in it and is no state folder: set [state] dir to a folder of its own", s.dir, e.Name())
		}
	}
	return nil
}

func (s *Store) readMeta() (meta, error) {
	var m struct {
		meta
		Schema *int `json:"schema"`
	}
	path := s.path("meta.json")
	data, err := atomicfile.Read(path, maxMeta)
	if err != nil {
		return meta{}, err
	}
	err = json.Unmarshal(data, &m)
	if err == nil && m.Schema == nil {
		err = errors.New("it has no schema")
	}
	if err != nil {
		return meta{}, fmt.Errorf("%s: %w (restore it, or remove it when this version of backburner wrote the state: it is made anew)", path, err)
	}
	m.meta.Schema = *m.Schema
	return m.meta, nil
}

// path is a path below the state folder. Its elements are constants or were
// checked before.
func (s *Store) path(elem ...string) string {
	return filepath.Join(append([]string{s.dir}, elem...)...)
}

// mayWrite is asked before each write.
func (s *Store) mayWrite() error {
	if s.readOnly {
		return ErrReadOnly
	}
	if s.check != nil {
		return s.check()
	}
	return nil
}

// inFolder runs a write into a folder that may not be there yet: folders are
// made when something is first put into them, or put right when somebody
// removed one.
func inFolder(folder string, write func() error) error {
	err := write()
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := atomicfile.MkdirAll(folder, folderMode); err != nil {
		return err
	}
	return write()
}

// put writes a file durably.
func (s *Store) put(path string, data []byte) error {
	if err := s.mayWrite(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return inFolder(filepath.Dir(path), func() error { return atomicfile.Write(path, data, fileMode) })
}

// putRelaxed writes a file that may be lost in a power loss.
func (s *Store) putRelaxed(path string, data []byte) error {
	if err := s.mayWrite(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return inFolder(filepath.Dir(path), func() error { return atomicfile.WriteRelaxed(path, data, fileMode) })
}

// appendLine adds a line to a log, likewise.
func (s *Store) appendLine(path string, line []byte) error {
	if err := s.mayWrite(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return inFolder(filepath.Dir(path), func() error { return atomicfile.Append(path, line) })
}

// rename moves a file or folder within the state, durably.
func (s *Store) rename(from, to string) error {
	if err := s.mayWrite(); err != nil {
		return fmt.Errorf("move %s: %w", from, err)
	}
	return inFolder(filepath.Dir(to), func() error { return atomicfile.Rename(from, to) })
}

// remove removes a file, or a folder with everything in it. A power loss may
// bring it back; whoever removes something does so again then.
func (s *Store) remove(path string) error {
	if err := s.mayWrite(); err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	return os.RemoveAll(path)
}
