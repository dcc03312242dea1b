package store

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/work"
)

// requestTime is how a request's id starts. Its length is fixed, so that ids
// sort by age.
const requestTime = "20060102T150405.000000000Z"

// Submit puts a request into the inbox. Any process may do so at any time; the
// request is durable when Submit returns nil. A request without an id gets one,
// which sorts behind all that were submitted before, and one without a time the
// current one. A request that brings an id is submitted at most once: a second
// time is fs.ErrExist, also when the first was settled meanwhile.
func (s *Store) Submit(r *work.Request) error {
	filled := *r
	filled.Schema = s.format.schema
	now := s.stamp()
	if filled.At.IsZero() {
		filled.At = now
	}
	if filled.ID == "" {
		var random [6]byte
		_, _ = rand.Read(random[:]) // never fails, it says
		filled.ID = now.Format(requestTime) + "-" + hex.EncodeToString(random[:])
	}
	if err := s.submit(&filled); err != nil {
		return fmt.Errorf("submit request: %w", err)
	}
	*r = filled
	return nil
}

func (s *Store) submit(r *work.Request) error {
	if why := requestProblem(r); why != "" {
		return errors.New(why)
	}
	data, err := encode(nil, r, nil)
	if err != nil {
		return err
	}
	if err := s.mayWrite(); err != nil {
		return err
	}
	if _, err := os.Lstat(s.settledFile(r.ID)); err == nil {
		return fmt.Errorf("%s: %w", s.settledFile(r.ID), fs.ErrExist)
	}
	return inFolder(s.path("requests"), func() error {
		return atomicfile.Create(s.requestFile(r.ID), data, fileMode)
	})
}

// stamp is the current time, later than every one before from this store: the
// requests of one process keep their order also where the clock is coarse.
func (s *Store) stamp() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now().UTC()
	if !now.After(s.stamped) {
		now = s.stamped.Add(1)
	}
	s.stamped = now
	return now
}

func (s *Store) requestFile(id string) string { return s.path("requests", id+".json") }
func (s *Store) settledFile(id string) string { return s.path("requests", "done", id+".json") }

// requestProblem says why a request cannot be looked at, "" when it can.
// Whether it makes sense is for enrolment to decide, with an answer to whoever
// asked.
func requestProblem(r *work.Request) string {
	switch {
	case work.BadID(r.ID) != "":
		return fmt.Sprintf("request id %.100q: %s", r.ID, work.BadID(r.ID))
	case r.Verb == "":
		return "it asks for nothing: no verb"
	case r.Workstream != "" && work.BadID(r.Workstream) != "":
		return fmt.Sprintf("workstream %.100q: %s", r.Workstream, work.BadID(r.Workstream))
	}
	return ""
}

// RequestNames lists the ids of the inbox, oldest first: one look at the
// folder, for a pass that wants to know whether something arrived.
func (s *Store) RequestNames() ([]string, error) {
	names, err := readNames(s.path("requests"))
	if err != nil {
		return nil, fmt.Errorf("list requests: %w", err)
	}
	ids := names[:0]
	for _, name := range names {
		if id, ours := recordID(name); ours {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// Requests reads the undecided requests, oldest first. Files that are no
// requests are set aside; decided ones that a crash left in the inbox are
// moved on.
func (s *Store) Requests() ([]*work.Request, []Quarantined, error) {
	ids, err := s.RequestNames()
	if err != nil {
		return nil, nil, err
	}
	var undecided []*work.Request
	var aside []Quarantined
	for _, id := range ids {
		r, bad, err := loadOne(s, s.requestFile(id), s.decodeRequest)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("read requests: %w", err)
		case bad != nil:
			aside = append(aside, *bad)
		case r == nil: // settled between the two looks
		case !r.Progress.Settled():
			undecided = append(undecided, r)
		case !s.readOnly:
			if err := s.moveToDone(id); err != nil {
				return nil, nil, fmt.Errorf("settle request %s: %w", id, err)
			}
		}
	}
	return undecided, aside, nil
}

func (s *Store) decodeRequest(id string, data []byte) (*work.Request, error) {
	r := new(work.Request)
	if err := decode(s.format, requestRecord, data, r, &r.Schema); err != nil {
		return nil, err
	}
	if r.ID != id {
		return nil, fmt.Errorf("it holds the request %.100q", r.ID)
	}
	if why := requestProblem(r); why != "" {
		return nil, errors.New(why)
	}
	return r, nil
}

// SaveRequest writes what has become of a request so far, unless the file says
// the same already. One that a person took out of the inbox stays out.
func (s *Store) SaveRequest(r *work.Request) error {
	if err := checkID("request", r.ID); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	path := s.requestFile(r.ID)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	r.Schema = s.format.schema
	return s.saveRecord(requestRecord, path, requestShape(), r)
}

// SettleRequest writes what became of a request and moves it out of the inbox.
// Doing it again changes nothing.
func (s *Store) SettleRequest(r *work.Request) error {
	if err := checkID("request", r.ID); err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	if !r.Progress.Settled() {
		return fmt.Errorf("settle request %s: nothing was decided (%q)", r.ID, r.Progress.Decision)
	}
	r.Schema = s.format.schema
	path, done := s.requestFile(r.ID), s.settledFile(r.ID)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(done); err == nil {
			return nil
		}
		path = done // taken out by a person while it was decided: the record remains
	}
	if err := s.saveRecord(requestRecord, path, requestShape(), r); err != nil {
		return err
	}
	if path == done {
		return nil
	}
	if err := s.moveToDone(r.ID); err != nil {
		return fmt.Errorf("settle request %s: %w", r.ID, err)
	}
	return nil
}

// moveToDone needs no fsync: the decision is durable in the file, and a power
// loss that brings the file back to the inbox has Requests move it again.
func (s *Store) moveToDone(id string) error {
	if err := s.mayWrite(); err != nil {
		return err
	}
	err := inFolder(s.path("requests", "done"), func() error {
		return os.Rename(s.requestFile(id), s.settledFile(id))
	})
	if errors.Is(err, fs.ErrNotExist) { // somebody else was quicker
		return nil
	}
	return err
}

// requestAge is the time in a request's id; ok is false for ids of another make.
func requestAge(id string) (at time.Time, ok bool) {
	if len(id) < len(requestTime) || !strings.HasPrefix(id[8:], "T") {
		return time.Time{}, false
	}
	at, err := time.Parse(requestTime, id[:len(requestTime)])
	return at, err == nil
}
