package work

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Outcome is how one run of an agent ended, in the domain's words.
type Outcome struct {
	Execution  string
	Class      Class // "" when the run was fine
	Detail     string
	Result     Result
	Checkpoint *Checkpoint // nil for roles that only read
	Problem    string      // why the checkpoint cannot be used; "" when it can
	ResetAt    time.Time   // of a quota
}

// Finish records the end of a task's run: it completes the task and carries
// the workstream on, or fails the task and leaves it for [Workstream.Classify].
// A workstream that was stopped meanwhile keeps its status.
func (w *Workstream) Finish(t *Task, o Outcome, p Policy, now time.Time) error {
	if o.Checkpoint != nil && o.Checkpoint.Commit != "" {
		w.AddCheckpoint(*o.Checkpoint)
	}
	t.RecoveryNeeded = o.uncommitted() && t.Kind.Writes() && t.Kind != PreparePR
	if !w.Status.Open() || t.Irrelevant != "" {
		return t.Move(TaskCancelled, "stopped", now)
	}
	if o.Class == ClassInterrupted {
		return t.Move(TaskPending, string(o.Class), now)
	}
	if o.Class == "" {
		o.Class, o.Detail = w.Refused(t, o)
	}
	if o.Class != "" {
		t.Class, t.Unread = o.Class, true
		t.Context.Words = o.Words(t.Context.Words)
		w.Detail = Clip(o.Detail, maxDetail)
		return t.Move(TaskFailed, string(o.Class), now)
	}
	if o.Result.Status == ResultNeedsInput || len(o.Result.AllQuestions()) > 0 {
		return w.ask(t, o.Result.AllQuestions(), now)
	}
	t.Class, t.Held, t.RecoveryNeeded, t.Resends = "", nil, false, 0
	if err := t.Move(TaskCompleted, o.Result.Status, now); err != nil {
		return err
	}
	return w.carryOn(t, o, p, now)
}

// uncommitted reports whether the run may have left something in its workspace
// that no checkpoint holds.
func (o Outcome) uncommitted() bool {
	return o.Checkpoint == nil && (o.Class != "" || o.Problem != "")
}

const (
	maxDetail = 4 << 10 // bytes of what a run says about its failure
	refused   = "Your last answer could not be used: "
	unusable  = "What you left behind could not be used: "
)

// Words are what the next try is told: what a person said before, and why the
// last answer, or what the last run left behind, was refused.
func (o Outcome) Words(before string) string {
	var why string
	switch {
	case o.Class == ClassOutputInvalid:
		why = refused + Clip(o.Detail, maxDetail) + ". Answer again, exactly in the asked format."
	case o.Problem != "":
		why = unusable + Clip(o.Problem, maxDetail) + ". It was put aside; begin again from where you began."
	default:
		return before
	}
	before, _, _ = strings.Cut(before, refused)
	before, _, _ = strings.Cut(before, unusable)
	if before = strings.TrimSpace(before); before != "" {
		before += "\n\n"
	}
	return before + why
}

// Refused says why a run of a task that ended well is not accepted all the
// same; the class is "" when it is.
func (w *Workstream) Refused(t *Task, o Outcome) (class Class, detail string) {
	if problems := o.Result.Problems(t.Kind); len(problems) > 0 {
		return ClassOutputInvalid, strings.Join(problems, "; ")
	}
	if o.Result.Status == ResultNeedsInput {
		return "", ""
	}
	if o.Result.Status == ResultBlocked {
		return ClassNoWork, "the " + t.Kind.Who() + " gave up: " + o.Result.Summary
	}
	if o.Problem != "" {
		return ClassOrdinary, o.Problem
	}
	if expectsChange(t.Kind) && o.Checkpoint != nil && !o.Checkpoint.NetNew && !w.worked(t) && !mayLeaveAsIs(t, o.Result) {
		detail = "the " + t.Kind.Who() + " changed nothing"
		if o.Result.Summary != "" {
			detail += ": " + o.Result.Summary
		}
		return ClassNoWork, detail
	}
	return "", ""
}

