package github_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge/github"
	"github.com/backburner-cli/backburner/pkg/forge/github/githubtest"
)

func rules(since time.Time) github.Rules {
	return github.Rules{Prefix: "/backburner", Labels: github.DefaultLabels, Viewer: github.Viewer{Login: "crew"}, Since: since}
}

// happened is the events of threads, short.
func happened(threads []github.Thread, r github.Rules) (all []string) {
	for _, t := range threads {
		for _, e := range github.Events(t, r) {
			var by []string
			for _, a := range e.By {
				by = append(by, a.Login)
			}
			what := string(e.Kind)
			if e.Kind == github.Commanded || e.Kind == github.Unlabelled {
				what += " " + string(e.Command.Verb)
			}
			all = append(all, strings.TrimSpace(fmt.Sprintf("#%d %s %s", t.Number, what, strings.Join(by, "+"))))
		}
	}
	return all
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestProbe(t *testing.T) {
	h := newHub(t)
	h.shop.OpenIssue("ann", "Tea", "")
	h.AddRepository("acme/old").SetArchived(true)
	h.AddRepository("acme/was").Rename("acme/is")
	h.AddRepository("acme/bad")
	h.Fail(githubtest.Fault{Route: "graphql", Kind: "partial:acme/bad"})
	all, err := h.client().Probe(ctx, []string{"acme/shop", "acme/none", "acme/old", "acme/was", "acme/bad"})
	must(t, err)
	var got []string
	for _, p := range all {
		line := fmt.Sprintf("%s: %s %v %v", p.Asked, p.Slug, p.Writable(), !p.Issues.IsZero())
		if p.Err != nil {
			line = fmt.Sprintf("%s: %s", p.Asked, p.Err.Kind)
		}
		got = append(got, line)
	}
	same(t, got, []string{"acme/shop: acme/shop true true", "acme/none: not_found", "acme/old: acme/old false false", "acme/was: acme/is true false", "acme/bad: unavailable"})
	if text := all[1].Err.Error(); !strings.HasPrefix(text, "look at acme/none: ") || !strings.Contains(text, "the token may see") {
		t.Errorf("it reads %q", text)
	}
}

func TestProbeOfMany(t *testing.T) {
	h := newHub(t)
	var slugs []string
	for i := range 100 {
		slugs = append(slugs, fmt.Sprintf("acme/r%d", i))
		h.AddRepository(slugs[i])
	}
	c := h.client()
	all, err := c.Probe(ctx, slugs)
	must(t, err)
	if len(all) != 100 || all[99].Slug != "acme/r99" || len(h.Requests()) != 2 {
		t.Errorf("%d repositories in %d requests", len(all), len(h.Requests()))
	}
	if v, err := c.Viewer(ctx); err != nil || v.Login != "crew" || len(h.Requests()) != 2 {
		t.Errorf("the viewer is %+v, %v", v, err)
	}
}

// An issue is read once it moved, and what was dealt with is known again.
func TestIssuesAreReadOnce(t *testing.T) {
	h := newHub(t)
	n := h.shop.OpenIssue("ann", "Tea", "All kinds.")
	h.shop.Label("ann", n, "backburner")
	h.Advance(time.Second)
	h.shop.Comment("bob", n, "me too")
	h.Advance(time.Second)
	id := h.shop.Comment("ann", n, "/backburner approve")
	c := h.client()
	probe := func() github.Probed {
		t.Helper()
		all, err := c.Probe(ctx, []string{"acme/shop"})
		must(t, err)
		return all[0]
	}
	seen := make(map[string]time.Time)
	sync := func(m *github.Mark) (got []string) {
		t.Helper()
		if !m.Due(probe().Issues) {
			return []string{"idle"}
		}
		since := m.Since(c.Now())
		d, err := c.Issues(ctx, "acme/shop", *m)
		must(t, err)
		for _, thread := range d.Threads {
			fresh := github.Unseen(github.Events(thread, rules(since)), seen)
			for _, e := range fresh {
				got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s", e.Kind, e.Command.Verb)))
				seen[e.ID] = e.At
			}
		}
		*m = d.Mark
		github.Forget(seen, m.Since(c.Now()))
		return got
	}
	var m github.Mark
	same(t, sync(&m), []string{"command start", "comment", "command approve"})
	h.Advance(5 * time.Minute)
	same(t, sync(&m), nil) // it was just moving: read once more
	same(t, sync(&m), []string{"idle"})
	if len(seen) != 3 {
		t.Errorf("remembered %v", seen)
	}
	h.shop.EditComment("ann", id, "/backburner approve\nsorry for the typo")
	h.shop.Unlabel("ann", n, "backburner")
	same(t, sync(&m), []string{"unlabeled start"}) // the same command, edited beside it
	h.Advance(time.Minute)
	h.shop.Label("ann", n, "backburner")
	h.Advance(time.Second)
	h.shop.EditComment("ann", id, "/backburner merge")
	same(t, sync(&m), []string{"command start", "command merge"})
	h.Advance(time.Hour)
	h.shop.Comment("bob", n, "and I")
	same(t, sync(&m), []string{"comment"}) // all the rest is read again, and older than the mark
	h.shop.EditIssue("ann", n, "Tea", "Green only.")
	same(t, sync(&m), []string{"edited"})
	h.shop.Close("ann", n, "completed")
	same(t, sync(&m), []string{"closed"})
}

func TestLongThreadsAreReadToTheMark(t *testing.T) {
	h := newHub(t)
	n := h.shop.OpenIssue("ann", "Tea", "")
	h.shop.Comment("ann", n, "/backburner start")
	for range 180 {
		h.shop.Comment("bob", n, "me too")
	}
	for range 40 {
		h.shop.Label("ann", n, "x")
		h.shop.Unlabel("ann", n, "x")
	}
	for i := range 30 {
		h.shop.OpenIssue("ann", fmt.Sprint(i), "")
	}
	h.Advance(time.Hour)
	h.shop.Comment("bob", n, "me too")
	c := h.client()
	_, err := c.Probe(ctx, []string{"acme/shop"})
	must(t, err)
	d, err := c.Issues(ctx, "acme/shop", github.Mark{})
	must(t, err)
	if len(d.Threads) != 31 {
		t.Errorf("read %d issues", len(d.Threads))
	}
	i := slices.IndexFunc(d.Threads, func(t github.Thread) bool { return t.Number == n })
	if got := d.Threads[i]; len(got.Comments) != 182 || len(got.Timeline) < 80 || got.Comments[0].Body != "/backburner start" {
		t.Errorf("read %d comments and %d entries, the first %q", len(got.Comments), len(got.Timeline), got.Comments[0].Body)
	}
	before := len(h.Requests())
	h.shop.Comment("bob", n, "me too")
	d, err = c.Issues(ctx, "acme/shop", d.Mark)
	must(t, err)
	if got := len(h.Requests()) - before; got != 1 || len(d.Threads[len(d.Threads)-1].Comments) != 50 {
		t.Errorf("what is known was read again, in %d requests", got)
	}
}

func TestPulls(t *testing.T) {
	h := newHub(t)
	n, head := h.pull(true)
	h.shop.Review("ann", n, "changes_requested", "Not yet.", githubtest.Remark{Path: "tea.txt", Line: 2, Body: "Which?"})
	h.shop.Review("bob", n, "commented", "/backburner review")
	h.shop.Reply("ann", h.shop.Remarks(n)[0], "/backburner retry the other way")
	c := h.client()
	_, err := c.Probe(ctx, []string{"acme/shop"})
	must(t, err)
	d, err := c.Pulls(ctx, "acme/shop", github.Mark{})
	must(t, err)
	p := d.Threads[0].Pull
	if p == nil || p.HeadOID != head || p.Head != "tea" || p.Base != "main" || p.HeadRepo != "acme/shop" || p.Fork {
		t.Fatalf("read %+v", p)
	}
	same(t, happened(d.Threads, rules(time.Time{})), []string{"#1 review ann", "#1 command review bob", "#1 command retry ann"})
	review := github.Events(d.Threads[0], rules(time.Time{}))[0].Review
	if review.Verdict != "CHANGES_REQUESTED" || len(review.Comments) != 1 || review.Comments[0].Path != "tea.txt" || review.Comments[0].Line != 2 || review.Comments[0].Hunk == "" {
		t.Errorf("the review is %+v", review)
	}
	h.Advance(time.Hour)
	h.shop.Review("ann", n, "approved", "")
	h.Advance(time.Hour)
	h.shop.Merge("ann", n, "merge")
	d, err = c.Pulls(ctx, "acme/shop", d.Mark)
	must(t, err)
	same(t, happened(d.Threads, rules(h.when(-time.Minute))), []string{"#1 merged ann"})
	if d.Threads[0].State != github.StateMerged || d.Threads[0].Pull.MergeOID == "" {
		t.Errorf("read %+v", d.Threads[0].Pull)
	}
}

// when is the time on GitHub, and some more.
func (h *hub) when(d time.Duration) time.Time {
	c := h.client()
	_, err := c.Viewer(ctx)
	must(h.t, err)
	return c.Now().Add(d)
}

func TestOpen(t *testing.T) {
	h := newHub(t)
	n, head := h.pull(true)
	kept, deleted, moved := h.shop.OpenIssue("ann", "Kept", ""), h.shop.OpenIssue("ann", "Deleted", ""), h.shop.OpenIssue("ann", "Moved", "")
	c := h.client()
	nodes := make([]string, 5)
	issues, err := c.Issues(ctx, "acme/shop", github.Mark{})
	must(t, err)
	pulls, err := c.Pulls(ctx, "acme/shop", github.Mark{})
	must(t, err)
	for _, thread := range append(issues.Threads, pulls.Threads...) {
		nodes[thread.Number] = thread.Node
	}
	h.shop.DeleteIssue(deleted)
	h.shop.TransferIssue(moved, h.AddRepository("acme/other"))
	h.shop.Check(head, "build", "failure")
	h.shop.Comment("ann", kept, "hello")
	all, err := c.Open(ctx, []string{nodes[n], nodes[kept], nodes[deleted], nodes[moved]})
	must(t, err)
	if p := all[0].Pull; p == nil || p.HeadOID != head || p.Checks != "FAILURE" || p.Mergeable == "" || all[0].Number != n {
		t.Errorf("the pull request is %+v, %+v", all[0], p)
	}
	if all[1].Gone || !strings.HasPrefix(all[1].Said, "1+0 ") || all[1].State != github.StateOpen || !all[2].Gone || !all[3].Gone {
		t.Errorf("the issues are %+v", all[1:])
	}
	again, err := c.Threads(ctx, []string{nodes[kept], nodes[deleted]}, time.Time{})
	must(t, err)
	if len(again) != 1 || len(again[0].Comments) != 1 {
		t.Errorf("read %+v", again)
	}
}

// What may not be seen today is not gone: an organization that wants the token
// authorized again closes nobody's work.
func TestHiddenIsNotGone(t *testing.T) {
	s := newStub(t, reply{200, `{"data":{"nodes":[null]},"errors":[{"type":"FORBIDDEN","path":["nodes",0],"message":"Resource protected by organization SAML enforcement."}]}`, nil})
	if got, err := s.client().Open(ctx, []string{"I_1"}); err != nil || len(got) != 1 || got[0].Gone || got[0].Err == nil || got[0].Err.Kind != github.KindSSO {
		t.Errorf("got %+v, %v", got, err)
	}
	s = newStub(t, reply{200, `{"data":{}}`, nil})
	if got, err := s.client().Open(ctx, []string{"I_1"}); err == nil || len(got) > 0 {
		t.Errorf("an answer without anything is %+v, %v", got, err)
	}
}
