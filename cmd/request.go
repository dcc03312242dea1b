package cmd

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/forge/local"
	"github.com/backburner-cli/backburner/pkg/work"
)

// A request is written to the inbox of the state; the next tick, or the one
// that runs, carries it out. So every verb here is safe at any time.

func requestCommands() []*cli.Command {
	return []*cli.Command{
		addCommand(), answerCommand(), approveCommand(), retryCommand(), holdCommand(), resumeCommand(),
		cancelCommand(), prioritizeCommand(), mergeCommand(),
	}
}

func addCommand() *cli.Command {
	return &cli.Command{
		Name: "add", Usage: "ask for work from a spec file", ArgsUsage: "FILE",
		Description: `The file is Markdown; its first heading is the title, its name the id. The text is
taken as it is now; ask again after an edit with another id, or keep specs in
.backburner/specs, which every tick reads.

Examples:
   backburner add fix-login.md
   backburner add --id fix-login --priority 5 - < notes.txt`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "id", Usage: "name of the work; default the file's"},
			&cli.StringFlag{Name: "repo", Usage: "which `REPOSITORY`, when several are configured"},
			&cli.IntFlag{Name: "priority", Usage: "higher goes first"},
		},
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 1, 1); err != nil {
				return err
			}
			spec, err := readSpec(c.Args().First(), c.String("id"), c.App.Reader)
			if err != nil {
				return &codeError{exitUsage, err}
			}
			return submit(c, &work.Request{
				Verb: work.VerbAdd, Workstream: spec.ID, Repository: c.String("repo"), Priority: c.Int("priority"),
				Title: spec.Title, Body: spec.Body, Source: spec.Path,
			})
		},
	}
}

// readSpec reads the text of an add: a file, or stdin for "-".
func readSpec(path, id string, stdin io.Reader) (forge.Spec, error) {
	if path != "-" {
		if id == "" {
			return local.Read(path)
		}
		return local.ReadAs(id, path)
	}
	if id == "" {
		return forge.Spec{}, errors.New("give the work a name: --id NAME")
	}
	data, err := io.ReadAll(io.LimitReader(stdin, work.MaxSpec+1))
	if err != nil {
		return forge.Spec{}, err
	}
	return forge.ReadSpec(id, "stdin", data)
}

func answerCommand() *cli.Command {
	return &cli.Command{
		Name: "answer", Usage: "answer what an agent asked", ArgsUsage: "ID TEXT",
		Description: `Examples:
   backburner answer fix-login "Yes, keep the old route."
   backburner answer fix-login --question q2 "In euros."`,
		Flags: []cli.Flag{&cli.StringFlag{Name: "question", Usage: "only this `QUESTION`, such as q2; default all that are open"}},
		Action: func(c *cli.Context) error {
			return ask(c, work.VerbAnswer, 2, 2, func(r *work.Request) error {
				r.Text, r.Question = c.Args().Get(1), c.String("question")
				return notEmpty("the answer", r.Text)
			})
		},
	}
}

func approveCommand() *cli.Command {
	return &cli.Command{
		Name: "approve", Usage: "approve a plan, or say what should change", ArgsUsage: "ID",
		Description: `Examples:
   backburner approve fix-login
   backburner approve fix-login --reject "Do not touch the schema."`,
		Flags: []cli.Flag{&cli.StringFlag{Name: "reject", Usage: "refuse the plan, also one that is being built from; a new one is made with these `WORDS`"}},
		Action: func(c *cli.Context) error {
			if !c.IsSet("reject") {
				return ask(c, work.VerbApprove, 1, 1, nil)
			}
			return ask(c, work.VerbReject, 1, 1, func(r *work.Request) error {
				r.Text = c.String("reject")
				return notEmpty("what should change", r.Text)
			})
		},
	}
}

func retryCommand() *cli.Command {
	return &cli.Command{
		Name: "retry", Usage: "let stopped work try again, with fresh counts", ArgsUsage: "ID [TEXT]",
		Description: `What is ready to merge is changed as TEXT says, tested again, and ready again.

Examples:
   backburner retry fix-login
   backburner retry fix-login "The test needs TZ=UTC."
   backburner retry fix-login "Call it sign-in everywhere."`,
		Action: func(c *cli.Context) error {
			return ask(c, work.VerbRetry, 1, 2, func(r *work.Request) error {
				r.Text = c.Args().Get(1)
				return nil
			})
		},
	}
}

