package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/backburner-cli/backburner/pkg/report"
	"github.com/backburner-cli/backburner/pkg/work"
)

func status(t *testing.T, v report.View, s report.Style) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, report.Status(&b, v, s))
	return b.Bytes()
}

func TestStatus(t *testing.T) {
	golden(t, "status.txt", status(t, view(), report.Style{}))
	golden(t, "status_80.txt", status(t, view(), report.Style{Width: 80}))
	golden(t, "status_color.txt", status(t, view(), report.Style{Width: 80, Color: true}))
}

func TestStatusFitsTheScreen(t *testing.T) {
	for _, width := range []int{80, 200} {
		for line := range strings.Lines(string(status(t, view(), report.Style{Width: width}))) {
			if w := runewidth.StringWidth(strings.TrimRight(line, "\n")); w > width {
				t.Errorf("at %d columns a line has %d: %s", width, w, line)
			}
		}
	}
}

func TestStatusShowsNoControlCharacters(t *testing.T) {
	v := view()
	for i := range v.Workstreams {
		v.Workstreams[i].Title = "a\x1b[2Jb\rc\u202ed\ne"
		v.Workstreams[i].Next = "x\x1b]0;title\x07y"
	}
	if got := string(status(t, v, report.Style{})); strings.ContainsAny(got, "\x1b\r\x07\u202e") {
		t.Errorf("status is %q", got)
	}
}

func TestStatusOfNothing(t *testing.T) {
	golden(t, "status_empty.txt", status(t, report.View{Now: now}, report.Style{}))
}

func TestStatusFooter(t *testing.T) {
	v := report.View{
		Now: now, Hold: &work.Hold{By: "ann", At: at(15, 0)}, Problems: []string{"workstreams/x.json cannot be read; it is in quarantine/"},
		LastTick: &report.LastTick{ID: "t", EndedAt: now.AddDate(0, 0, -3), Outcome: "done"},
	}
	golden(t, "status_stale.txt", status(t, v, report.Style{}))
	v.LastTick.Outcome, v.LastTick.Error = "error", "save workstream x: no space left on device"
	v.Lease = &report.Lease{Host: "box", PID: 42, TickID: "20260304T152900Z-77aa", AcquiredAt: at(15, 29)}
	golden(t, "status_running.txt", status(t, v, report.Style{}))
}

func TestStatusJSON(t *testing.T) {
	var b bytes.Buffer
	must(t, report.StatusJSON(&b, view()))
	golden(t, "status.json", b.Bytes())
	b.Reset()
	must(t, report.StatusJSON(&b, report.View{Now: now}))
	var empty map[string]any
	must(t, json.Unmarshal(b.Bytes(), &empty))
	if list, ok := empty["workstreams"].([]any); !ok || len(list) != 0 {
		t.Errorf("no workstreams are %v", empty["workstreams"])
	}
	for _, name := range []string{"last_tick", "lease"} {
		if v, there := empty[name]; !there || v != nil {
			t.Errorf("%s is %v, want null", name, v)
		}
	}
}

func detail() report.Detail {
	w := asking()
	return report.Detail{
		Item: report.ItemOf(w, "", `waits for your answer: backburner answer fix-login "..."`), Workstream: w,
		Workspace: "/srv/shop/.backburner/workspaces/fix-login", Executions: "/srv/shop/.backburner/state/executions",
		Review: "/srv/shop/.backburner/state/workstreams/fix-login/review", Now: now,
		Thread: "## 2026-03-04 13:10 UTC · awaiting input\n\nHow long are redirects kept?\n\n    backburner answer fix-login",
	}
}

func statusOf(t *testing.T, d report.Detail, s report.Style) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, report.StatusOf(&b, d, s))
	return b.Bytes()
}

func TestStatusOfOne(t *testing.T) {
	golden(t, "detail.txt", statusOf(t, detail(), report.Style{}))
	golden(t, "detail_60.txt", statusOf(t, detail(), report.Style{Width: 60}))
	young := &work.Workstream{ID: "audit", Kind: work.KindIssue, Repository: "shop", Title: "Log every login", Status: work.New,
		Spec: work.Spec{Source: "https://github.com/acme/shop/issues/7"}, Branch: "backburner/audit", ChangedAt: now, CreatedAt: now,
		Held: &work.Hold{By: "ann", At: at(15, 0)}}
	golden(t, "detail_young.txt", statusOf(t, report.Detail{Item: report.ItemOf(young, "", "held by ann"), Workstream: young, Now: now}, report.Style{}))
}

