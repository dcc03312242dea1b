package work

import (
	"fmt"
	"strings"
	"time"
)

// Status says where a workstream stands. Being held by a person and being
// escalated to one are flags beside it, not statuses.
type Status string

// The statuses of a workstream.
const (
	New              Status = "new" // queued: enrolled, waiting for a place in the active set
	Intake           Status = "intake"
	Planning         Status = "planning"
	AwaitingApproval Status = "awaiting_approval"
	AwaitingInput    Status = "awaiting_input"
	Building         Status = "building"
	QA               Status = "qa"
	ReadyToMerge     Status = "ready_to_merge"
	Merged           Status = "merged"
	Blocked          Status = "blocked"
	PausedBudget     Status = "paused_budget"
	Failed           Status = "failed"
	Closed           Status = "closed"
)

// Statuses lists every status in the order of a workstream's life.
var Statuses = []Status{New, Intake, Planning, AwaitingApproval, AwaitingInput, Building, QA,
	ReadyToMerge, Merged, Blocked, PausedBudget, Failed, Closed}

// InWords is a text of backburner's own with the statuses in it as people write them.
func InWords(text string) string {
	for _, s := range Statuses {
		text = strings.ReplaceAll(text, string(s), strings.ReplaceAll(string(s), "_", " "))
	}
	return text
}

// Active reports whether the status counts against max_active.
func (s Status) Active() bool {
	return s == Intake || s == Planning || s == Building || s == QA
}

// Open reports whether the workstream can still change by itself.
func (s Status) Open() bool { return s != Merged && s != Failed && s != Closed }

// Terminal reports whether enrolment refuses to add the work again.
func (s Status) Terminal() bool {
	return !s.Open() || s == PausedBudget || s == ReadyToMerge
}

// Interrupts reports whether the status remembers a phase to resume.
func (s Status) Interrupts() bool {
	switch s {
	case AwaitingInput, Blocked, PausedBudget, Failed, Closed:
		return true
	}
	return false
}

// A transition is one row of the table in the package comment. Where that says
// "the phase it was in", to lists every phase it can have been.
type transition struct {
	from []Status
	on   string
	to   []Status
}

var (
	waves    = []Status{Intake, Planning, Building, QA}
	anyOpen  = []Status{New, Intake, Planning, AwaitingApproval, AwaitingInput, Building, QA, ReadyToMerge, Blocked, PausedBudget}
	anyPhase = []Status{New, Intake, Planning, AwaitingApproval, Building, QA, ReadyToMerge}
)

var transitions = []transition{
	{[]Status{New}, "admitted", []Status{Intake}},
	{[]Status{Intake}, "discovery off, or its proposal approved", []Status{Planning}},
	{[]Status{Intake, Planning}, "proposal or plan needs approval", []Status{AwaitingApproval}},
	{[]Status{AwaitingApproval}, "approved", []Status{Planning, Building}},
	{[]Status{AwaitingApproval, Building, QA}, "approved text edited, plan rejected", []Status{Planning}},
	{waves, "the agent asks", []Status{AwaitingInput}},
	{[]Status{AwaitingInput}, "answered", waves},
	{[]Status{Planning}, "plan accepted, no approval needed", []Status{Building}},
	{[]Status{Building}, "last increment built, fast green", []Status{QA}},
	{[]Status{QA}, "full green and published", []Status{ReadyToMerge}},
	{[]Status{ReadyToMerge}, "changes requested, checks red; evidence stale", []Status{Building, QA}},
	{anyOpen, "a reason to stop", []Status{Blocked}},
	{[]Status{Blocked}, "a recovery rule, the cause gone, retry", anyPhase},
	{waves, "a cap reached", []Status{PausedBudget}},
	{[]Status{PausedBudget}, "a new window, or a person", waves},
	{[]Status{ReadyToMerge}, "landed", []Status{Merged}},
	{anyOpen, "rounds exhausted", []Status{Failed}},
	{anyOpen, "cancelled, or closed outside", []Status{Closed}},
	{[]Status{Failed, Closed}, "reopened, retry", anyPhase},
}

// legal is the transition table as a set of pairs.
var legal = func() map[[2]Status]bool {
	pairs := make(map[[2]Status]bool)
	for _, t := range transitions {
		for _, from := range t.from {
			for _, to := range t.to {
				if from != to {
					pairs[[2]Status{from, to}] = true
				}
			}
		}
	}
	return pairs
}()

// TransitionError is returned by Move for a change that the table does not have.
type TransitionError struct {
	What, From, To string // What names the record: "workstream x" or "task x/t1"
}

func (e *TransitionError) Error() string {
	return fmt.Sprintf("%s: no transition from %s to %s", e.What, e.From, e.To)
}

// Reason is why a status was entered: a stable code, `:`-separated, for
// programs, and a sentence for people.
type Reason struct {
	Code   string
	Detail string
}

// Move changes the status. It returns a *TransitionError and changes nothing
// when the table does not allow it. A status that interrupts remembers the
// phase to resume; reaching a phase forgets it.
func (w *Workstream) Move(to Status, why Reason, now time.Time) error {
	if !legal[[2]Status{w.Status, to}] {
		return &TransitionError{What: "workstream " + w.ID, From: string(w.Status), To: string(to)}
	}
	if to.Interrupts() && !w.Status.Interrupts() {
		w.Phase = w.Status
	}
	if !to.Interrupts() {
		w.Phase = ""
	}
	w.Status, w.Reason, w.Detail, w.ChangedAt = to, why.Code, why.Detail, now.UTC()
	return nil
}

// Resume is the phase an interrupted workstream goes back to.
func (w *Workstream) Resume() Status {
	if w.Phase != "" {
		return w.Phase
	}
	return New
}
