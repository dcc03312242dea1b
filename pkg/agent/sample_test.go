package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

// sampled is when the samples' runs are said to have ended.
var sampled = time.Date(2026, 11, 30, 11, 6, 0, 0, time.UTC)

// samples are recorded outputs of the real command lines (see testdata/samples/README.md), and what they mean for a builder.
var samples = []struct {
	file   string
	code   int
	class  work.Class
	detail string // its beginning
	want   string // "session summary input/output cost", where there is any
}{
	{"claude-json-success.json", 0, "", "", "8a4a273d Created hello.txt with one line. 4000/57 $0.01144"},
	{"claude-json-success-2.1.197.json", 0, "", "", "6f0d79dc Created hello.txt with one line. 4000/57 $0.01467"},
	{"claude-stream-success.jsonl", 0, "", "", "e02b7f56 Created hello.txt with one line. 4000/57 $0.01144"},
	{"claude-stream-success-2.1.197.jsonl", 0, "", "", "b08f4ce8 Created hello.txt with one line. 4000/57 $0.01467"},
	{"claude-stream-partial.jsonl", 0, "", "", "cce7ec6e Created hello.txt with one line. 4000/57 $0.01144"},
	{"claude-stream-mcp-ok-stdio.jsonl", 0, "", "", "a90c1dd7 mcp tool done 200/40 $0.00160"},
	{"claude-stream-mcp-ok-http.jsonl", 0, "", "", "a2b4797a mcp tool done 200/40 $0.00160"},
	{"claude-stream-mcp-bad-cmd.jsonl", 0, "", "", "d96db077 mcp tool done 200/40 $0.00160"},
	{"claude-json-mcp-bad-cmd.json", 0, "", "", "4472165f mcp tool done 200/40 $0.00160"},
	{"claude-json-denied.json", 0, work.ClassPermissionDenied, `refused: Write {"file_path":"/home/me/work/hello.txt"`, "bab04121 Created hello.txt with one line. 4000/57 $0.01144"},
	{"claude-json-schema.json", 0, work.ClassOutputInvalid, "status: missing", "e19a2ce6  100/20 $0.00080"},
	{"claude-json-maxturns.json", 1, work.ClassOrdinary, "Reached maximum number of turns (3)", "60b4aa74  150000/6000 $0.72000 turns"},
	{"claude-json-budget.json", 1, work.ClassOrdinary, "Reached maximum budget ($0.5)", "17baf841  150000/6000 $0.72000 budget"},
	{"claude-json-error-401.json", 1, work.ClassAuth, "Invalid API key", "0d13561d  0/0 $0.00000"},
	{"claude-json-error-404.json", 1, work.ClassOrdinary, "There's an issue with the selected model", "c4b92352  0/0 $0.00000"},
	{"claude-json-error-429.json", 1, work.ClassQuota, "API Error: Request rejected (429)", "ca03e2f9  0/0 $0.00000"},
	{"claude-json-error-500.json", 1, work.ClassTransient, "API Error: 500", "1510d324  0/0 $0.00000"},
	{"claude-json-error-500-2.1.197.json", 1, work.ClassTransient, "API Error: 500", "86fa008c  0/0 $0.00000"},
	{"claude-json-error-529.json", 1, work.ClassTransient, "API Error: 529", "c97c4905  0/0 $0.00000"},
	{"claude-stream-error-500.jsonl", 1, work.ClassTransient, "API Error: 500", "c9e461e4  0/0 $0.00000"},
	{"claude-stream-error-529.jsonl", 1, work.ClassTransient, "API Error: 529", "6e3d9329  0/0 $0.00000"},
	{"claude-stream-usage-limit.jsonl", 1, work.ClassQuota, "You've hit your 5-hour limit", "4acdb429  0/0 $0.00000 reset 2026-11-30T13:05:56Z"},
	{"claude-json-noauth.json", 1, work.ClassAuth, "Not logged in", "82469609  0/0 $0.00000"},
	{"claude-json-mcp-invalid-config.json", 1, work.ClassOrdinary, "exit code 1: MCP config is not a valid JSON", "  0/0"},

	{"codex-jsonl-success.jsonl", 0, "", "", "01a22b94 Created hello.txt with one line. 2500/57"},
	{"codex-jsonl-readonly-denied.jsonl", 0, "", "", "01a22b94 Created hello.txt with one line. 2500/57"}, // only git can tell
	{"codex-jsonl-shell-fail.jsonl", 0, "", "", "01a22b94 It failed. 200/40"},
	{"codex-jsonl-mcp-ok.jsonl", 0, "", "", "01a22b95 mcp tool done 200/40"},
	{"codex-jsonl-mcp-bad-cmd.jsonl", 0, "", "", "01a22b95 mcp tool done 200/40"},
	{"codex-jsonl-mcp-bad-http.jsonl", 0, "", "", "01a22b95 mcp tool done 200/40"},
	{"codex-jsonl-mcp-needs-approval.jsonl", 0, work.ClassPermissionDenied, `refused: stub.echo {"text":"hi"}`, "01a22b95 mcp tool done 200/40"},
	{"codex-jsonl-mcp-bad-cmd-required.jsonl", 1, work.ClassOrdinary, "exit code 1: Error: thread/start", "  0/0"},
	{"codex-jsonl-error-401.jsonl", 1, work.ClassAuth, "unexpected status 401", "01a22b94  0/0"},
	{"codex-jsonl-error-404.jsonl", 1, work.ClassOrdinary, "unexpected status 404", "01a22b94  0/0"},
	{"codex-jsonl-error-429.jsonl", 1, work.ClassQuota, "exceeded retry limit, last status: 429", "01a22b94  0/0"},
	{"codex-jsonl-error-500.jsonl", 1, work.ClassTransient, "We’re currently experiencing high demand", "01a22b94  0/0"},
	{"codex-jsonl-error-529.jsonl", 1, work.ClassTransient, "unexpected status 529", "01a22b94  0/0"},
	{"codex-jsonl-usage-limit.jsonl", 1, work.ClassQuota, "You’ve hit your usage limit", "01a22c29  0/0 reset 2026-12-05T02:12:00Z"},
	{"codex-jsonl-stream-drop.jsonl", 1, work.ClassTransient, "stream disconnected", "01a22b95  0/0"},
	{"codex-jsonl-noauth.jsonl", 1, work.ClassAuth, "Missing environment variable", "01a22b95  0/0"},

	{"gemini-stream-success.jsonl", 0, "", "", "5bce1acd Created hello.txt with one line. 2500/57"},
	{"gemini-stream-toolerror.jsonl", 0, "", "", "e6e6051b Created hello.txt with one line. 2500/57"},
	{"gemini-stream-maxturns.jsonl", 53, work.ClassOrdinary, "Reached max session turns", "e6c8621a  100000/4000 turns"},
	{"gemini-stream-error-401.jsonl", 145, work.ClassAuth, "[API Error:", "ec66a0da  0/0"},
	{"gemini-json-error-401.stderr", 145, work.ClassAuth, `{"error":{"code":401`, "f19e6a79  0/0"},
	{"gemini-json-noauth.stderr", 41, work.ClassAuth, "When using Gemini API, you must specify the GEMINI_API_KEY", "e70b305b  0/0"},
	{"gemini-notrust.stderr", 55, work.ClassOrdinary, "exit code 55: Gemini CLI is not running in a trusted directory", "  0/0"},

	{"opencode-jsonl-success.jsonl", 0, "", "", "ses_dd48 Created hello.txt with one line. 2500/57 $0.00111"},
	{"opencode-jsonl-denied.jsonl", 0, work.ClassPermissionDenied, `refused: write {"filePath":"/home/me/ext.txt"`, "ses_dd3d  100/20 $0.00014"},
	{"copilot-jsonl-success.jsonl", 0, "", "", "ac39ccc9 Created hello.txt with one line. 0/0"},
	{"copilot-jsonl-denied.jsonl", 0, work.ClassPermissionDenied, `refused: create {"path":"/home/me/work/hello.txt"`, "d898a935 done 0/0"},
	{"copilot-jsonl-error-401.jsonl", 1, work.ClassAuth, "Authentication failed with provider", "9b5f40b3  0/0"},
	{"copilot-jsonl-error-500.jsonl", 1, work.ClassTransient, "Failed to get response from the AI model", "35bdd635  0/0"},
	{"copilot-noauth.stderr", 1, work.ClassAuth, "No authentication information found", "  0/0"},

	{"qwen-stream-success.jsonl", 0, "", "", "afb0ab9c Created hello.txt with one line. 2500/57"},
	{"qwen-stream-schema.jsonl", 0, work.ClassOutputInvalid, "status: missing", "d0216e04  100/20"},
	{"qwen-json-error-401.json", 0, work.ClassAuth, "[API Error: 401 invalid x-api-key]", "3ebc28ee  0/0"},

	{"opencode-jsonl-error-401.jsonl", 1, work.ClassAuth, "invalid x-api-key", "ses_dd48  0/0"},
}

