package github_test

import (
	"context"
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/forge/github"
	"github.com/backburner-cli/backburner/pkg/forge/github/githubtest"
	"github.com/backburner-cli/backburner/pkg/work"
)

// A change whose answer is lost has happened all the same, says so, and happens
// once when it is asked for again by a tick that remembers nothing.
func TestLostAnswers(t *testing.T) {
	type scene struct {
		*hub
		number int
		head   string
		remark int64
	}
	body := map[string]int{"All done.": 1, "backburner:v1": 1}
	for _, tc := range []struct {
		name  string
		route string // of the change
		do    func(context.Context, *github.Client, scene) error
		shows map[string]int
		again bool // nothing is remembered of it, since GitHub does it once
	}{
		{"comment", "POST /repos/*/issues/*/comments", func(ctx context.Context, c *github.Client, s scene) error {
			_, err := c.Upsert(ctx, github.Post{Slug: "acme/shop", Number: s.number, Key: "plan:1", Body: "All done."})
			return err
		}, body, false},
		{"label", "POST /repos/*/issues/*/labels", func(ctx context.Context, c *github.Client, s scene) error {
			return c.AddLabels(ctx, "acme/shop", s.number, github.Label{Name: "ready"})
		}, map[string]int{"labels: ready\n": 1}, true},
		{"label taken off", "DELETE /repos/*/issues/*/labels/*", func(ctx context.Context, c *github.Client, s scene) error {
			return c.RemoveLabel(ctx, "acme/shop", s.number, "gone")
		}, map[string]int{"labels:": 0}, true},
		{"label made", "PATCH /repos/*/labels/*", func(ctx context.Context, c *github.Client, s scene) error {
			return c.AddLabels(ctx, "acme/shop", s.number, github.Label{Name: "new", Color: "0e8a16"})
		}, map[string]int{"labels: gone, new\n": 1}, true},
		{"receipt", "POST /repos/*/issues/*/reactions", func(ctx context.Context, c *github.Client, s scene) error {
			return c.React(ctx, github.Target{Slug: "acme/shop", Number: s.number, Kind: github.OnThread}, github.Seen)
		}, map[string]int{"eyes": 1}, true},
		{"review", "POST /repos/*/pulls/*/reviews", func(ctx context.Context, c *github.Client, s scene) error {
			_, err := c.Publish(ctx, github.Opinion{Slug: "acme/shop", Number: s.number, Key: "exec-1", Commit: s.head, Review: work.Review{Verdict: "comment", Body: "All done."}})
			return err
		}, body, false},
		{"reply", "POST /repos/*/pulls/*/comments/*/replies", func(ctx context.Context, c *github.Client, s scene) error {
			_, err := c.Reply(ctx, github.Post{Slug: "acme/shop", Number: s.number, Key: "reply:1", Body: "All done."}, github.ID(s.remark))
			return err
		}, body, false},
		{"status", "POST /repos/*/statuses/*", func(ctx context.Context, c *github.Client, s scene) error {
			return c.SetStatus(ctx, "acme/shop", s.head, github.CommitStatus{State: "success", Context: "backburner", Description: "All done."})
		}, map[string]int{"status backburner: success All done.": 1}, true},
		{"ready", "graphql", func(ctx context.Context, c *github.Client, s scene) error {
			p, err := c.FindPull(ctx, github.Proposal{Slug: "acme/shop", Branch: "tea", Base: "main"})
			if err != nil {
				return err
			}
			return c.SetDraft(ctx, "acme/shop#1", p.Node, true)
		}, map[string]int{"open draft": 1}, true},
		{"text of a pull request", "PATCH /repos/*/pulls/*", func(ctx context.Context, c *github.Client, s scene) error {
			p := github.Proposal{Slug: "acme/shop", Key: "w", Title: "Tea", Body: "All done."}
			_, err := c.Revise(ctx, p, github.Proposed{
				Number: s.number, Ours: true, Body: "<!-- backburner:v1 text -->\n\nOld\n\n<!-- backburner:v1 seal=e3b0c44298fc.bca97160f4e1 -->\n",
			})
			return err
		}, map[string]int{"All done.": 1, "Old": 0}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := scene{hub: newHub(t)}
			s.number, s.head = s.pull(true)
			s.shop.Label("ann", s.number, "gone")
			if tc.name == "label" {
				s.shop.Unlabel("ann", s.number, "gone")
			}
			if tc.name == "reply" {
				s.shop.Review("ann", s.number, "commented", "", githubtest.Remark{Path: "tea.txt", Line: 2, Body: "Which?"})
				s.remark = s.shop.Remarks(s.number)[0]
			}
			f := githubtest.Fault{Route: tc.route, Kind: "lost"}
			if tc.route == "graphql" {
				f.Match = "mutation"
			}
			s.Fail(f)
			e := asError(t, tc.do(ctx, s.client(), s))
			if e.Kind != github.KindUnavailable || !e.Sent || !strings.Contains(e.Error(), "it may have been done") {
				t.Errorf("the first time: %v", e)
			}
			if left := s.Heal(); left != 0 {
				t.Fatal("the answer was not lost: the test looks at another request")
			}
			before := writes(s.hub)
			must(t, tc.do(ctx, s.client(), s))
			if n := writes(s.hub) - before; n > 0 != tc.again {
				t.Errorf("the second time %d changes were sent", n)
			}
			s.shows(s.number, tc.shows)
		})
	}
}

