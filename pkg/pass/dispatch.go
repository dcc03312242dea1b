package pass

import (
	"time"

	"github.com/backburner-cli/backburner/pkg/agent"
	"github.com/backburner-cli/backburner/pkg/budget"
	"github.com/backburner-cli/backburner/pkg/work"
)

// dispatch runs the agent or the gate that a workstream needs next.
type dispatch struct {
	runs     *runs
	settings Settings
	busy     *busy
}

func (d *dispatch) Select(board *work.Board, b *Batch, now time.Time) []Job {
	w := board.Workstreams[b.IDs[0]]
	if w == nil || marked(w) != nil {
		return nil
	}
	repo, known := d.runs.repositories[w.Repository]
	if !known || board.Agents.Hold != nil {
		return nil
	}
	step := work.Next(w, repo.Policy, now)
	if w.Status == work.Blocked && w.Conflict == nil {
		return nil
	}
	switch {
	case w.Head == "":
		return nil // its workspace could not be made
	case step.Act == work.RunAgent && step.Task != nil:
		return d.agent(board, w, step.Task, now)
	case step.Act == work.RunGate:
		return d.gate(w, step.Gate, now)
	}
	return nil
}

func (d *dispatch) agent(board *work.Board, w *work.Workstream, t *work.Task, now time.Time) []Job {
	if opens := budget.Opens(now, d.settings.Budget.Windows...); !opens.Equal(now) {
		return d.hold(w, t, work.TaskHold{Reason: "hours", Detail: "outside of the hours in which agents may start", NextEligibleAt: opens.UTC()}, now)
	}
	if over := d.settings.over(board, w, t, now); over != nil && w.Status.Active() {
		return []Job{decide("pause "+w.ID, w.ID, over)} // others spent it since triage looked
	}
	if d.busy.total() >= d.settings.MaxAgents {
		return []Job{{Wait: true}}
	}
	choice := d.runs.agents.Pick(t.Kind.Role(), w.Sessions[t.Kind.Role()].Agent, d.busy.agents, board.Agents, now)
	if choice.Why == agent.WhyNoSlot {
		return []Job{{Wait: true}}
	}
	if choice.Agent == nil {
		until := choice.Until
		if until.IsZero() {
			until = now // asked again by the next tick
		}
		return d.hold(w, t, work.TaskHold{Reason: "no_agent", Detail: noAgent(t, choice), NextEligibleAt: until.UTC()}, now)
	}
	wants := enough
	if limit := choice.Agent.Timeout(); limit > 0 {
		wants = min(limit, enough)
	}
	if !d.settings.start(wants, now) {
		return d.hold(w, t, work.TaskHold{
			Reason: "deadline", Detail: "what is left of the tick is too short for it; a later tick, or one with a longer --deadline, runs it",
			NextEligibleAt: now.UTC(),
		}, now)
	}
	return []Job{d.runs.task(board, w, t, choice.Agent.Name())}
}

// hold keeps a task back; saying the same again changes nothing.
func (d *dispatch) hold(w *work.Workstream, t *work.Task, h work.TaskHold, now time.Time) []Job {
	if t.Held != nil && t.Held.Reason == h.Reason && t.Held.Detail == h.Detail && !h.NextEligibleAt.After(now) {
		return nil
	}
	return []Job{decide("hold "+w.ID, w.ID, func(time.Time) error {
		t.Held = &h
		return nil
	})}
}

func (d *dispatch) gate(w *work.Workstream, name string, now time.Time) []Job {
	if d.busy.gates >= d.settings.MaxGates {
		return []Job{{Wait: true}}
	}
	if !d.settings.start(0, now) {
		return nil
	}
	return []Job{d.runs.gate(w, name)}
}

// noAgent says why nobody can take the task.
func noAgent(t *work.Task, c agent.Choice) string {
	switch role := string(t.Kind.Role()); {
	case c.Why == agent.WhyNoAgent:
		return "no agent is configured for the role " + role + " and none is installed; see: backburner doctor"
	case c.Until.IsZero():
		return "no agent of the role " + role + " can be started: " + c.Why
	default:
		return "every agent of the role " + role + " is parked: " + c.Why
	}
}
