package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/work"
)

// Load reads what is open: workstreams, repositories, agents, spending and the
// undecided requests. Files that cannot be used are set aside and reported, and
// only what was in them is missing from the board. An error means that the
// board could not be read at all.
func (s *Store) Load(ctx context.Context) (*work.Board, []Quarantined, error) {
	if err := s.migrate(); err != nil {
		return nil, nil, err
	}
	b := work.NewBoard()
	var aside []Quarantined
	for _, load := range []func(context.Context, *work.Board) ([]Quarantined, error){
		s.loadWorkstreams, s.loadRepositories, s.loadAgents, s.loadSpending, s.loadRequests,
	} {
		bad, err := load(ctx, b)
		if err != nil {
			return nil, nil, fmt.Errorf("load state: %w", err)
		}
		aside = append(aside, bad...)
	}
	return b, aside, nil
}

func (s *Store) loadWorkstreams(ctx context.Context, b *work.Board) ([]Quarantined, error) {
	names, err := readNames(s.path("workstreams"))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.setNames(names)
	s.mu.Unlock()
	loaded, aside, err := loadAll(ctx, s, "workstreams", names, s.decodeWorkstream)
	for _, w := range loaded {
		b.Workstreams[w.ID] = w
	}
	for _, q := range aside {
		if q.Aside != "" {
			s.forgetName(q.ID)
		}
	}
	return aside, err
}

// decodeWorkstream reads the workstream id from its file's content.
func (s *Store) decodeWorkstream(id string, data []byte) (*work.Workstream, error) {
	w := new(work.Workstream)
	if err := decode(s.format, workstreamRecord, data, w, &w.Schema); err != nil {
		return nil, err
	}
	if w.ID != id {
		return nil, fmt.Errorf("it holds the workstream %.100q", w.ID)
	}
	if why := problem(w); why != "" {
		return nil, errors.New(why)
	}
	w.Version = max(w.Version, 1) // written by hand: a loaded one is never new
	return w, nil
}

func (s *Store) loadRepositories(ctx context.Context, b *work.Board) ([]Quarantined, error) {
	names, err := readNames(s.path("repositories"))
	if err != nil {
		return nil, err
	}
	loaded, aside, err := loadAll(ctx, s, "repositories", names, s.decodeRepository)
	for _, r := range loaded {
		b.Repositories[r.ID] = r
	}
	return aside, err
}

func (s *Store) decodeRepository(id string, data []byte) (*work.Repository, error) {
	r := new(work.Repository)
	if err := decode(s.format, repositoryRecord, data, r, &r.Schema); err != nil {
		return nil, err
	}
	if r.ID != id {
		return nil, fmt.Errorf("it holds the repository %.100q", r.ID)
	}
	return r, nil
}

func (s *Store) loadAgents(_ context.Context, b *work.Board) ([]Quarantined, error) {
	agents, aside, err := loadSingle(s, agentsRecord, "agents.json", func(a *work.AgentStates) *int { return &a.Schema })
	if agents != nil {
		b.Agents, b.Hold = agents, agents.Hold
	}
	return aside, err
}

func (s *Store) loadSpending(_ context.Context, b *work.Board) ([]Quarantined, error) {
	ledger, aside, err := loadSingle(s, spendingRecord, "spending.json", func(l *work.Ledger) *int { return &l.Schema })
	if ledger != nil {
		b.Spending = ledger
	}
	return aside, err
}

// loadSingle reads a record there is one of; nil when it is not there.
func loadSingle[T any](s *Store, k kind, name string, schema func(*T) *int) (*T, []Quarantined, error) {
	path := s.path(name)
	data, err := atomicfile.Read(path, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	record := new(T)
	if err == nil {
		err = decode(s.format, k, data, record, schema(record))
	} else if !fileTrouble(path, err) {
		return nil, nil, err
	}
	if err != nil {
		return nil, []Quarantined{s.setAside(path, "", err)}, nil
	}
	return record, nil, nil
}

func (s *Store) loadRequests(_ context.Context, b *work.Board) (aside []Quarantined, err error) {
	b.Requests, aside, err = s.Requests()
	return aside, err
}

// loadAll reads the records of a folder with as many workers as there are
// cores, in no particular order.
func loadAll[T any](ctx context.Context, s *Store, folder string, names []string, decode func(id string, data []byte) (*T, error)) ([]*T, []Quarantined, error) {
	var (
		next   atomic.Int64
		mu     sync.Mutex
		loaded = make([]*T, 0, len(names))
		aside  []Quarantined
		errs   []error
		done   sync.WaitGroup
	)
	for range min(runtime.GOMAXPROCS(0), len(names)) {
		done.Go(func() {
			var mine []*T
			var bad []Quarantined
			err := eachName(ctx, names, &next, func(name string) error {
				record, q, err := loadOne(s, filepath.Join(s.dir, folder, name), decode)
				if record != nil {
					mine = append(mine, record)
				}
				if q != nil {
					bad = append(bad, *q)
				}
				return err
			})
			mu.Lock()
			defer mu.Unlock()
			loaded, aside, errs = append(loaded, mine...), append(aside, bad...), append(errs, err)
		})
	}
	done.Wait()
	slices.SortFunc(aside, func(a, b Quarantined) int { return cmp.Compare(a.Path, b.Path) })
	return loaded, aside, errors.Join(errs...)
}

// eachName hands out the names that next has not passed yet.
func eachName(ctx context.Context, names []string, next *atomic.Int64, do func(name string) error) error {
	for {
		i := next.Add(1) - 1
		if i >= int64(len(names)) {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := do(names[i]); err != nil {
			return err
		}
	}
}

// loadOne reads one record; all results are nil when the file is not ours or
// has just gone.
func loadOne[T any](s *Store, path string, decode func(id string, data []byte) (*T, error)) (*T, *Quarantined, error) {
	id, ours := recordID(filepath.Base(path))
	if !ours {
		return nil, nil, nil
	}
	data, err := atomicfile.Read(path, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil && !fileTrouble(path, err) {
		return nil, nil, err
	}
	var record *T
	if err == nil {
		record, err = decode(id, data)
	}
	if err != nil {
		q := s.setAside(path, id, err)
		return nil, &q, nil
	}
	return record, nil, nil
}

// readNames lists a folder, without folders in it and in no particular order;
// a folder that is not there has nothing in it.
func readNames(folder string) ([]string, error) {
	f, err := os.Open(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		if !entry.IsDir() || filepath.Ext(entry.Name()) == ".json" { // a folder with a record's name is in its way
			names = append(names, entry.Name())
		}
	}
	return names, nil
}
