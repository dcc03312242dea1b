package agent

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

func TestFindAnswer(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"alone", ` {"status":"done"} `, `{"status":"done"}`},
		{"fenced", "Here:\n```json\n{\"status\": \"done\"}\n```\nBye.", `{"status": "done"}`},
		{"after words with braces", "I changed func f() { return }, and {x}.\n{\"status\":\"done\"}", `{"status":"done"}`},
		{"the last of two", `{"status":"blocked"} no, rather {"status":"done"}`, `{"status":"done"}`},
		{"not one within another", `{"status":"done","plan":{"status":"x"}}`, `{"status":"done","plan":{"status":"x"}}`},
		{"not one without a status", `{"status":"done"} {"summary":"x"}`, `{"status":"done"}`},
		{"not one whose status is no string", `{"status":3}`, ``},
		{"words", `All is done.`, ``},
		{"cut", `{"status":"done","summary":"`, ``},
		{"an array", `[1, 2]`, ``},
		{"of an outer object that is cut", `{"a": {"status":"done"}`, `{"status":"done"}`},
		{"too deep", strings.Repeat(`{"a":`, 100_000), ``},
		{"many openings", strings.Repeat(`{`, 1_000_000) + `{"status":"done"}`, ``},
		{"far back", strings.Repeat(`x`, 1_000_000) + `{"status":"done"}`, `{"status":"done"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := string(findAnswer(test.text)); got != test.want {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	plan := `"plan":{"summary":"s","files":{"modify":["a.go"]},"acceptance_criteria":["c"]}`
	for _, test := range []struct {
		name    string
		kind    work.TaskKind
		final   string // of codex
		problem string // a part of it; "" means accepted
		summary string
	}{
		{"a plan", work.MakePlan, `{"status":"done","summary":"x",` + plan + `}`, "", "x"},
		{"a plan with nulls", work.MakePlan, `{"status":"done","summary":"x","questions":null,"memory":null,` + plan + `}`, "", "x"},
		{"questions instead of a plan", work.MakePlan, `{"status":"needs_input","summary":"x","questions":["which?"],"plan":null}`, "", "x"},
		{"no plan", work.MakePlan, `{"status":"done","summary":"x"}`, "plan: missing", "x"},
		{"a plan of nothing", work.MakePlan, `{"status":"done","plan":{"summary":"s","files":{},"acceptance_criteria":["c"]}}`, "files: name at least one", ""},
		{"a path outside", work.MakePlan, `{"status":"done","plan":{"summary":"s","files":{"create":["../x"]},"acceptance_criteria":["c"]}}`, "leaves the repository", ""},
		{"a plan that is a word", work.MakePlan, `{"status":"done","plan":"later"}`, "plan is of type string", ""},
		{"words instead of a plan", work.MakePlan, `I would change a.go.`, "no JSON object", ""},
		{"an unknown status", work.Implement, `{"status":"finished","summary":"x"}`, "one of done, needs_input", "x"},
		{"work, in words", work.Implement, `I changed a.go.`, "", "I changed a.go."},
		{"work, in no words", work.Implement, ``, "no JSON object", ""},
		{"work, with a line in words before", work.Implement, "Here is it:\n{\"status\":\"no_change\",\"summary\":\"x\"}", "", "x"},
		{"a proposal", work.AnalyzeIssue, `{"status":"done","summary":"**Problem**"}`, "", "**Problem**"},
		{"a proposal of nothing", work.AnalyzeIssue, `{"status":"done","summary":" "}`, "summary: missing", ""},
		{"an answer of nothing", work.Respond, `{"status":"done"}`, "summary: missing", ""},
		{"a review", work.ReviewPR, `{"status":"done","review":{"verdict":" approve ","body":"b","comments":null}}`, "", ""},
		{"a review without a verdict", work.ReviewPR, `{"status":"done","review":{"body":"b"}}`, "verdict", ""},
		{"an assessment", work.Assess, `{"status":"done","assessment":{"continue":false,"reason":"r"}}`, "", ""},
		{"no assessment", work.Assess, `{"status":"done"}`, "assessment: missing", ""},
		{"an order", "prioritize", `{"status":"done","order":["a","b"]}`, "", ""},
		{"hidden characters", work.Implement, "{\"status\":\"done\",\"summary\":\"a\\u202eb\\u0000c\\nd\"}", "", "abc\nd"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := &Agent{preset: codex}
			result, problem := a.answer(Call{Task: test.kind}, report{ended: true, final: test.final})
			if (problem == "") != (test.problem == "") || !strings.Contains(problem, test.problem) {
				t.Errorf("problem %q, want %q", problem, test.problem)
			}
			if result.Summary != test.summary {
				t.Errorf("summary %q, want %q", result.Summary, test.summary)
			}
		})
	}
}

func TestAnswersAreCut(t *testing.T) {
	long := strings.Repeat("ä", 1_000_000)
	r := work.Result{Summary: long, CommitMessage: long, Memory: long, Questions: make([]string, 1000),
		Review: &work.Review{Body: long, Comments: make([]work.ReviewComment, 1000)}}
	r.Questions[0] = long
	clean(&r)
	if len(r.Summary) > maxSummary+4 || len(r.CommitMessage) > maxMessage+4 || len(r.Memory) > maxMemory+4 || len(r.Questions) > maxAsked ||
		len(r.Questions[0]) > maxMessage+4 || len(r.Review.Body) > maxBody+4 || len(r.Review.Comments) > maxComments {
		t.Error("something is too long still")
	}
}

func TestModelsCannotStateTheirCost(t *testing.T) {
	c := Call{Dir: t.TempDir(), Task: work.Implement}
	write(t, c.path(stdoutFile), codexStarted+`{"type":"item.completed","item":{"type":"agent_message","text":"{\"status\":\"done\",\"session_id\":\"evil\",\"usage\":{\"cost_usd\":-5}}"}}
{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":1}}
`)
	a, err := New(Config{Name: "a", Preset: "codex"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := a.Collect(c, proc.Exit{Reason: proc.ReasonExited})
	if out.Class != "" || out.Session != "s1" || out.Usage.CostUSD != nil || out.Result.SessionID != "" || out.Result.Usage != (work.Usage{}) {
		t.Errorf("%+v", out)
	}
}

func TestEachLine(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	var got []int
	err := eachLine(strings.NewReader("a\r\n\n  \n"+long+"\nbb\n"+long[:99_999]+"\n"+long+"\nccc"), 100_000, func(line []byte) { got = append(got, len(line)) })
	if err != nil || len(got) != 4 || got[0] != 1 || got[1] != 2 || got[2] != 99_999 || got[3] != 3 {
		t.Errorf("%v %v", got, err)
	}
	got = nil
	_ = eachLine(strings.NewReader(long), 100_000, func(line []byte) { got = append(got, len(line)) })
	if got != nil {
		t.Errorf("a long last line: %v", got)
	}
}

func TestReadersSurviveNoise(t *testing.T) {
	noise := bytes.Join([][]byte{
		[]byte("npm warn something"), {0xff, 0xfe, 0x00}, []byte(`{"type":`), []byte(`{"type":"result","result":{"not":"text"},"is_error":"no"}`),
		[]byte(strings.Repeat(`[`, 1_000_000)), []byte(strings.Repeat(`{"a":`, 20_000)), []byte("null"), []byte(`"x"`), []byte("[]"), []byte(`[1,{"type":3}]`),
	}, []byte("\n"))
	for name, p := range presets {
		r := p.read(bytes.NewReader(noise), noise, proc.Exit{EndedAt: sampled})
		if r.failed != nil {
			t.Errorf("%s: %+v", name, r.failed)
		}
	}
	// What is readable between counts, invalid UTF-8 is repaired, and big integers do no harm.
	r := claude.read(strings.NewReader("x\n"+string(noise)+"\n"+strings.Replace(claudeDone, "All done.", "All \xffdone.", 1)), nil, proc.Exit{})
	if !r.ended || r.final != "All \uFFFDdone." {
		t.Errorf("%+v", r)
	}
}

func TestResetTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones here:", err)
	}
	now := time.Date(2026, 11, 30, 11, 6, 0, 0, time.UTC) // 12:06 in Berlin
	for _, test := range []struct{ message, want string }{
		{"Claude AI usage limit reached|1796043956", "2026-11-30T13:05:56Z"},
		{"You've hit your 5-hour limit · resets 1:05pm (UTC)", "2026-11-30T13:05:00Z"},
		{"You've hit your limit · resets 3pm (Europe/Berlin)", "2026-11-30T14:00:00Z"},
		{"resets 3pm", "2026-11-30T14:00:00Z"}, // in the zone of the machine, here Berlin
		{"Weekly limit reached · resets Dec 4, 5pm (America/New_York)", "2026-12-04T22:00:00Z"},
		{"resets 9am (Europe/Berlin)", "2026-12-01T08:00:00Z"}, // tomorrow
		{"resets 12am (UTC)", "2026-12-01T00:00:00Z"},
		{"resets 12pm (UTC)", "2026-11-30T12:00:00Z"},
		{"resets Jan 2, 5:30pm (UTC)", "2027-01-02T17:30:00Z"}, // next year
		{"or try again at 1:36 PM.", "2026-11-30T12:36:00Z"},
		{"or try again at Dec 5th, 2026 2:12 AM.", "2026-12-05T01:12:00Z"},
		{"Please try again in 1 hour 10 minutes.", "2026-11-30T12:16:00Z"},
		{"try again in 3 days, 4 hours and 5 minutes", "2026-12-03T15:11:00Z"},
		{"Your quota will reset after 3h22m10s.", "2026-11-30T14:28:10Z"},
		{"Please retry in 34.5s.", "2026-11-30T11:06:34.5Z"},
		{"resets 3pm (Atlantis/Capital)", "2026-11-30T14:00:00Z"},
		{"Rate limited", ""},
		{"resets 13pm", ""},
		{"resets 1:75pm", ""},
		{"resets Foo 3, 5pm", ""},
		{"try again at Dec 5th, 2025 2:12 AM", ""}, // the past
		{"try again in 999999999 days", ""},
		{"usage limit reached|0000000001", ""},
		{"usage limit reached|9999999999", ""},
		{"", ""},
	} {
		got := ""
		if at := resetTime(test.message, now, berlin); !at.IsZero() {
			got = at.Format(time.RFC3339Nano)
		}
		if got != test.want {
			t.Errorf("%q: %s, want %s", test.message, got, test.want)
		}
	}
}
