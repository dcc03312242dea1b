package config

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// resolve makes paths absolute. What the file says starts from the file's folder,
// what flags and environment say from the working directory.
func (c *Config) resolve(s Sources) {
	from := func(key string) string {
		if c.origins[key].Kind > FromFile {
			return s.Dir
		}
		return c.base
	}
	home := s.getenv("HOME")
	c.State.Dir = absolute(c.State.Dir, from("state.dir"), home)
	c.Workspace.Root = absolute(c.Workspace.Root, from("workspace.root"), home)
	if c.State.Remote != "" && !strings.Contains(c.State.Remote, ":") { // else a URL, or host:path
		c.State.Remote = absolute(c.State.Remote, from("state.remote"), home)
	}
	for i := range c.Repositories {
		if repo := &c.Repositories[i]; repo.Path != "" {
			repo.Path = absolute(repo.Path, c.base, home)
		}
	}
	for _, name := range slices.Collect(maps.Keys(c.Agents)) {
		agent := c.Agents[name]
		agent.Command = program(agent.Command, c.base, home)
		agent.Wrap = program(agent.Wrap, c.base, home)
		c.Agents[name] = agent
	}
	for _, name := range slices.Collect(maps.Keys(c.MCP)) {
		server := c.MCP[name]
		server.Command = program(server.Command, c.base, home)
		c.MCP[name] = server
	}
	for _, name := range slices.Collect(maps.Keys(c.Notifiers)) {
		notifier := c.Notifiers[name]
		notifier.Command = program(notifier.Command, c.base, home)
		c.Notifiers[name] = notifier
	}
}

func absolute(path, base, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// program makes a program that is given by a relative path absolute. It runs in a
// workspace, where what a pull request brought along could take its place.
func program(argv []string, base, home string) []string {
	if len(argv) == 0 || !strings.Contains(argv[0], "/") {
		return argv
	}
	return append([]string{absolute(argv[0], base, home)}, argv[1:]...)
}
