package agent

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

// TestContract looks at a custom agent's run from the inside.
func TestContract(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "x")
	c := call(t, work.Verify)
	c.Session, c.Tools = "my session", tracker
	out := fake(t, Config{Args: []string{"--fast"}}, "look").Run(t.Context(), c)
	if out.Class != "" || out.Result.Status != work.ResultDone || out.Exit.Reason != proc.ReasonExited {
		t.Fatalf("class %q, %q, %+v", out.Class, out.Detail, out.Exit)
	}
	var seen struct {
		Prompt, Dir string
		Env, Args   []string
	}
	if err := json.Unmarshal([]byte(read(t, c.Workspace, "seen.json")), &seen); err != nil {
		t.Fatal(err)
	}
	if dir, _ := filepath.EvalSymlinks(c.Workspace); seen.Prompt != "Do it.\n" || seen.Dir != dir || !slices.Equal(seen.Args, []string{"--fast"}) {
		t.Errorf("%+v", seen)
	}
	for _, want := range []string{
		"BACKBURNER_TASK_ID=t1", "BACKBURNER_TASK_KIND=verify", "BACKBURNER_ROLE=qa", "BACKBURNER_WORKSTREAM=w1", "BACKBURNER_SESSION_ID=my session",
		"BACKBURNER_PROMPT_FILE=" + c.path("prompt.md"), "BACKBURNER_PACKET_FILE=" + c.path("packet.json"), "BACKBURNER_RESULT_FILE=" + c.path("result.json"),
		"BACKBURNER_MCP_CONFIG=" + c.path("mcp.json"), "BACKBURNER_EXECUTION=" + proc.Mark(c.Execution, c.Dir),
	} {
		if !slices.Contains(seen.Env, want) {
			t.Errorf("no %s", want)
		}
	}
	if slices.ContainsFunc(seen.Env, func(e string) bool { return strings.HasPrefix(e, "GITHUB_TOKEN") }) {
		t.Error("the token is handed on")
	}
}

