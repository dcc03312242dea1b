package forge_test

import (
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

func TestRenderStatus(t *testing.T) {
	w := &work.Workstream{
		ID: "shop-1", Status: work.AwaitingInput, Detail: "the builder asks: Which | one?\nmore", Revision: 2, Plan: &work.Plan{Increments: make([]work.Increment, 3)},
		Approval: &work.Approval{By: "ann", Revision: 2}, Increment: 1, Branch: "backburner/shop-1", Published: "0123456789abcdef", Tree: "t1",
		Evidence:  map[string]work.Evidence{work.GateFast: {Tree: "t1", Green: true}, work.GateFull: {Tree: "t0"}},
		Spending:  work.Spending{Sessions: 3, CostUSD: 0.5, UnknownCost: 1},
		Questions: []*work.Question{{ID: "q1", Text: "Which <!-- hidden --> one?"}, {ID: "q0", Text: "Old", AnsweredAt: time.Unix(1, 0)}},
		Thread:    &work.Thread{Number: 1, Pull: &work.Pull{Number: 2}},
	}
	want := "**Awaiting input**: the builder asks: Which | one?\n\nNext: waits for you.\n\n" +
		"- q1: Which &lt;!-- hidden --> one?\n\n| | |\n|---|---|\n" +
		"| Plan | revision 2, approved by ann, increment 2 of 3 |\n| Gates | fast green, full stale |\n" +
		"| Branch | `backburner/shop-1` at 0123456789ab, #2 |\n| Cost | $0.50, and 1 not reported (3 runs of agents) |\n"
	if got := forge.RenderStatus(w, "waits for you."); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	over := &work.Workstream{Status: work.PausedBudget, Detail: "$2 of $1 used up"}
	if got, want := forge.RenderStatus(over, "$2 of $1 used up; raise the cap"), "**Paused**: $2 of $1 used up\n\nNext: raise the cap.\n\n| | |\n|---|---|\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := forge.RenderStatus(&work.Workstream{Status: work.Merged, Detail: "merged as abc"}, "landed"); got != "**Merged**: merged as abc\n\n| | |\n|---|---|\n" {
		t.Errorf("merged is %q", got)
	}
}

func TestCommentCommands(t *testing.T) {
	for _, tc := range [][2]string{
		{"`backburner approve shop-1`, or `backburner approve shop-1 --reject \"...\"`", "`/bb approve`, or `/bb plan ...`"},
		{"backburner approve shop-1, or --reject \"what\"", "`/bb approve`, or `/bb plan what`"},
		{"`backburner answer --question q2 shop-1 \"...\"`", "`/bb answer q2: ...`"},
		{"`backburner answer shop-1 \"...\"`; `backburner logs shop-1`", "`/bb answer ...`; `backburner logs shop-1`"},
		{"look at it with backburner status shop-1, then: backburner merge shop-1", "look at the pull request, then: `/bb merge`"},
		{"backburner retry shop-11", "backburner retry shop-11"},
		{"backburner retry shop-1-a", "backburner retry shop-1-a"},
		{"`backburner retry shop-1 \"take it back\"`, or backburner resume shop-1.", "`/bb retry take it back`, or `/bb resume`."},
	} {
		if got := forge.CommentCommands(tc[0], "shop-1", "/bb"); got != tc[1] {
			t.Errorf("%q became %q, want %q", tc[0], got, tc[1])
		}
	}
}
