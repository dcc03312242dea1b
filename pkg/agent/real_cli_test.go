package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

func TestRealClaude(t *testing.T) {
	r := setup(t, "claude", "BACKBURNER_TEST_CLAUDE")
	r.common(t)
	r.errors(t, "err404", "err429", "err500", "err529", "drop")
	t.Run("refused", func(t *testing.T) {
		c, _ := checkout(t, work.Implement)
		out := r.agent(t, r.answering(t, `{"write":{"path":"/var/outside.txt","content":"x"}},`, realAnswer), Config{}).Run(t.Context(), c)
		show(t, out)
		if out.Class != work.ClassPermissionDenied || len(out.Denials) != 1 || !strings.HasPrefix(out.Denials[0], "Write ") {
			t.Error("not refused")
		}
	})
	t.Run("usage limit", func(t *testing.T) {
		reset := time.Now().Add(2 * time.Hour).Truncate(time.Second)
		scenario, _ := json.Marshal(map[string]any{"steps": []any{map[string]any{"status": 429, "type": "rate_limit_error", "message": "limit", "repeat": "forever", "headers": map[string]any{
			"anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": reset.Unix(), "anthropic-ratelimit-unified-representative-claim": "five_hour"}}}})
		c, _ := checkout(t, work.Implement)
		out := r.agent(t, string(scenario), Config{Env: []string{"CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-x"}}).Run(t.Context(), c)
		show(t, out)
		if out.Class != work.ClassQuota || !out.ResetAt.Equal(reset) {
			t.Errorf("want a reset at %v", reset)
		}
	})
	t.Run("caps", func(t *testing.T) {
		c, _ := checkout(t, work.Implement)
		out := r.agent(t, "loop", Config{MaxTurns: 2}).Run(t.Context(), c)
		show(t, out)
		if out.Class != work.ClassOrdinary || out.Capped != "turns" {
			t.Error("turns are not capped")
		}
		c, _ = checkout(t, work.Implement)
		c.BudgetUSD = 0.3
		out = r.agent(t, "loop", Config{}).Run(t.Context(), c)
		show(t, out)
		if out.Capped != "budget" || out.Usage.CostUSD == nil || *out.Usage.CostUSD < 0.3 {
			t.Error("the budget is not capped")
		}
	})
	t.Run("tools", func(t *testing.T) { r.tools(t, "mcp-tool") })
}

func TestRealCodex(t *testing.T) {
	r := setup(t, "codex", "BACKBURNER_TEST_CODEX")
	r.common(t)
	r.errors(t, "err404", "err429", "err500", "err529", "drop")
	t.Run("usage limit", func(t *testing.T) {
		c, _ := checkout(t, work.Implement)
		reset := time.Now().Add(100 * time.Hour).Truncate(time.Minute)
		scenario, _ := json.Marshal(map[string]any{"steps": []any{map[string]any{"status": 429, "repeat": "forever", "body": map[string]any{
			"error": map[string]any{"type": "usage_limit_reached", "message": "limit", "plan_type": "plus", "resets_at": reset.Unix()}}}}})
		out := r.agent(t, string(scenario), Config{Env: []string{"TZ=UTC"}}).Run(t.Context(), c)
		show(t, out)
		if out.Class != work.ClassQuota || !out.ResetAt.Equal(reset) {
			t.Errorf("want a reset at %v", reset)
		}
	})
	t.Run("merge", func(t *testing.T) { // the sandbox lets a reconciler, and nobody else, write .git
		for kind, want := range map[work.TaskKind]bool{work.Reconcile: true, work.Implement: false} {
			c, _ := checkout(t, kind)
			out := r.agent(t, r.answering(t, `{"shell":"echo x > a.txt; git add a.txt"},`, realAnswer), Config{}).Run(t.Context(), c)
			_, err := os.Stat(filepath.Join(c.Workspace, ".git", "index"))
			if out.Class != "" || (err == nil) != want {
				show(t, out)
				t.Errorf("%s: staged: %v", kind, err == nil)
			}
		}
	})
	t.Run("tools", func(t *testing.T) { r.tools(t, "mcp-tool-codex") })
}

