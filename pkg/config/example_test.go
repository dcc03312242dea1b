package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/config"
)

// isSetting reports whether a line is a setting that is commented out.
func isSetting(line string) bool {
	return len(line) > 1 && line[0] == '#' && strings.TrimLeft(line[1:2], "abcdefghijklmnopqrstuvwxyz[") == ""
}

// isPart also takes the lines in and after a list of a block that is commented out.
func isPart(line string) bool {
	return isSetting(line) || strings.HasPrefix(line, "#  {") || strings.HasPrefix(line, "#]")
}

// uncomment takes the # off the lines from first up to, not including, last.
func uncomment(lines []string, first, last int) string {
	out := append([]string(nil), lines...)
	for i := first; i < last; i++ {
		if isPart(out[i]) {
			out[i] = out[i][1:]
		}
	}
	return strings.Join(out, "\n")
}

func uncommentAll(text string) string {
	lines := strings.Split(text, "\n")
	return uncomment(lines, 0, len(lines))
}

var examples = map[string]config.Found{
	"nothing found": {},
	"local": {Path: ".", Base: "trunk", Agents: []string{"claude", "codex"},
		Fast: []config.Step{{Name: "vet \"it\"", Run: []string{"go", "vet"}}},
		Full: []config.Step{{Name: "test", Run: []string{"sh", "-c", "a\\b\t\"c\""}, Timeout: 90e9}}},
	"github":    {Slug: "acme/shop", Base: "main", Agents: []string{"gemini"}, Full: []config.Step{{Name: "t", Run: []string{"t"}}}},
	"odd paths": {Path: `/srv/it's "a\b" ü`, Agents: []string{"opencode"}},
}

func TestExampleLoads(t *testing.T) {
	for name, found := range examples {
		c, err := load(t, string(config.Example(found)))
		if err != nil {
			t.Errorf("%s:\n%v", name, err)
			continue
		}
		if len(c.Repositories) != 1 || len(c.Agents) != len(found.Agents) || len(c.Gates["fast"].Steps) != len(found.Fast) || len(c.Gates["full"].Steps) != len(found.Full) {
			t.Errorf("%s: it says something else than what was found: %+v", name, c)
		}
		if found.Path != "" && found.Path != "." && c.Repositories[0].Path != found.Path {
			t.Errorf("%s: path %q, want %q", name, c.Repositories[0].Path, found.Path)
		}
		for i, s := range c.Gates["full"].Steps {
			if want := found.Full[i]; s.Name != want.Name || strings.Join(s.Run, "\x00") != strings.Join(want.Run, "\x00") {
				t.Errorf("%s: step %+v, want %+v", name, s, want)
			}
		}
	}
}

// TestExampleUncommented takes the # off each line alone, off each block that is
// commented out with its header, and off everything.
func TestExampleUncommented(t *testing.T) {
	load := loader(t)
	for name, found := range examples {
		text := string(config.Example(found))
		lines := strings.Split(text, "\n")
		if _, err := load(uncommentAll(text)); err != nil {
			t.Errorf("%s, everything: %v", name, err)
		}
		tried, server := 0, 0
		for i := 0; i < len(lines); i++ {
			first, last := i, i+1
			switch {
			case strings.HasPrefix(lines[i], "#["):
				for last < len(lines) && lines[last] != "" {
					last++
				}
				if strings.HasPrefix(lines[i], "#[mcp.") {
					server = i
				}
				if strings.HasPrefix(lines[i], "#[capability.") {
					first = server // it says that it needs the one above
				}
			case !isSetting(lines[i]) || name != "local": // the lines are the same in all of them
				continue
			}
			if _, err := load(uncomment(lines, first, last)); err != nil {
				t.Errorf("%s, %q: %v", name, lines[i], err)
			}
			tried++
			i = last - 1
		}
		if least := map[string]int{"local": 60}[name] + 5; tried < least {
			t.Errorf("%s: only %d lines and blocks were tried, want %d", name, tried, least)
		}
	}
}

func TestExampleHasEveryKey(t *testing.T) {
	text := string(config.Example(examples["local"]))
	for _, key := range config.Keys() {
		name := key.Name[strings.LastIndexByte(key.Name, '.')+1:]
		if !strings.Contains(text, name+" = ") {
			t.Errorf("%s is not in the example", key.Name)
		}
	}
}

func TestExampleIsReadable(t *testing.T) {
	for name, found := range examples {
		for _, line := range strings.Split(string(config.Example(found)), "\n") {
			if len(line) > 150 || strings.TrimRight(line, " ") != line {
				t.Errorf("%s: %q", name, line)
			}
		}
	}
}

func TestExampleNamesItsSchema(t *testing.T) {
	first, _, _ := strings.Cut(string(config.Example(config.Found{})), "\n")
	if want := "#:schema " + config.SchemaURL; first != want {
		t.Errorf("got %q, want %q", first, want)
	}
}

func TestKeys(t *testing.T) {
	byName := map[string]config.Key{}
	envs := map[string]string{}
	for _, key := range config.Keys() {
		if key.Doc == "" || strings.ContainsAny(key.Doc, "\n") {
			t.Errorf("%s has no line of documentation", key.Name)
		}
		if _, twice := byName[key.Name]; twice {
			t.Errorf("%s is there twice", key.Name)
		}
		if other := envs[key.Env]; key.Env != "" && other != "" {
			t.Errorf("%s and %s share %s", key.Name, other, key.Env)
		}
		byName[key.Name], envs[key.Env] = key, key.Name
	}
	for name, want := range map[string]string{
		"tick.deadline":                   `duration "50m" BACKBURNER_TICK_DEADLINE []`,
		"tick.queue":                      `boolean true BACKBURNER_TICK_QUEUE []`,
		"state.backend":                   `text "dir" BACKBURNER_STATE_BACKEND [dir git]`,
		"budget.task_usd":                 `number 5 BACKBURNER_BUDGET_TASK_USD []`,
		"mainline.check_before":           `list of texts ["planning", "building", "qa"] BACKBURNER_MAINLINE_CHECK_BEFORE [planning building qa]`,
		"github.labels.hold":              `text "backburner:hold" BACKBURNER_GITHUB_LABELS_HOLD []`,
		"repository[].generated[].run":    `list of texts   []`,
		"agent.NAME.price.input":          `number 0  []`,
		"gate.NAME.groups":                `list of lists of texts   []`,
		"gate.NAME.steps[].coverage.file": `text   []`,
		"repository[].gates":              `table of texts   []`,
		"gate.NAME.steps[].retry_codes":   `list of whole numbers   []`,
	} {
		k := byName[name]
		if got := fmt.Sprintf("%s %s %s %v", k.Type, k.Default, k.Env, k.Values); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
