package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

// What claude says in a stream, as far as it matters.
const (
	claudeInit     = `{"type":"system","subtype":"init","session_id":"s1"}` + "\n"
	claudeWorks    = `{"type":"assistant","session_id":"s1","message":{"id":"m1","model":"x","usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":2},"content":[]}}` + "\n"
	claudeMore     = `{"type":"assistant","session_id":"s1","message":{"id":"m2","model":"x","usage":{"input_tokens":20,"output_tokens":3},"content":[]}}` + "\n"
	claudeRetry429 = `{"type":"system","subtype":"api_retry","attempt":1,"error_status":429,"session_id":"s1"}` + "\n"
	claudeRetry529 = `{"type":"system","subtype":"api_retry","attempt":1,"error_status":529,"session_id":"s1"}` + "\n"
	claudeOffline  = `{"type":"system","subtype":"api_retry","attempt":1,"error_status":null,"session_id":"s1"}` + "\n"
	claudeLimit    = `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1796043956}}` + "\n"
	claudeDone     = `{"session_id":"s1","subtype":"success","is_error":false,"result":"All done.","total_cost_usd":0.5,"usage":{"input_tokens":100,"output_tokens":7},"type":"result"}` + "\n"
	claudeRefused  = `{"type":"result","subtype":"success","is_error":false,"result":"","structured_output":{"status":"done","summary":"s","assessment":{"continue":true,"reason":"fine"}},"permission_denials":[{"tool_name":"Bash","tool_input":{"command":"make"}}]}` + "\n"
	claudeAborted  = `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["interrupted"],"session_id":"s1"}` + "\n"
	claudeGarbled  = `{"type":"result","subtype":"error_max_structured_output_retries","is_error":true,"errors":["no valid output"],"session_id":"s1"}` + "\n"
	claudeTooLong  = `{"type":"result","subtype":"success","is_error":true,"api_error_status":400,"result":"Prompt is too long","terminal_reason":"prompt_too_long","session_id":"s1"}` + "\n"
	claudeNoCredit = `{"type":"result","subtype":"success","is_error":true,"api_error_status":400,"result":"Credit balance is too low","session_id":"s1"}` + "\n"
	claudeOldLimit = `{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"Claude AI usage limit reached|1796043956","session_id":"s1"}` + "\n"
	claudeSince    = `{"type":"result","subtype":"success","is_error":false,"result":"x","session_id":"s1","total_cost_usd":9,"usage":{"input_tokens":3000},"modelUsage":{"m":{"inputTokens":99999}},` +
		`"model_usage_since_last_result":{"m":{"inputTokens":3000,"cacheReadInputTokens":7,"outputTokens":20,"costUSD":0.0125}}}` + "\n"
	claudeNoSession = `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: s1"],"session_id":"s1"}` + "\n"
	codexStarted    = `{"type":"thread.started","thread_id":"s1"}` + "\n"
	codexRetry      = `{"type":"error","message":"Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)"}` + "\n"
	codexWaits      = `{"type":"error","message":"Reconnecting... waiting for network (Connection failed: error sending request)"}` + "\n"
	codexFull       = `{"type":"turn.failed","error":{"message":"Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying."}}` + "\n"
	opencodeBusy    = `{"type":"error","sessionID":"s1","error":{"name":"APIError","data":{"message":"busy","isRetryable":true}}}` + "\n"
	opencodeLogin   = `{"type":"error","sessionID":"s1","error":{"name":"ProviderAuthError","data":{"message":"no key"}}}` + "\n"
	opencodeFull    = `{"type":"error","sessionID":"s1","error":{"name":"ContextOverflowError","data":{"message":"too long"}}}` + "\n"
	opencodeCut     = `{"type":"step_finish","sessionID":"s1","part":{"reason":"length"}}` + "\n"
	geminiQuota     = `{"type":"result","status":"error","error":{"type":"TerminalQuotaError","message":"You have exhausted your capacity on this model. Your quota will reset after 3h22m."}}` + "\n"
	geminiDenied    = `{"type":"tool_use","tool_id":"a","tool_name":"run_shell_command","parameters":{"command":"make"}}` + "\n" +
		`{"type":"tool_result","tool_id":"a","status":"error","error":{"type":"policy_violation","message":"no"}}` + "\n" +
		`{"type":"message","role":"assistant","content":"I could not."}` + "\n" + `{"type":"result","status":"success"}` + "\n"
)

