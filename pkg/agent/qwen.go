package agent

import (
	"encoding/json"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

var qwen = preset{
	program:    "qwen",
	version:    []string{"--version"},
	resumes:    true,
	cumulative: true,
	pass:       []string{"OPENAI_*", "QWEN_*", "DASHSCOPE_*", "GEMINI_API_KEY", "NODE_EXTRA_CA_CERTS"},
	invoke:     invokeQwen,
	read:       readQwen,
}

func invokeQwen(a *Agent, c Call) (invocation, error) {
	mode := "default" // asks, hence refuses, what is not allowed
	if c.Task.Writes() {
		mode = "yolo"
	}
	// A checkout's .qwen/settings.json could start servers.
	args := []string{"-o", "stream-json", "--approval-mode", mode, "--allowed-mcp-server-names", noServer()}
	// Its --json-schema is left alone: with it, every error of the API is told as an answer in the wrong form.
	if !c.Task.Writes() {
		args = append(args, "--allowed-tools", strings.Join(shellTools(), ","))
	}
	if a.config.Model != "" {
		args = append(args, "-m", a.config.Model)
	}
	if a.config.MaxTurns > 0 {
		args = append(args, "--max-session-turns", strconv.Itoa(a.config.MaxTurns))
	}
	if id := c.resume(); id != "" {
		args = append(args, "-r", id)
	}
	return invocation{args: append(args, a.config.Args...)}, nil
}

type qwenEvent struct {
	Type       string          `json:"type"`
	SessionID  string          `json:"session_id"`
	IsError    bool            `json:"is_error"`
	Result     string          `json:"result"`
	Structured json.RawMessage `json:"structured_result"`
	Denials    []claudeDenial  `json:"permission_denials"`
	Usage      claudeUsage     `json:"usage"` // of the session; input with the cached ones
	Error      struct {
		Message string `json:"message"`
	} `json:"error"`
}

var qwenStatus = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[API Error: (\d{3})\b`) })

func readQwen(stdout io.Reader, stderr []byte, exit proc.Exit) report {
	var r report
	eachEvent(stdout, func(e qwenEvent) {
		if e.SessionID != "" {
			r.session = e.SessionID
		}
		if e.Type != "result" {
			return
		}
		r.ended, r.failed, r.final, r.structured = true, nil, e.Result, object(e.Structured)
		r.tokens = tokens{input: e.Usage.Input, cached: e.Usage.CacheRead, output: e.Usage.Output}
		for _, d := range e.Denials {
			r.denials = append(r.denials, denial(d.Tool, d.Input))
		}
		// An error of the API is a success to it, with a text of its own making in place of an answer.
		if e.IsError || strings.HasPrefix(e.Result, "[API Error: ") {
			r.qwenFailed(e, exit.EndedAt)
		}
	})
	said := string(stderr)
	switch {
	case r.ended:
	case strings.Contains(said, "No saved session found with ID"):
		r.lost = true
	case exit.Code == 53:
		r.ended, r.capped, r.failed = true, "turns", &failure{class: work.ClassOrdinary, message: lastLine(said)}
	}
	return r
}

func (r *report) qwenFailed(e qwenEvent, at time.Time) {
	f := &failure{class: work.ClassOrdinary, message: e.Result}
	if f.message == "" {
		f.message = e.Error.Message
	}
	if m := qwenStatus().FindStringSubmatch(e.Result); m != nil {
		status, _ := strconv.Atoi(m[1])
		f.class = classOf(status)
	} else if strings.HasPrefix(e.Result, "[API Error: ") {
		f.class = work.ClassTransient // no status: the connection failed
	}
	if f.class == work.ClassQuota {
		f.resetAt = resetTime(f.message, at, time.Local)
	}
	r.failed = f
}
