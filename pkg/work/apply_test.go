package work_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// asked is what each verb comes to in each status: a status it leads to, "="
// when it applies and the status stays, "-" when it is refused. Workstreams
// that were interrupted were building.
const asked = `
               new       intake    planning  awaiting_approval awaiting_input building  qa        ready_to_merge merged blocked   paused_budget failed    closed
answer         -         -         -         -                 building       -         -         -              -      -         -             -         -
approve        -         -         -         building          -              -         -         -              -      -         -             -         -
reject         -         -         -         planning          -              planning  planning  -              -      planning  -             -         -
retry          -         -         -         -                 -              -         -         -              -      building  building      building  building
skip           =         =         =         =                 =              =         =         =              =      =         =             =         =
hold           =         =         =         =                 =              =         =         =              -      =         =             -         -
resume         -         -         -         -                 -              -         -         -              -      -         building      -         -
cancel         closed    closed    closed    closed            closed         closed    closed    closed         -      closed    closed        -         -
prioritize     =         =         =         =                 =              =         =         =              =      =         =             =         =
edit           =         =         =         planning          =              planning  planning  =              -      =         =             =         =
merge          -         -         -         -                 -              -         -         =              -      -         -             -         -
add            -         -         -         -                 -              -         -         -              -      -         -             -         -
prepare        -         -         -         -                 -              -         -         -              -      -         -             -         -
review         -         -         -         -                 -              -         -         -              -      -         -             -         -
address        -         -         -         -                 -              -         -         -              -      -         -             -         -
plan           =         =         =         planning          -              planning  planning  -              -      planning  -             -         -
nonsense       -         -         -         -                 -              -         -         -              -      -         -             -         -
`

// ask is a request with everything a verb may need.
func ask(verb work.Verb) *work.Request {
	return &work.Request{
		ID: "r1", Verb: verb, Workstream: "login", By: "kim", At: noon, Text: "words", Priority: 7,
		Title: "Fix the login", Body: "Another text.",
	}
}

func TestEveryVerbInEveryStatus(t *testing.T) {
	rows := strings.Split(strings.TrimSpace(asked), "\n")
	statuses := strings.Fields(rows[0])
	if len(statuses) != len(work.Statuses) {
		t.Fatalf("the table has %d statuses", len(statuses))
	}
	for _, row := range rows[1:] {
		cells := strings.Fields(row)
		for i, status := range statuses {
			apply(t, work.Verb(cells[0]), work.Status(status), cells[1+i])
		}
	}
}

func apply(t *testing.T, verb work.Verb, status work.Status, want string) {
	t.Helper()
	w := stream(status)
	before := record(t, w)
	a, err := w.Apply(ask(verb), noon.Add(time.Hour))
	must(t, err)
	after := record(t, w)
	switch want {
	case "-":
		if a.Decision != work.Rejected || a.Reason == "" || a.Detail == "" || a.EndAgent {
			t.Errorf("%s while %s: %+v, want it refused", verb, status, a)
		}
		if !bytes.Equal(before, after) {
			t.Errorf("%s while %s was refused and changed the workstream:\n%s\n%s", verb, status, before, after)
		}
		return
	case "=":
		want = string(status)
	}
	if a.Decision != work.Applied || w.Status != work.Status(want) || !w.HasApplied("r1") {
		t.Errorf("%s while %s: %+v, it is %s, want %s", verb, status, a, w.Status, want)
	}
	if bytes.Equal(before, after) {
		t.Errorf("%s while %s applied and changed nothing", verb, status)
	}
	again, err := w.Apply(ask(verb), noon.Add(2*time.Hour))
	if err != nil || again.Decision != work.Applied || again.EndAgent || !bytes.Equal(record(t, w), after) {
		t.Errorf("%s while %s, twice: %+v, %v", verb, status, again, err)
	}
}

func record(t *testing.T, w *work.Workstream) []byte {
	t.Helper()
	data, err := json.Marshal(w)
	must(t, err)
	return data
}

