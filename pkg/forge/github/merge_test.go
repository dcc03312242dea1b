package github_test

import (
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/forge/github"
	"github.com/backburner-cli/backburner/pkg/forge/github/githubtest"
)

// wish is the merge of a pull request as it is now.
func (h *hub) wish() github.Wish {
	h.t.Helper()
	n, head := h.pull(true)
	d, err := h.client().Pulls(ctx, "acme/shop", github.Mark{})
	must(h.t, err)
	return github.Wish{Slug: "acme/shop", Number: n, Node: d.Threads[0].Node, Head: head, Strategy: "squash", Title: "Tea (#1)", Message: "Kinds."}
}

func TestLand(t *testing.T) {
	for _, tc := range []struct {
		name    string
		prepare func(*hub, *github.Wish)
		want    github.Outcome
		detail  string
		merged  bool
	}{
		{"clean", func(*hub, *github.Wish) {}, github.Landed, "", true},
		{"merged by a person", func(h *hub, w *github.Wish) { h.shop.Merge("ann", w.Number, "merge") }, github.Landed, "", true},
		{"closed", func(h *hub, w *github.Wish) { h.shop.Close("ann", w.Number, "") }, github.NotLanded, "reopen it", false},
		{"another head", func(_ *hub, w *github.Wish) { w.Head = strings.Repeat("0", 40) }, github.NotLanded, "which was not tested", false},
		{"a draft", func(h *hub, w *github.Wish) { h.shop.SetDraft("ann", w.Number, true) }, github.NotLanded, "ready for review", false},
		{"review needed", func(h *hub, _ *github.Wish) { h.shop.SetRules(githubtest.Rules{Reviews: 1}) }, github.NotLanded, "405", false},
		{"left to GitHub by a person", func(h *hub, w *github.Wish) {
			h.shop.SetRules(githubtest.Rules{Reviews: 1, AutoMerge: true})
			h.shop.MergeLater("ann", w.Number, "squash")
		}, github.LandsLater, "when it may", false},
		{"strategy not allowed", func(h *hub, _ *github.Wish) { h.shop.SetRules(githubtest.Rules{Strategies: []string{"merge"}}) }, github.NotLanded, "not allowed", false},
		{"queue", func(h *hub, _ *github.Wish) { h.shop.SetRules(githubtest.Rules{Queue: true}) }, github.LandsLater, "", false},
		{"answer lost", func(h *hub, _ *github.Wish) { h.Fail(githubtest.Fault{Route: "PUT *", Kind: "lost"}) }, github.Landed, "", true},
		{"request lost", func(h *hub, _ *github.Wish) { h.Fail(githubtest.Fault{Route: "PUT *", Kind: "cut"}) }, github.CannotTell, "", false},
		{"502", func(h *hub, _ *github.Wish) { h.Fail(githubtest.Fault{Route: "PUT *", Kind: "502"}) }, github.CannotTell, "502", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newHub(t)
			w := h.wish()
			tc.prepare(h, &w)
			c := h.client()
			got, err := c.Land(ctx, w)
			must(t, err)
			if got.Outcome != tc.want || !strings.Contains(got.Detail, tc.detail) || (got.Commit != "") != tc.merged {
				t.Errorf("got %+v", got)
			}
			if isMerged := strings.Contains(h.shop.Show(w.Number), "merged: "); isMerged != tc.merged {
				t.Errorf("merged is %v", isMerged)
			}
			if tc.want != github.LandsLater && tc.want != github.CannotTell {
				return
			}
			again, err := h.client().Land(ctx, w) // as the next tick does
			must(t, err)
			if want := map[github.Outcome]github.Outcome{github.LandsLater: github.LandsLater, github.CannotTell: github.Landed}[tc.want]; again.Outcome != want {
				t.Errorf("again: %+v", again)
			}
		})
	}
}

func TestLandNothing(t *testing.T) {
	h := newHub(t)
	w := h.wish()
	h.Fail(githubtest.Fault{Route: "PUT *", Kind: "secondary"})
	if _, err := h.client().Land(ctx, w); asError(t, err).Kind != github.KindSecondary {
		t.Errorf("got %v", err)
	}
	w.Node = "PR_none"
	if _, err := h.client().Land(ctx, w); asError(t, err).Kind != github.KindNotFound {
		t.Errorf("got %v", err)
	}
}

func TestChecks(t *testing.T) {
	h := newHub(t)
	_, head := h.pull(true)
	h.shop.Check(head, "build", "failure")
	h.shop.Check(head, "lint", "success")
	h.shop.SetStatus("ann", head, "deploy", "pending")
	c := h.client()
	must(t, c.SetStatus(ctx, "acme/shop", head, github.CommitStatus{State: "success", Context: "backburner", Description: strings.Repeat("x", 200)}))
	got, err := c.Checks(ctx, "acme/shop", head, "backburner")
	must(t, err)
	if len(got.Red) != 1 || got.Red[0] != "build" || len(got.Pending) != 1 || got.Pending[0] != "deploy" || got.Green != 1 {
		t.Errorf("got %+v", got)
	}
}
