package agent

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

var codex = preset{
	program:    "codex",
	version:    []string{"--version"},
	resumes:    true,
	tools:      true,
	cumulative: true,
	pass:       []string{"CODEX_HOME", "CODEX_API_KEY", "OPENAI_*", "AZURE_OPENAI_*"},
	invoke:     invokeCodex,
	read:       readCodex,
}

func invokeCodex(a *Agent, c Call) (invocation, error) {
	sandbox := "read-only"
	if c.Task.Writes() {
		sandbox = "workspace-write"
	}
	args := []string{"exec", "--json", "--skip-git-repo-check", "-C", c.Workspace, "-s", sandbox,
		// Without these it waits for ever when the network is away, reports usage, and shows its own keys to every shell command.
		"--disable", "unbounded_connection_retries", "-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false",
		"-c", `shell_environment_policy.exclude=["*API_KEY*","*TOKEN*","*SECRET*"]`}
	if c.role() == work.Reconciler {
		args = append(args, "--add-dir", filepath.Join(c.Workspace, ".git")) // the sandbox keeps it read-only, and a merge could not be concluded
	}
	if a.config.Model != "" {
		args = append(args, "-m", a.config.Model)
	}
	if len(c.Schema) > 0 {
		if err := os.WriteFile(c.path(schemaFile), c.Schema, 0o600); err != nil {
			return invocation{}, err
		}
		args = append(args, "--output-schema", c.path(schemaFile))
	}
	for _, s := range c.Tools {
		args = append(args, "-c", "mcp_servers."+s.Name+"="+s.codexTable())
	}
	args = append(args, a.config.Args...)
	if id := c.resume(); id != "" {
		args = append(args, "resume", id)
	}
	return invocation{args: append(args, "-")}, nil
}

// codexTable is the server as an inline table of TOML, whose strings and lists are written as in JSON.
func (s Server) codexTable() string {
	quote := func(v any) string {
		out, _ := json.Marshal(v) // strings and lists of strings always can be
		return strings.ReplaceAll(string(out), "\x7f", `\u007f`)
	}
	fields := []string{`required=true`, `default_tools_approval_mode="approve"`}
	if len(s.Command) > 0 {
		fields = append(fields, "command="+quote(s.Command[0]), "args="+quote(append([]string{}, s.Command[1:]...)))
	} else {
		fields = append(fields, "url="+quote(s.URL))
	}
	if len(s.Env) > 0 {
		fields = append(fields, "env_vars="+quote(s.Env))
	}
	if s.BearerEnv != "" {
		fields = append(fields, "bearer_token_env_var="+quote(s.BearerEnv))
	}
	if len(s.Allowed) > 0 {
		fields = append(fields, "enabled_tools="+quote(s.Allowed))
	}
	return "{" + strings.Join(fields, ",") + "}"
}

type codexEvent struct {
	Type     string `json:"type"`
	ThreadID string `json:"thread_id"`
	Message  string `json:"message"`
	Error    struct {
		Message string `json:"message"`
	} `json:"error"`
	Item struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Status    string          `json:"status"`
		Command   string          `json:"command"`
		Server    string          `json:"server"`
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
		Error     struct {
			Message string `json:"message"`
		} `json:"error"`
	} `json:"item"`
	Usage struct {
		Input  int64 `json:"input_tokens"` // with the cached ones
		Cached int64 `json:"cached_input_tokens"`
		Output int64 `json:"output_tokens"` // with those of reasoning
	} `json:"usage"`
}

func readCodex(stdout io.Reader, stderr []byte, exit proc.Exit) report {
	var r report
	eachEvent(stdout, func(e codexEvent) {
		switch e.Type {
		case "thread.started":
			r.session = e.ThreadID
		case "error":
			r.retrying = codexFailure(e.Message, exit.EndedAt)
		case "item.completed":
			r.codexItem(e)
		case "turn.completed":
			r.ended, r.failed, r.retrying = true, nil, nil
			r.tokens = tokens{input: e.Usage.Input, cached: e.Usage.Cached, output: e.Usage.Output}
		case "turn.failed":
			r.ended, r.failed, r.retrying = true, codexFailure(e.Error.Message, exit.EndedAt), nil
			r.lost = strings.Contains(e.Error.Message, "context window")
		}
	})
	if r.session == "" && strings.Contains(string(stderr), "no rollout found for thread id") {
		r.lost = true
	}
	return r
}

func (r *report) codexItem(e codexEvent) {
	switch e.Item.Type {
	case "error": // a warning
		return
	case "agent_message":
		r.final = e.Item.Text
	case "mcp_tool_call":
		if strings.Contains(e.Item.Error.Message, "requires approval") {
			r.denials = append(r.denials, denial(e.Item.Server+"."+e.Item.Tool, e.Item.Arguments))
		}
	}
	if e.Item.Status == "declined" {
		what, _ := json.Marshal(e.Item.Command)
		r.denials = append(r.denials, denial(e.Item.Type, what))
	}
	r.retrying = nil
}

var codexStatus = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:unexpected|last) status:? (\d{3})\b`) })

// codexFailure sorts an error by the status that is part of it, else by its fixed texts.
func codexFailure(message string, at time.Time) *failure {
	f := &failure{class: work.ClassOrdinary, message: message}
	text := strings.ReplaceAll(message, "’", "'")
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(text, p) {
				return true
			}
		}
		return false
	}
	m := codexStatus().FindStringSubmatch(text)
	switch {
	case has("hit your usage limit", "Quota exceeded"):
		f.class = work.ClassQuota
	case m != nil:
		status, _ := strconv.Atoi(m[1])
		f.class = classOf(status)
	case has("Missing environment variable", "log out and sign in again", "Not logged in"):
		f.class = work.ClassAuth
	case has("high demand", "stream disconnected", "Connection failed", "error sending request", "waiting for network", "timed out", "at capacity"):
		f.class = work.ClassTransient
	}
	if f.class == work.ClassQuota {
		f.resetAt = resetTime(text, at, time.Local)
	}
	if message == "" {
		f.message = fmt.Sprintf("%s without a reason", f.class)
	}
	return f
}
