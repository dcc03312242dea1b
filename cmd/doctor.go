package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/proc"
)

// How a finding is. Only fail makes an exit code of 1.
const (
	fine = "ok"
	warn = "warn"
	fail = "fail"
)

// finding is one thing that doctor looked at.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warn, fail
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to do; always there with warn and fail
}

// check looks at one thing and changes nothing.
type check struct {
	name string
	look func(context.Context, *config.Config) []finding
}

// checkLimit bounds one check, so that doctor ends whatever hangs: a state of
// years, a file system that does not answer.
const checkLimit = 30 * time.Second

// checks are made in this order, after the ones that need no configuration.
var checks = []check{
	{"repository", checkRepositories},
	{"agents", checkAgents},
	{"specs", checkSpecs},
	{"gates", checkGates},
	{"github", checkGitHub},
	{"state", checkState},
	{"stores", checkStores},
	{"salvage", checkSalvage},
	{"lease", checkLease},
	{"last tick", checkLastTick},
	{"pauses", checkPauses},
	{"time zone", checkTimeZone},
	{"disk", checkDisk},
	{"places", checkPlaces},
	{"isolation", checkIsolation},
}

func doctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "find what is wrong, and say how to mend it",
		Description: `Looks at git, the configuration, repositories, agents (each is asked for its
version), specs, gates, GitHub, state, lease, disk and the age of the last tick, and says how far
isolation goes. Writes nothing; safe while a tick runs. Exits with 1 when something
fails, with 0 when there are only warnings.

Examples:
   backburner doctor
   backburner doctor --cron     the same with what cron gives a job, and the PATH of your crontab
   backburner doctor --json | jq '.findings[] | select(.status != "ok")'`,
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "cron", Usage: "make the checks in cron's environment"}},
		Action: doctorAction,
	}
}

func doctorAction(c *cli.Context) error {
	if c.NArg() > 0 {
		return usage("doctor takes no arguments: %q", c.Args().Slice())
	}
	look := examine
	if c.Bool("cron") {
		look = examineAsCron
	}
	findings, err := look(c)
	var stopped signalError
	if errors.As(context.Cause(c.Context), &stopped) {
		return &codeError{stopped.code(), errors.New("doctor: stopped before all was looked at")}
	}
	if err != nil {
		return err
	}
	return tell(c, findings)
}

// tell prints the findings, and is an error when one of them fails.
func tell(c *cli.Context, findings []finding) error {
	failed := count(findings, fail)
	if c.Bool("json") {
		if err := printJSON(c.App.Writer, map[string]any{"ok": failed == 0, "findings": findings}); err != nil {
			return err
		}
	} else if err := printFindings(c.App.Writer, findings); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("doctor: failing checks: %d", failed)
	}
	return nil
}

// examine makes all checks.
func examine(c *cli.Context) ([]finding, error) {
	findings := append(checkPath(c.Context, nil), bounded(c.Context, nil, check{"git", checkGit})...)
	cfg, troubles := checkConfig(c)
	findings = append(findings, troubles...)
	if cfg == nil {
		return findings, nil
	}
	for _, one := range checks {
		findings = append(findings, bounded(c.Context, cfg, one)...)
	}
	return findings, nil
}

// bounded makes one check, and does not wait for it for ever.
func bounded(ctx context.Context, cfg *config.Config, one check) []finding {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	found := make(chan []finding, 1)
	go func() { found <- one.look(ctx, cfg) }()
	select {
	case f := <-found:
		return f
	case <-ctx.Done():
		return []finding{{one.name, warn, "no answer: " + ctx.Err().Error(), "look why the machine is slow, and try again"}}
	}
}

func count(findings []finding, status string) int {
	n := 0
	for _, f := range findings {
		if f.Status == status {
			n++
		}
	}
	return n
}

// printFindings is for people: what is fine on a line, the rest with its fix.
func printFindings(w io.Writer, findings []finding) error {
	width := 0
	for _, f := range findings {
		width = max(width, len(f.Check))
	}
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%-4s  %-*s  %s\n", f.Status, width, f.Check, strings.ReplaceAll(f.Detail, "\n", "\n"+strings.Repeat(" ", width+8)))
		if f.Fix != "" {
			fmt.Fprintf(&b, "%*s  -> %s\n", width+4, "", f.Fix)
		}
	}
	fmt.Fprintf(&b, "\n%d ok, %d to look at, %d failing\n", count(findings, fine), count(findings, warn), count(findings, fail))
	_, err := io.WriteString(w, b.String())
	return err
}

