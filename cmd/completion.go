package cmd

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/work"
)

// The scripts ask the program itself what could come next, so that they never
// are behind it: `backburner complete -- WORDS`. The library's own completion
// knows no ids and no values of flags, and loses its mark when flags are moved.

//go:embed completion.bash
var bashCompletion string

//go:embed completion.zsh
var zshCompletion string

//go:embed completion.fish
var fishCompletion string

var completions = map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}

func completionCommand() *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print a script that makes a shell complete commands, flags and ids", ArgsUsage: "bash | zsh | fish",
		Description: `Examples:
   source <(backburner completion bash)       in ~/.bashrc
   source <(backburner completion zsh)        in ~/.zshrc, after compinit
   backburner completion fish > ~/.config/fish/completions/backburner.fish`,
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 1, 1); err != nil {
				return err
			}
			script, ok := completions[c.Args().First()]
			if !ok {
				return usage("there is no completion for %q; there is for bash, zsh and fish", c.Args().First())
			}
			_, err := io.WriteString(c.App.Writer, script)
			return err
		},
	}
}

// completeCommand is what the scripts call with the words after the program's
// name, the last of which is being typed. A candidate is a line, with a tab
// before what is to be said of it. Nothing at all lets the shell offer files.
func completeCommand() *cli.Command {
	return &cli.Command{
		Name: "complete", Hidden: true, SkipFlagParsing: true, Usage: "what could come next; for completion scripts",
		Action: func(c *cli.Context) error {
			words := slices.DeleteFunc(c.Args().Slice(), func(w string) bool { return w == "=" }) // bash makes a word of it
			if len(words) > 0 && words[0] == "--" {
				words = words[1:]
			}
			if len(words) == 0 {
				words = []string{""}
			}
			for _, w := range (completer{c}).next(words) {
				if strings.HasPrefix(w.text, words[len(words)-1]) {
					fmt.Fprintf(c.App.Writer, "%s\t%s\n", w.text, w.about)
				}
			}
			return nil
		},
	}
}

// candidate is a word that could come next.
type candidate struct{ text, about string }

// completer knows what can stand where on the command line.
type completer struct{ *cli.Context }

func (c completer) next(words []string) []candidate {
	current := words[len(words)-1]
	typed := c.read(words[:len(words)-1])
	flag, _, valued := strings.Cut(current, "=")
	switch {
	case typed.open != "":
		return c.values(typed.open)
	case valued && strings.HasPrefix(flag, "-"):
		values := c.values(strings.TrimLeft(flag, "-"))
		for i := range values {
			values[i].text = flag + "=" + values[i].text
		}
		return values
	case strings.HasPrefix(current, "-"):
		return c.flags(typed.command)
	case typed.command == nil:
		return offered(c.App.Commands)
	}
	return c.arguments(typed)
}

// typing is what the words before the last one say.
type typing struct {
	command *cli.Command
	args    int    // how many arguments the command has so far
	open    string // the flag whose value comes next; "" when none does
}

func (c completer) read(words []string) typing {
	var t typing
	takes := flagNames(c.App.Flags)
	for _, w := range words {
		name, _, valued := strings.Cut(strings.TrimLeft(w, "-"), "=")
		switch {
		case t.open != "":
			t.open = ""
		case strings.HasPrefix(w, "-"):
			if takes[name] && !valued {
				t.open = name
			}
		case t.command != nil && len(t.command.Subcommands) == 0:
			t.args++
		default:
			below := c.App.Commands
			if t.command != nil {
				below = t.command.Subcommands
			}
			if t.command = named(below, w); t.command == nil {
				t.command = &cli.Command{} // one that is not there takes nothing
			}
			for name, value := range flagNames(t.command.Flags) {
				takes[name] = value
			}
		}
	}
	return t
}

// offered are the commands that are not hidden.
func offered(commands []*cli.Command) []candidate {
	var all []candidate
	for _, command := range commands {
		if !command.Hidden {
			all = append(all, candidate{command.Name, command.Usage})
		}
	}
	return all
}

func (c completer) flags(command *cli.Command) []candidate {
	flags := c.App.Flags
	if command != nil {
		flags = slices.Concat(command.Flags, flags)
	}
	all := []candidate{{"--help", "show help"}}
	for _, f := range flags {
		about := ""
		if d, ok := f.(cli.DocGenerationFlag); ok {
			about = strings.ReplaceAll(d.GetUsage(), "`", "")
		}
		if name := f.Names()[0]; name != "help" {
			all = append(all, candidate{"--" + name, about})
		}
	}
	return all
}

// values are what a flag can be given; none where that is a file or anything.
func (c completer) values(flag string) []candidate {
	switch flag {
	case "workstream":
		return c.workstreams()
	case "repo":
		return c.repositories()
	case "on-busy":
		return texts("skip", "wait", "fail")
	case "fail-on":
		return texts("tasks")
	}
	return nil
}

// arguments are what the next argument of a command can be. Which commands
// take the id of a workstream, their help says.
func (c completer) arguments(t typing) []candidate {
	switch takes := strings.Trim(t.command.ArgsUsage, "["); {
	case len(t.command.Subcommands) > 0:
		return offered(t.command.Subcommands)
	case t.args > 0:
		return nil
	case t.command.Name == "help":
		return offered(c.App.Commands)
	case t.command.Name == "completion":
		return texts("bash", "zsh", "fish")
	case t.command.Name == "config":
		return texts(configTopics...)
	case takes == "NAME":
		return c.salvage()
	case takes == "ID", strings.HasPrefix(takes, "ID "), strings.HasPrefix(takes, "ID]"):
		return c.workstreams()
	}
	return nil
}

// workstreams are the open ones. Trouble is no candidate.
func (c completer) workstreams() []candidate {
	cfg, err := loadConfig(c.Context)
	if err != nil {
		return nil
	}
	st, err := openStore(cfg, true, nil)
	if err != nil {
		return nil
	}
	board, _, err := st.Load(c.Context.Context)
	if err != nil {
		return nil
	}
	var all []candidate
	for _, w := range board.Workstreams {
		all = append(all, candidate{w.ID, strings.ReplaceAll(string(w.Status), "_", " ") + ": " + work.Printable(w.Title)})
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(a.text, b.text) })
	return all
}

// salvage is what was put aside, newest first.
func (c completer) salvage() []candidate {
	cfg, err := loadConfig(c.Context)
	if err != nil {
		return nil
	}
	st, err := openStore(cfg, true, nil)
	if err != nil {
		return nil
	}
	saved, err := openShelf(c.Context.Context, cfg, st)
	if err != nil {
		return nil
	}
	defer saved.trees.Close()
	var all []candidate
	for _, item := range saved.items {
		r := recordOf(item)
		all = append(all, candidate{r.Name, work.Printable(r.Reason)})
	}
	return all
}

func (c completer) repositories() []candidate {
	cfg, err := loadConfig(c.Context)
	if err != nil {
		return nil
	}
	repos, err := repositories(cfg)
	if err != nil {
		return nil
	}
	var all []candidate
	for id, r := range repos {
		all = append(all, candidate{id, r.Path})
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(a.text, b.text) })
	return all
}

func texts(of ...string) []candidate {
	all := make([]candidate, len(of))
	for i, text := range of {
		all[i].text = text
	}
	return all
}
