// Package pass is the story of backburner: one tick, from the board that was
// loaded to the board that is left behind. The table in [Pass.rows] is the
// program; everything else in this package is one of its rows, or the runner
// that drives them.
//
// Every row works in the same three beats. Select, which is pure, chooses on
// the board what there is to do. An [Act] does it on the side: it runs an
// agent, a gate, git, or talks to a forge. A [Record], on the one goroutine that
// may change the board, notes what came of it, and is saved before anything
// else happens. An effect that cannot be undone is preceded by a record of the
// intent.
//
// The package must not know how anything is done: it reaches git, agents, gates,
// forges and the disk only through the interfaces in collaborators.go.
package pass

import (
	"context"
	"log/slog"
	"time"

	"github.com/backburner-cli/backburner/pkg/agent"
	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/work"
)

// Row is one line of the table.
type Row struct {
	Name   string
	Phase  Phase
	Again  bool // asked again until nothing is left to do: one answer may raise the next question
	Each   bool // for each workstream as its own turn comes; none waits for a slower one
	Last   bool // once, when every batch is through
	Always bool // also when the tick was stopped
	Safe   bool // new requests are admitted after it
	Shows  bool // how the work stands is shown on the hub after it
}

// rows is the whole pass. A batch of workstreams goes through them from top to
// bottom: first the whole board, then whatever is admitted or arises while the
// tick runs.
func (p *Pass) rows() []Row {
	asked := &sync{p.store, p.forge, p.repositories, &hubs{hub: p.hub, repositories: p.repositories, store: p.store, thread: p.forge, troubles: p.troubles}, p.end, nil}
	return []Row{
		// Finish what a dead tick left: live agents of it ended, finished ones adopted.
		{Name: "settle", Phase: &settle{p.runs}},
		// Read specs and requests; apply what people asked of workstreams.
		{Name: "sync", Phase: asked, Again: true, Safe: true},
		// Decide on every add: queue it, put it off, or refuse it, with a reason.
		{Name: "enrol", Phase: &enrol{asked, p.store, p.settings, p.repositories}, Again: true, Safe: true},
		// Fill the active set, apply budgets, carry statuses on, make the tasks they call for.
		{Name: "triage", Phase: &triage{p.settings, p.repositories, make(map[string]bool)}, Again: true, Safe: true},
		// Restore the workspaces of tasks that failed or were cut; save what lies there.
		{Name: "recover", Phase: &restore{p.trees, p.repositories, p.runs, p.log}, Safe: true},
		// Make workspaces, bring them up to date, compare them with the base.
		{Name: "refresh", Phase: &refresh{p.trees, p.runs, p.repositories, nil}, Again: true, Safe: true},
		// Start merge preparations of pull requests.
		{Name: "stage", Phase: stage{}, Safe: true},
		// Probe what pending tasks need; hold back those whose capabilities are not ready.
		{Name: "ready", Phase: ready{}, Safe: true, Shows: true},
		// Run agents and gates.
		{Name: "dispatch", Phase: &dispatch{p.runs, p.settings, p.busy}, Each: true, Safe: true},
		// Sort failures: again now, again later, or stop.
		{Name: "classify", Phase: &classify{p.repositories}, Each: true, Safe: true},
		// Publish branches with their review bundle; merge what a person asked to merge.
		{Name: "land", Phase: &land{p.trees, p.store, p.forge, p.hub, p.repositories, p.troubles, make(map[string]bool), make(map[string]bool)}, Each: true, Safe: true},
		// Say on the thread what is due to be said; also after every other row.
		{Name: "tell", Phase: p.tell, Each: true, Safe: true},
		// Remove finished workspaces, expire old artifacts, archive closed workstreams.
		{Name: "clean", Phase: &clean{p.trees, p.store, p.settings, p.repositories, p.tell, false}, Last: true},
		// Write the tick's line.
		{Name: "report", Phase: &report{p.store, p.line}, Last: true, Always: true},
	}
}

// Phase chooses what there is to do for a batch. Select only reads the board;
// what it wants changed there is in the jobs it returns. What a phase has done
// once in a tick it may remember by itself.
type Phase interface {
	Select(board *work.Board, b *Batch, now time.Time) []Job
}

