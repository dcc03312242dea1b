package cmd

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/charmbracelet/log"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/backburner-cli/backburner/pkg/report"
	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/work"
)

// printJSON prints a value on lines people can read too.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// logger logs to stderr, above the live progress if there is any.
func logger(c *cli.Context, progress *report.Progress) *slog.Logger {
	level := log.WarnLevel
	if c.Bool("verbose") {
		level = log.DebugLevel
	}
	return slog.New(log.NewWithOptions(progress.Writer(c.App.ErrWriter), log.Options{Level: level, ReportTimestamp: true}))
}

// watch is the live progress on a terminal; nil elsewhere, and with --json or
// --verbose, whose output would be in its way.
func watch(c *cli.Context, st *store.Store) *report.Progress {
	f, ok := c.App.ErrWriter.(*os.File)
	if !ok || c.Bool("json") || c.Bool("verbose") {
		return nil
	}
	screen, ok := report.ScreenOf(f, os.Getenv)
	if !ok {
		return nil
	}
	return report.NewProgress(screen, time.Now, func(id string) (int64, time.Time) { return activity(st.ExecutionDir(id)) })
}

// activity is how much a run has written so far, and when it last did.
func activity(dir string) (written int64, at time.Time) {
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	steps, _ := filepath.Glob(filepath.Join(dir, "*", "log"))
	for _, f := range append(files, steps...) {
		info, err := os.Stat(f)
		if err != nil || info.IsDir() {
			continue
		}
		if name := filepath.Base(f); name == "stdout" || name == "stderr" || name == "log" {
			written += info.Size()
			if info.ModTime().After(at) {
				at = info.ModTime()
			}
		}
	}
	return written, at
}

// watcher tells the progress what the pass begins and ends.
type watcher struct{ *report.Progress }

func (w watcher) Started(execution, what string, at time.Time) {
	w.Progress.Started(execution, what, at)
}

func (w watcher) Finished(x work.Execution) { w.Progress.Finished(x.ID, x.Outcome) }
