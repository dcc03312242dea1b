package agent

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

// fuzzReader feeds a preset with mutations of what its command line really said. Whatever comes, the outcome must be one that can
// be worked with.
func fuzzReader(f *testing.F, preset string) {
	files, err := filepath.Glob("testdata/samples/" + preset + "-*")
	if err != nil || len(files) == 0 {
		f.Fatal("no samples", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, strings.HasSuffix(file, ".stderr"), 1)
	}
	a, err := New(Config{Name: "a", Preset: preset, Price: &Price{Input: 1, Output: 1}}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte, isStderr bool, code int) {
		stdout, stderr := text, []byte(nil)
		if isStderr {
			stdout, stderr = nil, text
		}
		exit := proc.Exit{Code: code, Reason: proc.ReasonExited, EndedAt: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)}
		r := a.preset.read(bytes.NewReader(stdout), stderr, exit)
		c := Call{Dir: t.TempDir(), Task: work.Implement}
		result, problem := a.answer(c, r)
		class, detail, reset := judgement{agent: a, call: c, report: r, exit: exit, problem: problem}.judge()
		if u := r.tokens.usage(a.config.Price); u.InputTokens < 0 || u.OutputTokens < 0 || u.CostUSD == nil || *u.CostUSD < 0 {
			t.Errorf("usage %+v", u)
		}
		if !reset.IsZero() && class != work.ClassQuota {
			t.Errorf("%s has a reset", class)
		}
		if class == "" && (result.Status == "" || r.failed != nil || code != 0) {
			t.Errorf("fine without an answer: %+v", result)
		}
		if class == "" && detail != "" || !utf8.ValidString(result.Summary) {
			t.Errorf("%q %q", detail, result.Summary)
		}
	})
}

func FuzzClaude(f *testing.F)   { fuzzReader(f, "claude") }
func FuzzCodex(f *testing.F)    { fuzzReader(f, "codex") }
func FuzzGemini(f *testing.F)   { fuzzReader(f, "gemini") }
func FuzzOpencode(f *testing.F) { fuzzReader(f, "opencode") }
func FuzzCopilot(f *testing.F)  { fuzzReader(f, "copilot") }
func FuzzQwen(f *testing.F)     { fuzzReader(f, "qwen") }

func FuzzFindAnswer(f *testing.F) {
	f.Add("x {\"status\":\"done\"} y")
	f.Add("```json\n{\"status\": \"done\", \"plan\": {}}\n```")
	f.Fuzz(func(t *testing.T, text string) {
		raw := findAnswer(text)
		if raw == nil {
			return
		}
		var r struct {
			Status string `json:"status"`
		}
		if !strings.Contains(text, string(raw)) || json.Unmarshal(raw, &r) != nil {
			t.Errorf("%q", raw)
		}
	})
}

func FuzzResetTime(f *testing.F) {
	f.Add("resets 3pm (Europe/Berlin)")
	f.Add("try again in 1 hour 10 minutes")
	f.Add("try again at Dec 5th, 2026 2:12 AM")
	f.Fuzz(func(t *testing.T, message string) {
		at := resetTime(message, sampled, time.UTC)
		if !at.IsZero() && (!at.After(sampled) || at.Sub(sampled) > longestReset) {
			t.Errorf("%q: %v", message, at)
		}
	})
}
