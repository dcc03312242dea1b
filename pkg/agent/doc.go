// Package agent drives coding-agent command lines: it knows how each is called without a person, what it may do, and how to read from what it
// left behind whether its run was fine, what it answered, and what it cost.
//
// One run is one folder. It holds prompt.md and packet.json before the run starts; afterwards stdout, stderr, the supervisor's
// files (see package proc) and result.json, the answer in the form of [work.Result] whoever gave it. All that [Agent.Collect]
// says of a run it takes from that folder alone, so that a later process can adopt a run whose own process was killed.
//
// # What counts as success
//
// Never the exit code alone. A run is fine when the command line said itself that its turn ended, without an error, no tool was
// refused, and the answer keeps the contract. Only structured output is believed: the events and errors a command line prints
// as JSON, not what a model writes. Two rules soften that where it would be wrong:
//
//   - A role that only reads and gave an acceptable answer is fine although a tool was refused: that the workspace cannot be changed is
//     what it was promised.
//   - A role that writes and ended with words instead of the contract's JSON is fine, with the words as summary: its work is in git. Of a
//     role whose answer is the work (a plan, a review, an assessment) that is output_invalid.
//
// # The presets
//
// The prompt is always standard input, never an argument. A preset gives a role that writes what building needs (edits in the
// workspace and shell commands) and other roles what reading needs; configured arguments come after the preset's and can widen or narrow that.
// Configuration that a checkout brings along (hooks, MCP servers, permissions) is not honoured, as far as a command line can be told so:
//
//	claude     stream-json, --json-schema, acceptEdits and Bash / dontAsk with tools that only read, --setting-sources user,
//	           --strict-mcp-config, --max-turns, --max-budget-usd, --resume
//	codex      exec --json, --output-schema, sandbox workspace-write (no network) / read-only, exec resume; an untrusted
//	           project's configuration is off by default. A reconciler may write the workspace's .git as well.
//	gemini     stream-json, approval mode yolo / default with commands that read, settings of the run's own for MCP servers
//	           and turns
//	opencode   run --format json, permissions and MCP servers by OPENCODE_CONFIG_CONTENT, OPENCODE_DISABLE_PROJECT_CONFIG
//	copilot    output json, --allow-all-tools / nothing but what needs no permission, --resume; no MCP servers, its own
//	           for GitHub off
//	qwen       stream-json, approval mode yolo / default with commands that read, --max-session-turns, --resume; no MCP servers
//	custom     any command that keeps the contract: see [Config.Command] and the BACKBURNER_ variables set in custom.go
//
// # What agents do not get
//
// The environment is an allow-list (see proc.Environment) plus the names a preset needs for its own account. Credential
// helpers, SSH and the GitHub command line's login are switched off in it. A workspace is not a sandbox all the same: what a
// program of the same user can read, an agent can read. Config.Wrap runs it under something stronger.
//
// The package must not decide what becomes of a task, write state, or log.
package agent