func TestClasses(t *testing.T) {
	exited := proc.Exit{Reason: proc.ReasonExited}
	code := func(n int) proc.Exit { return proc.Exit{Reason: proc.ReasonExited, Code: n} }
	ended := func(r proc.Reason) proc.Exit {
		return proc.Exit{Code: -1, Signal: "SIGTERM", Reason: r, StartedAt: sampled, EndedAt: sampled.Add(time.Hour)}
	}
	for _, test := range []struct {
		name, preset, out, err string
		exit                   proc.Exit
		kind                   work.TaskKind
		class                  work.Class
		detail                 string // a part of it
	}{
		{"fine", "claude", claudeInit + claudeWorks + claudeDone, "", exited, work.Implement, "", ""},
		{"a planner without a plan", "claude", claudeDone, "", exited, work.MakePlan, work.ClassOutputInvalid, "no JSON object"},
		{"an assessor that was refused a tool, and assessed", "claude", claudeRefused, "", exited, work.Assess, "", ""},
		{"a reviewer that was refused a tool, and did not review", "claude", claudeRefused, "", exited, work.ReviewPR, work.ClassPermissionDenied, `Bash {"command":"make"}`},
		{"a builder that was refused a tool", "claude", claudeRefused, "", exited, work.Implement, work.ClassPermissionDenied, `Bash {"command":"make"}`},
		{"nothing said", "claude", "", "", exited, work.Implement, work.ClassOutputInvalid, "ended without a result"},
		{"nothing said by a reader", "claude", "", "", exited, work.MakePlan, work.ClassOutputInvalid, "ended without a result"},
		{"an end in the middle", "claude", claudeInit + claudeWorks, "", exited, work.Implement, work.ClassOutputInvalid, "ended without a result"},
		{"a result, then a failure", "claude", claudeDone, "oops\n", code(7), work.Implement, work.ClassOrdinary, "exit code 7: oops"},
		{"bad arguments", "claude", "", "error: unknown option '--x'\n", code(1), work.Implement, work.ClassOrdinary, "unknown option"},
		{"interrupted by somebody else", "claude", claudeInit + claudeAborted, "", code(1), work.Implement, work.ClassOrdinary, "interrupted"},
		{"schema never met", "claude", claudeGarbled, "", code(1), work.MakePlan, work.ClassOutputInvalid, "no valid output"},
		{"no credit", "claude", claudeNoCredit, "", code(1), work.Implement, work.ClassQuota, "Credit balance"},
		{"session full", "claude", claudeTooLong, "", code(1), work.Implement, work.ClassOrdinary, "too long"},

		{"cancelled", "claude", claudeInit, "", ended(proc.ReasonCancelled), work.Implement, work.ClassInterrupted, "ended before"},
		{"cancelled when it was done", "claude", claudeDone, "", ended(proc.ReasonCancelled), work.Implement, work.ClassInterrupted, ""},
		{"lost", "claude", claudeDone, "", ended(proc.ReasonLost), work.Implement, work.ClassInterrupted, "supervisor"},
		{"never started", "claude", "", "", proc.Exit{Code: -1, Reason: proc.ReasonStartFailed, Error: "program not found"}, work.Implement, work.ClassOrdinary, "program not found"},
		{"too slow", "claude", claudeInit, "", ended(proc.ReasonTimeout), work.Implement, work.ClassTimeout, "not finished after 1h0m0s"},
		{"silent", "claude", claudeInit, "", ended(proc.ReasonIdle), work.Implement, work.ClassStalled, "did nothing for 1m0s"},
		{"talkative", "claude", claudeInit, "", ended(proc.ReasonOutputLimit), work.Implement, work.ClassKilled, "more than 3 MB"},
		{"killed", "claude", claudeInit, "", proc.Exit{Code: -1, Signal: "SIGKILL", Reason: proc.ReasonExited}, work.Implement, work.ClassKilled, "SIGKILL"},
		{"terminated by somebody else", "claude", claudeInit, "", code(143), work.Implement, work.ClassKilled, "143"},
		{"hung after its result", "claude", claudeDone, "", ended(proc.ReasonIdle), work.Implement, "", ""},
		{"too slow to end after its result", "claude", claudeDone, "", ended(proc.ReasonTimeout), work.Implement, "", ""},
		{"too slow because of a quota", "claude", claudeInit + claudeRetry429, "", ended(proc.ReasonTimeout), work.Implement, work.ClassQuota, "429"},
		{"silent because of an overload", "claude", claudeInit + claudeRetry529, "", ended(proc.ReasonIdle), work.Implement, work.ClassTransient, "529"},
		{"offline", "claude", claudeInit + claudeOffline, "", ended(proc.ReasonTimeout), work.Implement, work.ClassTransient, "no answer"},
		{"over a quota, then too slow", "claude", claudeInit + claudeRetry429 + claudeWorks, "", ended(proc.ReasonTimeout), work.Implement, work.ClassTimeout, ""},
		{"session gone", "claude", "", "No conversation found with session ID: s1\n", code(1), work.Implement, work.ClassInterrupted, "session s1"},
		{"session gone, in the stream", "claude", claudeNoSession, "", code(1), work.Implement, work.ClassInterrupted, "session s1"},

		{"codex over a quota", "codex", codexStarted + codexRetry, "", ended(proc.ReasonTimeout), work.Implement, work.ClassQuota, "429"},
		{"codex offline", "codex", codexStarted + codexWaits, "", ended(proc.ReasonIdle), work.Implement, work.ClassTransient, "network"},
		{"codex session full", "codex", codexStarted + codexFull, "", code(1), work.Implement, work.ClassOrdinary, "context window"},
		{"codex session gone", "codex", "", "Error: thread/resume: thread/resume failed: no rollout found for thread id s1 (code -32600)\n", code(1), work.Implement, work.ClassInterrupted, "session s1"},
		{"gemini over a quota", "gemini", geminiQuota, "", code(1), work.Implement, work.ClassQuota, "exhausted"},
		{"gemini refused", "gemini", geminiDenied, "", exited, work.Implement, work.ClassPermissionDenied, `run_shell_command {"command":"make"}`},
		{"gemini session gone", "gemini", "", "Error resuming session: Invalid session identifier \"s1\".\n", code(42), work.Implement, work.ClassInterrupted, "session s1"},
		{"gemini without an account", "gemini", "", "Please set an Auth method in your settings.json\n", code(41), work.Implement, work.ClassAuth, "Auth method"},
		{"opencode busy", "opencode", opencodeBusy, "", code(1), work.Implement, work.ClassTransient, "busy"},
		{"opencode without an account", "opencode", opencodeLogin, "", code(1), work.Implement, work.ClassAuth, "no key"},
		{"opencode session full", "opencode", opencodeFull, "", code(1), work.Implement, work.ClassOrdinary, "too long"},
		{"opencode cut", "opencode", opencodeCut, "", exited, work.Implement, work.ClassOrdinary, "cut"},
		{"opencode session gone", "opencode", "", "\x1b[91m\x1b[1mError: \x1b[0mSession not found\n", code(1), work.Implement, work.ClassInterrupted, "session s1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, err := New(Config{Name: "a", Preset: test.preset, Timeout: time.Hour, Idle: time.Minute, MaxOutput: 3 << 20}, nil)
			if err != nil {
				t.Fatal(err)
			}
			c := Call{Dir: t.TempDir(), Task: test.kind, Session: "s1"}
			write(t, c.path(stdoutFile), test.out)
			write(t, c.path(stderrFile), test.err)
			out := a.Collect(c, test.exit)
			if out.Class != test.class || !strings.Contains(out.Detail, test.detail) {
				t.Errorf("class %q, %q; want %q, %q", out.Class, out.Detail, test.class, test.detail)
			}
			if lost := strings.Contains(test.name, "session"); out.SessionLost != lost {
				t.Errorf("session lost: %v", out.SessionLost)
			}
			if (out.Class == "") != (out.Detail == "") {
				t.Errorf("class %q with detail %q", out.Class, out.Detail)
			}
		})
	}
}

