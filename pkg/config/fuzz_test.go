package config

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// judge is Load on a text instead of a file.
func judge(text string) (*Config, error) {
	var ps problems
	c := newConfig("/work")
	c.file = FileName
	if text, ok := checkText(text, Origin{Kind: FromFile, File: FileName}, &ps); ok && c.decode(text, &ps) {
		c.complete(&ps)
		c.resolve(Sources{Dir: "/work"})
		c.validate(&ps)
	}
	return c, ps.err()
}

// FuzzLoad wants problems that can be shown, on lines that are there, and what
// was accepted to be usable.
func FuzzLoad(f *testing.F) {
	all, err := os.ReadFile("testdata/all.toml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(all))
	for section := range strings.SplitSeq(string(all), "\n\n") {
		f.Add(section)
	}
	f.Add("[[repository]]\nslug = 'a/b'\n[gate.full]\nsteps=[{run=['x']}]\ngroups=[['x']]\n[budget]\nhours='Mon 01:00-02:00 UTC'\nfreeze=['2026-01-01 UTC']")
	f.Add("agent.a.command = ['x']\nroles = { qa = ['a', 'b'] }\nnotify.desktop = {}\nmcp.b.url = 'https://x'")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := judge(text)
		var wrong *Errors
		if err != nil && (!errors.As(err, &wrong) || len(wrong.Problems) == 0) {
			t.Fatalf("an error without problems: %v", err)
		}
		if wrong != nil {
			lines := strings.Count(text, "\n") + 1
			for _, p := range wrong.Problems {
				if p.Line > lines || p.Message == "" || strings.ContainsAny(p.String(), "\n\x1b\x00") {
					t.Errorf("bad problem: %q", p.String())
				}
			}
			return
		}
		for name := range c.Gates {
			gate, there := c.Gate(nil, name)
			if steps := flatten(gate.Order()); there && len(steps) != len(gate.Steps) {
				t.Errorf("gate %s has %d steps and runs %d", name, len(gate.Steps), len(steps))
			}
		}
		for _, role := range roles() {
			for _, name := range c.AgentsFor(role.name) {
				if _, there := c.Agents[name]; !there {
					t.Errorf("role %s has an agent that is not there: %q", role.name, name)
				}
			}
		}
	})
}

func flatten(groups [][]Step) []Step {
	var steps []Step
	for _, group := range groups {
		steps = append(steps, group...)
	}
	return steps
}
