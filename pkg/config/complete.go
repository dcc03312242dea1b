package config

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// complete fills in what is left out because a table's name says it, and adds the
// agents that only a role names.
func (c *Config) complete(ps *problems) {
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		agent := c.Agents[name]
		agent.Preset = presetOf(name, agent)
		c.Agents[name] = agent
	}
	for _, name := range slices.Sorted(maps.Keys(c.Notifiers)) {
		notifier := c.Notifiers[name]
		if notifier.Kind == "" && slices.Contains(notifierKinds(), name) {
			notifier.Kind = name
		}
		c.Notifiers[name] = notifier
	}
	for _, gate := range c.Gates {
		nameSteps(gate.Steps)
	}
	for _, f := range roles() {
		for i, name := range c.Roles.named(f.name) {
			if _, known := c.Agents[name]; !known && !c.addPreset(name) {
				c.unknownAgent("roles."+f.name, i, name, ps)
			}
		}
	}
}

// nameSteps gives each step without a name its command's, made unique.
func nameSteps(steps []Step) {
	taken := map[string]bool{}
	for _, s := range steps {
		taken[s.Name] = true
	}
	for i, s := range steps {
		if s.Name != "" || len(s.Run) == 0 {
			continue
		}
		name := path.Base(s.Run[0])
		if len(s.Run) > 1 && !strings.HasPrefix(s.Run[1], "-") {
			name += " " + s.Run[1]
		}
		unique := name
		for n := 2; taken[unique]; n++ {
			unique = name + " " + formatNumber(float64(n))
		}
		taken[unique] = true
		steps[i].Name = unique
	}
}
