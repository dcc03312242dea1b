package work

import (
	"fmt"
	"strings"
	"time"
)

// Where a plan is published, beside the thread that is kept with the state.
const (
	PlanAsComment = "comment"      // on the issue
	PlanAsPull    = "pull_request" // as a file of the branch, whose pull request is a draft
	PlanAsFile    = "file"         // nowhere else: as a file in the workstream's folder
)

// FiledPlan is a plan that is a file of the branch.
type FiledPlan struct {
	Revision int    `json:"revision"`
	Path     string `json:"path"` // from the root of the repository
}

// planInPull reports whether the plan goes into the pull request, where there
// can be one.
func (w *Workstream) planInPull(p Policy) bool {
	return p.PlanAs == PlanAsPull && w.Thread != nil && w.Kind == KindIssue
}

// PlanFile is the path of the file that has the plan.
func (w *Workstream) PlanFile(p Policy) string { return strings.ReplaceAll(p.PlanPath, "{id}", w.ID) }

// nextFiling brings a plan into its pull request before anybody is asked to
// approve it or builds from it; no act when it is there, or was said elsewhere.
func (w *Workstream) nextFiling(p Policy) Step {
	filed, said := w.Filed.Revision == w.Revision, w.HasSaid(PlanCode(w.Revision))
	switch {
	case !w.planInPull(p) || w.Plan == nil:
	case !filed && !said:
		return Step{Act: FilePlan, Why: fmt.Sprintf("commit plan %d as %s", w.Revision, w.PlanFile(p))}
	case filed && w.Published != w.Head && (!said || w.Status == AwaitingApproval):
		return nextPublish(w)
	}
	return Step{}
}

// FilePlan records that the branch has the plan as a file.
func (w *Workstream) FilePlan(path string, c Checkpoint) {
	if c.Commit != w.Head {
		w.AddCheckpoint(c)
	}
	w.Filed = FiledPlan{Revision: w.Revision, Path: path}
}

// PlanToApprove is the published commit with the plan that waits for approval in
// its pull request; "" when none does.
func (w *Workstream) PlanToApprove() string {
	if w.Status != AwaitingApproval || w.Filed.Revision != w.Revision || w.Published != w.Head {
		return ""
	}
	return w.Published
}

// OnlyPlanned reports whether the branch has the plan, and nothing was built from it.
func (w *Workstream) OnlyPlanned() bool {
	return w.Filed.Revision != 0 && w.Filed.Revision == w.Revision && !w.built()
}

// Publish records that a commit of the work is in the repository. With it a plan
// may have become public, which is told then.
func (w *Workstream) Publish(commit string, now time.Time) {
	w.Published = commit
	if w.Filed.Revision != 0 && w.Filed.Revision == w.Revision {
		w.sayPlan(now)
	}
}

// PlanCode is the id of the notice that tells of a revision of the plan.
func PlanCode(revision int) string { return fmt.Sprintf("plan:%d", revision) }

// sayPlan tells of the plan, and what to do with it. Its text depends on where the
// plan is, and is for whoever tells it.
func (w *Workstream) sayPlan(now time.Time) {
	n := Notice{ID: PlanCode(w.Revision), Event: "plan"}
	if w.Status == AwaitingApproval {
		n.Event, n.Then = "awaiting_approval", w.howToApprove()
	}
	w.SayNotice(n, now)
	for _, t := range w.Tasks {
		if t.Kind != MakePlan || t.Status != TaskCompleted {
			continue
		}
		for _, comment := range t.Replies {
			w.reply(Notice{ID: fmt.Sprintf("reply:%d:%s", comment, t.ID), Text: fmt.Sprintf("Planned again: revision %d.", w.Revision), Reply: comment}, now)
		}
	}
}
