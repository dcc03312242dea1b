package work

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Next decides what happens next to a workstream: the one rule that triage,
// dispatch, land, the dry run and `status` share. It changes nothing.
func Next(w *Workstream, p Policy, now time.Time) Step {
	if w.Held != nil {
		return wait("held" + by(w.Held.By) + "; go on with: backburner resume " + w.ID)
	}
	if t := w.Running(); t != nil {
		return wait(fmt.Sprintf("the %s is running", t.Kind.Who()))
	}
	if t := w.unread(); t != nil {
		return wait(fmt.Sprintf("the failure of the %s is looked at first", t.Kind.Who()))
	}
	if w.Drafted != nil && w.Status.Open() {
		return Step{Act: PostReview, Why: "publish the review"}
	}
	if w.Kind == KindPullRequest && (w.Status == New || w.Status == Intake) {
		return nextPull(w, now)
	}
	switch w.Status {
	case New:
		return wait("queued for a place in the active set")
	case Intake:
		return nextIntake(w, p, now)
	case Planning:
		return nextTask(w, MakePlan, TaskContext{Revises: w.Revision}, now)
	case AwaitingApproval:
		if step := w.nextFiling(p); step.Act != Nothing {
			return step
		}
		return wait(w.proposed() + " waits for you: backburner approve " + w.ID + ", or --reject \"what should change\"")
	case AwaitingInput:
		return wait("waits for " + w.answerDue())
	case Building:
		return nextBuilding(w, p, now)
	case QA:
		return nextQA(w, p, now)
	case ReadyToMerge:
		return nextReady(w, now)
	case Blocked:
		return nextBlocked(w, p, now)
	case PausedBudget:
		return wait(w.Detail + "; " + w.newWindow())
	case Failed, Closed:
		return wait("ended; start it again with: backburner retry " + w.ID)
	}
	return wait("landed")
}

// answerDue is the answer that a person owes, and what to type for it.
func (w *Workstream) answerDue() string {
	open := w.OpenQuestions()
	if len(open) < 2 {
		return "your answer: backburner answer " + w.ID + " \"...\""
	}
	return fmt.Sprintf("%d answers: backburner answer --question %s %s \"...\"", len(open), open[0].ID, w.ID)
}

// newWindow is when a paused workstream goes on. What is shared by everything
// does not grow for one workstream: a person can only raise its cap.
func (w *Workstream) newWindow() string {
	switch {
	case strings.HasPrefix(w.Reason, "budget:tick_"):
		return "the next tick goes on"
	case strings.HasPrefix(w.Reason, "budget:day_"):
		return "goes on tomorrow, or when the cap is raised"
	}
	return "raise the cap or: backburner resume " + w.ID
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return " by " + who
}

func nextIntake(w *Workstream, p Policy, now time.Time) Step {
	if p.Discovery == "" || p.Discovery == "off" {
		return move(Planning, "admitted", "it needs no proposal")
	}
	if t := w.Last(AnalyzeIssue); t != nil && t.Status == TaskCompleted && p.Discovery == "auto" {
		return move(Planning, "proposed", "the proposal needs no approval")
	}
	return nextTask(w, AnalyzeIssue, TaskContext{}, now)
}

// nextTask dispatches the task that is due, or one of the kind the phase calls
// for. One that stands in for a failed one is told what that was told.
func nextTask(w *Workstream, kind TaskKind, c TaskContext, now time.Time) Step {
	t := w.due(w.Status)
	if t == nil {
		if failed := w.unfinished(w.Status); failed != nil && failed.Kind == kind {
			c.Words = failed.Context.Words
		}
		return Step{Act: RunAgent, Kind: kind, Context: c, Why: "the " + kind.Who() + " " + verbs[kind]}
	}
	if t.HeldAt(now) {
		return wait(t.Held.why())
	}
	why := t.Doing()
	if t.Held != nil {
		why += " (" + t.Held.words() + ")"
	}
	return Step{Act: RunAgent, Task: t, Kind: t.Kind, Why: why}
}

var verbs = map[TaskKind]string{
	AnalyzeIssue: "looks at the issue", MakePlan: "makes a plan", BreakDownPlan: "breaks the plan down",
	Implement: "builds", Assess: "assesses the increment", Verify: "verifies the work",
	ReviewPR: "reviews the pull request", AddressReview: "addresses the review", Respond: "responds",
	Reconcile: "reconciles the branch with its base", PreparePR: "prepares the pull request",
}

// Doing says who does what for the task: "the builder builds".
func (t *Task) Doing() string { return "the " + t.Kind.Who() + " " + t.describe() }

func (t *Task) describe() string {
	if t.Context.Gate != "" {
		return "repairs the red " + t.Context.Gate + " gate"
	}
	return verbs[t.Kind]
}

// words are why the task is held, or was until now.
func (h *TaskHold) words() string {
	if h.Detail != "" {
		return h.Detail
	}
	return "held back: " + h.Reason
}

func (h *TaskHold) why() string {
	why := h.words()
	switch at := h.NextEligibleAt.Format(time.RFC3339); {
	case h.NextEligibleAt.IsZero():
		return why
	case h.Reason == "backoff":
		return "tried again after " + at + ": " + why
	default:
		return why + ", until " + at
	}
}

