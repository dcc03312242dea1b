package cmd

import (
	"path/filepath"
	"slices"
	"strings"

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

// flagKeys are the flags that set a key of the configuration.
var flagKeys = map[string]string{
	"state": "state.dir", "max-agents": "tick.max_agents", "deadline": "tick.deadline",
	"on-busy": "tick.on_busy", "fail-on": "tick.fail_on",
}

// overrides are the values of those flags, by key.
func overrides(c *cli.Context, dir string) map[string]string {
	found := make(map[string]string)
	for flag, key := range flagKeys {
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

// flagsFirst moves flags to where the library reads them: those of a command
// before its arguments, those of the program before the command. People write
// them where they think of them. What follows "--" stays.
func flagsFirst(app *cli.App, args []string) []string {
	at, command := commandIn(app, args)
	if command == nil {
		return args
	}
	own, global := flagNames(command.Flags), flagNames(app.Flags)
	var before, flags, rest []string
	for i := at + 1; i < len(args); i++ {
		name, _, _ := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		takes, isOwn := own[name]
		to := &flags
		if !isOwn {
			if takes, isOwn = global[name]; isOwn {
				to = &before
			}
		}
		switch {
		case args[i] == "--":
			rest = append(rest, args[i:]...)
			i = len(args)
		case len(args[i]) < 2 || args[i][0] != '-':
			rest = append(rest, args[i])
		case takes && !strings.Contains(args[i], "=") && i+1 < len(args):
			*to = append(*to, args[i], args[i+1])
			i++
		default:
			*to = append(*to, args[i])
		}
	}
	return slices.Concat(args[:at], before, args[at:at+1], flags, rest)
}

// flagNames says of each flag by its names whether a value follows it.
func flagNames(flags []cli.Flag) map[string]bool {
	names := make(map[string]bool)
	for _, f := range flags {
		d, ok := f.(cli.DocGenerationFlag)
		for _, name := range f.Names() {
			names[name] = ok && d.TakesValue()
		}
	}
	return names
}

// commandIn finds the command among the arguments, behind the flags of the app.
func commandIn(app *cli.App, args []string) (int, *cli.Command) {
	for i := 1; i < len(args); i++ {
		if c := app.Command(args[i]); c != nil && !strings.HasPrefix(args[i], "-") {
			return i, c
		}
	}
	return 0, nil
}
