package config

import "time"

// Capability is something that tasks need and an MCP server provides. A task needs
// it when one of kinds, labels or paths fits, or its plan says so.
type Capability struct {
	Uses   string   `toml:"uses" example:"\"linear\"" required:"true" doc:"handle of an MCP server"`
	Kinds  []string `toml:"kinds" example:"[\"plan\", \"implement\"]" enum:"analyze_issue,plan,break_down_plan,implement,assess_increment,verify,review_pr,address_review,respond,reconcile_mainline,prepare_pr_for_merge" doc:"kinds of tasks that need it"`
	Labels []string `toml:"labels" example:"[\"tracker\"]" check:"label" doc:"tasks of issues with one of these labels need it"`
	Paths  []string `toml:"paths" example:"[\"integrations/**\"]" check:"glob" doc:"tasks whose plan touches one of these need it"`
}

// MCPServer is a server that agents may use, started by a command, reached at a
// URL, or connected through Smithery.
type MCPServer struct {
	Command   []string      `toml:"command" example:"[\"npx\", \"-y\", \"some-server\"]" check:"argv" doc:"command and arguments that start it; speaks on stdin and stdout"`
	URL       string        `toml:"url" example:"\"https://mcp.example.org/mcp\"" check:"url" doc:"or where it is reached over HTTP"`
	Smithery  string        `toml:"smithery" example:"\"acme/linear\"" check:"smithery" doc:"or its Smithery connection, \"namespace/connection\""`
	Tools     []string      `toml:"tools" example:"[\"get_issue\"]" check:"text" doc:"must be offered, or the server is not ready"`
	Env       []string      `toml:"env" example:"[\"LINEAR_API_KEY\"]" check:"env" doc:"environment of the command: NAME is passed through, NAME=value is set"`
	BearerEnv string        `toml:"bearer_env" example:"\"LINEAR_TOKEN\"" check:"env_name" doc:"variable whose value is sent to the URL as bearer token"`
	Timeout   time.Duration `toml:"timeout" default:"20s" min:"1s" max:"10m" doc:"longest wait for its readiness"`
}

// Notifier is one place that is told of transitions.
type Notifier struct {
	Kind       string        `toml:"kind" example:"\"slack\"" enum:"slack,webhook,desktop,command" doc:"how it is told; default: the table's name"`
	WebhookEnv string        `toml:"webhook_env" example:"\"SLACK_WEBHOOK_URL\"" check:"env_name" doc:"variable that holds the URL, for slack and webhook"`
	SecretEnv  string        `toml:"secret_env" example:"\"WEBHOOK_SECRET\"" check:"env_name" doc:"variable that holds the key a webhook's body is signed with"`
	Command    []string      `toml:"command" example:"[\"notify-send\", \"backburner\"]" check:"argv" doc:"command and arguments, for command; gets the event as JSON on stdin"`
	Events     []string      `toml:"events" default:"blocked,awaiting_input,awaiting_approval,ready_to_merge,merged,failed,paused_budget,escalated" enum:"intake,planning,awaiting_approval,awaiting_input,building,qa,ready_to_merge,blocked,paused_budget,merged,failed,closed,escalated,budget_alert,mcp_blocked" doc:"what it is told"`
	Timeout    time.Duration `toml:"timeout" default:"10s" min:"1s" max:"10m" doc:"longest attempt to tell"`
}
