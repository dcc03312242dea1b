package cmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/work"
)

func logsCommand() *cli.Command {
	return &cli.Command{
		Name: "logs", Usage: "what an agent or a gate said", ArgsUsage: "ID",
		Description: `ID is a workstream, which shows its last run, or an execution.

Examples:
   backburner logs fix-login
   backburner logs fix-login.0003
   backburner logs --list fix-login
   backburner logs --prompt fix-login`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "list", Usage: "list the runs instead"},
			&cli.BoolFlag{Name: "prompt", Usage: "what the agent was told instead"},
			&cli.BoolFlag{Name: "path", Usage: "only print where the files are"},
		},
		Action: logsAction,
	}
}

func logsAction(c *cli.Context) error {
	_, st, err := readState(c, 1, 1)
	if err != nil {
		return err
	}
	all, err := executionsOf(st, c.Args().First())
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, map[string]any{"executions": all})
	}
	if c.Bool("list") {
		for _, x := range all {
			fmt.Fprintln(c.App.Writer, describe(x))
		}
		return nil
	}
	last := all[len(all)-1]
	dir := st.ExecutionDir(last.ID)
	switch {
	case c.Bool("path"):
		_, err = fmt.Fprintln(c.App.Writer, dir)
		return err
	case c.Bool("prompt"):
		return show(c.App.Writer, filepath.Join(dir, "prompt.md"))
	}
	fmt.Fprintf(c.App.Writer, "%s\n", describe(last))
	return showRun(c.App.Writer, dir, last)
}

// executionsOf are the runs of a workstream, oldest first, or the one of that id.
func executionsOf(st *store.Store, id string) ([]*work.Execution, error) {
	if x, err := st.Execution(id); err == nil {
		return []*work.Execution{x}, nil
	}
	w, _, err := findWorkstream(st, id)
	if err != nil {
		return nil, err
	}
	var all []*work.Execution
	for n := 1; n <= w.ExecutionSeq; n++ {
		x, err := st.Execution(fmt.Sprintf("%s.%04d", w.ID, n))
		if errors.Is(err, fs.ErrNotExist) {
			continue // expired
		}
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	if len(all) == 0 {
		return nil, usage("nothing has run for %s yet", w.ID)
	}
	return all, nil
}

func describe(x *work.Execution) string {
	who := string(x.Role) + " (" + x.Agent + ")"
	switch x.Kind {
	case work.ByGate:
		who = x.Gate + " gate"
	case work.ByOrchestrator:
		who = string(x.Role)
	}
	return fmt.Sprintf("%s  %s  %s  %s", x.ID, x.StartedAt.Local().Format("2006-01-02 15:04:05"), who, x.Ended())
}

// showRun prints what a run left: an agent's output, or the log of each step.
func showRun(out io.Writer, dir string, x *work.Execution) error {
	if x.Kind == work.ByGate {
		for _, s := range x.Steps {
			fmt.Fprintf(out, "\n== %s: exit %d %s\n", work.Printable(s.Name), s.ExitCode, s.Reason)
			if err := show(out, filepath.Join(dir, filepath.Clean("/"+s.Log))); err != nil {
				return err
			}
		}
		return nil
	}
	if x.Detail != "" {
		fmt.Fprintf(out, "%s: %s\n", x.Ended(), work.Printable(x.Detail))
	}
	if len(x.Changed) > 0 {
		fmt.Fprintf(out, "changed: %s\n", work.Printable(strings.Join(x.Changed, ", ")))
	}
	said := x.Kind == work.ByOrchestrator
	for _, name := range []string{"result.json", "stdout", "stderr"} {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if err != nil || info.Mode().IsRegular() && info.Size() == 0 {
			continue
		}
		said = true
		fmt.Fprintf(out, "\n== %s (%s)\n", name, path)
		if err := show(out, path); err != nil {
			return err
		}
	}
	if !said {
		fmt.Fprintln(out, "it wrote nothing")
	}
	return nil
}

// show prints a file that an agent may have written: without what could move
// the cursor of a terminal.
func show(out io.Writer, path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENXIO) {
		return notShown(out)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, notShown(out))
	}
	if file, ok := out.(*os.File); ok && isTerminal(file) {
		out = plain{out}
	}
	_, err = io.Copy(out, f)
	return err
}

func notShown(out io.Writer) error {
	_, err := fmt.Fprintln(out, "(not shown: it is a link, a pipe or something else that is no file)")
	return err
}

// plain leaves out what could move the cursor or turn the text around, but for
// line breaks and tabs. A character that is cut in two by the caller's pieces is
// shown as unknown.
type plain struct{ out io.Writer }

func (p plain) Write(text []byte) (int, error) {
	var kept strings.Builder
	kept.Grow(len(text))
	for line := range strings.Lines(string(text)) {
		for i, field := range strings.Split(strings.TrimSuffix(line, "\n"), "\t") {
			if i > 0 {
				kept.WriteByte('\t')
			}
			kept.WriteString(work.Shown(field))
		}
		if strings.HasSuffix(line, "\n") {
			kept.WriteByte('\n')
		}
	}
	_, err := io.WriteString(p.out, kept.String())
	return len(text), err
}

func openCommand() *cli.Command {
	return &cli.Command{
		Name: "open", Usage: "where the workspace of a workstream is", ArgsUsage: "ID",
		Description: `Prints the path and nothing else. Look as you like; what you change there is saved
aside, not taken over.

Example:
   cd "$(backburner open fix-login)"`,
		Action: func(c *cli.Context) error {
			cfg, st, err := readState(c, 1, 1)
			if err != nil {
				return err
			}
			w, _, err := findWorkstream(st, c.Args().First())
			if err != nil {
				return err
			}
			path := workspacePath(cfg, w.ID)
			if !exists(path) {
				return fmt.Errorf("%s has no workspace now; its branch is %s", w.ID, w.Branch)
			}
			if c.Bool("json") {
				return printJSON(c.App.Writer, map[string]string{"id": w.ID, "workspace": path})
			}
			_, err = fmt.Fprintln(c.App.Writer, path)
			return err
		},
	}
}
