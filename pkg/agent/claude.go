package agent

import (
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

var claude = preset{
	program: "claude",
	version: []string{"--version"},
	resumes: true,
	tools:   true,
	pass: []string{"ANTHROPIC_*", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_MAX_RETRIES", "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
		"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
		"CLAUDE_CODE_SUBPROCESS_ENV_SCRUB", "DISABLE_TELEMETRY", "MCP_TIMEOUT", "NODE_EXTRA_CA_CERTS"},
	// Ten retries, its default, are three minutes spent on a wrong key.
	set:    []string{"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_MAX_RETRIES=4"},
	invoke: invokeClaude,
	read:   readClaude,
}

// The tools are named, so that what a new version adds (schedulers, worktrees, teams) does not come along. Names a version does not know
// are passed over by it.
const (
	claudeReads  = "Bash,Glob,Grep,LS,Read,Task,TodoWrite"
	claudeWrites = claudeReads + ",Edit,MultiEdit,NotebookEdit,Write"
)

// noConversation is said, as a result's error or on stderr, of a session that is not there.
const noConversation = "No conversation found with session ID"

func invokeClaude(a *Agent, c Call) (invocation, error) {
	// Settings of the checkout are left out: a hook in .claude/settings.json would run without a question.
	args := []string{"-p", "--output-format", "stream-json", "--verbose", "--setting-sources", "user", "--strict-mcp-config"}
	allowed := []string{}
	if c.Task.Writes() {
		args = append(args, "--permission-mode", "acceptEdits", "--tools", claudeWrites, "--add-dir", os.TempDir())
		allowed = append(allowed, "Bash")
	} else {
		// dontAsk refuses what would need a permission; it lets shell commands through that only read.
		args = append(args, "--permission-mode", "dontAsk", "--tools", claudeReads)
	}
	if len(c.Tools) > 0 {
		if err := writeTools(c); err != nil {
			return invocation{}, err
		}
		args = append(args, "--mcp-config", c.path(toolsFile))
		for _, s := range c.Tools {
			allowed = append(allowed, s.permissions("mcp__"+s.Name, "__")...)
		}
	}
	if len(allowed) > 0 {
		args = append(args, "--allowedTools", strings.Join(allowed, ","))
	}
	if len(c.Schema) > 0 {
		args = append(args, "--json-schema", string(c.Schema))
	}
	if a.config.Model != "" {
		args = append(args, "--model", a.config.Model)
	}
	if a.config.MaxTurns > 0 {
		args = append(args, "--max-turns", strconv.Itoa(a.config.MaxTurns))
	}
	if c.BudgetUSD > 0 {
		args = append(args, "--max-budget-usd", strconv.FormatFloat(c.BudgetUSD, 'f', 4, 64))
	}
	if id := c.resume(); id != "" {
		args = append(args, "--resume", id)
	}
	return invocation{args: append(args, a.config.Args...)}, nil
}

// claudeEvent is a line of stream-json, or the object of json.
type claudeEvent struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	SessionID string `json:"session_id"`

	Message struct {
		ID      string          `json:"id"`
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
		Usage   claudeUsage     `json:"usage"`
	} `json:"message"`
	Error       string `json:"error"`        // of a message that stands for an error: a code
	ErrorStatus *int   `json:"error_status"` // of api_retry
	Limit       struct {
		Status   string `json:"status"`
		ResetsAt int64  `json:"resetsAt"` // seconds since 1970
	} `json:"rate_limit_info"`

	IsError      bool                   `json:"is_error"`
	Result       string                 `json:"result"`
	Structured   json.RawMessage        `json:"structured_output"`
	Denials      []claudeDenial         `json:"permission_denials"`
	Cost         *float64               `json:"total_cost_usd"`
	Usage        claudeUsage            `json:"usage"`
	Models       map[string]claudeModel `json:"modelUsage"`
	Since        map[string]claudeModel `json:"model_usage_since_last_result"`
	Errors       []string               `json:"errors"`
	Status       *int                   `json:"api_error_status"`
	Termination  string                 `json:"terminal_reason"`
	APIErrorCode string                 `json:"api_error"`
}

type claudeUsage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
}

type claudeModel struct {
	Input      int64   `json:"inputTokens"`
	Output     int64   `json:"outputTokens"`
	CacheRead  int64   `json:"cacheReadInputTokens"`
	CacheWrite int64   `json:"cacheCreationInputTokens"`
	Cost       float64 `json:"costUSD"`
}

type claudeDenial struct {
	Tool  string          `json:"tool_name"`
	Input json.RawMessage `json:"tool_input"`
}

func (u claudeUsage) tokens() tokens {
	return tokens{input: u.Input + u.CacheRead + u.CacheWrite, cached: u.CacheRead, output: u.Output}
}

// claudeReader gathers what the events say.
type claudeReader struct {
	report
	at       time.Time
	since    tokens                 // the sum of the results up to now
	messages map[string]claudeUsage // by id: what was used up to now, while there is no result
	code     string                 // of the last error
	resetAt  time.Time
}

