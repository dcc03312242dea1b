package work_test

import (
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/work"
)

// onThread is a workstream of an issue whose branch is published in a pull request.
func onThread(status work.Status) *work.Workstream {
	w := stream(status)
	w.Kind, w.Published = work.KindIssue, w.Head
	w.Thread = &work.Thread{Number: 1, Node: "I1", Pull: &work.Pull{Number: 2, Node: "P2", State: work.StateOpen, Head: w.Head}}
	return w
}

func TestObserve(t *testing.T) {
	pull := func(change func(*work.Pull)) work.Sighting {
		p := work.Pull{Number: 2, Node: "P2", State: work.StateOpen, Head: "c0"}
		change(&p)
		return work.Sighting{State: work.StateOpen, Pull: &p}
	}
	merged := pull(func(p *work.Pull) { p.State = work.StateMerged })
	red := pull(func(p *work.Pull) { p.Checks = "failure" })
	for _, tc := range []struct {
		name   string
		from   work.Status
		seen   work.Sighting
		to     work.Status
		reason string
	}{
		{"nothing new", work.Building, pull(func(*work.Pull) {}), work.Building, ""},
		{"merged when ready", work.ReadyToMerge, merged, work.Merged, "landed"},
		{"merged too early", work.QA, merged, work.Closed, "pull_request_merged"},
		{"pull request closed", work.ReadyToMerge, pull(func(p *work.Pull) { p.State = work.StateClosed }), work.Closed, "pull_request_closed"},
		{"issue closed", work.Planning, work.Sighting{State: work.StateClosed}, work.Closed, "issue_closed"},
		{"issue gone", work.AwaitingInput, work.Sighting{Gone: true}, work.Closed, "issue_gone"},
		{"merging closed the issue as well", work.ReadyToMerge, work.Sighting{State: work.StateClosed, Pull: merged.Pull}, work.Merged, "landed"},
		{"checks red", work.ReadyToMerge, red, work.Building, "checks_failed"},
		{"checks red while building", work.Building, red, work.Building, ""},
		{"checks of another commit", work.ReadyToMerge, pull(func(p *work.Pull) { p.Checks, p.Head = "failure", "c9" }), work.ReadyToMerge, ""},
		{"over already", work.Merged, work.Sighting{State: work.StateClosed}, work.Merged, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := onThread(tc.from)
			must(t, w.Observe(tc.seen, noon))
			if w.Status != tc.to || w.Reason != tc.reason {
				t.Errorf("it is %s, %q; want %s, %q", w.Status, w.Reason, tc.to, tc.reason)
			}
			if w.Status == work.Closed && w.Pending() != nil {
				t.Error("something still waits to be done")
			}
			again := w.Clone()
			must(t, again.Observe(tc.seen, noon))
			if again.Status != w.Status || len(again.Tasks) != len(w.Tasks) {
				t.Errorf("seen again it is %s with %d tasks", again.Status, len(again.Tasks))
			}
		})
	}
}

func TestReviewIsAddressed(t *testing.T) {
	w := onThread(work.ReadyToMerge)
	w.Intend(work.Intent{ID: "merge:c0", Kind: "merge", New: "c0"})
	asked := &work.Request{ID: "r1", Verb: work.VerbAddress, By: "ann", Text: "Rename it.", Replies: []int64{7}}
	if a, err := w.Apply(asked, noon); err != nil || a.Decision != work.Applied || w.Status != work.Building || len(w.Intents) != 0 {
		t.Fatalf("%+v, %v, status %s, intents %v", a, err, w.Status, w.Intents)
	}
	task := w.Pending()
	if task == nil || task.Kind != work.AddressReview || task.Context.Words != "Rename it." {
		t.Fatalf("the task is %+v", task)
	}
	task.Status, task.Answer, w.Published = work.TaskCompleted, "It is called tea now.", "c1c1c1c1c1c1c1c1"
	w.Outbox = nil
	w.Checkpoints = []work.Checkpoint{{Task: task.ID, NetNew: true}}
	for range 2 { // the second time it was said
		w.Status = work.QA
		must(t, w.Advance(work.Step{Act: work.MoveOn, To: work.ReadyToMerge, Reason: work.Reason{Code: "published"}}, limits, noon))
	}
	if len(w.Outbox) != 2 || w.Outbox[1].Event != "ready_to_merge" || w.Outbox[0].Reply != 7 || w.Outbox[0].Text != "Addressed in c1c1c1c1c1c1.\n\nIt is called tea now." {
		t.Errorf("answered %+v", w.Outbox)
	}
}