// writes is how many changes GitHub was asked for.
func writes(h *hub) (n int) {
	for _, r := range h.Requests() {
		if r.Method != "GET" && (r.Path != "/graphql" || strings.Contains(r.Document, "mutation")) {
			n++
		}
	}
	return n
}

// A change that never reached GitHub is not taken for one that may have.
func TestRefusedWritesAreNotSent(t *testing.T) {
	h := newHub(t)
	n := h.shop.OpenIssue("ann", "Tea", "")
	h.Fail(githubtest.Fault{Route: "POST /repos/*/issues/*/comments", Kind: "secondary"})
	_, err := h.client().Upsert(ctx, github.Post{Slug: "acme/shop", Number: n, Key: "a", Body: "x"})
	if e := asError(t, err); e.Sent || e.Kind != github.KindSecondary || e.Until.IsZero() {
		t.Errorf("got %+v", e)
	}
}

func TestCommentIsEditedInPlace(t *testing.T) {
	h := newHub(t)
	n := h.shop.OpenIssue("ann", "Tea", "")
	post := github.Post{Slug: "acme/shop", Number: n, Key: "status", Body: "Planning."}
	c := h.client()
	first, err := c.Upsert(ctx, post)
	must(t, err)
	post.ID, post.Hash = first.ID, first.Hash
	before := len(h.Requests())
	_, err = c.Upsert(ctx, post)
	must(t, err)
	if len(h.Requests()) != before {
		t.Error("the same text was sent again")
	}
	post.Body = "Building."
	second, err := c.Upsert(ctx, post)
	must(t, err)
	if second.ID != first.ID || second.Hash == first.Hash {
		t.Errorf("first %+v, then %+v", first, second)
	}
	h.shows(n, map[string]int{"comment 1": 1, "comment 2": 0, "Building.": 1, "Planning.": 0})
	h.shop.DeleteComment(int64(first.ID))
	post.ID, post.Hash, post.Body = second.ID, second.Hash, "In review."
	_, err = c.Upsert(ctx, post)
	must(t, err)
	h.shows(n, map[string]int{"In review.": 1})
}

// Only what our own account wrote is adopted, though anybody can copy a marker.
func TestMarkersOfStrangersAreNotAdopted(t *testing.T) {
	h := newHub(t)
	n := h.shop.OpenIssue("ann", "Tea", "")
	h.shop.Comment("bob", n, "Mine. <!-- backburner:v1 key=status -->")
	_, err := h.client().Upsert(ctx, github.Post{Slug: "acme/shop", Number: n, Key: "status", Body: "Planning."})
	must(t, err)
	h.shows(n, map[string]int{"Mine.": 1, "Planning.": 1, "comment 2 by crew": 1})
}

func TestOwnCommentIsFoundBehindMany(t *testing.T) {
	h := newHub(t)
	n := h.shop.OpenIssue("ann", "Tea", "")
	for range 130 {
		h.shop.Comment("ann", n, "me too")
	}
	for range 2 {
		_, err := h.client().Upsert(ctx, github.Post{Slug: "acme/shop", Number: n, Key: "status", Body: "Planning."})
		must(t, err)
	}
	h.shows(n, map[string]int{"Planning.": 1})
}

func TestBodiesFit(t *testing.T) {
	h := newHub(t)
	n := h.shop.OpenIssue("ann", "Tea", "")
	long := "```\n" + strings.Repeat("0123456789 ä 😀\n", 9000) + "```\n"
	for range 2 {
		_, err := h.client().Upsert(ctx, github.Post{Slug: "acme/shop", Number: n, Key: "log", Body: long + h.token, Pointer: "see executions/7"})
		must(t, err)
	}
	h.shows(n, map[string]int{"(cut here; see executions/7)": 1, "backburner:v1 key=log": 1, "```": 2, h.token: 0})
	_, err := h.client().Upsert(ctx, github.Post{Slug: "acme/shop", Number: n, Key: "token", Body: "use " + h.token + "!"})
	must(t, err)
	h.shows(n, map[string]int{"use [redacted: a GitHub token]!": 1})
}

func TestReview(t *testing.T) {
	h := newHub(t)
	n, head := h.pull(true)
	_, err := h.client().Publish(ctx, github.Opinion{Slug: "acme/shop", Number: n, Key: "exec-1", Commit: head, Review: work.Review{
		Verdict: "request_changes", Body: "As @ann said, fixes #1.",
		Comments: []work.ReviewComment{{Path: "tea.txt", Line: 2, Body: "Spelling."}, {Path: "tea.txt", Line: 90, Body: "Far off."}, {Path: "none.txt", Line: 1, Body: "Not there."}},
	}})
	must(t, err)
	h.shows(n, map[string]int{"changes_requested": 1, "Spelling.": 1, "`tea.txt:90`: Far off.": 1, "`none.txt:1`: Not there.": 1, "@ann": 0, "fixes #1": 0})
}

