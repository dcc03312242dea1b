package github_test

import (
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge/github"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// at is a time some minutes after noon.
func at(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

var (
	ann  = github.Actor{Login: "ann", Type: "User"}
	bob  = github.Actor{Login: "bob", Type: "User"}
	crew = github.Actor{Login: "Crew", Type: "User"} // the account of the token, in another spelling
	bot  = github.Actor{Login: "github-actions", Type: "Bot"}
)

const mark = "\n\n<!-- backburner:v1 key=status -->"

func comment(id int, by github.Actor, minutes int, body string) github.Comment {
	return github.Comment{ID: github.ID(id), Written: github.Written{Author: by, Body: body, CreatedAt: at(minutes)}}
}

func edited(c github.Comment, by github.Actor, minutes int) github.Comment {
	c.Editor, c.EditedAt = by, at(minutes)
	return c
}

func hidden(c github.Comment) github.Comment {
	c.Hidden = true
	return c
}

func entry(node, kind string, by github.Actor, minutes int, label string) github.Happening {
	return github.Happening{Node: node, Type: kind, At: at(minutes), By: by, Label: label}
}

func TestEvents(t *testing.T) {
	const start, hold = "backburner", "Backburner:Hold"
	for _, tc := range []struct {
		name   string
		thread github.Thread
		viewer string // "crew" unless said otherwise
		want   []string
	}{
		{"a comment and a command", github.Thread{Comments: []github.Comment{comment(1, ann, 0, "Hello."), comment(2, bob, 1, "Hi.\n/backburner start")}}, "",
			[]string{"#7 comment ann", "#7 command start bob"}},
		{"two commands of one comment", github.Thread{Comments: []github.Comment{comment(1, ann, 0, "/backburner retry a\n/backburner resume")}}, "",
			[]string{"#7 command retry ann", "#7 command resume ann"}},
		{"an empty comment", github.Thread{Comments: []github.Comment{comment(1, ann, 0, " \n")}}, "", nil},
		{"what was before", github.Thread{Comments: []github.Comment{comment(1, ann, -1, "/backburner merge"), comment(2, ann, 0, "/backburner hold")}}, "",
			[]string{"#7 command hold ann"}},
		{"an old comment, edited", github.Thread{Comments: []github.Comment{edited(comment(1, ann, -60, "/backburner merge"), ann, 2)}}, "",
			[]string{"#7 command merge ann"}},
		{"edited by another", github.Thread{Comments: []github.Comment{edited(comment(1, ann, 0, "/backburner merge"), bob, 2)}}, "",
			[]string{"#7 command merge ann+bob"}},
		{"edited by an account that was deleted", github.Thread{Comments: []github.Comment{edited(comment(1, ann, 0, "/backburner merge"), github.Actor{}, 2)}}, "",
			[]string{"#7 command merge ann+"}},
		{"hidden", github.Thread{Comments: []github.Comment{hidden(comment(1, ann, 0, "/backburner merge"))}}, "", nil},
		{"our own words", github.Thread{Comments: []github.Comment{comment(1, crew, 0, "Say:\n/backburner merge"+mark)}}, "", nil},
		{"a person who shares our account", github.Thread{Comments: []github.Comment{comment(1, crew, 0, "/backburner merge")}}, "",
			[]string{"#7 command merge Crew"}},
		{"what another account of ours wrote", github.Thread{Comments: []github.Comment{comment(1, bob, 0, "/backburner merge"+mark)}}, "", nil},
		{"an edit of a text that has our marker", github.Thread{Written: github.Written{Author: ann, Body: "Tea." + mark, CreatedAt: at(-9), Editor: bob, EditedAt: at(1)}}, "",
			[]string{"#7 edited bob"}},
		{"an app as which we run", github.Thread{Comments: []github.Comment{comment(1, bot, 0, "/backburner merge")}}, "github-actions[bot]", nil},
		{"another app", github.Thread{Comments: []github.Comment{comment(1, bot, 0, "/backburner merge")}}, "",
			[]string{"#7 command merge github-actions"}},
		{"a person by the name of our app", github.Thread{Comments: []github.Comment{comment(1, github.Actor{Login: "github-actions", Type: "User"}, 0, "/backburner merge")}}, "github-actions[bot]",
			[]string{"#7 command merge github-actions"}},
		{"in the text of an issue", github.Thread{Written: github.Written{Author: ann, Body: "Tea.\n/backburner start", CreatedAt: at(0)}}, "",
			[]string{"#7 command start ann"}},
		{"text of an issue, edited", github.Thread{Written: github.Written{Author: ann, Body: "Tea.", CreatedAt: at(-9), Editor: bob, EditedAt: at(1)}}, "",
			[]string{"#7 edited bob"}},
		{"title of an issue", github.Thread{Written: github.Written{Author: ann, Body: "Tea.", CreatedAt: at(-9)}, Timeline: []github.Happening{entry("a", "RenamedTitleEvent", bob, 1, "")}}, "",
			[]string{"#7 edited bob"}},
		{"a label", github.Thread{Timeline: []github.Happening{entry("a", "LabeledEvent", ann, 0, start), entry("b", "LabeledEvent", ann, 0, "other")}}, "",
			[]string{"#7 command start ann"}},
		{"a label, before", github.Thread{Timeline: []github.Happening{entry("a", "LabeledEvent", ann, -1, start)}}, "", nil},
		{"taken off before it was read", github.Thread{Timeline: []github.Happening{entry("a", "LabeledEvent", ann, 0, hold), entry("b", "UnlabeledEvent", bob, 1, hold)}}, "",
			[]string{"#7 unlabeled hold bob"}},
		{"taken off and put on", github.Thread{Timeline: []github.Happening{
			entry("a", "LabeledEvent", ann, 0, start), entry("b", "UnlabeledEvent", ann, 1, start), entry("c", "LabeledEvent", bob, 2, start)}}, "",
			[]string{"#7 command start bob"}},
		{"a label by our app", github.Thread{Timeline: []github.Happening{entry("a", "UnlabeledEvent", bot, 0, start)}}, "github-actions[bot]", nil},
		{"closed and reopened", github.Thread{Timeline: []github.Happening{entry("a", "ClosedEvent", ann, 0, ""), entry("b", "ReopenedEvent", bob, 1, "")}}, "",
			[]string{"#7 closed ann", "#7 reopened bob"}},
		{"merged is not closed", github.Thread{State: github.StateMerged, Timeline: []github.Happening{entry("a", "MergedEvent", ann, 0, ""), entry("b", "ClosedEvent", ann, 0, "")}}, "",
			[]string{"#7 merged ann"}},
		{"assigned to us, and to others", github.Thread{Timeline: []github.Happening{
			{Node: "a", Type: "AssignedEvent", At: at(0), By: ann, Assignee: "crew"}, {Node: "b", Type: "AssignedEvent", At: at(0), By: ann, Assignee: "bob"}}}, "",
			[]string{"#7 assigned ann"}},
		{"in the order of time", github.Thread{
			Comments: []github.Comment{comment(1, ann, 3, "last")}, Timeline: []github.Happening{entry("a", "LabeledEvent", bob, 1, start)},
			Reviews: []github.Review{{ID: 1, Verdict: "APPROVED", Written: github.Written{Author: ann, CreatedAt: at(2)}}}}, "",
			[]string{"#7 command start bob", "#7 review ann", "#7 comment ann"}},
		{"a review not yet sent", github.Thread{Reviews: []github.Review{{ID: 1, Verdict: "PENDING", Written: github.Written{Author: ann, Body: "x", CreatedAt: at(2)}}}}, "", nil},
		{"our own review", github.Thread{Reviews: []github.Review{{ID: 1, Verdict: "COMMENTED", Written: github.Written{Author: crew, Body: "x" + mark, CreatedAt: at(2)}}}}, "", nil},
		{"a command on a line", github.Thread{Reviews: []github.Review{{ID: 1, Verdict: "COMMENTED", Written: github.Written{Author: ann, CreatedAt: at(2)},
			Comments: []github.ReviewComment{{ID: 5, Written: github.Written{Author: ann, Body: "/backburner retry", CreatedAt: at(2)}}}}}}, "",
			[]string{"#7 command retry ann"}},
		{"a remark on a line, changed by another", github.Thread{Reviews: []github.Review{{ID: 1, Verdict: "COMMENTED", Written: github.Written{Author: ann, CreatedAt: at(2)},
			Comments: []github.ReviewComment{{ID: 5, Written: github.Written{Author: ann, Body: "Delete it.", CreatedAt: at(2), Editor: bob, EditedAt: at(3)}}}}}}, "",
			[]string{"#7 review ann+bob"}},
		{"our own reply", github.Thread{Reviews: []github.Review{{ID: 1, Verdict: "COMMENTED", Written: github.Written{Author: crew, CreatedAt: at(2)},
			Comments: []github.ReviewComment{{ID: 5, Written: github.Written{Author: crew, Body: "Done." + mark, CreatedAt: at(2)}}}}}}, "", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.thread.Number = 7
			r := rules(at(0))
			if tc.viewer != "" {
				r.Viewer.Login = tc.viewer
			}
			same(t, happened([]github.Thread{tc.thread}, r), tc.want)
			seen := make(map[string]time.Time)
			for _, e := range github.Events(tc.thread, r) {
				if _, twice := seen[e.ID]; twice {
					t.Errorf("two events are %s", e.ID)
				}
				seen[e.ID] = e.At
			}
			if again := github.Unseen(github.Events(tc.thread, r), seen); len(again) > 0 {
				t.Errorf("read again, these are others: %+v", again)
			}
		})
	}
}

func TestOwnEventsAreMarked(t *testing.T) {
	thread := github.Thread{Timeline: []github.Happening{entry("a", "UnlabeledEvent", crew, 0, "backburner"), entry("b", "ClosedEvent", ann, 0, "")}}
	events := github.Events(thread, rules(at(0)))
	if len(events) != 2 || !events[0].Own || events[1].Own {
		t.Errorf("got %+v", events)
	}
}

func TestMark(t *testing.T) {
	quiet := github.Mark{Newest: at(0), Read: at(10)}
	for _, tc := range []struct {
		name   string
		mark   github.Mark
		newest time.Time
		want   bool
	}{
		{"nothing there", github.Mark{}, time.Time{}, false},
		{"never read", github.Mark{}, at(0), true},
		{"as it was", quiet, at(0), false},
		{"moved", quiet, at(11), true},
		{"moved back: the newest was deleted", quiet, at(-5), false},
		{"read while it moved", github.Mark{Newest: at(0), Read: at(1)}, at(0), true},
	} {
		if got := tc.mark.Due(tc.newest); got != tc.want {
			t.Errorf("%s: due is %v", tc.name, got)
		}
	}
	if got := quiet.Since(at(60)); !got.Equal(at(-2)) {
		t.Errorf("read from %v on", got)
	}
	if got := (github.Mark{}).Since(at(0)); !got.Equal(at(0).Add(-github.FirstLook)) {
		t.Errorf("at first from %v on", got)
	}
}
