package report

import (
	"cmp"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// View is what `status` shows, and with its JSON names what `status --json`
// prints.
type View struct {
	Workstreams []Item     `json:"workstreams"` // in the order of the board
	LastTick    *LastTick  `json:"last_tick"`   // null before the first
	Lease       *Lease     `json:"lease"`       // null while no tick runs
	Hold        *work.Hold `json:"hold,omitempty"`
	Requests    []Request  `json:"requests,omitempty"` // not decided yet, oldest first
	Troubles    []Trouble  `json:"troubles,omitempty"` // of repositories with their forge
	Problems    []string   `json:"problems,omitempty"` // what belongs to no workstream: files set aside, bad specs
	Now         time.Time  `json:"now"`                // when it was looked at; its zone is that of the times shown
}

// Trouble is what keeps a repository from its forge.
type Trouble struct {
	Repository string `json:"repository"`
	work.Trouble
}

// Item is one workstream in a view.
type Item struct {
	ID         string      `json:"id"`
	Kind       work.Kind   `json:"kind"`
	Repository string      `json:"repository"`
	Title      string      `json:"title"`
	Status     work.Status `json:"status"`
	Phase      work.Status `json:"phase,omitempty"` // that it goes back to
	Reason     string      `json:"reason"`
	Detail     string      `json:"detail"`
	Next       string      `json:"next"`          // what the next tick will do, or if nothing, why not
	Why        string      `json:"why,omitempty"` // why it will do nothing; "" when it does something
	Held       bool        `json:"held"`
	HeldBy     string      `json:"held_by,omitempty"`
	HeldFor    string      `json:"held_for,omitempty"`
	Escalated  bool        `json:"escalated"`
	Escalation string      `json:"escalation,omitempty"`
	Priority   int         `json:"priority,omitempty"`
	Branch     string      `json:"branch"`
	Head       string      `json:"head"`
	Published  bool        `json:"published"` // the head is where others can see it
	CostUSD    float64     `json:"cost_usd"`
	// UnknownCost counts the runs that CostUSD leaves out.
	UnknownCost int               `json:"unknown_cost,omitempty"`
	Sessions    int               `json:"sessions"`
	Questions   []Question        `json:"questions,omitempty"` // open ones
	Gates       map[string]string `json:"gates,omitempty"`     // green, red, or stale: of another tree
	CreatedAt   time.Time         `json:"created_at"`
	ChangedAt   time.Time         `json:"changed_at"`
}

// Request is what somebody asked for and no tick has decided yet.
type Request struct {
	ID         string    `json:"id"`
	Verb       work.Verb `json:"verb"`
	Workstream string    `json:"workstream,omitempty"` // "" for everything
	By         string    `json:"by"`
	At         time.Time `json:"at"`
	Reason     string    `json:"reason,omitempty"` // why it was put off; "" when no tick has seen it
	Detail     string    `json:"detail,omitempty"`
}

// RequestOf is what is shown of a request.
func RequestOf(r *work.Request) Request {
	return Request{
		ID: r.ID, Verb: r.Verb, Workstream: r.Workstream, By: r.By, At: r.At,
		Reason: r.Progress.Reason, Detail: r.Progress.Detail,
	}
}

// Question is an open question with the command that answers it.
type Question struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Answer string `json:"answer"`
}

// LastTick is the tick before now.
type LastTick struct {
	ID        string    `json:"id"`
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at"`
	Outcome   string    `json:"outcome"`
	Error     string    `json:"error,omitempty"`
}

// Lease is who runs a tick now.
type Lease struct {
	Host       string    `json:"host"`
	PID        int       `json:"pid"`
	TickID     string    `json:"tick_id"`
	Token      int64     `json:"fencing_token"`
	AcquiredAt time.Time `json:"acquired_at"`
	RenewedAt  time.Time `json:"renewed_at"`
	ExpiresAt  time.Time `json:"expires_at"`
}

// ItemOf is a workstream's item. next is what the next tick will do for it, why
// is why it will do nothing; one of them is "".
func ItemOf(w *work.Workstream, next, why string) Item {
	i := Item{
		ID: w.ID, Kind: w.Kind, Repository: w.Repository, Title: w.Title,
		Status: w.Status, Phase: w.Phase, Reason: w.Reason, Detail: w.Detail, Next: cmp.Or(next, why), Why: why,
		Held: w.Held != nil, Escalated: w.Escalated != "", Escalation: w.Escalated, Priority: w.Priority,
		Branch: w.Branch, Head: w.Head, Published: w.Head != "" && w.Published == w.Head,
		CostUSD: w.Spending.CostUSD, UnknownCost: w.Spending.UnknownCost, Sessions: w.Spending.Sessions,
		CreatedAt: w.CreatedAt, ChangedAt: w.ChangedAt,
	}
	if w.Held != nil {
		i.HeldBy, i.HeldFor = w.Held.By, w.Held.Reason
	}
	var open []*work.Question
	if w.Status.Open() { // else nobody waits for an answer
		open = w.OpenQuestions()
	}
	for _, q := range open {
		i.Questions = append(i.Questions, Question{q.ID, q.Text, answerCommand(w.ID, q.ID, len(open) > 1)})
	}
	for name := range w.Evidence {
		if i.Gates == nil {
			i.Gates = make(map[string]string)
		}
		i.Gates[name] = gateState(w, name)
	}
	return i
}

// answerCommand is what to type to answer a question. Which one needs to be
// said only when several are open; flags come first.
func answerCommand(workstream, question string, several bool) string {
	if several {
		return "backburner answer --question " + question + " " + workstream + ` "..."`
	}
	return "backburner answer " + workstream + ` "..."`
}

func gateState(w *work.Workstream, gate string) string {
	switch e, fresh := w.Fresh(gate); {
	case !fresh:
		return "stale"
	case e.Green:
		return "green"
	}
	return "red"
}

// NeedsPerson reports whether the item waits for a person.
func (i Item) NeedsPerson() bool {
	return i.Escalated || !i.Held && needsPerson(i.Status) && strings.Contains(i.Why, "backburner ")
}

// StatusJSON prints a view for programs.
func StatusJSON(out io.Writer, v View) error {
	if v.Workstreams == nil {
		v.Workstreams = []Item{}
	}
	return writeJSON(out, v)
}

// writeJSON prints a value on lines people can read too, without the escapes
// that are only for HTML.
func writeJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