func TestOneQuestionNeedsNoID(t *testing.T) {
	w := &work.Workstream{ID: "x", Questions: []*work.Question{{ID: "q1", Text: "Which?"}}}
	if i := report.ItemOf(w, "", ""); len(i.Questions) != 1 || i.Questions[0].Answer != `backburner answer x "..."` {
		t.Errorf("questions %+v", i.Questions)
	}
}

func TestTick(t *testing.T) {
	for name, s := range map[string]report.Style{"tick.txt": {}, "tick_60.txt": {Width: 60}, "tick_color.txt": {Color: true}} {
		var b bytes.Buffer
		must(t, report.Tick(&b, tick(), s))
		golden(t, name, b.Bytes())
	}
}

func TestTickIsSilentWhenNothingHappened(t *testing.T) {
	quiet := work.Tick{ID: "t", Outcome: "idle", StartedAt: now, EndedAt: now}
	for name, alter := range map[string]func(*work.Tick){
		"":                 func(*work.Tick) {},
		"an error":         func(t *work.Tick) { t.Outcome, t.Error = "error", "disk full" },
		"a notice":         func(t *work.Tick) { t.Notices = []string{"spec x is empty"} },
		"a dead tick":      func(t *work.Tick) { t.TookOver = "pid 1 is gone" },
		"an interruption":  func(t *work.Tick) { t.Outcome = "interrupted" },
		"a change":         func(t *work.Tick) { t.Changes = []work.Change{{ID: "x"}} },
		"an agent's run":   func(t *work.Tick) { t.Agents = 1 },
		"the deadline hit": func(t *work.Tick) { t.Outcome = "deadline" },
	} {
		tick := quiet
		alter(&tick)
		var text, actions bytes.Buffer
		must(t, report.Tick(&text, tick, report.Style{}))
		must(t, report.Actions(&actions, tick, "token"))
		if (text.Len() == 0) != (name == "") || (actions.Len() == 0) != (name == "") {
			t.Errorf("%q: tick prints %q, actions %q", name, text.String(), actions.String())
		}
	}
}

// A blocked workstream that the next tick recovers by itself asks nobody.
func TestTickAsksOnlyWhereSomethingIsToBeTyped(t *testing.T) {
	var b bytes.Buffer
	must(t, report.Tick(&b, work.Tick{ID: "t", Outcome: "done", Changes: []work.Change{
		{ID: "x", From: work.Building, To: work.Blocked, Next: "one more try at the red fast gate"}}}, report.Style{}))
	if got := b.String(); strings.Contains(got, "you") || !strings.Contains(got, "next: one more try") {
		t.Errorf("tick is\n%s", got)
	}
}

func TestTickSaysHowItEnded(t *testing.T) {
	for outcome, want := range map[string]string{
		"done":        "Tick t done in 1m30s: 1 agent run, $0.50.\n",
		"interrupted": "Tick t was interrupted after 1m30s; what was done is saved: 1 agent run, $0.50.\n",
		"deadline":    "Tick t reached its deadline after 1m30s; the next one goes on: 1 agent run, $0.50.\n",
		"error":       "Tick t failed after 1m30s: 1 agent run, $0.50.\n",
	} {
		var b bytes.Buffer
		must(t, report.Tick(&b, work.Tick{ID: "t", Outcome: outcome, StartedAt: now, EndedAt: now.Add(90 * time.Second), Agents: 1, CostUSD: 0.5}, report.Style{}))
		if b.String() != want {
			t.Errorf("%s is %q, want %q", outcome, b.String(), want)
		}
	}
}

func TestTickJSON(t *testing.T) {
	var b bytes.Buffer
	must(t, report.TickJSON(&b, tick()))
	if strings.Count(b.String(), "\n") != 1 {
		t.Errorf("not one line: %s", b.String())
	}
	var back work.Tick
	must(t, json.Unmarshal(b.Bytes(), &back))
	if back.ID != tick().ID || len(back.Changes) != 4 {
		t.Errorf("read back %+v", back)
	}
	b.Reset()
	must(t, report.TickJSON(&b, work.Tick{ID: "t"}))
	if !strings.Contains(b.String(), `"workstreams":[]`) {
		t.Errorf("an idle tick is %s", b.String())
	}
}

