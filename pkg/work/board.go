package work

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// Board is everything that is open: what one pass works on.
type Board struct {
	Workstreams  map[string]*Workstream
	Repositories map[string]*Repository
	Requests     []*Request // undecided, oldest first
	Agents       *AgentStates
	Spending     *Ledger
	Hold         *Hold // hold --all; kept in agents.json
}

// Repository is what is remembered of a repository between ticks.
type Repository struct {
	Schema int                 `json:"schema"`
	ID     string              `json:"id"`
	Base   string              `json:"base,omitempty"` // commit of the base when last seen
	Tree   string              `json:"tree,omitempty"`
	Specs  map[string]SpecFile `json:"specs,omitempty"` // by path: what was already considered
	Hub    json.RawMessage     `json:"hub,omitempty"`   // what the forge with its issues remembers: cursors, permissions
	Marks  []Receipt           `json:"marks,omitempty"` // due there

	Troubles []Trouble `json:"troubles,omitempty"` // with the forge, oldest first
	SeenAt   time.Time `json:"seen_at,omitzero"`
}

// Receipt tells whoever asked for something on a forge what became of it.
type Receipt struct {
	Request    string   `json:"request"` // its id
	Workstream string   `json:"workstream,omitempty"`
	Target     string   `json:"target"` // what is marked, as Request.Receipt has it
	Outcome    Decision `json:"outcome"`
	Text       string   `json:"text,omitempty"` // an answer in words; "" when the mark says it
}

// SpecFile is a spec file as it was when it was last considered.
type SpecFile struct {
	Size    int64     `json:"size"`
	ModTime time.Time `json:"mod_time"`
	Hash    string    `json:"hash"`
}

// AgentStates is what is remembered of agents between ticks (agents.json).
type AgentStates struct {
	Schema  int                   `json:"schema"`
	Agents  map[string]AgentState `json:"agents,omitempty"`
	Hold    *Hold                 `json:"hold,omitempty"`    // of everything
	Applied []string              `json:"applied,omitempty"` // requests applied to everything
}

// AgentState is one agent's parking and record.
type AgentState struct {
	ParkedUntil time.Time `json:"parked_until,omitzero"`
	Reason      string    `json:"reason,omitempty"`
	Failures    int       `json:"failures,omitempty"` // in a row
}

// Ledger is what was spent (spending.json): per day, keyed by execution, so
// that counting twice changes nothing.
type Ledger struct {
	Schema int                        `json:"schema"`
	Days   map[string]map[string]Cost `json:"days,omitempty"` // day as 2006-01-02, local time
}

// Cost is what one execution cost.
type Cost struct {
	USD    *float64      `json:"usd,omitempty"` // nil: unknown
	Tokens int64         `json:"tokens,omitempty"`
	Wall   time.Duration `json:"wall_ns,omitempty"`
	Tick   string        `json:"tick"`
}

// NewBoard is an empty board.
func NewBoard() *Board {
	return &Board{
		Workstreams:  make(map[string]*Workstream),
		Repositories: make(map[string]*Repository),
		Agents:       &AgentStates{Schema: Schema},
		Spending:     &Ledger{Schema: Schema},
	}
}

// Ordered is every workstream in the stable order: priority, age, id.
func (b *Board) Ordered() []*Workstream {
	all := make([]*Workstream, 0, len(b.Workstreams))
	for _, w := range b.Workstreams {
		all = append(all, w)
	}
	slices.SortFunc(all, InOrder)
	return all
}

// InOrder compares two workstreams by the stable order: what has its turn first
// is less.
func InOrder(x, y *Workstream) int {
	return cmp.Or(cmp.Compare(y.Priority, x.Priority), x.CreatedAt.Compare(y.CreatedAt), cmp.Compare(x.ID, y.ID))
}

// Active counts the workstreams that take up a place in the active set.
func (b *Board) Active() int {
	n := 0
	for _, w := range b.Workstreams {
		if w.Status.Active() && w.Kind != KindPullRequest {
			n++
		}
	}
	return n
}

// Queue is what waits for a place, in the stable order. What a person holds
// does not wait.
func (b *Board) Queue() []*Workstream {
	var queue []*Workstream
	for _, w := range b.Ordered() {
		if w.Status == New && w.Held == nil && w.Kind != KindPullRequest {
			queue = append(queue, w)
		}
	}
	return queue
}

// Repository is the record of a repository, made when there is none yet.
func (b *Board) Repository(id string) *Repository {
	r := b.Repositories[id]
	if r == nil {
		r = &Repository{Schema: Schema, ID: id}
		b.Repositories[id] = r
	}
	return r
}

// Record notes what an execution cost; recording it twice changes nothing. A
// cost that no run can have is unknown.
func (l *Ledger) Record(day, execution string, c Cost) {
	if !Believable(c.USD) {
		c.USD = nil
	}
	c.Tokens = max(0, c.Tokens)
	if l.Days == nil {
		l.Days = make(map[string]map[string]Cost)
	}
	if l.Days[day] == nil {
		l.Days[day] = make(map[string]Cost)
	}
	l.Days[day][execution] = c
}

// Day is what was spent on a day. The ledger knows only the sum of tokens,
// which counts as input.
func (l *Ledger) Day(day string) Spending {
	var sum Spending
	for _, c := range l.Days[day] {
		sum.Add(Usage{CostUSD: c.USD, InputTokens: c.Tokens}, c.Wall)
	}
	return sum
}

// Tick is what one tick spent, likewise.
func (l *Ledger) Tick(tick string) Spending {
	var sum Spending
	for _, day := range l.Days {
		for _, c := range day {
			if c.Tick == tick {
				sum.Add(Usage{CostUSD: c.USD, InputTokens: c.Tokens}, c.Wall)
			}
		}
	}
	return sum
}

// Prune forgets the days before a day.
func (l *Ledger) Prune(before string) {
	for day := range l.Days {
		if day < before {
			delete(l.Days, day)
		}
	}
}

const parkAtFirst = 15 * time.Minute // an agent whose quota's reset is not stated

// Note remembers how an agent's run ended. Only a success clears what parked it.
func (s *AgentStates) Note(name string, class Class, detail string, reset, now time.Time) {
	if name == "" || class == ClassInterrupted {
		return
	}
	if s.Agents == nil {
		s.Agents = make(map[string]AgentState)
	}
	state := s.Agents[name]
	switch class {
	case "":
		delete(s.Agents, name)
		return
	case ClassQuota:
		if !reset.After(now) {
			reset = now.Add(parkAtFirst)
		}
		state.ParkedUntil, state.Reason = reset.UTC(), "quota: "+detail
	case ClassAuth:
		state.ParkedUntil, state.Reason = now.Add(backoffCap).UTC(), "auth: "+detail
	}
	state.Failures++
	s.Agents[name] = state
}
