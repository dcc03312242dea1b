package cmd

import (
	"maps"
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
	var before, words, asked, flags, rest []string
	for i := 1; i < len(args); i++ {
		name, _, _ := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		takes, isOwn := own[name]
		to := &flags
		if !isOwn {
			if takes, isOwn = global[name]; isOwn {
				to = &before
			}
		}
		switch {
		case slices.Contains(at, i):
			words = append(words, args[i])
		case args[i] == "--help", args[i] == "-h":
			asked = args[i : i+1]
		case i < at[0]:
			before = append(before, args[i])
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
	if asked != nil {
		flags, rest = asked, nil // else the library takes the next argument for a topic
	}
	return slices.Concat(args[:1], before, words, flags, rest)
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

// commandIn finds the command among the arguments, and where its words are:
// several for one that is below another, with flags between them.
func commandIn(app *cli.App, args []string) (at []int, command *cli.Command) {
	takes, below := flagNames(app.Flags), app.Commands
	for i := 1; i < len(args) && args[i] != "--"; i++ {
		name, _, valued := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if strings.HasPrefix(args[i], "-") {
			if takes[name] && !valued {
				i++
			}
			continue
		}
		next := named(below, args[i])
		if next == nil {
			break
		}
		at, command, below = append(at, i), next, next.Subcommands
		for _, c := range below {
			maps.Copy(takes, flagNames(c.Flags))
		}
	}
	return at, command
}

// named is the command of that name; nil when there is none.
func named(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}