func TestRealGemini(t *testing.T) {
	r := setup(t, "gemini", "BACKBURNER_TEST_GEMINI")
	r.common(t)
	r.errors(t, "err404") // others are tried again for more than a minute
	t.Run("caps", func(t *testing.T) {
		c, _ := checkout(t, work.Implement)
		// It takes system settings only from folders that nobody else can write to, as those of a state folder are.
		dir, err := os.MkdirTemp(r.home, "run-")
		if err != nil {
			t.Fatal(err)
		}
		c.Dir = dir
		write(t, c.path(promptFile), "Loop.")
		out := r.agent(t, "loop", Config{MaxTurns: 2}).Run(t.Context(), c)
		show(t, out)
		if out.Capped != "turns" {
			t.Error("turns are not capped")
		}
	})
}

func TestRealOpencode(t *testing.T) {
	r := setup(t, "opencode", "BACKBURNER_TEST_OPENCODE")
	r.common(t)
}

func TestRealCopilot(t *testing.T) {
	r := setup(t, "copilot", "BACKBURNER_TEST_COPILOT")
	r.common(t)
	r.errors(t, "err429", "err500")
}

func TestRealQwen(t *testing.T) {
	r := setup(t, "qwen", "BACKBURNER_TEST_QWEN")
	r.common(t)
	t.Run("caps", func(t *testing.T) {
		c, _ := checkout(t, work.Implement)
		out := r.agent(t, "loop", Config{MaxTurns: 2}).Run(t.Context(), c)
		show(t, out)
		if out.Capped != "turns" {
			t.Error("turns are not capped")
		}
	})
}

// errors runs scenarios in which the API fails.
func (r real) errors(t *testing.T, scenarios ...string) {
	classes := map[string]work.Class{
		"err401": work.ClassAuth, "err404": work.ClassOrdinary, "err429": work.ClassQuota, "err500": work.ClassTransient, "err529": work.ClassTransient, "drop": work.ClassTransient,
	}
	for _, scenario := range scenarios {
		t.Run(scenario, func(t *testing.T) {
			c, _ := checkout(t, work.Implement)
			out := r.agent(t, scenario, Config{}).Run(t.Context(), c)
			show(t, out)
			if out.Class != classes[scenario] {
				t.Errorf("want %s", classes[scenario])
			}
		})
	}
}