func nextBuilding(w *Workstream, p Policy, now time.Time) Step {
	increment := TaskContext{Increment: w.Increment}
	if step := w.nextFiling(p); step.Act != Nothing {
		return step
	}
	if step := w.reviewRounds(p.Limits); step.Act != Nothing {
		return step
	}
	if w.due(Building) != nil || !w.built() {
		return nextTask(w, Implement, increment, now)
	}
	if p.Gates[GateFast] {
		if step, red := nextGate(w, GateFast, Implement, p); step.Act != Nothing || red {
			return step
		}
	}
	if p.Assess && w.Increment+1 < w.Plan.Steps() && !w.assessed() {
		return nextTask(w, Assess, increment, now)
	}
	if w.Increment+1 < w.Plan.Steps() {
		return Step{Act: NextPiece, Why: fmt.Sprintf("begin increment %d of %d", w.Increment+2, w.Plan.Steps())}
	}
	return move(QA, "built", "the last increment is built"+gateWords(p, GateFast))
}

// built reports whether the increment at hand has an accepted implementation.
func (w *Workstream) built() bool {
	return w.completed(func(t *Task) bool { return t.Kind == Implement && t.Context.Increment == w.Increment })
}

func (w *Workstream) assessed() bool {
	return w.completed(func(t *Task) bool { return t.Kind == Assess && t.Context.Increment == w.Increment })
}

// completed reports whether such a task was completed for the plan at hand.
func (w *Workstream) completed(such func(*Task) bool) bool {
	for _, t := range slices.Backward(w.Tasks) {
		switch {
		case t.Status != TaskCompleted:
		case t.Kind == MakePlan || t.Kind == BreakDownPlan:
			return false // what is older belongs to an earlier plan
		case such(t):
			return true
		}
	}
	return false
}

// lastBuilt reports whether nothing of the plan is left to build.
func (w *Workstream) lastBuilt() bool {
	return w.due(Building) == nil && w.built() && w.Increment+1 >= w.Plan.Steps()
}

// nextGate runs a gate that has no fresh evidence, or hands a red one back. It
// returns no act when the gate is green; red says that it is red for good.
func nextGate(w *Workstream, gate string, repair TaskKind, p Policy) (step Step, red bool) {
	e, fresh := w.Fresh(gate)
	switch {
	case !fresh:
		return Step{Act: RunGate, Gate: gate, Why: "run the " + gate + " gate"}, false
	case e.Green:
		return Step{}, false
	case w.Rounds.Repairs < p.Limits.RepairRounds:
		return Step{
			Act: RunAgent, Kind: repair, Why: "hand the red " + gate + " gate back to the " + repair.Who(),
			Context: TaskContext{Increment: w.Increment, Gate: gate, GateLog: e.Execution},
		}, true
	}
	return move(Blocked, "gate_failed:"+gate, "the "+gate+" gate is red: "+e.Detail), true
}

func gateWords(p Policy, gate string) string {
	if p.Gates[gate] {
		return " and the " + gate + " gate is green"
	}
	return "; no " + gate + " gate is configured, so nothing was tested"
}

func nextQA(w *Workstream, p Policy, now time.Time) Step {
	if w.due(QA) != nil || w.Verified == "" || w.Verified != w.Tree {
		return nextTask(w, Verify, TaskContext{}, now)
	}
	if p.Gates[GateFull] {
		if step, red := nextGate(w, GateFull, Verify, p); step.Act != Nothing || red {
			return step
		}
	}
	if w.Published != w.Head {
		return nextPublish(w)
	}
	return move(ReadyToMerge, "published", w.Branch+" is published"+gateWords(p, GateFull))
}

// PublishID is the identity of publishing what the workstream is at.
func (w *Workstream) PublishID() string { return "publish:" + w.Branch + ":" + w.Head }

// publishPatience is how long publishing is tried again, tick by tick, before
// what git says is for a person.
const publishPatience = time.Hour

// Patient reports whether an effect that was not done may still be tried again.
func (i *Intent) Patient(now time.Time) bool { return now.Before(i.At.Add(publishPatience)) }

func nextPublish(w *Workstream) Step {
	why := "publish " + w.Branch
	i := w.Intent(w.PublishID())
	if i == nil || i.Trouble == "" {
		return Step{Act: Publish, Why: why}
	}
	if i.Waits {
		return Step{Act: Publish, Why: why + " (not done yet: " + i.Trouble + "; each tick tries again)"}
	}
	why += fmt.Sprintf(" (not done yet: %s; each tick tries again until %s)", i.Trouble, i.At.Add(publishPatience).Format(time.RFC3339))
	return Step{Act: Publish, Why: why}
}

func nextReady(w *Workstream, now time.Time) Step {
	if t := w.due(Building); t != nil && t.Kind == AddressReview { // it came while this was on its way here
		return move(Building, "changes_requested", "a review"+by(t.Context.By)+" asks for changes")
	}
	if w.Published != w.Head {
		return move(QA, "evidence_stale", "what is published is no longer what is here, so it is verified again")
	}
	if t := w.due(ReadyToMerge); t != nil {
		return nextTask(w, t.Kind, t.Context, now)
	}
	if asked := w.MergeAsked(); asked != nil && asked.New == w.Head {
		return Step{Act: Land, Why: "merge " + w.Branch}
	}
	return wait("look at it with backburner status " + w.ID + ", then: backburner merge " + w.ID)
}