func TestAnswers(t *testing.T) {
	ask2 := func() *work.Workstream {
		w := stream(work.AwaitingInput)
		w.Questions = append(w.Questions, &work.Question{ID: "q2", Text: "When?", AskedAt: noon})
		return w
	}
	answer := func(w *work.Workstream, id, question, text string) work.Applying {
		a, err := w.Apply(&work.Request{ID: id, Verb: work.VerbAnswer, By: "kim", Question: question, Text: text}, noon)
		must(t, err)
		return a
	}
	w := ask2()
	if a := answer(w, "r1", "", ""); a.Decision != work.Rejected || a.Reason != "invalid" || len(w.OpenQuestions()) != 2 {
		t.Errorf("an empty answer: %+v", a)
	}
	if a := answer(w, "r1", "q9", "x"); a.Decision != work.Rejected || a.Detail != "there is no open question q9" {
		t.Errorf("an answer to nothing: %+v", a)
	}
	if a := answer(w, "r1", "q2", "soon"); a.Detail != "1 question(s) are still open" || w.Status != work.AwaitingInput {
		t.Errorf("one of two answers: %+v, %s", a, w.Status)
	}
	if q := w.Questions[1]; q.Answer != "soon" || q.AnsweredBy != "kim" || !q.AnsweredAt.Equal(noon) {
		t.Errorf("the answer is %+v", q)
	}
	if answer(w, "r2", "", "this"); w.Status != work.Building || w.Questions[0].Answer != "this" || w.Questions[1].Answer != "soon" {
		t.Errorf("after the last answer: %s, %q, %q", w.Status, w.Questions[0].Answer, w.Questions[1].Answer)
	}
	w = ask2()
	if answer(w, "r1", "", "both"); w.Status != work.Building || len(w.OpenQuestions()) != 0 {
		t.Errorf("one answer to everything: %s", w.Status)
	}
	w = ask2()
	must(t, w.Move(work.Blocked, work.Reason{}, noon))
	if a := answer(w, "r1", "", "both"); a.Decision != work.Applied || w.Status != work.Blocked {
		t.Errorf("answered while blocked: %+v, %s", a, w.Status)
	}
}

func TestApprovals(t *testing.T) {
	w := stream(work.AwaitingApproval)
	w.Revision = 3
	_, err := w.Apply(ask(work.VerbApprove), noon)
	must(t, err)
	if a := w.Approval; a == nil || a.By != "kim" || a.Revision != 3 || a.SpecHash != w.Spec.Hash || w.Detail != "plan 3 was approved by kim" {
		t.Errorf("approval %+v, %s", w.Approval, w.Detail)
	}
	w = stream(work.AwaitingApproval)
	w.Plan, w.Revision = nil, 0
	if _, err = w.Apply(ask(work.VerbApprove), noon); err != nil || w.Status != work.Planning || w.Detail != "the proposal was approved by kim" {
		t.Errorf("a proposal: %v, %s, %s", err, w.Status, w.Detail)
	}
	w = stream(work.AwaitingApproval)
	_, err = w.Apply(ask(work.VerbReject), noon)
	must(t, err)
	if next := w.Pending(); next == nil || next.Kind != work.MakePlan || next.Context.Words != "words" || next.Context.Revises != 1 {
		t.Errorf("after a rejection: %+v", next)
	}
	w = stream(work.AwaitingApproval)
	mute := ask(work.VerbReject)
	mute.Text = ""
	if a, err := w.Apply(mute, noon); err != nil || a.Decision != work.Rejected || a.Detail != "say what should change" {
		t.Errorf("a rejection without words: %+v, %v", a, err)
	}
}