func expectsChange(k TaskKind) bool { return k == Implement }

// worked reports whether an earlier run of the task, one that asked or whose
// answer was refused, left work on the branch.
func (w *Workstream) worked(t *Task) bool {
	return slices.ContainsFunc(w.Checkpoints, func(c Checkpoint) bool { return c.Task == t.ID && c.NetNew })
}

// mayLeaveAsIs accepts a builder that says a later increment needs nothing:
// there is work on the branch, and no red gate asks for more.
func mayLeaveAsIs(t *Task, r Result) bool {
	return r.Status == ResultNoChange && t.Context.Gate == "" && t.Context.Increment > 0
}

// ask puts an agent's questions to people. A reconciler asks while its
// workstream is blocked by the conflict, and stays so until it is answered.
func (w *Workstream) ask(t *Task, questions []string, now time.Time) error {
	var lines []string
	for _, text := range questions {
		text = Clip(text, maxDetail)
		q := &Question{ID: fmt.Sprintf("q%d", len(w.Questions)+1), Task: t.ID, Text: text, AskedAt: now.UTC()}
		w.Questions = append(w.Questions, q)
		lines = append(lines, "- "+q.ID+": "+strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  "))
	}
	if err := t.Move(TaskPending, "asked", now); err != nil {
		return err
	}
	w.SayNotice(Notice{
		ID: "question:" + w.Questions[len(w.Questions)-1].ID, Event: "awaiting_input",
		Text: fmt.Sprintf("The %s asks:\n\n%s", t.Kind.Who(), strings.Join(lines, "\n")), Then: w.howToAnswer(),
	}, now)
	if !w.Status.Active() {
		return nil
	}
	return w.Move(AwaitingInput, Reason{"asked:" + string(t.Kind), asked(t.Kind.Who(), questions)}, now)
}

// howToAnswer is what to type for the open questions.
func (w *Workstream) howToAnswer() string {
	all := fmt.Sprintf("`backburner answer %s \"...\"`", w.ID)
	open := w.OpenQuestions()
	if len(open) == 1 {
		return "Answer with " + all + "."
	}
	var each []string
	for _, q := range open {
		each = append(each, fmt.Sprintf("`backburner answer --question %s %s \"...\"`", q.ID, w.ID))
	}
	return "Answer each with " + strings.Join(each, ", ") + ", or all of them at once with " + all + "."
}

// asked says in one line what an agent wants to know.
func asked(by string, questions []string) string {
	first := Clip(Printable(questions[0]), 200)
	if len(questions) == 1 {
		return fmt.Sprintf("the %s asks: %s", by, first)
	}
	return fmt.Sprintf("the %s asks %d questions, first: %s", by, len(questions), first)
}

// carryOn is what an accepted result means for its workstream.
func (w *Workstream) carryOn(t *Task, o Outcome, p Policy, now time.Time) error {
	if t.Context.Gate != "" {
		w.Rounds.Repairs++
	}
	if t.Kind != Reconcile {
		w.Rounds.Conflict = 0 // work goes on: the conflict is behind it
	}
	switch t.Kind {
	case AnalyzeIssue:
		n := Notice{ID: "proposal:" + t.ID, Event: "proposal", Text: Clip(o.Result.Summary, maxPlanText)}
		if p.Discovery == "required" {
			n.Then = w.howToApprove()
		}
		w.SayNotice(n, now)
		if p.Discovery == "required" {
			return w.Move(AwaitingApproval, Reason{"proposal", "the proposal needs approval"}, now)
		}
	case MakePlan, BreakDownPlan:
		return w.acceptPlan(o.Result.Plan, p, now)
	case Verify:
		w.Verified = w.Tree
	case ReviewPR:
		w.Drafted = &DraftReview{Task: t.ID, Head: w.Head, Review: *o.Result.Review}
	case AddressReview:
		t.Answer = Clip(o.Result.Summary, maxAnswer)
	case Assess:
		if !o.Result.Assessment.Continue {
			return w.assessedAsStuck(t, o.Result.Assessment.Reason, now)
		}
	case Reconcile:
		if w.Conflict != nil && t.Context.Base != "" && o.Result.Status == ResultDone {
			w.Base = t.Context.Base // else what that brought would be the work's own
		}
		w.Conflict = nil
		w.Rounds.Conflict++ // also when it says so and the base still conflicts
		next := w.Resume()
		if next == ReadyToMerge {
			next = QA // what was ready is another tree now
		}
		return w.Move(next, Reason{"recovered:mainline", "the conflict with the base is resolved"}, now)
	}
	return nil
}

// assessedAsStuck stops the workstream for an assessor. No rule of recovery goes
// over its head: a person decides.
func (w *Workstream) assessedAsStuck(t *Task, reason string, now time.Time) error {
	detail := "the assessor stopped it: " + Clip(reason, maxDetail)
	w.SayNotice(Notice{
		ID: "assessment:" + t.ID, Event: "blocked", Text: stopped(detail), Run: t.Execution(),
		Then: "Go on all the same with `backburner retry " + w.ID + "`.",
	}, now)
	return w.Move(Blocked, Reason{"no_progress:assessor", detail}, now)
}

func (w *Workstream) howToApprove() string {
	return fmt.Sprintf("Approve it with `backburner approve %s`, or say what should change with `backburner approve %s --reject \"...\"`.", w.ID, w.ID)
}

func (w *Workstream) acceptPlan(plan *Plan, p Policy, now time.Time) error {
	// A proposal that nobody approved, or whose approval no longer counts, is no reason to build.
	approve := p.ApprovePlans || w.PlanFirst || p.Discovery == "required" && w.Approval == nil
	w.Plan, w.Approval, w.Increment, w.Verified, w.Collides = plan, nil, 0, "", false
	w.PlannedAt = now.UTC()
	w.Revision++
	w.Rounds.Repairs, w.Rounds.Gate, w.Rounds.Worker = 0, 0, 0
	next, why := Building, Reason{PlanCode(w.Revision), "the plan needs no approval"}
	if approve {
		next, why.Detail = AwaitingApproval, "the plan needs approval"
	}
	err := w.Move(next, why, now)
	if err == nil && !w.planInPull(p) {
		w.sayPlan(now)
	}
	return err
}

// Classify judges a failed task that nobody has judged yet: it is tried again,
// now or later, or stops its workstream.
func (w *Workstream) Classify(t *Task, l Limits, now time.Time) (Verdict, error) {
	t.Unread = false
	v := Judge(t.Kind, t.Class, t.Attempts, l)
	if t.Class == ClassOutputInvalid && t.Resends == 0 {
		t.Resends++
		v = Verdict{Again: true} // once more, in the same session
	}
	if v.Charged {
		t.Attempts++
	}
	if v.Again {
		if v.Hold != "" {
			t.Held = &TaskHold{Reason: v.Hold, Detail: w.Detail}
			if v.Wait > 0 {
				t.Held.NextEligibleAt = now.Add(Jitter(v.Wait, w.ID+t.ID+t.Execution())).UTC()
			}
		}
		return v, t.Move(TaskPending, "again:"+string(t.Class), now)
	}
	if t.Context.Gate != "" {
		w.Rounds.Repairs++
	}
	if t.Kind == Reconcile {
		w.Rounds.Conflict++
	}
	w.SayStopped(string(t.Kind)+":"+string(t.Class), w.Detail, Notice{
		Event: "failure", Text: w.failureText(t), Class: t.Class, Run: t.Execution(), Then: "Try again with `backburner retry " + w.ID + "`.",
	}, now)
	if !w.Status.Open() || w.Status == Blocked {
		return v, nil
	}
	return v, w.Move(Blocked, Reason{v.Stop, w.Detail}, now)
}

func (w *Workstream) failureText(t *Task) string {
	head, _, _ := strings.Cut(strings.TrimSpace(w.Detail), "\n")
	return fmt.Sprintf("The %s failed: %s", t.Kind.Who(), head)
}
