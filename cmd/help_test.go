package cmd

import (
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestHelpIsComplete: every command says what it does, has an example, and
// explains its flags and its arguments.
func TestHelpIsComplete(t *testing.T) {
	for _, c := range commands() {
		if c.Hidden {
			continue
		}
		if c.Usage == "" || c.Category == "" && c.Name != "tick" {
			t.Errorf("%s: no usage or no heading", c.Name)
		}
		if !strings.Contains(c.Description, "Example") {
			t.Errorf("%s: its help has no example", c.Name)
		}
		for _, line := range strings.Split(c.Description, "\n") {
			if len(line) > 100 {
				t.Errorf("%s: a line of its help is longer than 100: %s", c.Name, line)
			}
		}
		for _, f := range c.Flags {
			if d, ok := f.(cli.DocGenerationFlag); !ok || d.GetUsage() == "" {
				t.Errorf("%s: --%s is not explained", c.Name, f.Names()[0])
			}
		}
	}
}

// typedCommand is a call of backburner in a text: after the start of a line,
// code marks, or what a shell puts between commands.
var typedCommand = regexp.MustCompile("(?m)(?:^ *|`|&& |; |\"\\$\\(|\\| )backburner ([a-z][^`\n|&;)<>]*)")

// TestExamplesCanBeTyped holds what help and the README tell people to type
// against the commands and flags that there are.
func TestExamplesCanBeTyped(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"README.md": string(readme)}
	for _, c := range commands() {
		texts["help of "+c.Name] = c.Description
	}
	seen := 0
	for name, text := range texts {
		for _, m := range typedCommand.FindAllStringSubmatch(text, -1) {
			seen++
			if complaint := cannotType(m[1]); complaint != "" {
				t.Errorf("%s: backburner %s: %s", name, m[1], complaint)
			}
		}
	}
	if seen < 40 {
		t.Errorf("only %d examples were found: is the pattern still right?", seen)
	}
}

// cannotType says what is wrong with a command as it is typed; "" when nothing is.
func cannotType(typed string) string {
	app := newApp(io.Discard, io.Discard)
	known, below := flagNames(app.Flags), app.Commands
	for i, word := range strings.Fields(typed) {
		name, _, _ := strings.Cut(strings.TrimLeft(strings.TrimRight(word, `]"'.,:`), "[-"), "=")
		at := slices.IndexFunc(below, func(c *cli.Command) bool { return c.HasName(name) })
		switch {
		case at >= 0:
			maps.Copy(known, flagNames(below[at].Flags))
			below = below[at].Subcommands
		case i == 0:
			return "is no command"
		case strings.HasPrefix(strings.TrimLeft(word, "["), "--"):
			if _, ok := known[name]; !ok && name != "help" {
				return "--" + name + " is no flag"
			}
		}
	}
	return ""
}

func TestCannotType(t *testing.T) {
	for typed, want := range map[string]string{
		"status fix-login --json":            "",
		"approve ID [--reject TEXT]":         "",
		"works through your issues":          "is no command",
		"tick --dryrun":                      "--dryrun is no flag",
		"status --reject":                    "--reject is no flag",
		`hold --reason="wait" fix-login`:     "",
		"tick --help":                        "",
		"state gc --dry-run":                 "",
		"state verify --dry-run":             "--dry-run is no flag",
		"init --github-actions   write that": "",
	} {
		if got := cannotType(typed); got != want {
			t.Errorf("%s: %q, want %q", typed, got, want)
		}
	}
}
