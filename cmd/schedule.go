package cmd

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/proc"
)

// cronLimit is how long a line of a crontab may be: a common cron cuts it there.
const cronLimit = 998

// initCron prints a line for crontab: cron gives a job neither the working
// directory nor the PATH of a shell, so the line brings both.
func initCron(c *cli.Context, top string) error {
	program, lasting, err := ownProgram()
	if err != nil {
		return err
	}
	command := []string{program, "tick"}
	if given := c.String("config"); given != "" {
		abs, err := filepath.Abs(given)
		if err != nil {
			return err
		}
		command = append(command, "--config", abs)
	}
	line := cronLine(top, cronPath(os.Getenv("PATH")), command)
	if c.Bool("json") {
		return printJSON(c.App.Writer, map[string]string{"line": line})
	}
	if _, err := fmt.Fprintln(c.App.Writer, line); err != nil {
		return err
	}
	note := func(text string) { fmt.Fprintln(c.App.ErrWriter, text) }
	note("Install it with `crontab -e`, or: (crontab -l; backburner init --cron) | crontab -")
	note("Check it with `backburner doctor --cron`. Cron mails what a tick says, which is nothing when nothing happened.")
	if !lasting {
		note("backburner runs from a temporary folder now: install it first (go install), then ask for this line again.")
	}
	if len(line) > cronLimit {
		note(fmt.Sprintf("The line is longer than the %d characters that cron reads: take out of PATH what agents and gates do not need.", cronLimit))
	}
	return nil
}

// cronLine runs a command in dir every quarter of an hour.
func cronLine(dir, path string, command []string) string {
	words := make([]string, len(command))
	for i, w := range command {
		words[i] = shellWord(w)
	}
	line := fmt.Sprintf("cd %s && PATH=%s %s", shellWord(dir), shellWord(path), strings.Join(words, " "))
	return "*/15 * * * * " + strings.ReplaceAll(line, "%", `\%`) // cron ends a command at %
}

// shellWord quotes a text for sh where that is needed.
func shellWord(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-:,+@%", r)
	}
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// cronPath is the PATH of this shell without what means nothing to cron: agents
// need their interpreters, and gates whatever builds the project.
func cronPath(path string) string {
	var dirs []string
	for _, dir := range append(filepath.SplitList(path), "/usr/bin", "/bin") {
		if filepath.IsAbs(dir) && exists(dir) && !slices.Contains(dirs, filepath.Clean(dir)) {
			dirs = append(dirs, filepath.Clean(dir))
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// ownProgram is the path by which this program is started later; lasting is
// false when it will be gone by then, as what `go run` builds is.
func ownProgram() (path string, lasting bool, err error) {
	path, err = os.Executable()
	if err != nil {
		return "", false, err
	}
	if !strings.HasPrefix(path, os.TempDir()+string(filepath.Separator)) {
		return path, true, nil
	}
	installed, err := proc.LookPath("backburner", os.Getenv("PATH"))
	if err != nil {
		return path, false, nil
	}
	return installed, true, nil
}

//go:embed workflow.yml.tmpl
var workflowText string

var workflowTemplate = template.Must(template.New("workflow").Delims("[[", "]]").Parse(workflowText))

// onRunner is how an agent gets onto a fresh machine, and the key it works with there.
var onRunner = map[string]struct{ install, secret string }{
	"claude":   {"npm install -g @anthropic-ai/claude-code", "ANTHROPIC_API_KEY"},
	"codex":    {"npm install -g @openai/codex", "CODEX_API_KEY"},
	"gemini":   {"npm install -g @google/gemini-cli", "GEMINI_API_KEY"},
	"opencode": {"npm install -g opencode-ai", "OPENCODE_API_KEY"},
	"copilot":  {"npm install -g @github/copilot", "COPILOT_GITHUB_TOKEN"},
	"qwen":     {"npm install -g @qwen-code/qwen-code", "DASHSCOPE_API_KEY"},
}

// initActions writes a workflow that runs the tick.
func initActions(c *cli.Context, top string) error {
	cfg, err := loadConfig(c)
	if err != nil {
		return err
	}
	text, err := workflow(slugOf(cfg), presetsOf(cfg.AgentNames(), func(name string) string { return orName(cfg.Agents[name].Preset, name) }))
	if err != nil {
		return err
	}
	if c.Bool("print") {
		_, err := c.App.Writer.Write(text)
		return err
	}
	path := filepath.Join(top, ".github", "workflows", "backburner.yml")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := writeNew(path, text, c.Bool("force")); err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, map[string]string{"path": path})
	}
	next := `   set plan_approval = "auto" in backburner.toml, or start the workflow by hand to approve plans
   commit it with backburner.toml and .backburner/specs to the default branch, which is where schedules run
`
	if onGitHub(cfg) {
		next = `   allow it to open pull requests, or give it a token of its own: the file says how
   commit it with backburner.toml to the default branch, which is where schedules run
`
	}
	_, err = fmt.Fprintf(c.App.Writer, "wrote %s\n\nNext: read it; then\n   add the keys of the agents to the secrets of the repository\n%s", path, next)
	return err
}

// presetsOf are the presets of agents, each once.
func presetsOf(names []string, preset func(string) string) []string {
	var all []string
	for _, name := range names {
		if p := preset(name); !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// slugOf are the configured repositories on GitHub, in words; "" when there are none.
func slugOf(cfg *config.Config) string {
	var slugs []string
	for _, r := range cfg.Repositories {
		if r.Slug != "" {
			slugs = append(slugs, r.Slug)
		}
	}
	return strings.Join(slugs, ", ")
}

// workflow is the text of the workflow for repositories on GitHub, or "" for a
// local one, and agents of these presets.
func workflow(onGitHub string, presets []string) ([]byte, error) {
	data := struct {
		Module, GitHub   string
		Install, Secrets []string
	}{Module: modulePath, GitHub: onGitHub}
	for _, p := range presets {
		if on, ok := onRunner[p]; ok {
			data.Install, data.Secrets = append(data.Install, on.install), append(data.Secrets, on.secret)
		}
	}
	var b bytes.Buffer
	err := workflowTemplate.Execute(&b, data)
	return b.Bytes(), err
}

// modulePath is what `go install` is told.
const modulePath = "github.com/backburner-cli/backburner"
