package work_test

import (
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

func addition(change func(*work.Request)) *work.Request {
	r := &work.Request{
		ID: "r1", Verb: work.VerbAdd, Workstream: "login", By: "kim", At: noon, Title: "Fix the login",
		Body: "# Fix the login\n", Source: "login.md", Priority: 3,
	}
	if change != nil {
		change(r)
	}
	return r
}

func TestEnrolDecidesInOrder(t *testing.T) {
	one := work.Admission{Repositories: []string{"shop"}, MaxActive: 2, Queue: true, BranchPrefix: "backburner/"}
	with := func(change func(*work.Admission)) work.Admission {
		a := one
		change(&a)
		return a
	}
	full := []*work.Workstream{named("a", work.Building), named("b", work.QA)}
	for _, c := range []struct {
		name      string
		request   *work.Request
		admission work.Admission
		board     []*work.Workstream
		decision  work.Decision
		reason    string
		detail    string // what it has to say
	}{
		{"room", addition(nil), one, nil, work.Queued, "capacity_available", ""},
		{"the last place", addition(nil), one, full[:1], work.Queued, "capacity_available", ""},
		{"others that are not active", addition(nil), one,
			[]*work.Workstream{named("a", work.Blocked), named("b", work.AwaitingInput), named("c", work.ReadyToMerge)},
			work.Queued, "capacity_available", ""},
		{"no room", addition(nil), one, full, work.Queued, "capacity_full", ""},
		{"no room, for the queue counts", addition(nil), one, []*work.Workstream{named("a", work.Building), named("b", work.New)},
			work.Queued, "capacity_full", ""},
		{"no room, and no queue", addition(nil), with(func(a *work.Admission) { a.Queue = false }), full, work.Deferred, "capacity_full", "every place is taken"},
		{"room, and no queue", addition(nil), with(func(a *work.Admission) { a.Queue = false }), nil, work.Queued, "capacity_available", ""},

		{"bad name", addition(func(r *work.Request) { r.Workstream = "../x" }), one, nil, work.Rejected, "invalid", "the name cannot be used"},
		{"empty text", addition(func(r *work.Request) { r.Body = " \n" }), one, nil, work.Rejected, "invalid", "the text is empty"},
		{"long text", addition(func(r *work.Request) { r.Body = strings.Repeat("x", work.MaxSpec+1) }), one, nil, work.Rejected, "invalid", "the text is too long"},
		{"longest text", addition(func(r *work.Request) { r.Body = strings.Repeat("x", work.MaxSpec) }), one, nil, work.Queued, "capacity_available", ""},
		{"another repository", addition(func(r *work.Request) { r.Repository = "attic" }), one, nil, work.Rejected, "invalid", "repository attic is not configured; there is shop"},
		{"which repository", addition(nil), with(func(a *work.Admission) { a.Repositories = []string{"shop", "site"} }), nil,
			work.Rejected, "invalid", "say which repository: shop, site"},
		{"this repository", addition(func(r *work.Request) { r.Repository = "site" }), with(func(a *work.Admission) { a.Repositories = []string{"shop", "site"} }), nil,
			work.Queued, "capacity_available", ""},

		{"queued", addition(nil), one, []*work.Workstream{named("login", work.New)}, work.Rejected, "already_queued", "login is already there: new"},
		{"active", addition(nil), one, []*work.Workstream{named("login", work.Building)}, work.Rejected, "already_active", "login is already there: building"},
		{"in another case", addition(nil), one, []*work.Workstream{named("Login", work.Building)}, work.Rejected, "invalid", "differs from that of Login only in upper and lower case"},
		{"archived", addition(nil), with(func(a *work.Admission) { a.Archived = work.Merged }), nil, work.Rejected, "terminal_status", "is merged"},

		{"invalid before active", addition(func(r *work.Request) { r.Body = "" }), one, []*work.Workstream{named("login", work.Building)}, work.Rejected, "invalid", "the text is empty"},
		{"active before full", addition(nil), with(func(a *work.Admission) { a.Queue = false }), []*work.Workstream{named("login", work.QA), full[0], full[1]},
			work.Rejected, "already_active", ""},
		{"archived before full", addition(nil), with(func(a *work.Admission) { a.Queue, a.Archived = false, work.Closed }), full, work.Rejected, "terminal_status", ""},
		{"active before archived", addition(nil), with(func(a *work.Admission) { a.Archived = work.Closed }), []*work.Workstream{named("login", work.QA)},
			work.Rejected, "already_active", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := on(c.board...)
			w, p := b.Enrol(c.request, c.admission, noon)
			if p.Decision != c.decision || p.Reason != c.reason || !strings.Contains(p.Detail, c.detail) {
				t.Fatalf("%s %s %q, want %s %s %q", p.Decision, p.Reason, p.Detail, c.decision, c.reason, c.detail)
			}
			if !p.DetectedAt.Equal(noon) || !p.LastEvaluated.Equal(noon) {
				t.Errorf("progress %+v", p)
			}
			added := len(b.Workstreams) > len(c.board)
			if queued := c.decision == work.Queued; (w != nil) != queued || added != queued {
				t.Errorf("workstream %v, added %v", w, added)
			}
		})
	}
}