func TestActions(t *testing.T) {
	var b bytes.Buffer
	must(t, report.Actions(&b, tick(), "4f2d"))
	golden(t, "actions.txt", b.Bytes())
}

// Outside of the group, where commands are stopped, every line is a command of
// ours: no text from outside begins one.
func TestActionsCannotBeForged(t *testing.T) {
	evil := "x\n::set-output name=a::b\r\n::error::no"
	bad := work.Tick{ID: evil, Outcome: "done", Error: evil, Notices: []string{evil}, TookOver: evil, Changes: []work.Change{
		{ID: "a,title=b:c%\n::debug::x", To: work.Failed, Detail: evil, Next: evil, Steps: []string{evil}}}}
	var b bytes.Buffer
	must(t, report.Actions(&b, bad, "4f2d"))
	stopped := false
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "::stop-commands::4f2d"):
			stopped = true
		case line == "::4f2d::":
			stopped = false
		case !stopped && !strings.HasPrefix(line, "::group::") && line != "::endgroup::" &&
			!strings.HasPrefix(line, "::error title=") && !strings.HasPrefix(line, "::warning title="):
			t.Errorf("a line of its own: %q", line)
		}
	}
	if stopped {
		t.Error("commands stay stopped")
	}
}

func TestMarkdown(t *testing.T) {
	v := view()
	v.Workstreams[0].Title = "Show | the <b>cart</b> @everyone"
	golden(t, "summary.md", []byte(report.Markdown(tick(), v)))
}

func TestAppendSummary(t *testing.T) {
	const most = 1 << 20
	file := filepath.Join(t.TempDir(), "summary")
	page := strings.Repeat("a line\n", 1000)
	for range 200 {
		must(t, report.AppendSummary(file, page))
	}
	content, err := os.ReadFile(file)
	must(t, err)
	if len(content) >= most || len(content) < most*9/10 {
		t.Errorf("the summary has %d bytes", len(content))
	}
	if text := string(content); !strings.HasPrefix(text, page) || strings.Count(text, "did not fit") != 1 || strings.Contains(text, "line\na\n") {
		t.Errorf("the end is %q", text[len(text)-100:])
	}
	if err := report.AppendSummary(t.TempDir(), page); err == nil {
		t.Error("a folder took a summary")
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{"r.json": `{"id":"2026`, "r.md": "## backburner", "r.txt": "The tick before did not end", "report": "The tick before did not end"} {
		path := filepath.Join(dir, name)
		must(t, report.WriteFile(path, tick(), view()))
		if content, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(content), want) {
			t.Errorf("%s is %q, %v", name, content, err)
		}
	}
	path := filepath.Join(dir, "idle")
	must(t, report.WriteFile(path, work.Tick{ID: "t", Outcome: "idle", StartedAt: now, EndedAt: now.Add(12 * time.Millisecond)}, report.View{}))
	if content, _ := os.ReadFile(path); string(content) != "Tick t done in 12ms.\n" {
		t.Errorf("an idle tick is %q", content)
	}
	if err := report.WriteFile(filepath.Join(dir, "no", "folder"), tick(), view()); err == nil {
		t.Error("wrote into a folder that is not there")
	}
}

// What passes by itself makes no noise in a mail of cron's; whoever looks on, or
// is told something anyway, is told that as well.
func TestPassing(t *testing.T) {
	idle := work.Tick{ID: "t", Outcome: "idle", Passing: []string{"acme-shop: GitHub answered 502"}}
	busy := idle
	busy.Notices = []string{"spec x is empty"}
	for _, tc := range []struct {
		name string
		tick work.Tick
		s    report.Style
		says bool
	}{{"cron", idle, report.Style{}, false}, {"a terminal", idle, report.Style{Width: 80}, true}, {"other news", busy, report.Style{}, true}} {
		var b strings.Builder
		if err := report.Tick(&b, tc.tick, tc.s); err != nil || strings.Contains(b.String(), "502") != tc.says {
			t.Errorf("%s: %q, %v", tc.name, b.String(), err)
		}
	}
	if !report.Quiet(idle) {
		t.Error("it is not quiet")
	}
}