func TestSamples(t *testing.T) {
	seen := map[string]bool{"README.md": true}
	for _, s := range samples {
		seen[s.file], seen[s.file+".stderr"] = true, true
		t.Run(s.file, func(t *testing.T) {
			out := collect(t, s.file, Call{Task: work.Implement}, proc.Exit{Code: s.code, Reason: proc.ReasonExited, EndedAt: sampled})
			if out.Class != s.class || !strings.HasPrefix(out.Detail, s.detail) || s.detail == "" && out.Detail != "" {
				t.Errorf("class %q, %q; want %q, %q", out.Class, out.Detail, s.class, s.detail)
			}
			if got := summary(out); got != s.want {
				t.Errorf("got  %q\nwant %q", got, s.want)
			}
		})
	}
	files, err := os.ReadDir("testdata/samples")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !seen[f.Name()] {
			t.Errorf("%s is not tested", f.Name())
		}
	}
}

// collect is the outcome of a run that left a sample behind, of the preset that its name begins with.
func collect(t *testing.T, sample string, c Call, exit proc.Exit) Outcome {
	t.Helper()
	c.Dir = t.TempDir()
	path := filepath.Join("testdata/samples", sample)
	if strings.HasSuffix(sample, ".stderr") {
		write(t, c.path(stderrFile), read(t, path))
	} else {
		write(t, c.path(stdoutFile), read(t, path))
		if said, err := os.ReadFile(path + ".stderr"); err == nil {
			write(t, c.path(stderrFile), string(said))
		}
	}
	preset, _, _ := strings.Cut(sample, "-")
	a, err := New(Config{Name: preset, Preset: preset, Timeout: time.Hour, Idle: time.Minute}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a.Collect(c, exit)
}

func summary(o Outcome) string {
	s := fmt.Sprintf("%.8s %s %d/%d", o.Session, o.Result.Summary, o.Usage.InputTokens, o.Usage.OutputTokens)
	if o.Usage.CostUSD != nil {
		s += fmt.Sprintf(" $%.5f", *o.Usage.CostUSD)
	}
	if o.Capped != "" {
		s += " " + o.Capped
	}
	if !o.ResetAt.IsZero() {
		s += " reset " + o.ResetAt.Format(time.RFC3339)
	}
	return s
}