// TestEnrolRefusesWhatIsThere names the reason for every status it can have.
func TestEnrolRefusesWhatIsThere(t *testing.T) {
	want := map[work.Status]string{
		work.New: "already_queued", work.Merged: "terminal_status", work.Failed: "terminal_status", work.Closed: "terminal_status",
		work.PausedBudget: "terminal_status", work.ReadyToMerge: "terminal_status",
	}
	for _, s := range work.Statuses {
		reason := want[s]
		if reason == "" {
			reason = "already_active"
		}
		_, p := on(stream(s)).Enrol(addition(nil), work.Admission{Repositories: []string{"shop"}, MaxActive: 5, Queue: true}, noon)
		if p.Decision != work.Rejected || p.Reason != reason || !p.Settled() {
			t.Errorf("%s: %s %s", s, p.Decision, p.Reason)
		}
	}
}

func TestEnrolMakesAWorkstream(t *testing.T) {
	b := work.NewBoard()
	w, _ := b.Enrol(addition(nil), work.Admission{Repositories: []string{"shop"}, MaxActive: 1, BranchPrefix: "bb/"}, noon.In(time.FixedZone("", 3600)))
	switch {
	case w == nil || b.Workstreams["login"] != w:
		t.Fatalf("made %+v", w)
	case w.Status != work.New || w.Kind != work.KindSpec || w.Repository != "shop" || w.Title != "Fix the login" || w.Priority != 3:
		t.Errorf("made %+v", w)
	case w.Branch != "bb/login" || w.Spec.Source != "login.md" || w.Spec.Hash != work.SpecHash("Fix the login", "# Fix the login\n"):
		t.Errorf("made %+v", w)
	case !w.CreatedAt.Equal(noon) || w.CreatedAt.Location() != time.UTC || !w.HasApplied("r1"):
		t.Errorf("made %+v", w)
	}
}

// TestEnrolTwice is what happens after a crash between saving the workstream
// and settling the request.
func TestEnrolTwice(t *testing.T) {
	for _, reason := range []string{"capacity_available", "capacity_full"} {
		b := work.NewBoard()
		if reason == "capacity_full" {
			b = on(named("a", work.Building))
		}
		a := work.Admission{Repositories: []string{"shop"}, MaxActive: 1, Queue: true}
		r := addition(nil)
		first, before := b.Enrol(r, a, noon)
		r.Progress = before
		again, after := b.Enrol(r, a, noon.Add(time.Hour))
		if again != first || after.Decision != work.Queued || after.Reason != reason || before.Reason != reason || !after.DetectedAt.Equal(noon) {
			t.Errorf("first %+v, then %+v", before, after)
		}
		must(t, first.Move(work.Intake, work.Reason{Code: "admitted"}, noon))
		if again, p := b.Enrol(r, a, noon); again != first || p.Decision != work.Queued || p.Reason != "capacity_available" {
			t.Errorf("after it was admitted: %+v", p)
		}
		r.ID = "r2"
		if _, p := b.Enrol(r, a, noon); p.Reason != "already_active" {
			t.Errorf("another request for the same: %+v", p)
		}
	}
}

func TestWhenARequestIsSettled(t *testing.T) {
	for d, want := range map[work.Decision]bool{"": false, work.Deferred: false, work.Queued: true, work.Rejected: true, work.Applied: true} {
		if got := (work.Progress{Decision: d}).Settled(); got != want {
			t.Errorf("%q: settled %v", d, got)
		}
	}
}
