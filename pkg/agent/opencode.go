package agent

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

var opencode = preset{
	program: "opencode",
	version: []string{"--version"},
	resumes: true,
	tools:   true,
	pass: []string{"OPENCODE_API_KEY", "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_DISABLE_MODELS_FETCH", "ANTHROPIC_*", "OPENAI_*",
		"GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "OPENROUTER_API_KEY", "NODE_EXTRA_CA_CERTS"},
	set:    []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"},
	invoke: invokeOpencode,
	read:   readOpencode,
}

func invokeOpencode(a *Agent, c Call) (invocation, error) {
	permission := map[string]any{"edit": "allow", "bash": "allow", "external_directory": "allow", "webfetch": "deny"}
	if !c.Task.Writes() {
		shell := map[string]string{"*": "deny"} // the last rule that matches counts, and * comes first in JSON
		for _, command := range reading {
			shell[command], shell[command+" *"] = "allow", "allow"
		}
		permission = map[string]any{"edit": "deny", "bash": shell, "external_directory": "deny", "webfetch": "deny"}
	}
	config := map[string]any{"share": "disabled", "autoupdate": false, "permission": permission, "mcp": c.opencodeServers()}
	text, err := json.Marshal(config)
	if err != nil {
		return invocation{}, err
	}
	args := []string{"run", "--format", "json"}
	if a.config.Model != "" {
		args = append(args, "-m", a.config.Model)
	}
	if id := c.resume(); id != "" {
		args = append(args, "-s", id)
	}
	// A checkout's own opencode.json could start programs.
	env := []string{"OPENCODE_DISABLE_PROJECT_CONFIG=1", "OPENCODE_CONFIG_CONTENT=" + string(text)}
	return invocation{args: append(args, a.config.Args...), env: env}, nil
}

func (c Call) opencodeServers() map[string]any {
	servers := map[string]any{}
	for _, s := range c.Tools {
		if len(s.Command) > 0 {
			servers[s.Name] = map[string]any{"type": "local", "command": s.Command, "environment": s.expanded("{env:", "}"), "enabled": true}
			continue
		}
		entry := map[string]any{"type": "remote", "url": s.URL, "enabled": true}
		if s.BearerEnv != "" {
			entry["headers"] = map[string]string{"Authorization": "Bearer {env:" + s.BearerEnv + "}"}
		}
		servers[s.Name] = entry
	}
	return servers
}

type opencodeEvent struct {
	Type      string `json:"type"`
	SessionID string `json:"sessionID"`
	Part      struct {
		MessageID string `json:"messageID"`
		Text      string `json:"text"`
		Tool      string `json:"tool"`
		Reason    string `json:"reason"`
		State     struct {
			Status string          `json:"status"`
			Input  json.RawMessage `json:"input"`
			Error  string          `json:"error"`
		} `json:"state"`
		Tokens struct {
			Input  int64 `json:"input"` // without the cached ones
			Output int64 `json:"output"`
			Reason int64 `json:"reasoning"`
			Cache  struct {
				Read  int64 `json:"read"`
				Write int64 `json:"write"`
			} `json:"cache"`
		} `json:"tokens"`
		Cost float64 `json:"cost"`
	} `json:"part"`
	Error struct {
		Name string `json:"name"`
		Data struct {
			Message   string `json:"message"`
			Status    int    `json:"statusCode"`
			Retryable bool   `json:"isRetryable"`
		} `json:"data"`
	} `json:"error"`
}

// readOpencode: there is no last event; the run is over when a step's reason to finish is neither that tools were called nor unknown.
func readOpencode(stdout io.Reader, stderr []byte, exit proc.Exit) report {
	var r report
	message, cost := "", 0.0
	eachEvent(stdout, func(e opencodeEvent) {
		if e.SessionID != "" {
			r.session = e.SessionID
		}
		switch e.Type {
		case "text":
			if e.Part.MessageID != message {
				r.final, message = "", e.Part.MessageID
			}
			r.final += e.Part.Text
		case "tool_use":
			r.opencodeTool(e)
		case "step_finish":
			t := e.Part.Tokens
			r.tokens.input += t.Input + t.Cache.Read + t.Cache.Write
			r.tokens.cached += t.Cache.Read
			r.tokens.output += t.Output + t.Reason
			cost += e.Part.Cost
			r.ended = e.Part.Reason == "stop"
			if e.Part.Reason == "length" {
				r.ended, r.failed = true, &failure{class: work.ClassOrdinary, message: "the model's answer was cut at its longest"}
			}
		case "error":
			r.opencodeFailed(e, exit.EndedAt)
		}
	})
	if cost > 0 { // models without a known price have 0
		r.tokens.cost = &cost
	}
	if r.session == "" && strings.Contains(string(stderr), "Session not found") {
		r.lost = true
	}
	return r
}

func (r *report) opencodeTool(e opencodeEvent) {
	s := e.Part.State
	if s.Status == "error" && (strings.HasPrefix(s.Error, "The user has specified a rule which prevents you") || strings.HasPrefix(s.Error, "The user rejected permission")) {
		r.denials = append(r.denials, denial(e.Part.Tool, s.Input))
	}
}

func (r *report) opencodeFailed(e opencodeEvent, at time.Time) {
	f := &failure{class: work.ClassOrdinary, message: e.Error.Data.Message}
	switch {
	case e.Error.Data.Status > 0:
		f.class = classOf(e.Error.Data.Status)
	case e.Error.Name == "ProviderAuthError":
		f.class = work.ClassAuth
	case e.Error.Data.Retryable:
		f.class = work.ClassTransient
	}
	if f.class == work.ClassQuota {
		f.resetAt = resetTime(f.message, at, time.Local)
	}
	if f.message == "" {
		f.message = e.Error.Name
	}
	r.lost = e.Error.Name == "ContextOverflowError"
	r.ended, r.failed = true, f
}