// TestDeadlineIsNoTimeout: a run that the tick's deadline cut costs nothing, also when another tick finds it.
func TestDeadlineIsNoTimeout(t *testing.T) {
	for name, test := range map[string]struct {
		cut, ran time.Duration
		class    work.Class
	}{
		"the agent's own limit":              {0, time.Hour + 3*time.Second, work.ClassTimeout},
		"a deadline":                         {10 * time.Minute, 10*time.Minute + 3*time.Second, work.ClassInterrupted},
		"a deadline, found by another":       {0, 10 * time.Minute, work.ClassInterrupted},
		"a deadline later than its limit":    {2 * time.Hour, time.Hour + time.Second, work.ClassTimeout},
		"a deadline as late as its limit":    {time.Hour, time.Hour + time.Second, work.ClassTimeout},
		"its limit, and a slow end after it": {0, time.Hour + 30*time.Second, work.ClassTimeout},
	} {
		exit := proc.Exit{Code: -1, Reason: proc.ReasonTimeout, StartedAt: sampled, EndedAt: sampled.Add(test.ran)}
		a, err := New(Config{Name: "a", Preset: "claude", Timeout: time.Hour}, nil)
		if err != nil {
			t.Fatal(err)
		}
		out := a.Collect(Call{Dir: t.TempDir(), Task: work.Implement, Timeout: test.cut}, exit)
		if out.Class != test.class {
			t.Errorf("%s: %q, %s", name, out.Class, out.Detail)
		}
	}
}

