package work

import "time"

// Verb is what a request asks for.
type Verb string

// The verbs of requests.
const (
	VerbAdd        Verb = "add"
	VerbAnswer     Verb = "answer"
	VerbApprove    Verb = "approve"
	VerbReject     Verb = "reject" // of a plan, with words
	VerbRetry      Verb = "retry"
	VerbSkip       Verb = "skip"
	VerbHold       Verb = "hold"
	VerbResume     Verb = "resume"
	VerbCancel     Verb = "cancel"
	VerbPrioritize Verb = "prioritize"
	VerbMerge      Verb = "merge"
	VerbPrepare    Verb = "prepare"
	VerbReview     Verb = "review"
	VerbEdit       Verb = "edit"    // the spec's text changed
	VerbAddress    Verb = "address" // a review of what was published
	VerbPlan       Verb = "plan"    // make a plan that a person approves, whatever the policy
	VerbStatus     Verb = "status"  // say how it stands, where it was asked
	VerbHelp       Verb = "help"    // likewise what can be asked
)

// Request is what somebody asks of backburner from outside the pass. Any
// command writes one at any time; only a pass changes one.
type Request struct {
	Schema     int       `json:"schema"`
	ID         string    `json:"id"` // sorts by age
	Verb       Verb      `json:"verb"`
	Workstream string    `json:"workstream,omitempty"` // "" with hold and resume: everything
	Repository string    `json:"repository,omitempty"` // of an add; "" when there is only one
	By         string    `json:"by"`
	At         time.Time `json:"at"`

	Title    string `json:"title,omitempty"`  // of an add or edit
	Body     string `json:"body,omitempty"`   // likewise
	Source   string `json:"source,omitempty"` // likewise: where the text is from
	Text     string `json:"text,omitempty"`   // answer, rejection, note
	Question string `json:"question,omitempty"`
	Priority int    `json:"priority,omitempty"`
	Now      bool   `json:"now,omitempty"` // hold: end the running agent

	Kind    Kind    `json:"kind,omitempty"`    // of what an add makes; "" is a spec
	Thread  *Thread `json:"thread,omitempty"`  // of what it makes
	Denied  string  `json:"denied,omitempty"`  // why By may not ask for it
	Refused string  `json:"refused,omitempty"` // why it cannot be had, whoever asks
	Receipt string  `json:"receipt,omitempty"` // what is marked on the forge once it is decided
	Replies []int64 `json:"replies,omitempty"` // comments of a review that are answered when it was addressed

	Progress Progress `json:"progress,omitzero"`
}

// Barred is the answer to a request that is refused whatever it is about.
func (r *Request) Barred() (a Applying, barred bool) {
	switch {
	case r.Denied != "":
		return reject("not_permitted", r.Denied), true
	case r.Refused != "":
		return reject("invalid", r.Refused), true
	}
	return Applying{}, false
}

// Decision is what enrolment or application came to.
type Decision string

// The decisions.
const (
	Queued   Decision = "queued"
	Deferred Decision = "deferred"
	Rejected Decision = "rejected"
	Applied  Decision = "applied"
)

// Progress is what became of a request.
type Progress struct {
	DetectedAt    time.Time `json:"detected_at,omitzero"`
	LastEvaluated time.Time `json:"last_evaluated,omitzero"`
	Decision      Decision  `json:"decision,omitempty"`
	Reason        string    `json:"reason,omitempty"`
	Detail        string    `json:"detail,omitempty"`
}

// Settled reports whether nothing more will become of the request.
func (p Progress) Settled() bool {
	return p.Decision == Queued || p.Decision == Rejected || p.Decision == Applied
}

// Before reports whether a person asked before something was there, so that it was
// not seen. The forge tells seconds.
func (r *Request) Before(at time.Time) bool {
	return !r.At.IsZero() && r.At.Before(at.Truncate(time.Second))
}