// examineAsCron lets this program make the checks with the environment that
// cron gives a job, and the PATH that the user's crontab adds to that.
func examineAsCron(c *cli.Context) ([]finding, error) {
	path, about := crontabPath(c)
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{program, "--json"}
	for _, flag := range []string{"config", "state"} {
		if given := c.String(flag); given != "" {
			abs, err := filepath.Abs(given)
			if err != nil {
				return nil, err
			}
			args = append(args, "--"+flag, abs)
		}
	}
	env := []string{"HOME=" + os.Getenv("HOME"), "LOGNAME=" + whoami(), "SHELL=/bin/sh", "PATH=" + path}
	ended, err := proc.Run(c.Context, proc.Command{Args: append(args, "doctor"), Env: env, Timeout: checkLimit * time.Duration(len(checks)+2)})
	if err != nil {
		return nil, fmt.Errorf("doctor as cron: %w", err)
	}
	var said struct{ Findings []finding }
	if err := json.Unmarshal(ended.Stdout, &said); err != nil {
		return nil, fmt.Errorf("doctor as cron: exit code %d: %s", ended.Exit, strings.TrimSpace(string(ended.Stderr)))
	}
	return append(about, said.Findings...), nil
}

// cronDefault is the PATH of a job whose crontab sets none.
const cronDefault = "/usr/bin:/bin"

// crontabPath is the PATH with which the user's crontab runs backburner, and
// what is to be said of that crontab.
func crontabPath(c *cli.Context) (string, []finding) {
	const fix = "checked with PATH=" + cronDefault + "; backburner init --cron prints the line"
	listed, err := proc.Run(c.Context, proc.Command{Args: []string{"crontab", "-l"}, Timeout: 5 * time.Second})
	if errors.Is(err, proc.ErrNotFound) {
		return cronDefault, []finding{{"crontab", warn, "there is no program crontab", fix}}
	}
	if err != nil {
		return cronDefault, []finding{{"crontab", warn, err.Error(), fix}}
	}
	text := string(listed.Stdout)
	path, found := pathInCrontab(text)
	if !found {
		return cronDefault, append([]finding{{"crontab", warn, "no line of your crontab runs backburner", fix}}, lostKeys(c, text)...)
	}
	return path, append([]finding{{"crontab", fine, "runs backburner with PATH=" + path, ""}}, lostKeys(c, text)...)
}

// lostKeys finds the variables that agents are given here, and that cron has not.
func lostKeys(c *cli.Context, crontab string) []finding {
	cfg, err := loadConfig(c)
	if err != nil {
		return nil // told by the checks
	}
	var found []finding
	for _, name := range cfg.AgentNames() {
		a := cfg.Agents[name]
		for _, key := range append(slices.Clone(a.Env), onRunner[orName(a.Preset, name)].secret) {
			if os.Getenv(key) != "" && !strings.Contains(crontab, key+"=") {
				found = append(found, finding{"agent " + name, warn, key + " is set here, and not in the crontab",
					"add " + key + "=... to the crontab, or let the agent log in by itself"})
			}
		}
	}
	return found
}

// pathInCrontab is the PATH of the first job that runs backburner: what its
// command sets, else what a line above it does, else cron's own.
func pathInCrontab(text string) (path string, found bool) {
	path = cronDefault
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(name) == "PATH" {
			path = strings.Trim(strings.TrimSpace(value), `"'`)
			continue
		}
		if strings.HasPrefix(line, "#") || !strings.Contains(line, "backburner") {
			continue
		}
		if _, after, ok := strings.Cut(line, " PATH="); ok {
			path = strings.ReplaceAll(firstWord(after), `\%`, "%")
		}
		return path, true
	}
	return path, false
}

// firstWord is the first word of a shell command, without the quotes round it.
func firstWord(text string) string {
	if text != "" && strings.ContainsRune(`'"`, rune(text[0])) {
		word, _, _ := strings.Cut(text[1:], text[:1])
		return word
	}
	if i := strings.IndexAny(text, " \t;&"); i >= 0 {
		return text[:i]
	}
	return text
}
