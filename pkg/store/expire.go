package store

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/work"
)

// RetentionPolicy says how long history is kept. Zero of any field keeps
// everything of its kind.
type RetentionPolicy struct {
	Executions     time.Duration // since the execution ended
	ExecutionBytes int64         // of all executions' folders together
	Archive        time.Duration // since the month ended in which the workstream closed
	Requests       time.Duration // settled ones, since they were submitted
	Ticks          time.Duration // logs, since their day ended
}

const (
	// expireEvery is how often history is looked at when there is no backlog.
	expireEvery = 24 * time.Hour
	// expireBudget is how many things one call removes at most, so that no
	// tick pays for years of history; the next ticks go on.
	expireBudget = 2000
	// leftoverAge is when a temporary file belongs to nobody any more.
	leftoverAge = time.Hour

	monthFormat = "2006-01"
)

// progress is the content of expiry/state.json.
type progress struct {
	CheckedAt time.Time `json:"checked_at"`
	Backlog   bool      `json:"backlog,omitempty"` // the budget did not do; go on in the next tick
}

// Removed is what Expire and Collect let go of.
type Removed struct {
	Executions  int   `json:"executions"`
	Workstreams int   `json:"workstreams"` // archived
	Requests    int   `json:"requests"`    // decided
	Logs        int   `json:"logs"`        // of ticks, one a day
	Leftovers   int   `json:"leftovers"`   // files that were half written
	Bytes       int64 `json:"bytes"`
}

// Expire removes history that is older, or larger, than the policy allows, and
// returns how many executions, archived workstreams, requests and logs went.
// Executions of open workstreams always stay. It also puts right what crashes
// left: temporary files, and folders of workstreams already archived.
//
// It may be called by every tick: it looks once a day (when [Store.ExpireDue]),
// and once a tick while there is more to remove than one call does. Trouble with
// one thing does not stop the rest, and is tried again the next day.
func (s *Store) Expire(now time.Time, p RetentionPolicy) (removed int, err error) {
	if err := s.mayWrite(); err != nil {
		return 0, err
	}
	backlog := s.readProgress().Backlog
	if !backlog && !s.ExpireDue(now) {
		return 0, nil
	}
	e := &expiry{store: s, now: now, policy: p, budget: expireBudget, goingOn: backlog, open: make(map[string]bool)}
	err = e.run()
	r := e.removed
	return r.Executions + r.Workstreams + r.Requests + r.Logs, err
}

// ExpireDue reports whether history was not looked at for a day.
func (s *Store) ExpireDue(now time.Time) bool {
	age := now.Sub(s.readProgress().CheckedAt)
	return age < 0 || age >= expireEvery
}

// Collect is Expire at once and for all that there is. dry only says what would go.
func (s *Store) Collect(now time.Time, p RetentionPolicy, dry bool) (Removed, error) {
	if !dry {
		if err := s.mayWrite(); err != nil {
			return Removed{}, err
		}
	}
	e := &expiry{store: s, now: now, policy: p, budget: math.MaxInt, dry: dry, open: make(map[string]bool)}
	err := e.run()
	return e.removed, err
}

// readProgress is the zero value for a marker that is missing or broken: then
// it is time to look.
func (s *Store) readProgress() (p progress) {
	if data, err := atomicfile.Read(s.marker(), maxMeta); err == nil && json.Unmarshal(data, &p) != nil {
		return progress{}
	}
	return p
}

func (s *Store) marker() string { return s.path("expiry", "state.json") }

// expiry is one run of Expire.
type expiry struct {
	store   *Store
	now     time.Time
	policy  RetentionPolicy
	goingOn bool // with a backlog: this is not the day's first look
	dry     bool // nothing is removed
	budget  int
	removed Removed
	open    map[string]bool // is the workstream open? as far as it was asked
	errs    []error
}

func (e *expiry) run() error {
	for _, step := range []func() error{e.leftovers, e.folders, e.ticks, e.requests, e.archive, e.executions} {
		if err := step(); err != nil {
			e.errs = append(e.errs, err)
		}
	}
	if e.dry {
		return errors.Join(e.errs...)
	}
	data, err := json.Marshal(progress{CheckedAt: e.now.UTC(), Backlog: e.budget <= 0})
	if err == nil {
		err = e.store.putRelaxed(e.store.marker(), append(data, '\n'))
	}
	return errors.Join(append(e.errs, err)...)
}

