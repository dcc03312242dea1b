package pass

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

// display is how a workstream is to be shown on the hub: it follows from the
// state alone, so that showing the same again is nothing to do.
type display struct {
	id     string // of the workstream
	text   string // of the status comment
	hash   string // of that
	label  string // of the status; "" when it is over
	bare   bool   // no labels are put on
	commit string // that has the state below; "" when nothing is published
	state  string // pending, success, failure; "" when there is no gate, which is no success
	gates  string // that in words
	draft  bool   // the pull request is
	parts  []work.Increment
	plan   int // revision that the parts are of
}

func displayOf(w *work.Workstream, step work.Step) display {
	next := step.Why
	if t := w.Running(); t != nil {
		next = t.Doing() // the same before and while it runs
	}
	d := display{id: w.ID, text: forge.RenderStatus(w, next), draft: true}
	sum := sha256.Sum256([]byte(d.text))
	d.hash = hex.EncodeToString(sum[:8])
	switch w.Status {
	case work.ReadyToMerge, work.Merged:
		d.draft = false
	case work.QA: // about to be ready
		d.draft = !greenAt(w, w.Published)
	}
	if w.Status.Open() {
		d.label = string(w.Status)
	}
	if w.Kind != work.KindPullRequest && w.Published != "" {
		d.commit, d.state, d.gates = w.Published, gatesState(w), "gates: "+forge.GateWords(w)
		if w.Head != w.Published {
			d.gates = "newer work is not published yet"
		}
	}
	return d
}

// greenAt reports whether nothing but publishing keeps a commit of the work from
// being ready.
func greenAt(w *work.Workstream, commit string) bool {
	e, fresh := w.Fresh(work.GateFull)
	return w.Head == commit && (fresh && e.Green || e.Tree == "")
}

// gatesState is what the gates say about what is published; "" when none is configured.
func gatesState(w *work.Workstream) string {
	e, fresh := w.Fresh(work.GateFull)
	switch {
	case e.Tree == "":
		return ""
	case w.Head != w.Published || !fresh:
		return "pending"
	case fresh && !e.Green:
		return "failure"
	}
	return "success"
}

// due reports whether what is on the hub differs.
func (d display) due(t *work.Thread) bool {
	return d.hash != t.StatusHash || d.labels(t) || d.commitDue(t) || d.draftDue(t) || d.partsDue(t)
}

func (d display) labels(t *work.Thread) bool {
	switch {
	case d.bare:
		return false
	case d.label == "":
		return len(t.Labels) > 0
	}
	return len(t.Labels) != 1 || t.Labels[0] != d.label
}

func (d display) commitDue(t *work.Thread) bool {
	return d.commit != "" && d.state != "" && t.CommitStatus != d.commit+" "+d.state
}

func (d display) draftDue(t *work.Thread) bool {
	return d.commit != "" && t.Pull != nil && t.Pull.State == work.StateOpen && t.DraftShown != d.draftWord()
}

func (d display) draftWord() string {
	if d.draft {
		return "draft"
	}
	return "ready"
}

// on shows it, and notes in t what was shown. What one part of it cannot be shown
// for does not keep the others back, unless it passes. Labels that are refused are
// no trouble of the work's.
func (d display) on(ctx context.Context, hub Hub, slug string, t *work.Thread) (trouble, unlabelled error) {
	if trouble = d.showText(ctx, hub, slug, t); forge.Passes(trouble) {
		return trouble, nil
	}
	if unlabelled = d.showLabel(ctx, hub, slug, t); forge.Passes(unlabelled) {
		return errors.Join(trouble, unlabelled), nil
	}
	for _, part := range []func(context.Context, Hub, string, *work.Thread) error{d.showParts, d.showCommit, d.showDraft} {
		err := part(ctx, hub, slug, t)
		if trouble = errors.Join(trouble, err); forge.Passes(err) {
			break
		}
	}
	return trouble, unlabelled
}

func (d display) showText(ctx context.Context, hub Hub, slug string, t *work.Thread) error {
	if d.hash == t.StatusHash {
		return nil
	}
	id, err := hub.ShowStatus(ctx, slug, *t, d.id, d.text)
	if err == nil {
		t.StatusComment, t.StatusHash = id, d.hash
	}
	return err
}

func (d display) showLabel(ctx context.Context, hub Hub, slug string, t *work.Thread) error {
	if !d.labels(t) {
		return nil
	}
	var add []string
	if d.label != "" {
		add = []string{d.label}
	}
	err := hub.SetLabels(ctx, slug, t.Number, add, t.Labels)
	if err == nil {
		t.Labels = add
	}
	return err
}

func (d display) showCommit(ctx context.Context, hub Hub, slug string, t *work.Thread) error {
	if !d.commitDue(t) {
		return nil
	}
	err := hub.SetCommitStatus(ctx, slug, d.commit, d.state, d.gates)
	if err == nil {
		t.CommitStatus = d.commit + " " + d.state
	}
	return err
}

func (d display) showDraft(ctx context.Context, hub Hub, slug string, t *work.Thread) error {
	if !d.draftDue(t) {
		return nil
	}
	var err error
	if t.Pull.Draft != d.draft {
		err = hub.SetDraft(ctx, slug, *t.Pull, d.draft)
	}
	if err == nil {
		t.Pull.Draft, t.DraftShown = d.draft, d.draftWord()
	}
	return err
}

// partsOf is the part of a display that are the issues of the plan's increments.
func partsOf(w *work.Workstream, repo Repository) display {
	if !repo.Parts || w.Kind != work.KindIssue {
		return display{id: w.ID}
	}
	return display{id: w.ID, parts: w.Parts(), plan: w.Revision}
}

func (d display) partsDue(t *work.Thread) bool {
	return len(d.parts) > 0 && (t.PartsOf != d.plan || len(t.Parts) < len(d.parts))
}

// showParts opens the issues of the plan's increments, in their order.
func (d display) showParts(ctx context.Context, hub Hub, slug string, t *work.Thread) error {
	if !d.partsDue(t) {
		return nil
	}
	if t.PartsOf != d.plan {
		t.Parts, t.PartsOf = nil, d.plan
	}
	for i := len(t.Parts); i < len(d.parts); i++ {
		number, err := hub.Raise(ctx, slug, forge.Part{
			Key: fmt.Sprintf("%s/part:%d:%d", d.id, d.plan, i+1), Parent: t.Number, Title: d.parts[i].Title, Body: forge.RenderPart(d.parts[i], i+1, len(d.parts)),
		})
		if err != nil {
			return err
		}
		t.Parts = append(t.Parts, number)
	}
	return nil
}