func holdCommand() *cli.Command {
	return &cli.Command{
		Name: "hold", Usage: "start nothing more, for one piece of work or for all", ArgsUsage: "ID | --all",
		Description: `What runs goes on to its end, unless --now ends it.

Examples:
   backburner hold fix-login --reason "wait for the release"
   backburner hold --all --now`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "everything"},
			&cli.BoolFlag{Name: "now", Usage: "also end the agent that runs"},
			&cli.StringFlag{Name: "reason", Usage: "shown by status"},
		},
		Action: func(c *cli.Context) error {
			return askOneOrAll(c, work.VerbHold, func(r *work.Request) error {
				r.Text, r.Now = c.String("reason"), c.Bool("now")
				return nil
			})
		},
	}
}

func resumeCommand() *cli.Command {
	return &cli.Command{
		Name: "resume", Usage: "let held or paused work go on", ArgsUsage: "ID | --all",
		Description: `Examples:
   backburner resume fix-login
   backburner resume --all`,
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "everything that hold --all held"}},
		Action: func(c *cli.Context) error { return askOneOrAll(c, work.VerbResume, nil) },
	}
}

func cancelCommand() *cli.Command {
	return &cli.Command{
		Name: "cancel", Usage: "end work for good; what was built is kept", ArgsUsage: "ID",
		Description: `Ends the agent that runs for it, at once. Its branch, if published, stays.

Example:
   backburner cancel fix-login`,
		Action: func(c *cli.Context) error { return ask(c, work.VerbCancel, 1, 1, nil) },
	}
}

func prioritizeCommand() *cli.Command {
	return &cli.Command{
		Name: "prioritize", Usage: "say what goes first", ArgsUsage: "ID NUMBER",
		Description: `Higher goes first; the default is 0.

Example:
   backburner prioritize fix-login 10`,
		Action: func(c *cli.Context) error {
			return ask(c, work.VerbPrioritize, 2, 2, func(r *work.Request) error {
				n, err := strconv.Atoi(c.Args().Get(1))
				r.Priority = n
				if err != nil {
					return usage("%q is not a number", c.Args().Get(1))
				}
				return nil
			})
		},
	}
}

func mergeCommand() *cli.Command {
	return &cli.Command{
		Name: "merge", Usage: "merge work that is ready into its base", ArgsUsage: "ID",
		Description: `The next tick merges it, with the strategy that is configured. A base that is
checked out somewhere is fast-forwarded there, if that working tree is clean.

Example:
   backburner merge fix-login && backburner tick`,
		Action: func(c *cli.Context) error { return ask(c, work.VerbMerge, 1, 1, nil) },
	}
}

// ask submits a request about one workstream, which must be there.
func ask(c *cli.Context, verb work.Verb, least, most int, fill func(*work.Request) error) error {
	if err := wantArgs(c, least, most); err != nil {
		return err
	}
	r := &work.Request{Verb: verb, Workstream: c.Args().First()}
	if fill != nil {
		if err := fill(r); err != nil {
			return err
		}
	}
	return submit(c, r)
}

func askOneOrAll(c *cli.Context, verb work.Verb, fill func(*work.Request) error) error {
	if !c.Bool("all") {
		return ask(c, verb, 1, 1, fill)
	}
	if err := wantArgs(c, 0, 0); err != nil {
		return err
	}
	r := &work.Request{Verb: verb}
	if fill != nil {
		if err := fill(r); err != nil {
			return err
		}
	}
	return submit(c, r)
}

func wantArgs(c *cli.Context, least, most int) error {
	n := c.NArg()
	if n < least || n > most {
		takes := c.Command.ArgsUsage
		if takes == "" {
			takes = "no arguments"
		}
		return usage("%s takes %s; see: backburner %s --help", words(c.Command), takes, words(c.Command))
	}
	return nil
}

func notEmpty(what, text string) error {
	if strings.TrimSpace(text) == "" {
		return usage("%s is empty", what)
	}
	return nil
}