func TestHoldAndResume(t *testing.T) {
	w := stream(work.Building)
	a, err := w.Apply(ask(work.VerbHold), noon)
	must(t, err)
	if a.EndAgent || w.Held == nil || w.Held.By != "kim" || w.Held.Reason != "words" {
		t.Errorf("%+v, %+v", a, w.Held)
	}
	now := ask(work.VerbHold)
	now.ID, now.Now = "r2", true
	if a, err = w.Apply(now, noon); err != nil || !a.EndAgent {
		t.Errorf("hold --now: %+v, %v", a, err)
	}
	resume := ask(work.VerbResume)
	resume.ID = "r3"
	if a, err = w.Apply(resume, noon); err != nil || a.Decision != work.Applied || w.Held != nil || w.Status != work.Building {
		t.Errorf("resume: %+v, %v, %s", a, err, w.Status)
	}
	w = stream(work.PausedBudget)
	w.Held, w.Spending = &work.Hold{}, work.Spending{CostUSD: 20, Sessions: 9}
	waits := add(w, work.Implement, work.TaskPending)
	waits.Attempts, waits.Spending = 1, work.Spending{CostUSD: 5}
	if _, err = w.Apply(ask(work.VerbResume), noon); err != nil || w.Held != nil || w.Status != work.Building {
		t.Errorf("a paused one that is held: %v, %s", err, w.Status)
	}
	if w.Waived != w.Spending || !w.WaivedAt.Equal(noon) || waits.Spending != (work.Spending{}) {
		t.Errorf("caps count from %+v, task %+v", w.Waived, waits.Spending)
	}
}

func TestCancelDropsWhatIsLeft(t *testing.T) {
	w := stream(work.Building)
	done, runs, waits := add(w, work.Implement, work.TaskCompleted), add(w, work.Assess, work.TaskRunning), add(w, work.Implement, work.TaskPending)
	w.Intend(work.Intent{ID: "merge:c0", Kind: "merge"})
	a, err := w.Apply(ask(work.VerbCancel), noon)
	must(t, err)
	if !a.EndAgent || done.Status != work.TaskCompleted || waits.Status != work.TaskCancelled || runs.Status != work.TaskRunning || runs.Irrelevant == "" {
		t.Errorf("%+v: %s %s %s", a, done.Status, waits.Status, runs.Status)
	}
	if len(w.Intents) != 0 || w.Detail != "cancelled by kim" {
		t.Errorf("intents %v, %s", w.Intents, w.Detail)
	}
}

func TestMergeIsAskedForOneCommit(t *testing.T) {
	w := stream(work.ReadyToMerge)
	w.Intents = []work.Intent{{ID: "merge:older", Kind: "merge", New: "older"}, {ID: "publish:x", Kind: "publish", New: "older"}}
	for _, id := range []string{"r1", "r2"} {
		r := ask(work.VerbMerge)
		r.ID = id
		_, err := w.Apply(r, noon)
		must(t, err)
	}
	if len(w.Intents) != 2 || w.Intent("merge:older") != nil {
		t.Fatalf("intents %+v", w.Intents)
	}
	if i := w.Intent("merge:c0"); i == nil || i.New != "c0" || i.By != "kim" || i.Request != "r1" {
		t.Errorf("intent %+v", i)
	}
}

func TestSkipNamesACapability(t *testing.T) {
	w := stream(work.Building)
	for _, id := range []string{"r1", "r2"} {
		r := ask(work.VerbSkip)
		r.ID, r.Text = id, "tracker"
		_, err := w.Apply(r, noon)
		must(t, err)
	}
	if !slices.Equal(w.Exclusions, []string{"tracker"}) {
		t.Errorf("exclusions %q", w.Exclusions)
	}
	mute := ask(work.VerbSkip)
	mute.ID, mute.Text = "r3", ""
	if a, err := w.Apply(mute, noon); err != nil || a.Decision != work.Rejected {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestApprovalIsOlderThanThePlan refuses an approval that was given before anybody
// could see what waits for one now; who gave it may have meant an earlier plan.
func TestApprovalIsOlderThanThePlan(t *testing.T) {
	for _, tc := range []struct {
		name string
		at   time.Time
		want work.Decision
	}{
		{"before", noon.Add(-time.Second), work.Rejected},
		{"in the same second, as a forge counts", noon, work.Applied},
		{"after", noon.Add(time.Minute), work.Applied},
		{"at a time that nobody knows", time.Time{}, work.Applied},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := &work.Workstream{ID: "shop-1", Status: work.AwaitingApproval, Plan: &work.Plan{}, Revision: 2, PlannedAt: noon.Add(time.Second / 2)}
			if a, err := w.Apply(&work.Request{ID: "r1", Verb: work.VerbApprove, At: tc.at}, noon); err != nil || a.Decision != tc.want {
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
}
