package work_test

import (
	"testing"

	"github.com/backburner-cli/backburner/pkg/work"
)

func onIssue(w *work.Workstream) {
	w.Kind, w.Thread = work.KindIssue, &work.Thread{Number: 1, Node: "I_1", State: work.StateOpen}
}

// filed is the plan at hand as a file of the head, which is not published yet.
func filed(w *work.Workstream) {
	w.FilePlan("docs/plans/login.md", work.Checkpoint{Commit: "p1", Tree: "tp1", DiffHash: "dp1", NetNew: true})
}

// public is what is published, as the record says it.
func public(w *work.Workstream) { w.Publish(w.Head, noon) }

func TestPlanGoesIntoItsPullRequest(t *testing.T) {
	inPull, comment := gated(), gated()
	inPull.PlanAs, inPull.PlanPath, comment.PlanAs = work.PlanAsPull, "docs/plans/{id}.md", work.PlanAsComment
	again := func(w *work.Workstream) { w.Revision++ }
	said := func(w *work.Workstream) { w.Say("plan:1", "plan", "", noon) }
	check(t, []situation{
		{"not there", in(work.AwaitingApproval, onIssue), inPull, "plan", "commit plan 1 as docs/plans/login.md"},
		{"not there, no approval needed", in(work.Building, onIssue), inPull, "plan", ""},
		{"committed", in(work.AwaitingApproval, onIssue, filed), inPull, "publish", "publish backburner/login"},
		{"committed, no approval needed", in(work.Building, onIssue, filed), inPull, "publish", ""},
		{"published", in(work.AwaitingApproval, onIssue, filed, published), inPull, "wait", "plan 1 waits for you"},
		{"published, no approval needed", in(work.Building, onIssue, filed, public), inPull, "make implement", ""},
		{"merged with the base before it was published", in(work.Building, onIssue, filed, moved), inPull, "publish", ""},
		{"its branch is gone, and it was told", in(work.AwaitingApproval, onIssue, filed, published, func(w *work.Workstream) { w.Published = "" }), inPull, "publish", ""},
		{"built from", in(work.Building, onIssue, filed, public, built), inPull, "gate fast", ""},
		{"made again", in(work.AwaitingApproval, onIssue, filed, published, again), inPull, "plan", "commit plan 2"},
		{"told as a comment before that was configured", in(work.Building, onIssue, said), inPull, "make implement", ""},
		{"a proposal", in(work.AwaitingApproval, onIssue, func(w *work.Workstream) { w.Plan = nil }), inPull, "wait", "the proposal waits"},
		{"of a spec, which has no pull request", in(work.AwaitingApproval), inPull, "wait", "plan 1 waits for you"},
		{"as a comment", in(work.AwaitingApproval, onIssue), comment, "wait", "plan 1 waits for you"},
	})
}

func TestPlanInPullRequestIsToldOnceItIsThere(t *testing.T) {
	p := gated()
	p.PlanAs, p.ApprovePlans = work.PlanAsPull, true
	w := stream(work.Planning)
	onIssue(w)
	task := add(w, work.MakePlan, work.TaskRunning)
	must(t, w.Finish(task, work.Outcome{Result: work.Result{Status: work.ResultDone, Plan: plan(1)}}, p, noon))
	filed(w)
	if len(w.Outbox) != 0 || w.PlanToApprove() != "" {
		t.Errorf("told %+v, to approve at %q before it is published", w.Outbox, w.PlanToApprove())
	}
	w.Publish(w.Head, noon)
	if len(w.Outbox) != 1 || w.Outbox[0].ID != "plan:1" || w.Outbox[0].Then == "" || w.PlanToApprove() != "p1" {
		t.Errorf("told %+v, to approve at %q", w.Outbox, w.PlanToApprove())
	}

	// A review that asks for changes is about the plan, and each of its lines is answered by the next one.
	a, err := w.Apply(&work.Request{ID: "r1", Verb: work.VerbAddress, By: "ann", Text: "Shorter.", Replies: []int64{7}}, noon)
	must(t, err)
	if a.Decision != work.Applied || w.Status != work.Planning || w.Pending().Kind != work.MakePlan || w.Pending().Context.Words != "Shorter." {
		t.Errorf("%+v: %s, %+v", a, w.Status, w.Pending())
	}
	task = w.Pending()
	must(t, task.Move(work.TaskRunning, "", noon))
	must(t, w.Finish(task, work.Outcome{Result: work.Result{Status: work.ResultDone, Plan: plan(1)}}, p, noon))
	filed(w)
	w.Publish(w.Head, noon)
	if last := w.Outbox[len(w.Outbox)-1]; len(w.Outbox) != 3 || last.Reply != 7 || last.Text != "Planned again: revision 2." {
		t.Errorf("told %+v", w.Outbox)
	}
}

func TestPlanFileIsInScope(t *testing.T) {
	w := stream(work.Building)
	w.Plan.AllowedAreas, w.Plan.ForbiddenAreas = []string{"src/**"}, []string{"docs/**"}
	changed := []string{"docs/plans/login.md"}
	if bad := w.OutOfScope(changed, 1, gated()); bad == "" {
		t.Error("anybody's file there is in scope")
	}
	filed(w)
	if bad := w.OutOfScope(changed, 1, gated()); bad != "" {
		t.Error(bad)
	}
	p := gated()
	p.ProtectedPaths = []string{"docs/**"}
	if bad := w.OutOfScope(changed, 1, p); bad == "" {
		t.Error("it is not held to the protected paths")
	}
}
