package work

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Applying is what came of applying a request to a workstream.
type Applying struct {
	Decision Decision
	Reason   string // stable code when rejected
	Detail   string // for people
	EndAgent bool   // the agent that runs for the workstream must end now
}

func applied(detail string) Applying { return Applying{Decision: Applied, Detail: detail} }

func reject(code, detail string) Applying {
	return Applying{Decision: Rejected, Reason: code, Detail: detail}
}

// Apply carries out a request on its workstream, once: the id of the request
// is noted in the workstream in the same save.
func (w *Workstream) Apply(r *Request, now time.Time) (Applying, error) {
	if w.HasApplied(r.ID) {
		return applied("applied before"), nil
	}
	if a, barred := r.Barred(); barred {
		return a, nil
	}
	a, err := w.apply(r, now)
	if err == nil && a.Decision == Applied {
		w.Applied = append(w.Applied, r.ID)
	}
	return a, err
}

func (w *Workstream) apply(r *Request, now time.Time) (Applying, error) {
	switch r.Verb {
	case VerbAnswer:
		return w.answer(r, now)
	case VerbApprove:
		return w.approve(r, now)
	case VerbReject:
		return w.rejectPlan(r, now)
	case VerbRetry:
		return w.retry(r, now)
	case VerbHold:
		return w.hold(r, now), nil
	case VerbResume:
		return w.resume(r, now)
	case VerbCancel:
		return w.cancel(r, now)
	case VerbPrioritize:
		w.Priority = r.Priority
		return applied(fmt.Sprintf("priority %d", r.Priority)), nil
	case VerbSkip:
		return w.skip(r.Text), nil
	case VerbEdit:
		return w.edit(r, now)
	case VerbMerge:
		return w.merge(r, now)
	case VerbAddress:
		return w.address(r, now)
	case VerbReview:
		return w.review(r, now)
	case VerbPlan:
		return w.planFirst(r, now)
	}
	return reject("invalid", fmt.Sprintf("%q is not something a workstream can be asked", r.Verb)), nil
}

func (w *Workstream) answer(r *Request, now time.Time) (Applying, error) {
	open := w.OpenQuestions()
	if len(open) == 0 {
		return reject("nothing_asked", "nothing was asked"), nil
	}
	if r.Text == "" {
		return reject("invalid", "the answer is empty"), nil
	}
	if open = slices.DeleteFunc(open, func(q *Question) bool { return r.Before(q.AskedAt) }); len(open) == 0 {
		return reject("nothing_asked", "what is asked now was asked after that; look at it, and answer then"), nil
	}
	given := 0
	for _, q := range open {
		if r.Question == "" || r.Question == q.ID {
			q.Answer, q.AnsweredBy, q.AnsweredAt = r.Text, r.By, now.UTC()
			given++
		}
	}
	if given == 0 {
		return reject("invalid", "there is no open question "+r.Question), nil
	}
	if left := len(w.OpenQuestions()); left > 0 {
		return applied(fmt.Sprintf("%d question(s) are still open", left)), nil
	}
	if w.Status != AwaitingInput {
		return applied("answered"), nil
	}
	return applied("answered"), w.Move(w.Resume(), Reason{"answered", "the questions are answered"}, now)
}

func (w *Workstream) approve(r *Request, now time.Time) (Applying, error) {
	if w.Status != AwaitingApproval {
		return reject("nothing_to_approve", "nothing waits for approval: it is "+string(w.Status)), nil
	}
	if w.Plan != nil && r.Before(w.PlannedAt) {
		return reject("nothing_to_approve", fmt.Sprintf("%s was made after that; look at it, and approve it then", w.proposed())), nil
	}
	w.Approval = &Approval{By: r.By, At: now.UTC(), Revision: w.Revision, SpecHash: w.Spec.Hash}
	next := Building
	if w.Plan == nil {
		next = Planning
	}
	return applied("approved"), w.Move(next, Reason{"approved", w.proposed() + " was approved" + by(r.By)}, now)
}

