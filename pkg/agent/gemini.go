package agent

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

var gemini = preset{
	program: "gemini",
	version: []string{"--version"},
	resumes: true,
	tools:   true,
	pass:    []string{"GEMINI_*", "GOOGLE_*", "CLOUDSDK_CONFIG", "CLOUD_ML_REGION", "NODE_EXTRA_CA_CERTS"},
	invoke:  invokeGemini,
	read:    readGemini,
}

const settingsFile = "settings.json"

func invokeGemini(a *Agent, c Call) (invocation, error) {
	// Without --skip-trust it refuses to run in a folder nobody has trusted. The mode "default" asks, hence refuses, what is not allowed.
	args := []string{"-o", "stream-json", "--skip-trust", "--approval-mode"}
	if c.Task.Writes() {
		args = append(args, "yolo")
	} else {
		args = append(args, "default", "--allowed-tools", strings.Join(shellTools(), ","))
	}
	if a.config.Model != "" {
		args = append(args, "-m", a.config.Model)
	}
	names := []string{noServer()}
	if len(c.Tools) > 0 {
		names = nil
		for _, s := range c.Tools {
			names = append(names, s.Name)
		}
	}
	args = append(args, "--allowed-mcp-server-names", strings.Join(names, ","))
	if id := c.resume(); id != "" {
		args = append(args, "--resume", id)
	}
	settings := map[string]any{
		"general":     map[string]any{"enableAutoUpdate": false},
		"hooksConfig": map[string]any{"enabled": false},
		"mcp":         map[string]any{"allowed": names},
		"mcpServers":  c.geminiServers(),
	}
	if a.config.MaxTurns > 0 {
		settings["model"] = map[string]any{"maxSessionTurns": a.config.MaxTurns}
	}
	text, err := json.MarshalIndent(settings, "", "  ")
	if err != nil {
		return invocation{}, err
	}
	if err := os.WriteFile(c.path(settingsFile), text, 0o600); err != nil {
		return invocation{}, err
	}
	env := []string{"GEMINI_CLI_SYSTEM_SETTINGS_PATH=" + c.path(settingsFile)}
	return invocation{args: append(args, a.config.Args...), env: env}, nil
}

// noServer is the only name of an MCP server that may be started when none may: one that no checkout can have given to its own.
func noServer() string { return "none-" + rand.Text() }

func (c Call) geminiServers() map[string]any {
	servers := map[string]any{}
	for _, s := range c.Tools {
		entry := map[string]any{"trust": true}
		if len(s.Command) > 0 {
			entry["command"], entry["args"] = s.Command[0], s.Command[1:]
			entry["env"] = s.expanded("$", "")
		} else {
			entry["httpUrl"] = s.URL
			if s.BearerEnv != "" {
				entry["headers"] = map[string]string{"Authorization": "Bearer $" + s.BearerEnv}
			}
		}
		if len(s.Allowed) > 0 {
			entry["includeTools"] = s.Allowed
		}
		servers[s.Name] = entry
	}
	return servers
}

type geminiEvent struct {
	Type      string          `json:"type"`
	SessionID string          `json:"session_id"`
	Role      string          `json:"role"`
	Content   string          `json:"content"`
	ToolID    string          `json:"tool_id"`
	ToolName  string          `json:"tool_name"`
	Params    json.RawMessage `json:"parameters"`
	Status    string          `json:"status"`
	Error     geminiError     `json:"error"`
	Stats     struct {
		Input  int64 `json:"input_tokens"` // with the cached ones
		Cached int64 `json:"cached"`
		Output int64 `json:"output_tokens"`
	} `json:"stats"`
}

type geminiError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Code    int    `json:"code"`
}

func readGemini(stdout io.Reader, stderr []byte, exit proc.Exit) report {
	var r report
	calls := map[string]geminiEvent{}
	var text strings.Builder
	eachEvent(stdout, func(e geminiEvent) {
		if e.SessionID != "" {
			r.session = e.SessionID
		}
		switch {
		case e.Type == "message" && e.Role == "assistant" && text.Len() < maxLine:
			text.WriteString(e.Content)
		case e.Type == "tool_use" && len(calls) < 1e5:
			text.Reset()
			calls[e.ToolID] = e
		case e.Type == "tool_result":
			if t := e.Error.Type; e.Status == "error" && (t == "policy_violation" || t == "permission_denied") {
				r.denials = append(r.denials, denial(calls[e.ToolID].ToolName, calls[e.ToolID].Params))
			}
			delete(calls, e.ToolID)
		case e.Type == "result" && (e.Status == "success" || e.Status == "error"):
			r.ended, r.failed = true, nil
			r.tokens = tokens{input: e.Stats.Input, cached: e.Stats.Cached, output: e.Stats.Output}
			if e.Status == "error" {
				r.geminiFailed(e.Error, exit.EndedAt)
			}
		}
	})
	r.final = text.String()
	if !r.ended {
		r.geminiStderr(string(stderr), exit)
	}
	return r
}

var geminiCode = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"code":\s*(\d{3})\b`) })

func (r *report) geminiFailed(e geminiError, at time.Time) {
	f := &failure{class: work.ClassOrdinary, message: e.Message}
	status := e.Code
	if m := geminiCode().FindStringSubmatch(e.Message); m != nil {
		status, _ = strconv.Atoi(m[1])
	}
	switch {
	case e.Type == "FatalTurnLimitedError":
		r.capped = "turns"
	case e.Type == "FatalAuthenticationError" || status == 41:
		f.class = work.ClassAuth
	case e.Type == "TerminalQuotaError", e.Type == "RetryableQuotaError":
		f.class = work.ClassQuota
	case status >= 100:
		f.class = classOf(status)
	}
	if f.class == work.ClassQuota {
		f.resetAt = resetTime(e.Message, at, time.Local)
	}
	r.failed = f
}

// geminiStderr understands an end without a result: the last thing on stderr is then an object with the error, or a line of words.
func (r *report) geminiStderr(text string, exit proc.Exit) {
	if at := strings.LastIndex(text, "\n{\n"); at >= 0 || strings.HasPrefix(text, "{\n") {
		var last struct {
			SessionID string      `json:"session_id"`
			Error     geminiError `json:"error"`
		}
		if json.Unmarshal([]byte(text[at+1:]), &last) == nil && last.Error.Message != "" {
			r.session, r.ended = last.SessionID, true
			r.geminiFailed(last.Error, exit.EndedAt)
			return
		}
	}
	switch {
	case exit.Code == 41:
		r.ended, r.failed = true, &failure{class: work.ClassAuth, message: lastLine(text)}
	case strings.Contains(text, "Error resuming session"):
		r.lost = true
	}
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