func TestResetOfAQuota(t *testing.T) {
	want := time.Unix(1796043956, 0)
	for name, stdout := range map[string]string{
		"an event before":     claudeLimit + claudeRetry429,
		"a number in the end": claudeOldLimit,
	} {
		a, err := New(Config{Name: "a", Preset: "claude"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := Call{Dir: t.TempDir(), Task: work.Implement}
		write(t, c.path(stdoutFile), stdout)
		out := a.Collect(c, proc.Exit{Code: 1, Reason: proc.ReasonExited, EndedAt: sampled})
		if out.Class != work.ClassQuota || !out.ResetAt.Equal(want) {
			t.Errorf("%s: %s until %v", name, out.Class, out.ResetAt)
		}
	}
}

func TestUsage(t *testing.T) {
	usd := func(x float64) *float64 { return &x }
	codexUsage := func(in, cached, out string) string {
		return codexStarted + `{"type":"turn.completed","usage":{"input_tokens":` + in + `,"cached_input_tokens":` + cached + `,"output_tokens":` + out + `}}` + "\n"
	}
	price := &Price{Input: 10, CacheRead: 1, Output: 100}
	for _, test := range []struct {
		name, preset, out string
		price             *Price
		session           string
		previous          work.Usage
		usage, totals     work.Usage
	}{
		{"stated by the command line", "claude", claudeInit + claudeDone, price, "", work.Usage{},
			work.Usage{InputTokens: 100, OutputTokens: 7, CostUSD: usd(0.5)}, work.Usage{InputTokens: 100, OutputTokens: 7, CostUSD: usd(0.5)}},
		{"added to the session's", "claude", claudeInit + claudeDone, nil, "s1", work.Usage{InputTokens: 1, OutputTokens: 1, CostUSD: usd(1)},
			work.Usage{InputTokens: 100, OutputTokens: 7, CostUSD: usd(0.5)}, work.Usage{InputTokens: 101, OutputTokens: 8, CostUSD: usd(1.5)}},
		{"of a resumed session: since the last result, and the one before", "claude", claudeSince + claudeSince, nil, "s1", work.Usage{InputTokens: 1000, OutputTokens: 10, CostUSD: usd(1)},
			work.Usage{InputTokens: 6014, OutputTokens: 40, CostUSD: usd(0.025)}, work.Usage{InputTokens: 7014, OutputTokens: 50, CostUSD: usd(1.025)}},
		{"of another session", "claude", claudeInit + claudeDone, nil, "s0", work.Usage{InputTokens: 1, OutputTokens: 1, CostUSD: usd(1)},
			work.Usage{InputTokens: 100, OutputTokens: 7, CostUSD: usd(0.5)}, work.Usage{InputTokens: 100, OutputTokens: 7, CostUSD: usd(0.5)}},
		{"of a run that was cut: its messages", "claude", claudeInit + claudeWorks + claudeWorks + claudeMore, nil, "", work.Usage{},
			work.Usage{InputTokens: 35, OutputTokens: 5}, work.Usage{InputTokens: 35, OutputTokens: 5}},
		{"priced", "codex", codexUsage("1000000", "400000", "10000"), price, "", work.Usage{},
			work.Usage{InputTokens: 1000000, OutputTokens: 10000, CostUSD: usd(7.4)}, work.Usage{InputTokens: 1000000, OutputTokens: 10000, CostUSD: usd(7.4)}},
		{"priced without a price of the cache", "codex", codexUsage("1000000", "400000", "0"), &Price{Input: 10}, "", work.Usage{},
			work.Usage{InputTokens: 1000000, CostUSD: usd(10)}, work.Usage{InputTokens: 1000000, CostUSD: usd(10)}},
		{"not priced", "codex", codexUsage("1000", "0", "10"), nil, "", work.Usage{},
			work.Usage{InputTokens: 1000, OutputTokens: 10}, work.Usage{InputTokens: 1000, OutputTokens: 10}},
		{"cumulative: the difference", "codex", codexUsage("5000", "0", "114"), &Price{Input: 1000}, "s1", work.Usage{InputTokens: 2000, OutputTokens: 57, CostUSD: usd(2)},
			work.Usage{InputTokens: 3000, OutputTokens: 57, CostUSD: usd(3)}, work.Usage{InputTokens: 5000, OutputTokens: 114, CostUSD: usd(5)}},
		{"cumulative, begun anew", "codex", codexUsage("10", "0", "1"), nil, "s1", work.Usage{InputTokens: 2000, OutputTokens: 57},
			work.Usage{InputTokens: 10, OutputTokens: 1}, work.Usage{InputTokens: 10, OutputTokens: 1}},
		{"cumulative, cut: told by the next run", "codex", codexStarted, price, "s1", work.Usage{InputTokens: 2000, OutputTokens: 57},
			work.Usage{}, work.Usage{InputTokens: 2000, OutputTokens: 57}},
		{"nonsense", "codex", codexUsage("-5", "99", "-1"), price, "", work.Usage{}, work.Usage{CostUSD: usd(0)}, work.Usage{CostUSD: usd(0)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, err := New(Config{Name: "a", Preset: test.preset, Price: test.price}, nil)
			if err != nil {
				t.Fatal(err)
			}
			c := Call{Dir: t.TempDir(), Task: work.Implement, Session: test.session, Previous: test.previous}
			write(t, c.path(stdoutFile), test.out)
			out := a.Collect(c, proc.Exit{Reason: proc.ReasonExited})
			sameUsage(t, "usage", out.Usage, test.usage)
			sameUsage(t, "totals", out.Totals, test.totals)
		})
	}
}

func sameUsage(t *testing.T, what string, got, want work.Usage) {
	t.Helper()
	same := got.InputTokens == want.InputTokens && got.OutputTokens == want.OutputTokens && (got.CostUSD == nil) == (want.CostUSD == nil)
	if same && got.CostUSD != nil {
		same = *got.CostUSD-*want.CostUSD < 1e-9 && *want.CostUSD-*got.CostUSD < 1e-9
	}
	if !same {
		t.Errorf("%s: %d/%d %v, want %d/%d %v", what, got.InputTokens, got.OutputTokens, got.CostUSD, want.InputTokens, want.OutputTokens, want.CostUSD)
	}
}