// proposed names what waits for approval.
func (w *Workstream) proposed() string {
	if w.Plan == nil {
		return "the proposal"
	}
	return fmt.Sprintf("plan %d", w.Revision)
}

// rejectPlan has a plan made anew, also one that is being built from.
func (w *Workstream) rejectPlan(r *Request, now time.Time) (Applying, error) {
	switch stoppedIn := w.Resume(); {
	case w.Status == AwaitingApproval, w.Status == Building, w.Status == QA:
	case w.Status == Blocked && w.Plan != nil && (stoppedIn == AwaitingApproval || stoppedIn == Building || stoppedIn == QA):
	case w.Status == ReadyToMerge:
		return reject("nothing_to_approve", "it is ready_to_merge; say with retry what should change"), nil
	default:
		return reject("nothing_to_approve", "nothing waits for approval: it is "+string(w.Status)), nil
	}
	if r.Text == "" {
		return reject("invalid", "say what should change"), nil
	}
	rejected := w.proposed()
	if w.Status == Blocked {
		w.countAnew(now)
	}
	w.Approval = nil
	w.drop("rejected", now)
	w.AddTask(MakePlan, TaskContext{Words: r.Text, Revises: w.Revision}, now).Replies = r.Replies
	return Applying{Decision: Applied, Detail: "a new plan will be made", EndAgent: true},
		w.Move(Planning, Reason{"rejected", rejected + " was rejected" + by(r.By)}, now)
}

// planFirst has a plan made that a person approves, whatever the policy.
func (w *Workstream) planFirst(r *Request, now time.Time) (Applying, error) {
	switch w.Status {
	case New, Intake, Planning:
		if t := w.Running(); t != nil && t.Kind == MakePlan && r.Text != "" {
			return reject("nothing_to_approve", "a plan is being made; look at it, and say then what should change"), nil
		}
		w.PlanFirst = true
		w.planWith(r.Text, now)
		return applied("a plan will be made, and waits for approval"), nil
	}
	a, err := w.rejectPlan(r, now)
	w.PlanFirst = w.PlanFirst || a.Decision == Applied
	return a, err
}

// planWith has the next plan made with words.
func (w *Workstream) planWith(words string, now time.Time) {
	if words == "" {
		return
	}
	for _, t := range w.Tasks {
		if t.Kind == MakePlan && t.Status == TaskPending {
			t.Context.Words = strings.TrimSpace(t.Context.Words + "\n\n" + words)
			return
		}
	}
	w.AddTask(MakePlan, TaskContext{Words: words, Revises: w.Revision}, now)
}

// retry lets a stopped workstream try again, with fresh counts.
func (w *Workstream) retry(r *Request, now time.Time) (Applying, error) {
	switch w.Status {
	case Blocked, Failed, Closed, PausedBudget:
	case ReadyToMerge:
		return w.change(r, now)
	default:
		if t := w.due(w.Status); t != nil && t.Held != nil {
			t.Held = nil
			return applied("no longer held back"), nil
		}
		return reject("nothing_to_retry", "nothing stopped it: it is "+string(w.Status)), nil
	}
	if w.Thread.reopen(r.Thread); w.Thread != nil && w.Thread.Pull != nil && w.Thread.Pull.State == StateClosed {
		w.Published = "" // its branch may be gone as well
	}
	if r.Kind == KindIssue && r.Kind == w.Kind { // it has the text of today
		if _, err := w.edit(r, now); err != nil {
			return Applying{}, err
		}
	}
	w.Collides = w.Collides || w.Reason == "collision_detected"
	if w.Status == PausedBudget {
		w.WaivedAt = now.UTC()
	}
	w.countAnew(now)
	w.judgeAnew(r.Text)
	w.again(r.Text, now)
	return applied("tries again"), w.Move(w.Resume(), Reason{"retry", "asked to try again" + by(r.By)}, now)
}

// change has what is ready changed, in words, as a review does.
func (w *Workstream) change(r *Request, now time.Time) (Applying, error) {
	if r.Text == "" {
		return reject("nothing_to_retry", "nothing stopped it: it is ready_to_merge; say with it what should change"), nil
	}
	w.Rounds.Review = 0 // a person allows one more
	return w.address(r, now)
}

