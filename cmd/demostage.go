package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/report"
	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/work"
)

// stage is where the demo takes place: a folder with a repository, commands
// that are run there, and what is printed of them. The first trouble ends it:
// all that follows does nothing, and err says what it was.
type stage struct {
	ctx      context.Context
	dir      string
	style    report.Style
	out      io.Writer
	self     string // this program
	chapters int
	err      error
}

// program makes sure that this program can still be called when the demo is
// over, and returns by what name: a folder of PATH may have it, else the demo
// keeps a copy, as what "go run" builds is gone then.
func (s *stage) program() string {
	me, err := self()
	if err != nil {
		s.fail(err)
		return ""
	}
	s.self = me[0]
	if found, err := proc.LookPath("backburner", os.Getenv("PATH")); err == nil && sameFile(found, s.self) {
		return "backburner"
	}
	kept := filepath.Join(s.dir, ".backburner", "bin", "backburner")
	s.fail(copyFile(kept, s.self))
	s.fail(os.WriteFile(filepath.Join(filepath.Dir(kept), ".gitignore"), []byte("*\n"), 0o644))
	return kept
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

func copyFile(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(target, source); err != nil {
		target.Close()
		return err
	}
	return target.Close()
}

// repository makes a repository with one commit of these files.
func (s *stage) repository(files map[string]string) {
	for name, text := range files {
		path := filepath.Join(s.dir, name)
		s.fail(os.MkdirAll(filepath.Dir(path), 0o755))
		s.fail(os.WriteFile(path, []byte(text), 0o644))
	}
	s.run("git", "init", "-q", "-b", "main", "--template=")
	s.run("git", "add", ".")
	s.run("git", "-c", "user.name=Demo", "-c", "user.email=demo@localhost", "commit", "-q", "-m", "Begin")
}

// fail keeps the first error.
func (s *stage) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// expect returns the work, which must be where the story says.
func (s *stage) expect(want work.Status) *work.Workstream {
	if s.err != nil {
		return nil
	}
	st, err := store.Open(filepath.Join(s.dir, ".backburner", "state"), store.Options{ReadOnly: true})
	if err != nil {
		s.fail(err)
		return nil
	}
	w, _, err := st.Workstream("greet")
	switch {
	case err != nil:
		s.fail(err)
	case w.Status != want:
		s.fail(fmt.Errorf("the work is %s, and not %s: %s", w.Status, want, w.Detail))
	}
	return w
}

// backburner runs this very program, as one would type it.
func (s *stage) backburner(args ...string) {
	s.typed("backburner", args)
	s.print("   ", s.run(append([]string{s.self}, args...)...))
}

func (s *stage) git(args ...string) {
	s.typed("git", args)
	s.print("   ", s.run(append([]string{"git"}, args...)...))
}

const demoLimit = 2 * time.Minute // of one command

// run runs a command in the repository and returns what it said.
func (s *stage) run(args ...string) string {
	if s.err != nil {
		return ""
	}
	got, err := proc.Run(s.ctx, proc.Command{Args: args, Dir: s.dir, Env: demoEnvironment(), Timeout: demoLimit})
	said := string(got.Stdout) + string(got.Stderr)
	switch {
	case err != nil:
		s.fail(fmt.Errorf("%s: %w", strings.Join(args, " "), err))
	case got.Exit != 0:
		s.fail(fmt.Errorf("%s: exit code %d: %s", strings.Join(args, " "), got.Exit, strings.TrimSpace(said)))
	}
	return said
}

// demoEnvironment is this process's without settings of backburner, without a
// surrounding git or GitHub Actions run, and without what a user's own git
// configuration would change in the story: templates, hooks, signatures.
func demoEnvironment() []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "BACKBURNER_") && !strings.HasPrefix(e, "GIT_") && !strings.HasPrefix(e, "GITHUB_") {
			env = append(env, e)
		}
	}
	return append(env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
}

func (s *stage) chapter(title string) {
	if s.err == nil {
		s.chapters++
		fmt.Fprintf(s.out, "\n%s\n", s.bold(fmt.Sprintf("%d. %s", s.chapters, title)))
	}
}

func (s *stage) say(sentences ...string) {
	if s.err == nil {
		fmt.Fprintln(s.out)
		s.print("   ", strings.Join(sentences, " "))
	}
}

// show prints a text with a line along its side.
func (s *stage) show(title, text string) {
	if s.err == nil {
		s.say(title)
		s.print("   | ", text)
	}
}

func (s *stage) typed(name string, args []string) {
	if s.err == nil {
		fmt.Fprintf(s.out, "\n   %s\n", s.bold("$ "+name+" "+strings.Join(args, " ")))
	}
}

// list prints commands to type, each with what it is for.
func (s *stage) list(commands [][2]string) {
	if s.err != nil {
		return
	}
	fmt.Fprintln(s.out)
	for _, c := range commands {
		line := c[0]
		if c[1] != "" {
			line = fmt.Sprintf("%-42s # %s", c[0], c[1])
		}
		fmt.Fprintln(s.out, "   "+line)
	}
}

func (s *stage) bold(text string) string {
	if !s.style.Color {
		return text
	}
	return "\x1b[1m" + text + "\x1b[0m"
}

// demoWidth is how wide the demo is told where there is no screen, or a wide one.
const demoWidth = 96

// print prints a text behind a margin, and breaks long lines between words,
// under the place where their text began.
func (s *stage) print(margin, text string) {
	if s.err != nil {
		return
	}
	width := demoWidth
	if s.style.Width > 0 {
		width = min(width, s.style.Width-1)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		begin := line[:len(line)-len(strings.TrimLeft(line, " "))]
		for _, part := range folded(strings.TrimLeft(line, " "), width-len(margin)-len(begin)) {
			fmt.Fprintln(s.out, strings.TrimRight(margin+begin+part, " "))
		}
	}
}

// folded are the lines of a text that is broken at blanks after at most width
// characters, if there are blanks; other blanks stay as they are.
func folded(text string, width int) []string {
	var lines []string
	for len(text) > max(width, 20) {
		at := strings.LastIndex(text[:max(width, 20)+1], " ")
		if at <= 0 {
			break
		}
		lines = append(lines, text[:at])
		text = strings.TrimLeft(text[at:], " ")
	}
	return append(lines, text)
}
