package cmd

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/backburner-cli/backburner/pkg/forge/github/githubtest"
)

// githubActs are the subcommands of github, as testdata/script/README tells them.
var githubActs = map[string]githubAct{
	"start": {"", (*scriptGitHub).start},
	"stop":  {"", func(g *scriptGitHub, _ *testscript.TestScript, _ githubCall) { g.Stop() }},
	"token": {"STATE [PERMISSION...]", (*scriptGitHub).changeToken},
	"fault": {"ROUTE KIND [TIMES] [match=TEXT] [skip=N]", (*scriptGitHub).fault},
	"log":   {"", (*scriptGitHub).printLog},
	"clock": {"+DURATION", (*scriptGitHub).moveClock},
	"limit": {"REQUESTS POINTS", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		g.SpendTo(g.token, c.number(ts, 0), c.number(ts, 1))
	}},
	"heal": {"", func(g *scriptGitHub, ts *testscript.TestScript, _ githubCall) { say(ts, fmt.Sprintln(g.Heal())) }},

	"user": {"LOGIN ROLE [OWNER/NAME]", func(g *scriptGitHub, _ *testscript.TestScript, c githubCall) {
		if len(c.args) == 3 {
			g.Repository(c.args[2]).Permit(c.args[0], c.args[1])
			return
		}
		g.AddUser(c.args[0], c.args[1])
	}},
	"bot":      {"LOGIN ROLE", func(g *scriptGitHub, _ *testscript.TestScript, c githubCall) { g.AddBot(c.args[0], c.args[1]) }},
	"leave":    {"LOGIN", func(g *scriptGitHub, _ *testscript.TestScript, c githubCall) { g.DeleteUser(c.args[0]) }},
	"repo":     {"OWNER/NAME [WORD...]", (*scriptGitHub).repository},
	"rules":    {"OWNER/NAME [RULE...]", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) { g.of(c).SetRules(c.rules(ts)) }},
	"rename":   {"OWNER/NAME OWNER/NAME", func(g *scriptGitHub, _ *testscript.TestScript, c githubCall) { g.of(c).Rename(c.args[1]) }},
	"fork":     {"OWNER/NAME OWNER/NAME", func(g *scriptGitHub, _ *testscript.TestScript, c githubCall) { g.of(c).Fork(c.args[1]) }},
	"dissolve": {"OWNER/NAME", func(g *scriptGitHub, _ *testscript.TestScript, c githubCall) { g.of(c).Delete() }},

	"issue": {"OWNER/NAME TITLE TEXT by USER", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		say(ts, fmt.Sprintln(g.of(c).OpenIssue(c.by, c.args[1], c.text(ts, 2))))
	}},
	"transfer": {"OWNER/NAME NUMBER OWNER/NAME", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		say(ts, fmt.Sprintln(g.of(c).TransferIssue(c.number(ts, 1), g.Repository(c.args[2]))))
	}},
	"sub": {"OWNER/NAME NUMBER NUMBER", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		g.of(c).AddSubIssue(c.number(ts, 1), c.number(ts, 2))
	}},
	"comment": {"OWNER/NAME NUMBER TEXT by USER", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		g.of(c).Comment(c.by, c.number(ts, 1), c.text(ts, 2))
	}},
	"edit": {"OWNER/NAME NUMBER[/NTH] [TITLE] TEXT by USER", (*scriptGitHub).edit},
	"delete": {"OWNER/NAME NUMBER[/NTH]", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		number, comment := g.target(ts, c)
		if comment != 0 {
			g.of(c).DeleteComment(comment)
			return
		}
		g.of(c).DeleteIssue(number)
	}},
	"minimize": {"OWNER/NAME NUMBER/NTH", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		_, comment := g.target(ts, c)
		g.of(c).MinimizeComment(comment)
	}},
	"react": {"OWNER/NAME NUMBER/NTH CONTENT by USER", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		_, comment := g.target(ts, c)
		g.of(c).React(c.by, comment, c.args[2])
	}},
	"label": {"OWNER/NAME NUMBER LABEL by USER", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		g.of(c).Label(c.by, c.number(ts, 1), c.args[2])
	}},
	"unlabel": {"OWNER/NAME NUMBER LABEL by USER", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		g.of(c).Unlabel(c.by, c.number(ts, 1), c.args[2])
	}},
	"assign": {"OWNER/NAME NUMBER LOGIN by USER", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		g.of(c).Assign(c.by, c.number(ts, 1), c.args[2])
	}},
	"close": {"OWNER/NAME NUMBER [REASON] by USER", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		g.of(c).Close(c.by, c.number(ts, 1), strings.Join(c.args[2:], ""))
	}},
	"reopen": {"OWNER/NAME NUMBER by USER", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) { g.of(c).Reopen(c.by, c.number(ts, 1)) }},
	"show":   {"OWNER/NAME NUMBER", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) { say(ts, g.of(c).Show(c.number(ts, 1))) }},

	"pull": {"OWNER/NAME TITLE TEXT HEAD BASE [draft] by USER", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		spec := githubtest.PullRequest{Title: c.args[1], Body: c.text(ts, 2), Head: c.args[3], Base: c.args[4], Draft: c.has("draft")}
		if from, head, forked := strings.Cut(c.args[3], ":"); forked {
			spec.From, spec.Head = from, head
		}
		say(ts, fmt.Sprintln(g.of(c).OpenPullRequest(c.by, spec)))
	}},
	"draft": {"OWNER/NAME NUMBER by USER", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		g.of(c).SetDraft(c.by, c.number(ts, 1), true)
	}},
	"ready": {"OWNER/NAME NUMBER by USER", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		g.of(c).SetDraft(c.by, c.number(ts, 1), false)
	}},
	"review": {"OWNER/NAME NUMBER VERDICT TEXT [PATH:LINE] [TEXT...] by USER", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		g.of(c).Review(c.by, c.number(ts, 1), c.args[2], c.text(ts, 3), c.remarks(ts, 4)...)
	}},
	"amend": {"OWNER/NAME NUMBER NTH TEXT by USER", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		number := c.number(ts, 1)
		g.of(c).EditReview(c.by, number, ordinal(ts, g.of(c).Reviews(number), c.args[2]), c.text(ts, 3))
	}},
	"dismiss": {"OWNER/NAME NUMBER NTH", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		number := c.number(ts, 1)
		g.of(c).DismissReview(number, ordinal(ts, g.of(c).Reviews(number), c.args[2]))
	}},
	"reply": {"OWNER/NAME NUMBER NTH TEXT by USER", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		g.of(c).Reply(c.by, ordinal(ts, g.of(c).Remarks(c.number(ts, 1)), c.args[2]), c.text(ts, 3))
	}},
	"resolve": {"OWNER/NAME NUMBER NTH by USER", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		g.of(c).Resolve(c.by, ordinal(ts, g.of(c).Remarks(c.number(ts, 1)), c.args[2]))
	}},
	"status": {"OWNER/NAME REF CONTEXT STATE by USER", func(g *scriptGitHub, _ *testscript.TestScript, c githubCall) {
		g.of(c).SetStatus(c.by, g.of(c).Commit(c.args[1]), c.args[2], c.args[3])
	}},
	"check": {"OWNER/NAME REF NAME OUTCOME", func(g *scriptGitHub, _ *testscript.TestScript, c githubCall) {
		g.of(c).Check(g.of(c).Commit(c.args[1]), c.args[2], c.args[3])
	}},
	"merge": {"OWNER/NAME NUMBER STRATEGY by USER", func(g *scriptGitHub, ts *testscript.TestScript, c githubCall) {
		say(ts, fmt.Sprintln(g.of(c).Merge(c.by, c.number(ts, 1), c.args[2])))
	}},
	"queue": {"OWNER/NAME", func(g *scriptGitHub, _ *testscript.TestScript, c githubCall) { g.of(c).RunQueue() }},
}

// edit changes a comment, or title and body of an issue or pull request.
func (g *scriptGitHub) edit(ts *testscript.TestScript, c githubCall) {
	number, comment := g.target(ts, c)
	switch {
	case comment != 0 && len(c.args) == 3:
		g.of(c).EditComment(c.by, comment, c.text(ts, 2))
	case comment == 0 && len(c.args) == 4:
		g.of(c).EditIssue(c.by, number, c.args[2], c.text(ts, 3))
	default:
		ts.Fatalf("an issue has a title and a text, a comment has a text")
	}
}