// countAnew forgets what stopped the work, and what was counted against it.
func (w *Workstream) countAnew(now time.Time) {
	w.Rounds, w.Escalated, w.Waived = Rounds{StuckRun: w.Rounds.StuckRun}, "", w.Spending
	w.forgetConflict(now)
}

// judgeAnew has the red gate that stopped the work run again before anybody
// repairs what it found: a person may have mended what the gate needs. Words
// are for the builder, who then comes first.
func (w *Workstream) judgeAnew(words string) {
	gate, stopped := strings.CutPrefix(w.Reason, "gate_failed:")
	if stopped && words == "" && !w.Evidence[gate].Green {
		delete(w.Evidence, gate)
	}
}

// forgetConflict has the branch compared with its base anew: a person may have
// resolved what they conflicted in, and the base may have moved.
func (w *Workstream) forgetConflict(now time.Time) {
	w.Conflict = nil
	for _, t := range w.Tasks {
		if t.Kind == Reconcile {
			t.drop("retry", now)
		}
	}
}

// again makes the task that stopped the workstream pending once more. What a
// person says goes to it, or to a new task of the phase.
func (w *Workstream) again(words string, now time.Time) {
	t := w.unfinished(w.Resume())
	if t == nil {
		if kind := phaseTask[w.Resume()]; kind != "" && words != "" {
			w.AddTask(kind, TaskContext{Increment: w.Increment, Revises: w.Revision, Words: words}, now)
		}
		return
	}
	if t.Status == TaskFailed {
		_ = t.Move(TaskPending, "retry", now) // failed to pending is always legal
	}
	t.Attempts, t.Resends, t.Held, t.Unread, t.Spending = 0, 0, nil, false, Spending{}
	t.Context.Words = orElse(words, t.Context.Words)
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (w *Workstream) hold(r *Request, now time.Time) Applying {
	if !w.Status.Open() {
		return reject("terminal_status", "it is "+string(w.Status))
	}
	w.Held = &Hold{By: r.By, Reason: r.Text, At: now.UTC()}
	return Applying{Decision: Applied, Detail: "held", EndAgent: r.Now}
}

// skip has the work done without a capability.
func (w *Workstream) skip(capability string) Applying {
	if capability == "" {
		return reject("invalid", "name the capability to do without")
	}
	if !slices.Contains(w.Exclusions, capability) {
		w.Exclusions = append(w.Exclusions, capability)
	}
	return applied("goes on without " + capability)
}

func (w *Workstream) resume(r *Request, now time.Time) (Applying, error) {
	if w.Held == nil && w.Status != PausedBudget {
		return reject("not_held", "it is not held"), nil
	}
	w.Held = nil
	if w.Status == PausedBudget {
		w.Waived, w.WaivedAt = w.Spending, now.UTC()
		w.again("", now)
		return applied("goes on"), w.Move(w.Resume(), Reason{"resumed", "resumed" + by(r.By)}, now)
	}
	return applied("goes on"), nil
}

func (w *Workstream) cancel(r *Request, now time.Time) (Applying, error) {
	if !w.Status.Open() {
		return reject("terminal_status", "it is "+string(w.Status)), nil
	}
	w.drop("cancelled", now)
	w.Intents = nil
	return Applying{Decision: Applied, Detail: "closed", EndAgent: true}, w.Move(Closed, Reason{"cancelled", "cancelled" + by(r.By)}, now)
}

// drop makes every unfinished task unwanted; one that runs is cancelled when
// its agent has ended.
func (w *Workstream) drop(why string, now time.Time) {
	for _, t := range w.Tasks {
		t.drop(why, now)
	}
}

func (t *Task) drop(why string, now time.Time) {
	switch t.Status {
	case TaskPending:
		_ = t.Move(TaskCancelled, why, now) // pending to cancelled is always legal
	case TaskRunning:
		t.Irrelevant = why
	}
}
