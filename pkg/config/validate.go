package config

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// report adds a problem at the place where the key was set, or, for a key that is
// missing, where its table is.
func (c *Config) report(ps *problems, key, format string, args ...any) {
	ps.add(c.placeOf(key), key, fmt.Sprintf(format, args...))
}

func (c *Config) placeOf(key string) Origin {
	for at := key; at != ""; {
		if o := c.origins[at]; o.Kind != FromDefault {
			return o
		}
		at = at[:max(strings.LastIndexByte(at, '.'), strings.LastIndexByte(at, '['), 0)]
	}
	return Origin{File: c.file}
}

// validate checks what single values cannot show: how settings go together.
func (c *Config) validate(ps *problems) {
	c.validateRepositories(ps)
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		c.validateAgent(name, ps)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Gates)) {
		c.validateGate(name, ps)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Capabilities)) {
		c.validateCapability(name, ps)
	}
	for _, name := range slices.Sorted(maps.Keys(c.MCP)) {
		c.validateMCP(name, ps)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Notifiers)) {
		c.validateNotifier(name, ps)
	}
}

func (c *Config) validateRepositories(ps *problems) {
	first := map[string]string{}
	for i := range c.Repositories {
		repo, key := &c.Repositories[i], element("repository", i)
		c.validateRepository(repo, key, ps)
		id := cmp.Or(strings.ToLower(repo.Slug), repo.Path)
		if before := first[id]; id != "" && before != "" {
			c.report(ps, key, "%s is configured already at %s; keep one of the two", repo.Name(), c.placeOf(before))
			continue
		}
		first[id] = key
	}
}

func (c *Config) validateRepository(repo *Repository, key string, ps *problems) {
	hasSlug, hasPath := c.isSet(join(key, "slug")), c.isSet(join(key, "path"))
	switch {
	case repo.Slug != "" && repo.Path != "":
		c.report(ps, key, "has both slug and path; leave out path for a repository on GitHub, slug for a local one")
	case !hasSlug && !hasPath, repo.Slug == "" && repo.Path == "" && c.sound(ps, key):
		c.report(ps, key, "has neither slug nor path; add slug = \"owner/name\" for GitHub, or path = \".\" for a local repository")
	case repo.Slug == "" && repo.PlanAs == "pull_request":
		c.report(ps, join(key, "plan_as"), "a local repository has no pull requests; write \"comment\" or \"file\"")
	}
	c.validateGatesOf(repo, join(key, "gates"), ps)
}

// validateGatesOf checks which gates a repository has in place of the common ones.
func (c *Config) validateGatesOf(repo *Repository, key string, ps *problems) {
	gates := slices.Sorted(maps.Keys(c.Gates))
	purposes := append([]string{"fast", "full", "merge"}, gates...)
	for _, purpose := range slices.Sorted(maps.Keys(repo.Gates)) {
		if !slices.Contains(purposes, purpose) {
			c.report(ps, join(key, purpose), "nothing asks for a gate of that name; %s", meant(purpose, purposes[:3]))
		} else if !slices.Contains(gates, repo.Gates[purpose]) {
			c.report(ps, join(key, purpose), "%s", unknownName("gate", repo.Gates[purpose], gates))
		}
	}
}

