package agent

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/work"
)

var tracker = []Server{
	{Name: "git", Command: []string{"backburner", "mcp", "git"}, Allowed: []string{"status"}},
	{Name: "tracker", URL: "https://mcp.example.org", BearerEnv: "TRACKER_TOKEN"},
	{Name: "db", Command: []string{"db-mcp"}, Env: []string{"DB_URL"}},
}

// TestArguments records the whole call of every preset, for a role that reads and one that writes.
func TestArguments(t *testing.T) {
	schema := json.RawMessage(`{"type":"object"}`)
	for _, test := range []struct {
		name string
		conf Config
		call Call
		want string // DIR is the run's folder, TMP the temporary one
	}{
		{"claude reads", Config{Preset: "claude"}, Call{Task: work.MakePlan, Schema: schema},
			`-p --output-format stream-json --verbose --setting-sources user --strict-mcp-config --permission-mode dontAsk --tools Bash,Glob,Grep,LS,Read,Task,TodoWrite --json-schema {"type":"object"}`},
		{"claude writes", Config{Preset: "claude", Model: "opus", MaxTurns: 50, Args: []string{"--effort", "high"}},
			Call{Task: work.Implement, Session: "0d13561d-7f49", BudgetUSD: 1.5, Tools: tracker},
			`-p --output-format stream-json --verbose --setting-sources user --strict-mcp-config --permission-mode acceptEdits` +
				` --tools Bash,Glob,Grep,LS,Read,Task,TodoWrite,Edit,MultiEdit,NotebookEdit,Write --add-dir TMP --mcp-config DIR/mcp.json` +
				` --allowedTools Bash,mcp__git__status,mcp__tracker,mcp__db --model opus --max-turns 50 --max-budget-usd 1.5000 --resume 0d13561d-7f49 --effort high`},
		{"codex reads", Config{Preset: "codex"}, Call{Task: work.ReviewPR, Schema: schema},
			`exec --json --skip-git-repo-check -C /w -s read-only --disable unbounded_connection_retries -c analytics.enabled=false` +
				` -c check_for_update_on_startup=false -c shell_environment_policy.exclude=["*API_KEY*","*TOKEN*","*SECRET*"] --output-schema DIR/schema.json -`},
		{"codex merges", Config{Preset: "codex", Model: "gpt", Args: []string{"-c", "x=1"}}, Call{Task: work.Reconcile, Session: "01a22b94-d4f6", Tools: tracker},
			`exec --json --skip-git-repo-check -C /w -s workspace-write --disable unbounded_connection_retries -c analytics.enabled=false` +
				` -c check_for_update_on_startup=false -c shell_environment_policy.exclude=["*API_KEY*","*TOKEN*","*SECRET*"] --add-dir /w/.git -m gpt` +
				` -c mcp_servers.git={required=true,default_tools_approval_mode="approve",command="backburner",args=["mcp","git"],enabled_tools=["status"]}` +
				` -c mcp_servers.tracker={required=true,default_tools_approval_mode="approve",url="https://mcp.example.org",bearer_token_env_var="TRACKER_TOKEN"}` +
				` -c mcp_servers.db={required=true,default_tools_approval_mode="approve",command="db-mcp",args=[],env_vars=["DB_URL"]}` +
				` -c x=1 resume 01a22b94-d4f6 -`},
		{"gemini reads", Config{Preset: "gemini"}, Call{Task: work.MakePlan}, `-o stream-json --skip-trust --approval-mode default --allowed-tools READING --allowed-mcp-server-names none-RANDOM`},
		{"gemini writes", Config{Preset: "gemini", Model: "pro", MaxTurns: 9}, Call{Task: work.Implement, Session: "86352049", Tools: tracker},
			`-o stream-json --skip-trust --approval-mode yolo -m pro --allowed-mcp-server-names git,tracker,db --resume 86352049`},
		{"opencode reads", Config{Preset: "opencode"}, Call{Task: work.MakePlan}, `run --format json`},
		{"opencode writes", Config{Preset: "opencode", Model: "a/b"}, Call{Task: work.Verify, Session: "ses_1"}, `run --format json -m a/b -s ses_1`},
		{"copilot reads", Config{Preset: "copilot"}, Call{Task: work.MakePlan},
			`--output-format json --no-ask-user --no-color --no-auto-update --disable-builtin-mcps --usage-output-file DIR/usage.json`},
		{"copilot writes", Config{Preset: "copilot", Model: "m"}, Call{Task: work.Implement, Session: "a8884bf1"},
			`--output-format json --no-ask-user --no-color --no-auto-update --disable-builtin-mcps --usage-output-file DIR/usage.json --allow-all-tools --model m --resume=a8884bf1`},
		{"qwen reads", Config{Preset: "qwen"}, Call{Task: work.MakePlan, Schema: schema},
			`-o stream-json --approval-mode default --allowed-mcp-server-names none-RANDOM --allowed-tools READING`},
		{"qwen writes", Config{Preset: "qwen", Model: "m", MaxTurns: 3}, Call{Task: work.Implement, Session: "ef67"},
			`-o stream-json --approval-mode yolo --allowed-mcp-server-names none-RANDOM -m m --max-session-turns 3 -r ef67`},
		{"custom", Config{Preset: "custom", Command: []string{"/bin/x"}, Args: []string{"--fast"}}, Call{Task: work.Verify}, `--fast`},
		{"a session that could be an option", Config{Preset: "codex"}, Call{Task: work.ReviewPR, Session: "--last"},
			`exec --json --skip-git-repo-check -C /w -s read-only --disable unbounded_connection_retries -c analytics.enabled=false` +
				` -c check_for_update_on_startup=false -c shell_environment_policy.exclude=["*API_KEY*","*TOKEN*","*SECRET*"] -`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, call := invoke(t, test.conf, &test.call)
			got := strings.ReplaceAll(strings.Join(call.args, " "), test.call.Dir, "DIR")
			got = strings.Replace(got, "--add-dir "+os.TempDir()+" ", "--add-dir TMP ", 1)
			got = strings.Replace(got, strings.Join(shellTools(), ","), "READING", 1)
			got = regexp.MustCompile(`none-[A-Z2-7]{26}`).ReplaceAllString(got, "none-RANDOM")
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func invoke(t *testing.T, conf Config, c *Call) (*Agent, invocation) {
	t.Helper()
	conf.Name = "a"
	a, err := New(conf, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Dir, c.Workspace = t.TempDir(), "/w"
	call, err := a.preset.invoke(a, *c)
	if err != nil {
		t.Fatal(err)
	}
	return a, call
}

// TestServersAreWrittenWithoutSecrets looks at how each preset is told of MCP servers.
func TestServersAreWrittenWithoutSecrets(t *testing.T) {
	t.Setenv("TRACKER_TOKEN", "s3cret")
	t.Setenv("DB_URL", "postgres://s3cret")
	for preset, want := range map[string][]string{
		"claude":   {`"Authorization": "Bearer ${TRACKER_TOKEN}"`, `"DB_URL": "${DB_URL}"`},
		"custom":   {`"Authorization": "Bearer ${TRACKER_TOKEN}"`, `"command": "backburner"`},
		"gemini":   {`"Authorization": "Bearer $TRACKER_TOKEN"`, `"DB_URL": "$DB_URL"`, `"includeTools"`, `"maxSessionTurns": 9`},
		"opencode": {`"Authorization":"Bearer {env:TRACKER_TOKEN}"`, `"DB_URL":"{env:DB_URL}"`},
	} {
		c := Call{Task: work.Implement, Tools: tracker}
		a, call := invoke(t, Config{Preset: preset, Command: []string{"/bin/x"}, MaxTurns: 9}, &c)
		text := strings.Join(call.env, "\n")
		for _, name := range []string{toolsFile, settingsFile} {
			if content, err := os.ReadFile(c.path(name)); err == nil {
				text += string(content)
			}
		}
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no %s in\n%s", preset, part, text)
			}
		}
		if strings.Contains(text, "s3cret") {
			t.Errorf("%s: a secret is written down:\n%s", preset, text)
		}
		if env := a.environment(c, call); !slices.Contains(env, "TRACKER_TOKEN=s3cret") || !slices.Contains(env, "DB_URL=postgres://s3cret") {
			t.Errorf("%s: the servers' variables are not handed on", preset)
		}
	}
}

func TestEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"GH_TOKEN": "x", "GITHUB_TOKEN": "x", "SSH_AUTH_SOCK": "/x", "GIT_DIR": "/x", "CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli", "SECRET": "x",
		"ANTHROPIC_API_KEY": "k", "CLAUDE_CODE_MAX_RETRIES": "1", "MINE": "m",
	} {
		t.Setenv(name, value)
	}
	a, err := New(Config{Name: "a", Preset: "claude", Env: []string{"MINE", "SET=1", "DISABLE_AUTOUPDATER=0", "GH_TOKEN"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	env := a.environment(Call{Dir: "/run"}, invocation{env: []string{"CALL=1"}})
	seen := map[string]string{}
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		seen[name] = value
	}
	for name, want := range map[string]string{
		"ANTHROPIC_API_KEY": "k", "CLAUDE_CODE_MAX_RETRIES": "1", "MINE": "m", "SET": "1", "CALL": "1", "DISABLE_AUTOUPDATER": "0", "TERM": "dumb",
		"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "GIT_SSH_COMMAND": "false", "GIT_CONFIG_KEY_0": "credential.helper", "GH_CONFIG_DIR": "/run/gh",
		"PATH": os.Getenv("PATH"),
	} {
		if got, ok := seen[name]; !ok || got != want {
			t.Errorf("%s=%q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"GH_TOKEN", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "GIT_DIR", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "SECRET"} {
		if value, ok := seen[name]; ok {
			t.Errorf("%s=%s is handed on", name, value)
		}
	}
}

// TestGitFindsNoCredentials asks git for a password, with a helper in the user's configuration that has one.
func TestGitFindsNoCredentials(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	write(t, filepath.Join(home, ".gitconfig"), "[credential]\n\thelper = \"!f() { echo username=me; echo password=s3cret; }; f\"\n")
	a, err := New(Config{Name: "a", Preset: "custom", Command: []string{"/bin/x"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fill := func(env []string) string {
		cmd := exec.Command("git", "credential", "fill")
		cmd.Env, cmd.Dir, cmd.Stdin = env, home, strings.NewReader("protocol=https\nhost=example.org\n\n")
		out, _ := cmd.Output()
		return string(out)
	}
	if out := fill(append(os.Environ(), "GIT_TERMINAL_PROMPT=0")); !strings.Contains(out, "s3cret") {
		t.Fatalf("the helper does not work at all: %q", out)
	}
	if out := fill(a.environment(Call{Dir: home}, invocation{})); strings.Contains(out, "s3cret") {
		t.Error("an agent's git gets the user's password")
	}
}

func TestNewRefuses(t *testing.T) {
	for name, c := range map[string]Config{
		`preset "hal" is not supported; there are claude, codex, gemini, opencode`: {Preset: "hal"},
		"a custom agent needs a command":                                           {Preset: "custom"},
	} {
		if _, err := New(c, nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v", err)
		}
	}
}

func TestInstalled(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(one, "opencode"), filepath.Join(two, "claude"), filepath.Join(two, "custom")} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(one, "codex"), "not executable")
	if got := Installed(one + string(os.PathListSeparator) + two); !slices.Equal(got, []string{"claude", "opencode"}) {
		t.Errorf("%v", got)
	}
	if got := Installed(""); got != nil {
		t.Errorf("%v", got)
	}
	for _, name := range Presets() {
		if _, ok := presets[name]; !ok {
			t.Errorf("%s is no preset", name)
		}
	}
	if len(Presets()) != len(presets) {
		t.Error("a preset is not in the order")
	}
}