func readClaude(stdout io.Reader, stderr []byte, exit proc.Exit) report {
	r := claudeReader{at: exit.EndedAt, messages: map[string]claudeUsage{}}
	eachEvent(stdout, r.event)
	if !r.ended {
		for _, u := range r.messages {
			t := u.tokens()
			r.tokens.input, r.tokens.cached, r.tokens.output = r.tokens.input+t.input, r.tokens.cached+t.cached, r.tokens.output+t.output
		}
		r.lost = r.lost || strings.Contains(string(stderr), noConversation)
	}
	return r.report
}

func (r *claudeReader) event(e claudeEvent) {
	if e.SessionID != "" {
		r.session = e.SessionID
	}
	switch {
	case e.Type == "result":
		r.result(e)
	case e.Type == "rate_limit_event" && e.Limit.Status == "rejected" && e.Limit.ResetsAt > 0:
		r.resetAt = time.Unix(e.Limit.ResetsAt, 0).UTC()
	case e.Type == "system" && e.Subtype == "api_retry":
		r.retrying = &failure{class: work.ClassTransient, message: "no answer from the API", resetAt: r.resetAt}
		if e.ErrorStatus != nil {
			r.retrying.class = classOf(*e.ErrorStatus)
			r.retrying.message = "the API answers with status " + strconv.Itoa(*e.ErrorStatus)
		}
	case e.Type == "assistant" && e.Message.Model == "<synthetic>":
		r.code = e.Error
	case e.Type == "assistant":
		r.retrying, r.code = nil, ""
		if e.Message.ID != "" && len(r.messages) < 1e5 {
			u := r.messages[e.Message.ID]
			u.Output = max(u.Output, e.Message.Usage.Output)
			u.Input, u.CacheRead, u.CacheWrite = e.Message.Usage.Input, e.Message.Usage.CacheRead, e.Message.Usage.CacheWrite
			r.messages[e.Message.ID] = u
		}
	}
}

func (r *claudeReader) result(e claudeEvent) {
	r.ended, r.failed, r.retrying, r.final = true, nil, nil, e.Result
	r.structured = object(e.Structured)
	for _, d := range e.Denials {
		r.denials = append(r.denials, denial(d.Tool, d.Input))
	}
	r.count(e)
	message := e.Result
	if message == "" {
		message = strings.Join(e.Errors, "; ")
	}
	if strings.HasPrefix(message, noConversation) {
		r.ended, r.lost, r.session = false, true, ""
		return
	}
	switch e.Subtype {
	case "error_max_turns":
		r.capped = "turns"
	case "error_max_budget_usd":
		r.capped = "budget"
	case "error_max_structured_output_retries":
		r.failed = &failure{class: work.ClassOutputInvalid, message: message}
		return
	}
	if e.IsError || strings.HasPrefix(e.Subtype, "error") {
		r.failed = &failure{class: r.class(e, message), message: message}
		if r.failed.class == work.ClassQuota {
			if r.failed.resetAt = r.resetAt; r.resetAt.IsZero() {
				r.failed.resetAt = resetTime(message, r.at, time.Local)
			}
		}
		r.lost = e.Termination == "prompt_too_long" || strings.HasPrefix(message, "Prompt is too long")
	}
}

// count takes what the run consumed up to this result. In versions that have modelUsage since the last result, modelUsage and cost of a
// resumed session are those of the whole session; in older ones they are the run's own.
func (r *claudeReader) count(e claudeEvent) {
	if e.Since != nil {
		cost := 0.0
		for _, m := range e.Since {
			r.since.add(m)
			cost += m.Cost
		}
		if r.since.cost != nil {
			cost += *r.since.cost
		}
		r.since.cost = &cost
		r.tokens = r.since
		return
	}
	r.tokens = e.Usage.tokens()
	if len(e.Models) > 0 { // on a budget cap, usage misses the last call
		r.tokens = tokens{}
		for _, m := range e.Models {
			r.tokens.add(m)
		}
	}
	r.tokens.cost = e.Cost
}

func (t *tokens) add(m claudeModel) {
	t.input += m.Input + m.CacheRead + m.CacheWrite
	t.cached += m.CacheRead
	t.output += m.Output
}

// class sorts an error by its status, else by its code, else by the fixed texts for which the command line has neither.
func (r *claudeReader) class(e claudeEvent, message string) work.Class {
	if strings.HasPrefix(message, "Credit balance is too low") {
		return work.ClassQuota
	}
	if e.Status != nil {
		return classOf(*e.Status)
	}
	switch r.code {
	case "authentication_failed", "oauth_org_not_allowed", "account_on_hold", "verification_required":
		return work.ClassAuth
	case "rate_limit", "billing_error":
		return work.ClassQuota
	case "overloaded", "server_error":
		return work.ClassTransient
	}
	switch {
	case strings.HasPrefix(message, "Not logged in"), strings.Contains(message, "Please run /login"):
		return work.ClassAuth
	case strings.HasPrefix(message, "API Error"), e.Termination == "api_error":
		return work.ClassTransient // no status: the connection failed
	}
	return work.ClassOrdinary
}

// object is raw when it is a JSON object, and nil otherwise.
func object(raw json.RawMessage) json.RawMessage {
	if len(raw) > 0 && raw[0] == '{' {
		return raw
	}
	return nil
}