// drop removes one thing, counts it and reports whether it is gone. It must not
// be called without budget.
func (e *expiry) drop(path string, count *int) bool {
	e.budget--
	size := folderSize(path)
	if !e.dry {
		if err := e.store.remove(path); err != nil {
			e.errs = append(e.errs, err)
			return false
		}
	}
	*count++
	e.removed.Bytes += size
	return true
}

// isOpen reports whether a workstream is open, or cannot be told not to be.
func (e *expiry) isOpen(id string) bool {
	open, asked := e.open[id]
	if !asked {
		_, err := os.Lstat(e.store.workstreamFile(id))
		open = !errors.Is(err, fs.ErrNotExist)
		e.open[id] = open
	}
	return open
}

func (e *expiry) leftovers() error {
	var errs []error
	sweep := func(folder ...string) {
		paths, err := atomicfile.Leftovers(e.store.path(folder...), e.now.Add(-leftoverAge))
		errs = append(errs, err)
		for _, path := range paths {
			e.budget++ // these are few, and cost no history
			e.drop(path, &e.removed.Leftovers)
		}
	}
	for _, folder := range []string{"", "workstreams", "repositories", "requests", "expiry"} {
		sweep(folder)
	}
	entries, err := os.ReadDir(e.store.path("workstreams"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		errs = append(errs, err)
	}
	for _, entry := range entries {
		if entry.IsDir() {
			sweep("workstreams", entry.Name())
			sweep("workstreams", entry.Name(), "review")
		}
	}
	return errors.Join(errs...)
}

// folders takes along the folders whose workstreams were archived by a tick
// that died before it came to them.
func (e *expiry) folders() error {
	if e.dry {
		return nil
	}
	entries, err := os.ReadDir(e.store.path("workstreams"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		id := entry.Name()
		if !entry.IsDir() || work.BadID(id) != "" || e.isOpen(id) {
			continue
		}
		record, err := e.store.Archived(id)
		if err == nil && record != "" {
			err = e.store.moveFolder(e.store.Folder(id), record[:len(record)-len(".json")])
		}
		if err != nil {
			e.errs = append(e.errs, err)
		}
	}
	return nil
}

func (e *expiry) ticks() error {
	if e.policy.Ticks <= 0 {
		return nil
	}
	days, err := e.store.tickDays()
	if err != nil {
		return err
	}
	for _, day := range days {
		if e.budget > 0 && e.dayIsOver(day, e.policy.Ticks) {
			e.drop(e.store.tickFile(day), &e.removed.Logs)
		}
	}
	return nil
}

// dayIsOver reports whether a day ended longer ago than age.
func (e *expiry) dayIsOver(day string, age time.Duration) bool {
	start, err := time.Parse(dayFormat, day)
	return err == nil && start.AddDate(0, 0, 1).Before(e.now.Add(-age))
}

func (e *expiry) requests() error {
	if e.policy.Requests <= 0 {
		return nil
	}
	done := e.store.path("requests", "done")
	names, err := readNames(done)
	if err != nil {
		return err
	}
	cut := e.now.Add(-e.policy.Requests)
	for _, name := range names {
		id, ours := recordID(name)
		if !ours || e.budget <= 0 {
			continue
		}
		at, ok := requestAge(id)
		if !ok {
			info, err := os.Lstat(filepath.Join(done, name))
			if err != nil {
				continue
			}
			at = info.ModTime()
		}
		if at.Before(cut) {
			e.drop(filepath.Join(done, name), &e.removed.Requests)
		}
	}
	return nil
}

// archive removes the workstreams of months long gone, and then the month.
func (e *expiry) archive() error {
	if e.policy.Archive <= 0 {
		return nil
	}
	months, err := e.store.months()
	if err != nil {
		return err
	}
	for _, month := range months {
		end, _ := monthEnd(month)
		if !end.Before(e.now.Add(-e.policy.Archive)) {
			break
		}
		if err := e.month(e.store.path("archive", month)); err != nil {
			e.errs = append(e.errs, err)
		}
	}
	return nil
}

func (e *expiry) month(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if e.budget <= 0 {
			return nil
		}
		count := &e.removed.Workstreams
		if entry.IsDir() {
			count = new(int) // the folder of a workstream, which counts once
		}
		e.drop(filepath.Join(folder, entry.Name()), count)
	}
	if e.dry {
		return nil
	}
	return e.store.remove(folder)
}

// monthEnd is when a month of the archive was over; ok is false for names that
// are no months.
func monthEnd(name string) (end time.Time, ok bool) {
	start, err := time.Parse(monthFormat, name)
	return start.AddDate(0, 1, 0), err == nil
}
