package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/config"
)

// What help ends with. Headings are the library's.
const (
	exitHelp = `
EXIT CODES:
   0 done, or nothing to do · 1 it could not go on · 2 usage or configuration · 3 some tasks failed (--fail-on tasks)
   4 another tick is running (--on-busy fail) · 130, 143 interrupted, state saved
`
	shortExitHelp = `
EXIT CODES:
   0 done · 1 it could not be done · 2 usage or configuration

--config, --state, --json and --verbose go with every command; see: backburner help
`
	leaseExitHelp = `
EXIT CODES:
   0 done · 1 it could not be done · 2 usage or configuration · 4 a tick is running (wait for its end with --on-busy wait)

--config, --state, --json and --verbose go with every command; see: backburner help
`
)

var (
	appHelp     = cli.AppHelpTemplate + exitHelp
	commandHelp = helpWith(shortExitHelp)
	tickHelp    = helpWith(exitHelp)
	leaseHelp   = helpWith(leaseExitHelp)
)

// helpWith is the template of a command's help that ends with the text exits.
func helpWith(exits string) string {
	return strings.Replace(cli.SubcommandHelpTemplate, categoryHelp, "", 1) + exits
}

// categoryHelp is the part of the library's template that repeats the heading
// under which all help lists the command.
const categoryHelp = `{{if .Category}}

CATEGORY:
   {{.Category}}{{end}}`

// helpCommand takes the place of the library's, for which a topic that is not
// there is no matter of usage.
func helpCommand() *cli.Command {
	return &cli.Command{
		Name: "help", Usage: "show help, of one command or of all", ArgsUsage: "[COMMAND [COMMAND]]",
		Description: `Examples:
   backburner help
   backburner help tick
   backburner help salvage list`,
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 0, 2); err != nil {
				return err
			}
			if c.NArg() == 0 {
				return cli.ShowAppHelp(c)
			}
			at := &cli.Command{Subcommands: c.App.Commands}
			for _, name := range c.Args().Slice() {
				next := named(at.Subcommands, name)
				switch {
				case next == nil && len(at.Subcommands) == 0:
					return usage("%s has no commands below it; see: backburner help %s", at.Name, at.Name)
				case next == nil:
					return notCommand(at, name)
				}
				at = next
			}
			// Only a command that is run is laid out by the library.
			return c.App.RunContext(c.Context, slices.Concat([]string{c.App.Name}, c.Args().Slice(), []string{"--help"}))
		},
	}
}

// group is a command that only has others below it.
func group(name, usage, description string, below ...*cli.Command) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, Description: description, ArgsUsage: "COMMAND", Subcommands: below,
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return notCommand(c.Command, c.Args().First())
			}
			return cli.ShowSubcommandHelp(c)
		},
	}
}

// plainDefaults keeps "(default: false)" out of help.
func plainDefaults(flags []cli.Flag) {
	for _, f := range flags {
		if b, ok := f.(*cli.BoolFlag); ok {
			b.DisableDefaultText = true
		}
	}
}

func noCommand(c *cli.Context) error {
	if c.NArg() > 0 {
		return notCommand(&cli.Command{Subcommands: c.App.Commands}, c.Args().First())
	}
	return cli.ShowAppHelp(c)
}

// notCommand says that there is no command name below another, or at all.
func notCommand(above *cli.Command, name string) error {
	var names []string
	for _, command := range above.Subcommands {
		if !command.Hidden {
			names = append(names, command.Name)
		}
	}
	see := strings.TrimSpace("backburner help " + above.Name)
	return usage("%q is not a command%s; see: %s", strings.TrimSpace(above.Name+" "+name), didYouMean(name, names), see)
}

// usageError says what is wrong with a flag in the words people type.
func usageError(c *cli.Context, err error, _ bool) error {
	text := err.Error()
	see := "backburner help"
	if c.Command != nil && words(c.Command) != "" {
		see = "backburner " + words(c.Command) + " --help"
	}
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		var flags []string
		for _, known := range (completer{c}).flags(c.Command) {
			flags = append(flags, known.text)
		}
		text = fmt.Sprintf("--%s is not a flag%s", name, didYouMean("--"+name, flags))
	} else if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		text = "--" + strings.TrimPrefix(name, "-") + " needs a value"
	}
	return usage("%s; see: %s", strings.ReplaceAll(text, "flag -", "--"), see)
}

// didYouMean is the end of a message about a word that is not known.
func didYouMean(word string, known []string) string {
	if near := config.Nearest(word, known); near != "" && near != word {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}

// words are what is typed for a command; "" for the program itself.
func words(c *cli.Command) string {
	_, typed, _ := strings.Cut(c.HelpName, " ")
	return typed
}
