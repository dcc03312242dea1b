// Package cmd is the command line: one file per verb, and wire.go, which turns
// the configuration into what a pass works with. It owns exit codes, output and
// signals; what a tick does is none of its business.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"github.com/backburner-cli/backburner/pkg/proc"
)

// The exit codes, as every help text lists them.
const (
	exitDone        = 0
	exitError       = 1 // the pass could not go on
	exitUsage       = 2 // usage or configuration
	exitTasks       = 3 // pass done, some tasks failed; only with --fail-on tasks
	exitBusy        = 4 // lease held, with --on-busy fail
	exitInterrupted = 130
	exitTerminated  = 143
)

// supervise is the hidden command that runs one job; see [proc.Supervise].
const supervise = "supervise"

// codeError is an error that ends the program with a code of its own.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string { return e.err.Error() }
func (e *codeError) Unwrap() error { return e.err }

// usage is an error in what was typed or configured.
func usage(format string, args ...any) error {
	return &codeError{exitUsage, fmt.Errorf(format, args...)}
}

// Main runs the program with its arguments and returns its exit code.
func Main(args []string) int {
	if len(args) == 3 && args[1] == supervise {
		return superviseMain(args[2]) // before anything else: every agent pays for this start
	}
	ctx, stop := untilSignal(context.Background())
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(unresponsive, func() { giveUp(context.Cause(ctx)) }) })
	app := newApp(os.Stdout, os.Stderr)
	err := app.RunContext(ctx, flagsFirst(app, args))
	return exitCode(err, os.Stderr)
}

// unresponsive is how long after a signal the program ends all the same: a system
// call may never return, and a tick that stays keeps all others out.
const unresponsive = 20 * time.Second

// giveUp ends the program as a crash would, which costs nothing.
func giveUp(why error) {
	var by signalError
	if errors.As(why, &by) {
		fmt.Fprintf(os.Stderr, "backburner: not everything ended within %v of %s, such as a read from a broken disk; the next tick goes on\n",
			unresponsive, unix.SignalName(by.signal))
		os.Exit(by.code())
	}
}

func superviseMain(dir string) int {
	if err := proc.Supervise(dir); err != nil {
		fmt.Fprintln(os.Stderr, "backburner supervise:", err)
		return exitError
	}
	return exitDone
}

func newApp(stdout, stderr io.Writer) *cli.App {
	flags := append(globalFlags(), cli.HelpFlag)
	plainDefaults(flags)
	return &cli.App{
		Name:                   "backburner",
		Usage:                  "coding agents work through your issues while nobody watches",
		Version:                version(),
		HideVersion:            true,
		Writer:                 stdout,
		ErrWriter:              stderr,
		Flags:                  flags,
		Commands:               commands(),
		ExitErrHandler:         func(*cli.Context, error) {}, // codes are ours: an *exec.ExitError would end us with a child's
		OnUsageError:           usageError,
		CommandNotFound:        nil,
		Action:                 noCommand,
		UseShortOptionHandling: false,
		CustomAppHelpTemplate:  appHelp,
	}
}

// exitCode prints an error, if there is something to say, and picks the code.
func exitCode(err error, stderr io.Writer) int {
	if err == nil {
		return exitDone
	}
	var coded *codeError
	if !errors.As(err, &coded) {
		fmt.Fprintln(stderr, "backburner:", err)
		return exitError
	}
	if coded.err != nil {
		fmt.Fprintln(stderr, "backburner:", coded.err)
	}
	return coded.code
}

// signalError is the cause of a context that a signal ended.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string {
	return "stopped by " + unix.SignalName(e.signal) + "; what was done is saved, and the next tick goes on"
}

func (e signalError) code() int {
	if e.signal == syscall.SIGTERM {
		return exitTerminated
	}
	return exitInterrupted
}

// untilSignal ends the context at the first INT, TERM or HUP. A second one
// changes nothing: what runs is being ended and saved, and that is bounded.
func untilSignal(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // it is under nohup, which is there to be kept
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		select {
		case s := <-signals:
			cancel(signalError{s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}

// version is the module's version, or the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "devel-" + s.Value[:min(len(s.Value), 12)]
		}
	}
	return "devel"
}

// commands are all there are, by the headings under which help lists them.
func commands() []*cli.Command {
	all := slices.Concat(
		under("", tickCommand()),
		under("Ask and answer", requestCommands()...),
		under("Look", statusCommand(), logsCommand(), openCommand()),
		under("Upkeep", salvageCommand(), stateCommand()),
		under("Set up", setupCommands()...),
		under("Set up", demoCommand(), configCommand(), completionCommand(), versionCommand(), helpCommand()),
		under("", demoAgentCommand(), completeCommand()),
	)
	finish(all)
	return all
}

// finish gives commands, and those below them, what all have.
func finish(commands []*cli.Command) {
	for _, c := range commands {
		c.OnUsageError = usageError
		c.HideHelpCommand = true // the first argument is an id, which may be "help"
		if c.CustomHelpTemplate == "" {
			c.CustomHelpTemplate = commandHelp
		}
		c.Flags = append(c.Flags, cli.HelpFlag)
		plainDefaults(c.Flags)
		for _, below := range c.Subcommands {
			below.HelpName = "backburner " + c.Name + " " + below.Name // of the others the library makes it
		}
		finish(c.Subcommands)
	}
}

func under(heading string, commands ...*cli.Command) []*cli.Command {
	for _, c := range commands {
		c.Category = heading
	}
	return commands
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version",
		Description: `Examples:
   backburner version
   backburner version --json`,
		Action: func(c *cli.Context) error {
			if c.Bool("json") {
				return printJSON(c.App.Writer, map[string]string{"version": version()})
			}
			_, err := fmt.Fprintln(c.App.Writer, "backburner", version())
			return err
		},
	}
}
