package cmd

import (
	"path/filepath"

	"github.com/urfave/cli/v2"
)

// globalFlags are the flags of every command.
func globalFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "config", Usage: "read the configuration from `FILE`", EnvVars: []string{"BACKBURNER_CONFIG"}},
		&cli.StringFlag{Name: "state", Usage: "keep the state in `DIR`"},
		&cli.BoolFlag{Name: "json", Usage: "print JSON"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "log every step to stderr"},
	}
}

// overrides are the flags that set a key of the configuration, by key.
func overrides(c *cli.Context, dir string) map[string]string {
	keys := map[string]string{
		"state": "state.dir", "max-agents": "tick.max_agents", "deadline": "tick.deadline",
		"on-busy": "tick.on_busy", "fail-on": "tick.fail_on",
	}
	found := make(map[string]string)
	for flag, key := range keys {
		if !c.IsSet(flag) {
			continue
		}
		text := c.String(flag)
		if flag == "state" && !filepath.IsAbs(text) {
			text = filepath.Join(dir, text)
		}
		found[key] = text
	}
	return found
}