// Act does something outside of the board. It runs on a goroutine of its own,
// sees only copies, and returns what is to be recorded.
type Act func(ctx context.Context) Record

// Record notes on the board what was decided or came of an act, and returns
// the act that follows, nil when that was all. The board is saved between the
// two. Its error is trouble with one workstream, never with the pass.
type Record func(now time.Time) (Act, error)

// Job is one thing to do for a batch.
type Job struct {
	Name       string // for logs: "planner of fix-login"
	Workstream string // whose state it changes; "" when of none
	Repository string // likewise
	Agent      string // whose slot it takes while it lasts
	Gate       bool   // it takes a slot for gates
	Wait       bool   // nothing yet: it waits for a slot
	Begin      Record
}

// decide is a job that only records.
func decide(name, workstream string, record func(now time.Time) error) Job {
	return Job{Name: name, Workstream: workstream, Begin: func(now time.Time) (Act, error) { return nil, record(now) }}
}

// do is a job that begins with an act.
func do(name, workstream string, act Act) Job {
	return Job{Name: name, Workstream: workstream, Begin: func(time.Time) (Act, error) { return act, nil }}
}

// Pass is one tick's work on one board.
type Pass struct {
	board        *work.Board
	settings     Settings
	repositories Repositories

	store Store
	trees Workspaces
	forge Forge
	hub   Hub
	runs  *runs
	tell  *tell
	busy  *busy

	troubles *troubles
	end      func(workstream string) // ends the agent that runs for a workstream

	line func() work.Tick // what the tick did so far

	lease func() error // the right to go on; asked before every act
	watch Observer
	log   *slog.Logger
	now   func() time.Time
}

// Settings are the caps and names of one tick.
type Settings struct {
	Tick         string
	MaxActive    int // workstreams in progress
	MaxAgents    int // agents at once
	MaxGates     int
	Queue        bool // work may wait for a place
	BranchPrefix string
	Deadline     time.Time // when the pass must be over; zero: never
	Budget       Budget
	Retention    store.RetentionPolicy
	Only         func(*work.Workstream) bool // nil: everything
	Notices      []string                    // what the tick's line has to say of what came before the pass
	TookOver     string                      // whose lease it took over, and why; "" when nobody's
}

// Collaborators are what a pass works with.
type Collaborators struct {
	Store      Store
	Workspaces Workspaces
	Agents     *agent.Pool
	Gates      Gates
	Forge      Forge
	Hub        Hub // nil when no repository has one
	Lease      func() error
	Watch      Observer
	Log        *slog.Logger
	Now        func() time.Time
}

// New prepares a pass over a loaded board.
func New(board *work.Board, s Settings, repositories Repositories, c Collaborators) *Pass {
	met := newTroubles()
	p := &Pass{
		troubles: met,
		board:    board, settings: s, repositories: repositories,
		store: c.Store, trees: c.Workspaces, forge: c.Forge, hub: c.Hub,
		tell: &tell{c.Forge, c.Store, c.Hub, repositories, met, make(map[string]bool), make(map[string]bool), make(map[string]bool), make(map[string]int64)}, busy: newBusy(),
		lease: c.Lease, watch: c.Watch, log: c.Log, now: c.Now,
	}
	p.runs = &runs{agents: c.Agents, gates: c.Gates, trees: c.Workspaces, store: c.Store, forge: c.Forge,
		repositories: repositories, settings: s, now: c.Now}
	return p
}

// Run drives the board through the table. It returns what the tick did, also
// with an error; the error is why the pass could not go on. When ctx ends, the
// agents are ended, their tasks recorded as cut, and everything is saved.
func (p *Pass) Run(ctx context.Context) (work.Tick, error) {
	r := newRunner(p)
	p.end = r.endRun
	p.line = func() work.Tick { return r.tick.line(p.board, p.repositories, r.failure, p.now()) }
	p.runs.watch = tee{p.watch, r.tick}
	r.rows = p.rows()
	r.tick.TookOver = p.settings.TookOver
	for _, n := range p.settings.Notices {
		r.tick.notice(n)
	}
	err := r.run(ctx)
	return p.line(), err
}
