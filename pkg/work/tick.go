package work

import "time"

// Tick is one line of the tick log, and what `tick --json` prints.
type Tick struct {
	ID        string    `json:"id"`
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at"`
	Outcome   string    `json:"outcome"` // done, idle, interrupted, deadline, error
	Error     string    `json:"error,omitempty"`
	TookOver  string    `json:"took_over,omitempty"` // whose lease, and how it was known to be dead

	Agents      int            `json:"agents"` // runs of agents
	Gates       int            `json:"gates"`
	Failed      int            `json:"failed"` // executions
	CostUSD     float64        `json:"cost_usd"`
	UnknownCost int            `json:"unknown_cost,omitempty"`
	Recoveries  map[string]int `json:"recoveries,omitempty"` // by outcome
	Changes     []Change       `json:"workstreams"`
	Notices     []string       `json:"notices,omitempty"` // what belongs to no workstream
	Passing     []string       `json:"passing,omitempty"` // trouble that goes away by itself: nobody has to hear of it
}

// Change is what a tick did to one workstream.
type Change struct {
	ID     string   `json:"id"`
	From   Status   `json:"from"` // "" when it was added
	To     Status   `json:"to"`
	Reason string   `json:"reason,omitempty"`
	Detail string   `json:"detail,omitempty"`
	Steps  []string `json:"steps,omitempty"` // in words, in order
	Next   string   `json:"next,omitempty"`
}
