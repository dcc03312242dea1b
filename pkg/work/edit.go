package work

import (
	"slices"
	"time"
)

const edited = "The text of the work was edited; plan for the new text."

// edit takes over a text that changed. What was planned for the old text, even
// approved, is planned anew.
func (w *Workstream) edit(r *Request, now time.Time) (Applying, error) {
	spec := Spec{Source: orElse(r.Source, w.Spec.Source), Body: r.Body, Hash: SpecHash(r.Title, r.Body)}
	if spec.Hash == w.Spec.Hash {
		return applied("the text is the same"), nil
	}
	old := w.Revision
	if w.Status == Merged {
		return reject("terminal_status", "it is merged; give the new work another name"), nil
	}
	w.Title, w.Spec = r.Title, spec
	at := w.Status
	if at.Interrupts() && w.Resume() == ReadyToMerge {
		at = ReadyToMerge
	}
	switch at {
	case AwaitingApproval, Building, QA:
	case ReadyToMerge:
		then := "What is ready to merge was built from the text before. Have it changed with `backburner retry " + w.ID + " \"...\"`."
		w.sayEdited(r, then, now)
		return applied("what is ready to merge was built from the text before"), nil
	case Intake, Planning:
		w.beginAnew("spec_edited", now)
		return Applying{Decision: Applied, Detail: "the new text counts from now on", EndAgent: true}, nil
	default:
		if w.planLater(now) {
			w.sayEdited(r, planAnew, now)
		}
		return applied("the new text counts from now on"), nil
	}
	w.sayEdited(r, planAnew, now)
	w.Approval = nil
	w.drop("spec_edited", now)
	w.AddTask(MakePlan, TaskContext{Revises: old, Words: edited}, now)
	return Applying{Decision: Applied, Detail: "planned anew", EndAgent: true},
		w.Move(Planning, Reason{"spec_edited", "the text was edited, so its approval no longer counts"}, now)
}

const planAnew = "What was planned for the text before, approved or not, no longer counts: a new plan is made."

// sayEdited says what becomes of a plan whose text was edited.
func (w *Workstream) sayEdited(r *Request, then string, now time.Time) {
	w.Say("edited:"+w.Spec.Hash, "edited", "The text was edited"+by(r.By)+". "+then, now)
}

// beginAnew has what a running agent was asked asked again: what it says
// about the old text does not count.
func (w *Workstream) beginAnew(why string, now time.Time) {
	if t := w.Running(); t != nil && t.Irrelevant == "" {
		t.Irrelevant = why
		w.AddTask(t.Kind, t.Context, now)
	}
}

// planLater makes a workstream that is interrupted go on with planning. Only a
// conflict with the base is still resolved first.
func (w *Workstream) planLater(now time.Time) (anew bool) {
	if w.Plan == nil || !slices.Contains([]Status{AwaitingApproval, Building, QA}, w.Resume()) {
		return false
	}
	w.Phase, w.Approval = Planning, nil
	for _, t := range w.Tasks {
		if t.Kind != Reconcile {
			t.drop("spec_edited", now)
		}
	}
	if w.Status.Open() {
		w.AddTask(MakePlan, TaskContext{Revises: w.Revision, Words: edited}, now)
	}
	return true
}