func TestAgentsApproveNothing(t *testing.T) {
	h := newHub(t)
	_, head := h.pull(false)
	c := h.client()
	p, err := c.Propose(ctx, github.Proposal{Slug: "acme/shop", Key: "w", Branch: "tea", Head: head, Base: "main", Title: "Tea", Body: "x"})
	must(t, err)
	_, err = c.Publish(ctx, github.Opinion{Slug: "acme/shop", Number: p.Number, Key: "e", Commit: head, Review: work.Review{Verdict: "approve", Body: "Good."}})
	must(t, err)
	h.shows(p.Number, map[string]int{"**No objections.**": 1, "Good.": 1, "commented": 1})
}

func TestPropose(t *testing.T) {
	h := newHub(t)
	issue := h.shop.OpenIssue("ann", "Sell tea", "")
	_, head := h.pull(false)
	wish := github.Proposal{Slug: "acme/shop", Key: "w", Branch: "tea", Head: head, Base: "main", Title: "Tea", Body: "Kinds.", Closes: []int{issue}, Draft: true}
	h.Fail(githubtest.Fault{Route: "POST /repos/*/pulls", Kind: "lost"})
	if _, err := h.client().Propose(ctx, wish); !asError(t, err).Sent {
		t.Errorf("got %v", err)
	}
	p, err := h.client().Propose(ctx, wish)
	must(t, err)
	if !p.Ours || !p.Draft || p.State != github.StateOpen || p.Head != head || p.Number != issue+1 {
		t.Errorf("got %+v", p)
	}
	h.shows(p.Number, map[string]int{"open draft: Tea": 1, "Closes #1": 1, "Kinds.": 1})
	h.shows(p.Number+1, map[string]int{"nothing": 1})

	c := h.client()
	must(t, c.SetDraft(ctx, "acme/shop#2", p.Node, false))
	wish.Title, wish.Body = "All tea", "More kinds."
	p, err = c.Revise(ctx, wish, p)
	must(t, err)
	before := len(h.Requests())
	_, err = c.Revise(ctx, wish, p)
	must(t, err)
	if len(h.Requests()) != before {
		t.Error("the same text was sent again")
	}
	h.shows(p.Number, map[string]int{"open: All tea": 1, "More kinds.": 1, "Closes #1": 1})

	h.shop.Close("ann", p.Number, "")
	again, err := c.Propose(ctx, wish)
	must(t, err)
	if again.Number != p.Number || again.State != github.StateClosed {
		t.Errorf("what a person closed was opened again: %+v", again)
	}
}

func TestForeignPullRequestIsAdopted(t *testing.T) {
	h := newHub(t)
	n, head := h.pull(true)
	c := h.client()
	wish := github.Proposal{Slug: "acme/shop", Key: "w", Branch: "tea", Head: head, Base: "main", Title: "Mine", Body: "Mine."}
	p, err := c.Propose(ctx, wish)
	must(t, err)
	if p.Number != n || p.Ours {
		t.Errorf("got %+v", p)
	}
	_, err = c.Revise(ctx, wish, p)
	must(t, err)
	h.shows(n, map[string]int{"All kinds.": 1, "Mine": 0})
}

func TestRaise(t *testing.T) {
	h := newHub(t)
	parent := h.shop.OpenIssue("ann", "Shop", "")
	draft := github.Draft{Slug: "acme/shop", Key: "w:part:1", Title: "Tea", Body: "Kinds.", Parent: parent}
	for _, route := range []string{"POST /repos/*/issues", "POST /repos/*/issues/*/sub_issues"} {
		h.Fail(githubtest.Fault{Route: route, Kind: "lost"})
		if _, err := h.client().Raise(ctx, draft); !asError(t, err).Sent {
			t.Errorf("got %v", err)
		}
	}
	got, err := h.client().Raise(ctx, draft)
	must(t, err)
	if got.Number != parent+1 {
		t.Errorf("got %+v", got)
	}
	h.shows(got.Number, map[string]int{"part of: 1": 1})
	h.shows(got.Number+1, map[string]int{"nothing": 1})
}

func TestScopesAreNamed(t *testing.T) {
	h := newHub(t)
	n := h.shop.OpenIssue("ann", "Tea", "")
	h.token = h.IssueToken(githubtest.Token{Login: "crew", Kind: "fine-grained", Permissions: map[string]string{"issues": "read"}})
	err := h.client().AddLabels(ctx, "acme/shop", n, github.Label{Name: "x"})
	if e := asError(t, err); e.Kind != github.KindScope || !strings.Contains(e.Error(), "issues: write") {
		t.Errorf("got %v", err)
	}
	h.shop.SetArchived(true)
	h.token = h.IssueToken(githubtest.Token{Login: "crew"})
	if e := asError(t, h.client().AddLabels(ctx, "acme/shop", n, github.Label{Name: "x"})); e.Kind != github.KindArchived {
		t.Errorf("got %v", e)
	}
}
