package agent

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

// copilot logs in with a token of GitHub. Which one it may have is for the user to say: env = ["COPILOT_GITHUB_TOKEN"], or its own login in
// the home directory.
var copilot = preset{
	program:    "copilot",
	version:    []string{"--version"},
	resumes:    true,
	cumulative: true,
	pass:       []string{"COPILOT_HOME", "COPILOT_MODEL", "COPILOT_OFFLINE", "COPILOT_PROVIDER_*", "NODE_EXTRA_CA_CERTS"},
	invoke:     invokeCopilot,
	read:       readCopilot,
	measure:    measureCopilot,
}

const usageFile = "usage.json"

func invokeCopilot(a *Agent, c Call) (invocation, error) {
	// Its built-in server speaks to GitHub as the user.
	args := []string{"--output-format", "json", "--no-ask-user", "--no-color", "--no-auto-update", "--disable-builtin-mcps",
		"--usage-output-file", c.path(usageFile)}
	if c.Task.Writes() {
		args = append(args, "--allow-all-tools")
	}
	if a.config.Model != "" {
		args = append(args, "--model", a.config.Model)
	}
	if id := c.resume(); id != "" {
		args = append(args, "--resume="+id)
	}
	return invocation{args: append(args, a.config.Args...)}, nil
}

type copilotEvent struct {
	Type      string `json:"type"`
	SessionID string `json:"sessionId"`
	ExitCode  int    `json:"exitCode"`
	Data      struct {
		Content    string          `json:"content"`
		Message    string          `json:"message"`
		ErrorType  string          `json:"errorType"`
		StatusCode int             `json:"statusCode"`
		CallID     string          `json:"toolCallId"`
		ToolName   string          `json:"toolName"`
		Arguments  json.RawMessage `json:"arguments"`
		Error      struct {
			Code string `json:"code"`
		} `json:"error"`
	} `json:"data"`
}

func readCopilot(stdout io.Reader, stderr []byte, exit proc.Exit) report {
	var r report
	calls := map[string]copilotEvent{}
	eachEvent(stdout, func(e copilotEvent) {
		switch e.Type {
		case "assistant.message":
			if e.Data.Content != "" {
				r.final = e.Data.Content
			}
		case "tool.execution_start":
			if len(calls) < 1e5 {
				calls[e.Data.CallID] = e
			}
		case "tool.execution_complete":
			if e.Data.Error.Code == "denied" {
				r.denials = append(r.denials, denial(calls[e.Data.CallID].Data.ToolName, calls[e.Data.CallID].Data.Arguments))
			}
			delete(calls, e.Data.CallID)
		case "session.error":
			r.copilotFailed(e, exit.EndedAt)
		case "result":
			r.session, r.ended = e.SessionID, e.ExitCode == 0 // it says so too when it is terminated
			if r.ended {
				r.failed = nil
			}
		}
	})
	said := string(stderr)
	switch {
	case r.ended:
	case strings.Contains(said, "No session, task, or name matched"):
		r.lost = true
	case strings.HasPrefix(said, "Error: No authentication information found"):
		r.ended, r.failed = true, &failure{class: work.ClassAuth, message: "No authentication information found; log in with copilot, or pass COPILOT_GITHUB_TOKEN through"}
	}
	return r
}

func (r *report) copilotFailed(e copilotEvent, at time.Time) {
	f := &failure{class: work.ClassOrdinary, message: e.Data.Message}
	switch {
	case e.Data.ErrorType == "authentication":
		f.class = work.ClassAuth
	case e.Data.ErrorType == "rate_limit", e.Data.ErrorType == "quota":
		f.class = work.ClassQuota
	case e.Data.StatusCode > 0:
		f.class = classOf(e.Data.StatusCode)
	}
	if f.class == work.ClassQuota {
		f.resetAt = resetTime(f.message, at, time.Local)
	}
	r.failed = f
}

// measureCopilot reads the session's tokens from the file it was asked to write.
func measureCopilot(c Call) tokens {
	var file struct {
		Models map[string]struct {
			Usage struct {
				Input     int64 `json:"inputTokens"` // with the cached ones
				Output    int64 `json:"outputTokens"`
				CacheRead int64 `json:"cacheReadTokens"`
			} `json:"usage"`
		} `json:"modelMetrics"`
	}
	var t tokens
	if json.Unmarshal(readTail(c.path(usageFile), maxResult), &file) != nil {
		return t
	}
	for _, m := range file.Models {
		t.input, t.cached, t.output = t.input+m.Usage.Input, t.cached+m.Usage.CacheRead, t.output+m.Usage.Output
	}
	return t
}