func TestCustomAgents(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	write(t, secret, `{"status":"done","summary":"what is not its own"}`)
	for _, test := range []struct {
		name   string
		kind   work.TaskKind
		mode   []string
		class  work.Class
		detail string
		status string
	}{
		{"an answer", work.MakePlan, []string{"answer", `{"status":"done","summary":"s","session_id":"x1","usage":{"input_tokens":5,"output_tokens":2,"cost_usd":0.25},
			"plan":{"summary":"s","files":{"create":["a"]},"acceptance_criteria":["c"]}}`}, "", "", "done"},
		{"questions", work.MakePlan, []string{"answer", `{"status":"needs_input","questions":["which?"]}`}, "", "", "needs_input"},
		{"no answer of a builder", work.Implement, []string{"quiet"}, "", "", "done"},
		{"no answer of a planner", work.MakePlan, []string{"quiet"}, work.ClassOutputInvalid, "there is no result file", ""},
		{"an answer that is no JSON", work.Implement, []string{"answer", "done!"}, work.ClassOutputInvalid, "invalid character", ""},
		{"an empty answer", work.Implement, []string{"answer", " \n"}, work.ClassOutputInvalid, "empty", ""},
		{"a huge answer", work.Implement, []string{"answer", `{"status":"done","summary":"` + strings.Repeat("x", 100_000) + `"}`}, "", "", "done"},
		{"a link", work.Implement, []string{"link", secret}, work.ClassOutputInvalid, "cannot be read", ""},
		{"a device", work.Implement, []string{"link", "/dev/zero"}, work.ClassOutputInvalid, "cannot be read", ""},
		{"a failure", work.Implement, []string{"fail"}, work.ClassOrdinary, "exit code 3: no such luck", ""},
		{"a signal", work.Implement, []string{"die"}, work.ClassKilled, "SIGKILL", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := call(t, test.kind)
			a := fake(t, Config{}, test.mode...)
			out := a.Run(t.Context(), c)
			if out.Class != test.class || !strings.Contains(out.Detail, test.detail) || test.class == "" && out.Result.Status != test.status {
				t.Fatalf("class %q, %q, status %q", out.Class, out.Detail, out.Result.Status)
			}
			if again := a.Collect(c, out.Exit); again.Class != out.Class || again.Detail != out.Detail || again.Result.Summary != out.Result.Summary {
				t.Errorf("collected once more it is %q, %q", again.Class, again.Detail)
			}
			if test.name == "an answer" && (out.Session != "x1" || out.Usage.InputTokens != 5 || out.Usage.CostUSD == nil || *out.Usage.CostUSD != 0.25) {
				t.Errorf("session and usage: %+v", out)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	for _, test := range []struct {
		name  string
		conf  Config
		cut   time.Duration
		mode  string
		class work.Class
	}{
		{"timeout", Config{Timeout: 200 * time.Millisecond}, 0, "hang", work.ClassTimeout},
		{"deadline", Config{Timeout: time.Hour}, 200 * time.Millisecond, "hang", work.ClassInterrupted},
		{"idle", Config{Idle: 500 * time.Millisecond}, 0, "hang", work.ClassStalled},
		{"output", Config{MaxOutput: 1 << 20}, 0, "flood", work.ClassKilled},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := call(t, work.Implement)
			c.Timeout = test.cut
			out := fake(t, test.conf, test.mode).Run(t.Context(), c)
			if out.Class != test.class {
				t.Errorf("class %q, %s", out.Class, out.Detail)
			}
			if info, err := os.Stat(c.path(stdoutFile)); err != nil || info.Size() > 1<<20 {
				t.Errorf("output: %v %v", info, err)
			}
		})
	}
}

func TestCancelledRun(t *testing.T) {
	c := call(t, work.Implement)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for { // until it runs
			if out, _ := os.ReadFile(c.path(stdoutFile)); len(out) > 0 {
				cancel()
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	out := fake(t, Config{}, "hang").Run(ctx, c)
	if out.Class != work.ClassInterrupted || out.Exit.Reason != proc.ReasonCancelled {
		t.Errorf("class %q, %q, %+v", out.Class, out.Detail, out.Exit)
	}
	c = call(t, work.Implement)
	if out := fake(t, Config{}, "look").Run(ctx, c); out.Class != work.ClassInterrupted {
		t.Errorf("class %q, %q, %+v", out.Class, out.Detail, out.Exit)
	}
	if _, err := os.Stat(filepath.Join(c.Workspace, "seen.json")); err == nil {
		t.Error("it was started although the context had ended")
	}
}

func TestRunThatCannotStart(t *testing.T) {
	c := call(t, work.Implement)
	a, err := New(Config{Name: "a", Preset: "custom", Command: []string{"/does/not/exist"}}, self(t))
	if err != nil {
		t.Fatal(err)
	}
	out := a.Run(t.Context(), c)
	if out.Class != work.ClassOrdinary || !strings.Contains(out.Detail, "/does/not/exist") || out.Usage.CostUSD == nil {
		t.Errorf("class %q, %q, %+v", out.Class, out.Detail, out.Exit)
	}
	c.Dir = filepath.Join(c.Dir, "missing")
	if out := a.Run(t.Context(), c); out.Class != work.ClassOrdinary || out.Detail == "" {
		t.Errorf("without a folder: %+v", out)
	}
}

// TestPresetsRun plays a command line by printing what the real one said once.
func TestPresetsRun(t *testing.T) {
	sample := func(name string) string {
		path, err := filepath.Abs(filepath.Join("testdata/samples", name))
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	for preset, file := range map[string]string{
		"claude": "claude-stream-success.jsonl", "codex": "codex-jsonl-success.jsonl", "gemini": "gemini-stream-success.jsonl", "opencode": "opencode-jsonl-success.jsonl",
	} {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			c := call(t, work.Implement)
			c.Schema = json.RawMessage(`{}`)
			out := fake(t, Config{Preset: preset}, "print", sample(file)).Run(t.Context(), c)
			if out.Class != "" || out.Result.Summary != "Created hello.txt with one line." || out.Session == "" || out.Usage.OutputTokens != 57 {
				t.Fatalf("class %q, %q, %+v", out.Class, out.Detail, out.Exit)
			}
			var written work.Result
			if err := json.Unmarshal([]byte(read(t, c.path(resultFile))), &written); err != nil || written.Summary != out.Result.Summary {
				t.Errorf("result.json: %v %+v", err, written)
			}
		})
	}
	t.Run("hangs after its result", func(t *testing.T) {
		t.Parallel()
		out := fake(t, Config{Preset: "claude", Idle: 500 * time.Millisecond}, "print", sample("claude-stream-success.jsonl"), "and-hang").Run(t.Context(), call(t, work.Implement))
		if out.Class != "" || out.Exit.Reason != proc.ReasonIdle {
			t.Errorf("class %q, %q, %+v", out.Class, out.Detail, out.Exit)
		}
	})
}

func TestWrap(t *testing.T) {
	c := call(t, work.Verify)
	out := fake(t, Config{Wrap: []string{"env", "WRAPPED=yes"}}, "look").Run(t.Context(), c)
	if out.Class != "" || !strings.Contains(read(t, c.Workspace, "seen.json"), `"WRAPPED=yes"`) {
		t.Errorf("class %q, %q, %+v", out.Class, out.Detail, out.Exit)
	}
}

func TestProbe(t *testing.T) {
	a := fake(t, Config{Preset: "claude"}, "version")
	if version, err := a.Probe(t.Context()); err != nil || version != "fake 1.2.3 (test)" {
		t.Errorf("%q %v", version, err)
	}
	a = fake(t, Config{Preset: "claude"}, "fail")
	if _, err := a.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "exit code 3") {
		t.Errorf("%v", err)
	}
	a = fake(t, Config{Preset: "custom"}, "fail") // it has no way to say a version
	if version, err := a.Probe(t.Context()); err != nil || version != "" {
		t.Errorf("%q %v", version, err)
	}
	t.Setenv("PATH", "/nowhere:/else")
	a, err := New(Config{Name: "a", Preset: "codex"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "/nowhere:/else") || !strings.Contains(err.Error(), "[agent.a]") {
		t.Errorf("%v", err)
	}
}