// common is what every command line has to do.
func (r real) common(t *testing.T) {
	t.Run("version", func(t *testing.T) {
		version, err := r.agent(t, "text", Config{}).Probe(t.Context())
		t.Logf("%s %v", version, err)
		if err != nil || version == "" {
			t.Error("no version")
		}
	})
	t.Run("writes", func(t *testing.T) {
		c, touched := checkout(t, work.Implement)
		out := r.agent(t, r.answering(t, `{"write":{"path":"hello.txt","content":"hello"},"usage":{"in":1200,"out":45,"cached":300}},{"shell":"env > env.txt"},`, realAnswer), Config{}).Run(t.Context(), c)
		show(t, out)
		if out.Class != "" || out.Result.Summary != "Made it." || out.Result.CommitMessage != "add hello" || out.Session == "" || out.Usage.InputTokens < 1200 || out.Exit.Survivors > 0 && r.preset == "codex" {
			t.Error("not as answered")
		}
		if strings.TrimSpace(read(t, c.Workspace, "hello.txt")) != "hello" {
			t.Error("nothing was written")
		}
		if env := read(t, c.Workspace, "env.txt"); r.preset == "codex" && strings.Contains(env, "STUB_API_KEY") || !strings.Contains(env, "GIT_SSH_COMMAND=false") {
			t.Errorf("its shell sees\n%s", env)
		}
		if names := touched(); names != nil {
			t.Errorf("the checkout's own configuration was run: %v", names)
		}
	})
	t.Run("words", func(t *testing.T) {
		c, _ := checkout(t, work.Implement)
		out := r.agent(t, "success", Config{}).Run(t.Context(), c)
		show(t, out)
		if out.Class != "" || out.Result.Status != work.ResultDone || out.Result.Summary == "" {
			t.Error("words of a builder are not taken")
		}
	})
	t.Run("plans", func(t *testing.T) {
		c, touched := checkout(t, work.MakePlan)
		out := r.agent(t, r.answering(t, `{"shell":"git status --short"},`, realPlan), Config{}).Run(t.Context(), c)
		show(t, out)
		if out.Class != "" || out.Result.Plan == nil || out.Result.Plan.Files.Create[0] != "hello.txt" || len(out.Denials) > 0 {
			t.Error("not as answered")
		}
		if names := touched(); names != nil {
			t.Errorf("the checkout's own configuration was run: %v", names)
		}
	})
	t.Run("plans and tries to write", func(t *testing.T) {
		c, _ := checkout(t, work.MakePlan)
		out := r.agent(t, r.answering(t, `{"shell":"echo x > hello.txt"},`, realPlan), Config{}).Run(t.Context(), c)
		show(t, out)
		if _, err := os.Stat(filepath.Join(c.Workspace, "hello.txt")); err == nil {
			t.Error("a planner has written")
		}
		if out.Class != "" || out.Result.Plan == nil {
			t.Error("its plan is lost")
		}
	})
	t.Run("plans in words", func(t *testing.T) {
		c, _ := checkout(t, work.MakePlan)
		out := r.agent(t, "text", Config{}).Run(t.Context(), c)
		show(t, out)
		if out.Class != work.ClassOutputInvalid {
			t.Error("words are taken for a plan")
		}
	})
	r.errors(t, "err401")
	t.Run("hangs", func(t *testing.T) {
		c, _ := checkout(t, work.Implement)
		out := r.agent(t, "hang", Config{Timeout: 5 * time.Second}).Run(t.Context(), c)
		show(t, out)
		if out.Class != work.ClassTimeout || out.Exit.EndedAt.Sub(out.Exit.StartedAt) > 20*time.Second {
			t.Error("not timed out")
		}
	})
	t.Run("resumes", func(t *testing.T) { r.resumes(t) })
}

func (r real) resumes(t *testing.T) {
	first, _ := checkout(t, work.Implement)
	step := `{"text":"Made it."`
	if r.preset == "claude" {
		step = `{"tool":{"name":"StructuredOutput","input":` + realAnswer + `}`
	}
	a := r.agent(t, `{"steps":[`+step+`,"usage":{"in":1000,"out":10},"repeat":"forever"}]}`, Config{})
	one := a.Run(t.Context(), first)
	show(t, one)
	next, _ := checkout(t, work.Implement)
	next.Workspace, next.Session, next.Previous = first.Workspace, one.Session, one.Totals
	two := a.Run(t.Context(), next)
	show(t, two)
	if two.Class != "" || two.Session != one.Session || two.Result.Summary != "Made it." ||
		two.Usage.InputTokens != one.Usage.InputTokens || two.Totals.InputTokens != 2*one.Usage.InputTokens {
		t.Error("not the same session, or not its usage")
	}
	lost, _ := checkout(t, work.Implement)
	lost.Session = "01a22c00-7a0d-4a73-8a94-aaaaaaaaaaaa"
	three := a.Run(t.Context(), lost)
	show(t, three)
	if three.Class != work.ClassInterrupted || !three.SessionLost {
		t.Error("a lost session is not seen")
	}
}

func (r real) tools(t *testing.T, scenario string) {
	c, _ := checkout(t, work.Implement)
	c.Tools = []Server{{Name: "stub", Command: []string{"node", r.stub, "--mcp-stdio"}, Allowed: []string{"echo"}}}
	out := r.agent(t, scenario, Config{}).Run(t.Context(), c)
	show(t, out)
	if said := read(t, c.path(stdoutFile)); out.Class != "" || !strings.Contains(said, "echo: hi") {
		t.Errorf("the tool was not called: %s", said[max(0, len(said)-2000):])
	}
}
