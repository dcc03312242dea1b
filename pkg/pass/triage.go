package pass

import (
	"fmt"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/budget"
	"github.com/backburner-cli/backburner/pkg/work"
)

// triage fills the active set, applies budgets, carries statuses on and makes
// the tasks they call for. It decides only; nothing is done here.
type triage struct {
	settings     Settings
	repositories Repositories
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
	if b.First && !b.counted[w.ID] {
		b.counted[w.ID] = true
		if w.CountStuck(repo.Policy.Limits.EscalateAfter, now) {
			return decide("look at "+w.ID, w.ID, func(time.Time) error { return nil }), true
		}
	}
	step := work.Next(w, repo.Policy, now)
	if j, ok := t.collision(board, w, step, repo.Policy); ok {
		return j, true
	}
	if w.Status == work.Blocked && !b.First && step.Act == work.MoveOn {
		return Job{}, false // recovered by the next tick, not in a circle by this one
	}
	over := t.settings.over(board, w, now)
	if over != nil && step.Act == work.RunAgent && w.Status.Active() {
		return decide("pause "+w.ID, w.ID, over), true
	}
	if over == nil && w.Status == work.PausedBudget && w.Held == nil {
		return decide("resume "+w.ID, w.ID, func(now time.Time) error {
			return w.Move(w.Resume(), work.Reason{Code: "budget:new_window", Detail: "the budget has room again"}, now)
		}), true
	}
	switch step.Act {
	case work.MoveOn:
		return decide(string(step.To)+" "+w.ID, w.ID, func(now time.Time) error { return carryOn(w, step, now) }), true
	case work.NextPiece:
		return decide("increment "+w.ID, w.ID, func(time.Time) error {
			w.Increment++
			w.Rounds.Repairs = 0
			return nil
		}), true
	case work.RunAgent:
		if step.Task == nil {
			return decide("task "+w.ID, w.ID, func(now time.Time) error {
				w.AddTask(step.Kind, step.Context, now)
				return nil
			}), true
		}
	}
	return Job{}, false
}

// collision stops a plan before it is begun while an earlier one that touches
// the same is not finished, and lets it go on when that is.
func (t *triage) collision(board *work.Board, w *work.Workstream, step work.Step, p work.Policy) (Job, bool) {
	waiting := w.Status == work.Blocked && w.Reason == "collision_detected" && w.Held == nil
	beginning := w.Status == work.Building && step.Act == work.RunAgent && (step.Task == nil || len(step.Task.Executions) == 0) &&
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

// carryOn makes the move a step asks for, and counts what recovery costs.
func carryOn(w *work.Workstream, step work.Step, now time.Time) error {
	switch {
	case strings.HasPrefix(step.Reason.Code, "recovered:gate_retry:"):
		w.Rounds.Gate++
		w.Rounds.Repairs = max(0, w.Rounds.Repairs-1)
	case strings.HasPrefix(step.Reason.Code, "recovered:worker_retry:"):
		w.Rounds.Worker++
	case step.To == work.QA:
		w.Rounds.Repairs = 0
	}
	if err := w.Move(step.To, step.Reason, now); err != nil {
		return err
	}
	switch step.To {
	case work.Blocked, work.Failed:
		w.Say(fmt.Sprintf("%s:%s:%d", step.To, w.Reason, w.ExecutionSeq), string(step.To),
			fmt.Sprintf("Stopped: %s.\n\nRead the log with `backburner logs %s`; try again with `backburner retry %s`.", step.Reason.Detail, w.ID, w.ID), now)
	case work.ReadyToMerge:
		w.Say("ready:"+w.Head, "ready_to_merge", fmt.Sprintf("Ready to merge: %s.\n\nLook at `%s`, then merge it with `backburner merge %s`.", step.Reason.Detail, w.Branch, w.ID), now)
	}
	return nil
}

// over says how a workstream that reached a cap is paused; nil when it did not.
func (s *Settings) over(board *work.Board, w *work.Workstream, now time.Time) func(time.Time) error {
	verdict := budget.Check(s.Budget.Caps, spent(board, w, s.Tick, now))
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