// sound reports whether nothing was wrong at key or below it so far.
func (c *Config) sound(ps *problems, key string) bool {
	return !slices.ContainsFunc(ps.list, func(p Problem) bool {
		rest, below := strings.CutPrefix(p.Key, key)
		return below && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// unknownName is the message for a reference to [table.name] that leads nowhere.
func unknownName(table, name string, known []string) string {
	if near := Nearest(name, known); near != "" {
		return fmt.Sprintf("there is no [%s.%s]; did you mean %q?", table, name, near)
	}
	if len(known) == 0 {
		return fmt.Sprintf("there is no [%s.%s]; add that table", table, name)
	}
	return fmt.Sprintf("there is no [%s.%s]; add that table, or use %s", table, name, alternatives(known))
}

// suggested is the word that a table's name comes near, else all words.
func suggested(name string, words []string) string {
	if near := Nearest(name, words); near != "" {
		return fmt.Sprintf("%q", near)
	}
	return alternatives(words)
}

func (c *Config) unknownAgent(role string, i int, name string, ps *problems) {
	key := role
	if c.origins[role].Kind == FromFile {
		key = element(role, i)
	}
	known := append(c.AgentNames(), Presets()...)
	slices.Sort(known)
	known = slices.DeleteFunc(slices.Compact(known), func(s string) bool { return s == custom })
	if near := Nearest(name, known); near != "" {
		c.report(ps, key, "%q is no agent; did you mean %q?", name, near)
		return
	}
	c.report(ps, key, "%q is no agent; add [agent.%s] with preset = \"custom\" and its command, or use %s", name, name, alternatives(known))
}

func (c *Config) validateAgent(name string, ps *problems) {
	agent, key := c.Agents[name], join("agent", name)
	switch {
	case agent.Preset == "" && !c.isSet(join(key, "preset")):
		c.report(ps, key, "it is not said which agent this is; add preset = %s", suggested(name, Presets()))
	case agent.Preset == custom && !c.isSet(join(key, "command")):
		c.report(ps, key, "preset \"custom\" does not know what to run; add command = [\"program\", \"argument\"]")
	}
}

func (c *Config) validateGate(name string, ps *problems) {
	gate, key := c.Gates[name], join("gate", name)
	switch {
	case name == "merge" && gate.Skip && len(gate.Steps) > 0:
		c.report(ps, join(key, "skip"), "is true, but there are steps; remove one or the other")
	case gate.Skip && name != "merge":
		c.report(ps, join(key, "skip"), "only the merge gate can be skipped; remove [gate.%s] to have none", name)
	case len(gate.Steps) == 0 && name != "merge" && c.sound(ps, join(key, "steps")):
		c.report(ps, key, "has no steps, and a gate that ran nothing cannot pass; add steps, or remove [gate.%s]", name)
	}
	names := map[string]bool{}
	for i, s := range gate.Steps {
		if names[s.Name] && s.Name != "" {
			c.report(ps, join(element(join(key, "steps"), i), "name"), "%q is the name of an earlier step too; give each its own", s.Name)
		}
		names[s.Name] = true
	}
	if len(gate.Groups) > 0 && c.sound(ps, join(key, "groups")) {
		c.validateGroups(gate, key, ps)
	}
}

// validateGroups wants each step in exactly one group.
func (c *Config) validateGroups(gate Gate, key string, ps *problems) {
	groups := join(key, "groups")
	if gate.Parallel {
		c.report(ps, join(key, "parallel"), "is true, but groups say what runs at once; remove one of the two")
	}
	var names []string
	for _, s := range gate.Steps {
		names = append(names, s.Name)
	}
	seen := map[string]bool{}
	for i, group := range gate.Groups {
		for j, name := range group {
			at := element(element(groups, i), j)
			switch {
			case seen[name]:
				c.report(ps, at, "%q is in two places; name each step once", name)
			case !slices.Contains(names, name):
				c.report(ps, at, "%s", oneOf(name, names))
			}
			seen[name] = true
		}
	}
	for _, name := range names {
		if !seen[name] {
			c.report(ps, groups, "step %q is in no group and would not run; add it to one", name)
		}
	}
}

func (c *Config) validateCapability(name string, ps *problems) {
	key := join("capability", name)
	uses := c.Capabilities[name].Uses
	if _, known := c.MCP[uses]; !known && c.isSet(join(key, "uses")) {
		c.report(ps, join(key, "uses"), "%s", unknownName("mcp", uses, slices.Sorted(maps.Keys(c.MCP))))
	}
}

func (c *Config) validateMCP(name string, ps *problems) {
	server, key := c.MCP[name], join("mcp", name)
	var ways []string
	for _, way := range []string{"command", "url", "smithery"} {
		if c.isSet(join(key, way)) {
			ways = append(ways, way)
		}
	}
	switch {
	case len(ways) == 0:
		c.report(ps, key, "it is not said how the server is reached; add command, url or smithery")
	case len(ways) > 1:
		c.report(ps, key, "has %s; keep the one by which the server is reached", strings.Join(ways, " and "))
	case len(server.Env) > 0 && ways[0] != "command":
		c.report(ps, join(key, "env"), "is for a server that is started by command; for a url use bearer_env")
	case server.BearerEnv != "" && ways[0] != "url":
		c.report(ps, join(key, "bearer_env"), "is for a server that is reached at a url; for a command use env")
	}
}

func notifierKinds() []string { return fieldNamed(reflect.TypeFor[Notifier](), "kind").enum }

func roles() []field { return fieldsOf(reflect.TypeFor[Roles]()) }

func (c *Config) validateNotifier(name string, ps *problems) {
	notifier, key := c.Notifiers[name], join("notify", name)
	switch {
	case notifier.Kind == "" && !c.isSet(join(key, "kind")):
		c.report(ps, key, "it is not said how to notify; add kind = %s", suggested(name, notifierKinds()))
	case (notifier.Kind == "slack" || notifier.Kind == "webhook") && !c.isSet(join(key, "webhook_env")):
		c.report(ps, key, "%s needs an address; add webhook_env, the name of the variable that holds it", notifier.Kind)
	case notifier.Kind == "command" && !c.isSet(join(key, "command")):
		c.report(ps, key, "kind \"command\" does not know what to run; add command = [\"program\", \"argument\"]")
	case notifier.Kind != "command" && len(notifier.Command) > 0:
		c.report(ps, join(key, "command"), "is for kind = \"command\", this is %q; remove it", notifier.Kind)
	case notifier.Kind != "webhook" && notifier.SecretEnv != "":
		c.report(ps, join(key, "secret_env"), "is for kind = \"webhook\", this is %q; remove it", notifier.Kind)
	}
}
