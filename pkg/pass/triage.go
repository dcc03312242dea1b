package pass

import (
	"fmt"
	"time"

	"github.com/backburner-cli/backburner/pkg/budget"
	"github.com/backburner-cli/backburner/pkg/work"
)

// triage fills the active set, applies budgets, carries statuses on and makes
// the tasks they call for. It decides only; nothing is done here.
type triage struct {
	settings     Settings
	repositories Repositories
	recovered    map[string]bool // blocked workstreams that this tick took up again
}

func (t *triage) Select(board *work.Board, b *Batch, now time.Time) []Job {
	var jobs []Job
	for _, w := range b.workstreams(board) {
		if j, ok := t.one(board, b, w, now); ok {
			jobs = append(jobs, j)
		}
	}
	room := t.settings.MaxActive - board.Active()
	if len(jobs) > 0 || room <= 0 {
		return jobs
	}
	for _, w := range t.settings.queue(board) {
		if b.Add(w.ID); b.has(w.ID) && room > 0 {
			room--
			jobs = append(jobs, decide("admit "+w.ID, w.ID, func(now time.Time) error {
				return w.Move(work.Intake, work.Reason{Code: "admitted", Detail: "there is room in the active set"}, now)
			}))
		}
	}
	return jobs
}

// one is what triage does for one workstream, if anything.
func (t *triage) one(board *work.Board, b *Batch, w *work.Workstream, now time.Time) (Job, bool) {
	repo, known := t.repositories[w.Repository]
	if !known {
		return Job{}, false
	}
	limits := repo.Policy.Limits
	if b.First && w.ExecutionSeq != w.Rounds.StuckRun {
		return decide("look at "+w.ID, w.ID, func(now time.Time) error {
			w.CountStuck(limits.EscalateAfter, now)
			return nil
		}), true
	}
	step := work.Next(w, repo.Policy, now)
	if j, ok := t.collision(board, w, step, repo.Policy); ok {
		return j, true
	}
	if j, ok := t.capped(board, w, step, now); ok {
		return j, j.Begin != nil
	}
	switch {
	case w.Status == work.Blocked && step.Act == work.MoveOn:
		if !b.First || t.recovered[w.ID] {
			return Job{}, false // recovered by the next tick, not in a circle by this one
		}
		t.recovered[w.ID] = true
	case step.Act == work.Nothing && step.Reason.Code != "" && !w.HasSaid(step.Reason.Code):
		return decide("say why "+w.ID+" waits", w.ID, func(now time.Time) error {
			w.Say(step.Reason.Code, "blocked", step.Reason.Detail, now)
			return nil
		}), true
	case step.Act == work.RunAgent && step.Task != nil:
		return Job{}, false
	}
	switch step.Act {
	case work.MoveOn, work.NextPiece, work.RunAgent:
		return decide("carry "+w.ID+" on", w.ID, func(now time.Time) error { return w.Advance(step, limits, now) }), true
	}
	return Job{}, false
}

// capped pauses work that reached a cap, and resumes what was paused when there
// is room again. ok without anything to begin means that a cap keeps it where
// it is.
func (t *triage) capped(board *work.Board, w *work.Workstream, step work.Step, now time.Time) (j Job, ok bool) {
	due := step.Task
	if due == nil {
		due = w.Pending() // what a paused one goes on with
	}
	over := t.settings.over(board, w, due, now)
	switch {
	case over != nil && step.Act == work.RunAgent && w.Status.Active():
		return decide("pause "+w.ID, w.ID, over), true
	case over != nil && w.Status == work.Blocked:
		return Job{}, true
	case over == nil && w.Status == work.PausedBudget && w.Held == nil:
		return decide("resume "+w.ID, w.ID, func(now time.Time) error {
			return w.Move(w.Resume(), work.Reason{Code: "budget:new_window", Detail: "the budget has room again"}, now)
		}), true
	}
	return Job{}, false
}

// collision stops a plan before it is begun while an earlier one that touches
// the same is not finished, and lets it go on when that is.
func (t *triage) collision(board *work.Board, w *work.Workstream, step work.Step, p work.Policy) (Job, bool) {
	waiting := w.Status == work.Blocked && w.Reason == "collision_detected" && w.Held == nil
	beginning := w.Status == work.Building && step.Act == work.RunAgent && (step.Task == nil || !step.Task.Began()) &&
		step.Kind == work.Implement && step.Context.Gate == "" && w.Increment == 0
	if !waiting && !beginning {
		return Job{}, false
	}
	other, what := board.Collision(w, p.ExclusiveAreas)
	switch {
	case waiting && other == nil:
		return decide("go on with "+w.ID, w.ID, func(now time.Time) error {
			return w.Move(w.Resume(), work.Reason{Code: "recovered:collision", Detail: "what stood in its way is finished"}, now)
		}), true
	case beginning && other != nil:
		return decide("collision "+w.ID, w.ID, func(now time.Time) error {
			detail := fmt.Sprintf("its plan and that of %s both touch %s", other.ID, what)
			w.Say("collision:"+other.ID+":"+fmt.Sprint(w.Revision), "blocked",
				fmt.Sprintf("Waits until %s has landed: %s. To go on all the same: `backburner retry %s`.", other.ID, detail, w.ID), now)
			return w.Move(work.Blocked, work.Reason{Code: "collision_detected", Detail: detail}, now)
		}), true
	}
	return Job{}, false
}

// over says how a workstream that reached a cap is paused; nil when it did not.
func (s *Settings) over(board *work.Board, w *work.Workstream, t *work.Task, now time.Time) func(time.Time) error {
	verdict := budget.Check(s.Budget.Caps, spent(board, w, t, s.Tick, now))
	if verdict.Over == "" {
		return nil
	}
	return func(now time.Time) error {
		w.Say(fmt.Sprintf("budget:%s:%d", verdict.Over, w.ExecutionSeq), "paused_budget",
			fmt.Sprintf("Paused: %s. %s.", verdict.Detail, goesOn(verdict.Scope, w.ID)), now)
		return w.Move(work.PausedBudget, work.Reason{Code: "budget:" + verdict.Over, Detail: verdict.Detail}, now)
	}
}

// goesOn is when work goes on that reached a cap of a scope.
func goesOn(scope, id string) string {
	switch scope {
	case budget.ScopeTick:
		return "The next tick goes on"
	case budget.ScopeDay:
		return "It goes on tomorrow, or when the cap is raised"
	}
	return "Go on with `backburner resume " + id + "`"
}
