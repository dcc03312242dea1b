package forge

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// trouble is what errors of a hub are.
type trouble interface {
	Passing() bool
	Reason() string
	Resumes() time.Time
}

// Explain is an error of a hub as trouble that a repository has; ok is false when
// it is of something else.
func Explain(err error) (t work.Trouble, ok bool) {
	var of trouble
	if ok = errors.As(err, &of); ok {
		t = work.Trouble{Text: of.Reason(), Passing: of.Passing(), Until: of.Resumes()}
	}
	return t, ok
}

// FromHub reports whether an error is one of a hub.
func FromHub(err error) bool { return errors.As(err, new(trouble)) }

// Passes reports whether what went wrong with a hub goes away by itself: it was
// not reached, or asks to be left alone for a while.
func Passes(err error) bool {
	var t trouble
	return errors.As(err, &t) && t.Passing()
}

// Bars reports whether a person has to mend something at the hub, or with the
// token, before what was to be done there can be; then it can be done as it is.
func Bars(err error) bool {
	var b interface{ Bars() bool }
	return errors.As(err, &b) && b.Bars()
}

// Ask is what a pass wants to know of one repository on a hub, a forge with
// issues and pull requests.
type Ask struct {
	Repository string          // id of the repository
	Slug       string          // as configured
	State      json.RawMessage // what the hub remembered the last time
	NotBefore  time.Time       // it is to be left alone until then
	Open       []Open
}

// Open is an open workstream with a thread.
type Open struct {
	Workstream string
	Kind       work.Kind
	Thread     *work.Thread
	Spec       work.Spec
	Held       bool
	Planned    string // commit of its pull request with the plan that waits for approval; "" when none does there
}

// News is what happened in one repository since the last time.
type News struct {
	Repository string
	Requests   []*work.Request          // in the order in which people made them; their ids are those of the events
	Sightings  map[string]work.Sighting // by workstream
	Said       map[string][]Entry       // by workstream: what people it believes said on its thread, and that is no request
	State      json.RawMessage          // to remember once the requests are decided
	Notices    []string                 // for the tick's line
	Err        error                    // why there is nothing; it says what a person does
	Slug       string                   // what the repository is called now, as far as is known
	Taken      bool                     // another repository has its name, as Err says: it is not to be cloned or pushed to
	Barred     error                    // why nothing can be told there, likewise
}

// Part is an issue of its own for a part of the work of another.
type Part struct {
	Key    string // deterministic
	Parent int    // number of the issue that it is a part of
	Title  string
	Body   string
}

// PullRequest is one to be opened, or brought up to date.
type PullRequest struct {
	Branch string // short name, as Base
	Head   string // commit of the branch
	Base   string
	Title  string
	Body   string
	Closes []int // issues that merging it closes
	Draft  bool
	Again  bool // one that people closed is wanted again
}

// PostedReview is a review to be put on a pull request.
type PostedReview struct {
	ID     string // deterministic
	Pull   int
	Commit string // it is about
	work.Review
}

// MergeAsk is a merge that a person asked for.
type MergeAsk struct {
	Pull     work.Pull
	Head     string // commit that the pull request must have
	Strategy string // merge, squash, rebase
	Title    string // of the commit it lands as; a rebase keeps those of the branch
	Message  string // likewise
	Queued   bool   // the hub had it in a queue when it was last asked
}

// MergeAnswer is what became of a merge.
type MergeAnswer struct {
	Outcome MergeOutcome
	Commit  string // it landed as
	Detail  string // why it did not, or that a queue has it
	Queued  bool   // a queue has it
}

// MergeOutcome is one of three: what nobody knows is neither done nor not done.
type MergeOutcome string

// The outcomes of a merge.
const (
	Landed    MergeOutcome = "landed"
	NotLanded MergeOutcome = "not_landed"
	Unknown   MergeOutcome = "unknown" // looked at again by the next tick; also while a merge queue has it
)
