package work

import (
	"encoding/json"
	"time"
)

// Schema is the version of the records this package describes.
const Schema = 1

// Kind is where a workstream came from.
type Kind string

// The kinds of workstream.
const (
	KindIssue       Kind = "issue"
	KindSpec        Kind = "spec"
	KindPullRequest Kind = "pull_request"
)

// Workstream is one long-lived piece of work: the unit of state, of claims and
// of reporting. One workstream is one file.
type Workstream struct {
	Schema  int   `json:"schema"`
	Version int64 `json:"version"` // counts the saves; a writer that holds an old one is refused

	ID         string `json:"id"`
	Kind       Kind   `json:"kind"`
	Repository string `json:"repository"` // id of the repository
	Title      string `json:"title"`
	Priority   int    `json:"priority,omitempty"` // higher first

	Status    Status    `json:"status"`
	Phase     Status    `json:"phase,omitempty"` // to resume, while the status interrupts
	Reason    string    `json:"reason,omitempty"`
	Detail    string    `json:"detail,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	ChangedAt time.Time `json:"changed_at"`
	Held      *Hold     `json:"held,omitempty"`
	Escalated string    `json:"escalated,omitempty"` // why a person has to look; "" when nobody has to

	Thread    *Thread     `json:"thread,omitempty"` // nil where the forge has no issues
	Spec      Spec        `json:"spec"`
	Plan      *Plan       `json:"plan,omitempty"`
	Revision  int         `json:"revision,omitempty"`   // of the plan, from 1
	PlannedAt time.Time   `json:"planned_at,omitzero"`  // when the plan was accepted
	Filed     FiledPlan   `json:"filed,omitzero"`       // the plan as it is on the branch
	PlanFirst bool        `json:"plan_first,omitempty"` // a person asked to approve the plan
	Collides  bool        `json:"collides,omitempty"`   // a person admitted it beside plans that touch the same
	Approval  *Approval   `json:"approval,omitempty"`
	Questions []*Question `json:"questions,omitempty"`
	Increment int         `json:"increment,omitempty"` // being built, from 0
	Tasks     []*Task     `json:"tasks,omitempty"`
	TaskSeq   int         `json:"task_seq,omitempty"`

	Branch      string              `json:"branch"`         // short name, without refs/heads/
	Base        string              `json:"base,omitempty"` // commit of the base the branch was last brought up to
	Head        string              `json:"head,omitempty"`
	Tree        string              `json:"tree,omitempty"`
	Compared    string              `json:"compared,omitempty"`  // commit of the base it was last compared with
	Published   string              `json:"published,omitempty"` // commit last published to the repository
	Checkpoints []Checkpoint        `json:"checkpoints,omitempty"`
	Evidence    map[string]Evidence `json:"evidence,omitempty"` // newest per gate
	LastGate    string              `json:"last_gate,omitempty"`
	Verified    string              `json:"verified,omitempty"` // tree the qa agent last left
	GateRun     string              `json:"gate_run,omitempty"` // execution of a gate that runs, or ran when a tick died
	Conflict    *Conflict           `json:"conflict,omitempty"`
	Drafted     *DraftReview        `json:"drafted,omitempty"`
	Rounds      Rounds              `json:"rounds,omitzero"`

	Blockers   []Blocker        `json:"blockers,omitempty"`
	Exclusions []string         `json:"exclusions,omitempty"` // capabilities a person skipped
	Recoveries []Recovery       `json:"recoveries,omitempty"`
	Sessions   map[Role]Session `json:"sessions,omitempty"`
	Spending   Spending         `json:"spending,omitzero"`
	Waived     Spending         `json:"waived,omitzero"`    // spending when a person last resumed it: caps count from there
	WaivedAt   time.Time        `json:"waived_at,omitzero"` // when that was: caps of that day are not its own any more

	Intents      []Intent `json:"intents,omitempty"` // effects decided and not yet known to have happened
	Outbox       []Notice `json:"outbox,omitempty"`  // said, not yet told
	Told         []string `json:"told,omitempty"`    // conditions told once, by notice id
	Applied      []string `json:"applied,omitempty"` // ids of the requests applied to it
	ExecutionSeq int      `json:"execution_seq,omitempty"`
}

// Hold is a person's wish that nothing be dispatched.
type Hold struct {
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
}

// Spec is the text the work is done from.
type Spec struct {
	Source string `json:"source"` // path of the file, or URL of the issue
	Body   string `json:"body"`
	Hash   string `json:"hash"` // "sha256:" and hex, of title and body
}

// Approval is what a person approved: exactly this plan for exactly this text.
type Approval struct {
	By       string    `json:"by"`
	At       time.Time `json:"at"`
	Revision int       `json:"revision"`
	SpecHash string    `json:"spec_hash"`
}

// Question is something an agent asked.
type Question struct {
	ID         string    `json:"id"` // "q1", ...
	Task       string    `json:"task"`
	Text       string    `json:"text"`
	AskedAt    time.Time `json:"asked_at"`
	Answer     string    `json:"answer,omitempty"`
	AnsweredBy string    `json:"answered_by,omitempty"`
	AnsweredAt time.Time `json:"answered_at,omitzero"`
}

// OpenQuestions are those without an answer.
func (w *Workstream) OpenQuestions() []*Question {
	var open []*Question
	for _, q := range w.Questions {
		if q.AnsweredAt.IsZero() {
			open = append(open, q)
		}
	}
	return open
}

// Conflict is a branch that cannot be merged with its base.
type Conflict struct {
	Ours       string    `json:"ours"`
	Base       string    `json:"base"`
	Files      []string  `json:"files"`
	DetectedAt time.Time `json:"detected_at"`
}

// Rounds counts what is capped.
type Rounds struct {
	Repairs   int    `json:"repairs,omitempty"`      // red gates handed back in a row
	Gate      int    `json:"gate_retries,omitempty"` // gate retries by recovery, since a green gate
	Worker    int    `json:"worker_retries,omitempty"`
	Review    int    `json:"review,omitempty"`
	Conflict  int    `json:"conflict,omitempty"`
	Stuck     int    `json:"stuck,omitempty"` // ticks dispatched without a change of fingerprint
	StuckMark string `json:"stuck_mark,omitempty"`
	StuckRun  int    `json:"stuck_run,omitempty"` // execution_seq when that was last looked at
}

// Blocker is a task waiting for a capability.
type Blocker struct {
	ID         string    `json:"id"`
	Task       string    `json:"task"`
	Capability string    `json:"capability"`
	Handle     string    `json:"handle"`
	Packet     string    `json:"packet,omitempty"`
	DetectedAt time.Time `json:"detected_at"`
	Resolution string    `json:"resolution"` // waiting_for_user, cleared, skipped
	Surfaced   bool      `json:"surfaced,omitempty"`
}

// Session is an agent's conversation, resumed by the next task of its role.
type Session struct {
	Agent string    `json:"agent"`
	ID    string    `json:"id"`
	At    time.Time `json:"at"`
	Usage Usage     `json:"usage,omitzero"` // running totals of the session, for CLIs that report those
}

// Usage is what a run of an agent consumed.
type Usage struct {
	InputTokens  int64    `json:"input_tokens,omitempty"`
	OutputTokens int64    `json:"output_tokens,omitempty"`
	CostUSD      *float64 `json:"cost_usd,omitempty"` // nil: the CLI does not say
}

// Spending is what a workstream has used up in its life.
type Spending struct {
	CostUSD      float64       `json:"cost_usd,omitempty"`
	UnknownCost  int           `json:"unknown_cost,omitempty"` // executions whose cost nobody stated
	InputTokens  int64         `json:"input_tokens,omitempty"`
	OutputTokens int64         `json:"output_tokens,omitempty"`
	Sessions     int           `json:"sessions,omitempty"` // runs of agents
	Wall         time.Duration `json:"wall_ns,omitempty"`
}

// Add counts one run of an agent.
func (s *Spending) Add(u Usage, wall time.Duration) {
	s.Sessions++
	s.Wall += wall
	s.InputTokens += max(0, u.InputTokens)
	s.OutputTokens += max(0, u.OutputTokens)
	if !Believable(u.CostUSD) {
		s.UnknownCost++
		return
	}
	s.CostUSD += *u.CostUSD
}

// Believable reports whether a cost is known: what an agent states must not
// lower a sum, nor make it one that cannot be written down.
func Believable(usd *float64) bool {
	return usd != nil && *usd >= 0 && *usd < maxCost
}

const maxCost = 1e6 // USD of one run

// Intent is an effect on the outside that was decided; it is saved before the
// effect and removed after it, so that a repeat finds the earlier one.
type Intent struct {
	ID      string    `json:"id"`   // deterministic: "publish:<branch>:<sha>"
	Kind    string    `json:"kind"` // publish, merge
	Ref     string    `json:"ref,omitempty"`
	Old     string    `json:"old,omitempty"` // what the ref is expected to hold; "" means it must not exist
	New     string    `json:"new,omitempty"`
	At      time.Time `json:"at"`
	By      string    `json:"by,omitempty"`
	Request string    `json:"request,omitempty"`
	Trouble string    `json:"trouble,omitempty"` // why it was not done when it was last tried
	Waits   bool      `json:"waits,omitempty"`   // for a person to mend what is in the way
}

// Intend notes an effect that is about to happen; a second time it is the first.
func (w *Workstream) Intend(i Intent) {
	if w.Intent(i.ID) == nil {
		w.Intents = append(w.Intents, i)
	}
}

// Intent finds a pending intent by id; nil when there is none.
func (w *Workstream) Intent(id string) *Intent {
	for i := range w.Intents {
		if w.Intents[i].ID == id {
			return &w.Intents[i]
		}
	}
	return nil
}

// Done forgets an intent whose effect is known to have happened, or not to.
func (w *Workstream) Done(id string) {
	for i := range w.Intents {
		if w.Intents[i].ID == id {
			w.Intents = append(w.Intents[:i], w.Intents[i+1:]...)
			return
		}
	}
}

// HasApplied reports whether a request was applied to the workstream before.
func (w *Workstream) HasApplied(request string) bool {
	for _, id := range w.Applied {
		if id == request {
			return true
		}
	}
	return false
}

// Clone is a deep copy for those who work on the side: only the pass changes
// the board.
func (w *Workstream) Clone() *Workstream {
	data, err := json.Marshal(w)
	if err != nil {
		panic("work: a workstream is always JSON: " + err.Error())
	}
	c := new(Workstream)
	if err := json.Unmarshal(data, c); err != nil {
		panic("work: a workstream is always JSON: " + err.Error())
	}
	return c
}