// TestReviewsEnd stops work that is reviewed again and again, until a person lets it go on.
func TestReviewsEnd(t *testing.T) {
	w := onThread(work.ReadyToMerge)
	p := work.Policy{Limits: limits}
	for round := range limits.ReviewRounds + 1 {
		r := &work.Request{ID: "r" + strings.Repeat("x", round), Verb: work.VerbAddress, Text: "Again."}
		if a, err := w.Apply(r, noon); err != nil || a.Decision != work.Applied {
			t.Fatal(a, err)
		}
		step := work.Next(w, p, noon)
		if want := map[bool]work.Act{false: work.RunAgent, true: work.MoveOn}[round == limits.ReviewRounds]; step.Act != want {
			t.Fatalf("round %d: %+v", round, step)
		}
	}
	step := work.Next(w, p, noon)
	must(t, w.Advance(step, limits, noon))
	if w.Status != work.Blocked || w.Reason != "attempts_exhausted:address_review" {
		t.Fatalf("it is %s, %s", w.Status, w.Reason)
	}
	retry(t, w, "")
	if step := work.Next(w, p, noon); step.Act != work.RunAgent {
		t.Errorf("after retry: %+v", step)
	}
}

// TestPullRequestOfSomebody is reviewed, and then it is over; another review takes it up again.
func TestPullRequestOfSomebody(t *testing.T) {
	b := work.NewBoard()
	ask := &work.Request{
		ID: "r1", Verb: work.VerbReview, Workstream: "shop-4", Repository: "shop", Kind: work.KindPullRequest, Title: "Tea", Body: "More tea.",
		Thread: &work.Thread{Number: 4, Pull: &work.Pull{Number: 4, State: work.StateOpen, Head: "h1"}},
	}
	w, progress := b.Enrol(ask, work.Admission{Repositories: []string{"shop"}, MaxActive: 0, Queue: false, BranchPrefix: "backburner/"}, noon)
	if progress.Decision != work.Queued || b.Active() != 0 || len(b.Queue()) != 0 {
		t.Fatalf("%+v, %d active, queue %v", progress, b.Active(), b.Queue())
	}
	p := work.Policy{}
	must(t, w.Advance(work.Next(w, p, noon), limits, noon))
	task := work.Next(w, p, noon).Task
	if task == nil || task.Kind != work.ReviewPR || w.Status != work.Intake || w.Reviewed() != 4 {
		t.Fatalf("next is %+v, status %s", task, w.Status)
	}
	w.Head = "h1"
	task.Status = work.TaskRunning
	review := work.Review{Verdict: "comment", Body: "Nice."}
	must(t, w.Finish(task, work.Outcome{Result: work.Result{Status: work.ResultDone, Review: &review}}, p, noon))
	if step := work.Next(w, p, noon); step.Act != work.PostReview || w.Drafted.Head != "h1" || w.Drafted.Review.Body != "Nice." {
		t.Fatalf("next is %+v, drafted %+v", step, w.Drafted)
	}
	w.Drafted = nil
	must(t, w.Advance(work.Next(w, p, noon), limits, noon))
	if w.Status != work.Closed || w.Reason != "reviewed" {
		t.Fatalf("it is %s, %s", w.Status, w.Reason)
	}
	if a, err := w.Apply(&work.Request{ID: "r2", Verb: work.VerbReview}, noon); err != nil || a.Decision != work.Applied || w.Status != work.Intake {
		t.Errorf("%+v, %v, status %s", a, err, w.Status)
	}
}

func TestDenied(t *testing.T) {
	w := stream(work.AwaitingApproval)
	a, err := w.Apply(&work.Request{ID: "r1", Verb: work.VerbApprove, Denied: "rob has no write access"}, noon)
	if err != nil || a.Decision != work.Rejected || a.Reason != "not_permitted" || w.Status != work.AwaitingApproval || w.HasApplied("r1") {
		t.Errorf("%+v, %v, %s", a, err, w.Status)
	}
	_, progress := work.NewBoard().Enrol(&work.Request{ID: "r1", Verb: work.VerbAdd, Workstream: "x", Title: "T", Body: "B", Denied: "rob has no write access"}, work.Admission{Repositories: []string{"shop"}}, noon)
	if progress.Decision != work.Rejected || progress.Reason != "not_permitted" {
		t.Errorf("%+v", progress)
	}
}

// TestPlanFirst has a plan approved that the policy would let through.
func TestPlanFirst(t *testing.T) {
	w := stream(work.Planning)
	if a, err := w.Apply(&work.Request{ID: "r1", Verb: work.VerbPlan}, noon); err != nil || a.Decision != work.Applied {
		t.Fatal(a, err)
	}
	task := add(w, work.MakePlan, work.TaskRunning)
	must(t, w.Finish(task, work.Outcome{Result: work.Result{Status: work.ResultDone, Plan: plan(1)}}, work.Policy{}, noon))
	if w.Status != work.AwaitingApproval {
		t.Errorf("it is %s", w.Status)
	}
}
