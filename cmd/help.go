package cmd

import (
	"fmt"
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
)

var (
	appHelp     = cli.AppHelpTemplate + exitHelp
	commandHelp = strings.Replace(cli.CommandHelpTemplate, categoryHelp, "", 1) + `{{if eq .Name "tick"}}` + exitHelp + "{{else}}" + shortExitHelp + "{{end}}"
)

// categoryHelp is the part of the library's template that repeats the heading
// under which all help lists the command.
const categoryHelp = `{{if .Category}}

CATEGORY:
   {{.Category}}{{end}}`

// helpCommand takes the place of the library's, for which a topic that is not
// there is no matter of usage.
func helpCommand() *cli.Command {
	return &cli.Command{
		Name: "help", Usage: "show help, of one command or of all", ArgsUsage: "[COMMAND]",
		Description: `Examples:
   backburner help
   backburner help tick`,
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 0, 1); err != nil {
				return err
			}
			name := c.Args().First()
			switch {
			case name == "":
				return cli.ShowAppHelp(c)
			case c.App.Command(name) == nil:
				return notCommand(c, name)
			}
			return cli.ShowCommandHelp(c, name)
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
		return notCommand(c, c.Args().First())
	}
	return cli.ShowAppHelp(c)
}

func notCommand(c *cli.Context, name string) error {
	var names []string
	for _, command := range c.App.Commands {
		if !command.Hidden {
			names = append(names, command.Name)
		}
	}
	return usage("%q is not a command%s; see: backburner help", name, didYouMean(name, names))
}

// usageError says what is wrong with a flag in the words people type.
func usageError(c *cli.Context, err error, _ bool) error {
	text := err.Error()
	see := "backburner help"
	if c.Command != nil && c.App.Command(c.Command.Name) != nil {
		see = "backburner " + c.Command.Name + " --help"
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
