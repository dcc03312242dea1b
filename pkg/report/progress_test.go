package report_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/backburner-cli/backburner/pkg/report"
)

// terminal is as much of one as progress uses: lines that wrap, the cursor up,
// the beginning of the line, and clearing to the end of the screen.
type terminal struct {
	mu            sync.Mutex
	width, height int
	rows          []string
	row, column   int
}

var sequence = regexp.MustCompile(`^\x1b\[(\d*)([A-Za-z])`)

func (s *terminal) size() (int, int) { return s.width, s.height }

func (s *terminal) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for rest := string(text); rest != ""; {
		if m := sequence.FindStringSubmatch(rest); m != nil {
			n, _ := strconv.Atoi(m[1])
			switch m[2] {
			case "A":
				s.row = max(s.row-n, 0)
			case "J":
				s.rows = append(s.rows[:min(s.row, len(s.rows))], "")
			default:
				return 0, fmt.Errorf("unknown sequence %q", m[0])
			}
			rest = rest[len(m[0]):]
			continue
		}
		r := []rune(rest)[0]
		rest = rest[len(string(r)):]
		s.put(r)
	}
	return len(text), nil
}

func (s *terminal) put(r rune) {
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, "")
	}
	switch {
	case r == '\n':
		s.row, s.column = s.row+1, 0
		return
	case r == '\r':
		s.column = 0
		return
	case s.column+runewidth.RuneWidth(r) > s.width:
		s.row, s.column = s.row+1, 0
		s.put(r)
		return
	}
	s.rows[s.row] += string(r)
	s.column += runewidth.RuneWidth(r)
}

func (s *terminal) shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimRight(strings.Join(s.rows, "\n"), "\n")
}

// clock is a time that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestProgress(t *testing.T) {
	screen := &terminal{width: 60, height: 24}
	c := &clock{now: now}
	activity := func(id string) (int64, time.Time) {
		if id == "cart.0002" {
			return 12_345, now
		}
		return 0, time.Time{}
	}
	p := report.NewProgress(report.Screen{Out: screen, Size: screen.size}, c.read, activity)
	log := p.Writer(screen)
	fmt.Fprintln(log, "INFO tick started")
	p.Started("cart.0002", "builder of cart (claude)", now)
	c.add(90 * time.Second)
	p.Started("fix.0001", "planner of \x1b[2Jfix\nlogin (codex)", c.read())
	fmt.Fprint(log, "WARN half a")
	p.Note("cart.0002", "$0.40")
	p.Note("no-such", "x")
	want := `INFO tick started
1m30s    builder of cart (claude), 12 kB, quiet for 1m30s,…
0s       planner of fix | login (codex)`
	if got := screen.shown(); got != want {
		t.Errorf("the screen shows\n%s\nwant\n%s", got, want)
	}
	fmt.Fprintln(log, " line")
	c.add(time.Second)
	p.Finished("cart.0002", "ok")
	p.Finished("cart.0002", "ok")
	want = `INFO tick started
WARN half a line
1m31s    builder of cart (claude): ok
1s       planner of fix | login (codex)`
	if got := screen.shown(); got != want {
		t.Errorf("the screen shows\n%s\nwant\n%s", got, want)
	}
	fmt.Fprint(log, "last words")
	p.Close()
	p.Close()
	p.Started("late", "late", now)
	fmt.Fprintln(log, ", all of them")
	want = `INFO tick started
WARN half a line
1m31s    builder of cart (claude): ok
last words, all of them`
	if got := screen.shown(); got != want {
		t.Errorf("the screen shows\n%s\nwant\n%s", got, want)
	}
}

func TestProgressOfMoreThanFits(t *testing.T) {
	screen := &terminal{width: 40, height: 6}
	p := report.NewProgress(report.Screen{Out: screen, Size: screen.size}, func() time.Time { return now }, nil)
	defer p.Close()
	for i := range 5 {
		p.Started(strconv.Itoa(i), "builder of "+strconv.Itoa(i), now)
	}
	want := "0s       builder of 0\n0s       builder of 1\nand 3 more"
	if got := screen.shown(); got != want {
		t.Errorf("the screen shows\n%s\nwant\n%s", got, want)
	}
}

// A window that is made narrower breaks the lines that are on it.
func TestProgressInAWindowThatChanges(t *testing.T) {
	screen := &terminal{width: 80, height: 24}
	p := report.NewProgress(report.Screen{Out: screen, Size: screen.size}, func() time.Time { return now }, nil)
	defer p.Close()
	log := p.Writer(screen)
	fmt.Fprintln(log, "before")
	p.Started("1", "builder of a workstream whose name is long (claude)", now)
	screen.mu.Lock()
	screen.width = 30
	screen.rows = []string{"before", "0s       builder of a workstream", " whose name is long (claude)", ""}
	screen.row = 3
	screen.mu.Unlock()
	fmt.Fprintln(log, "after")
	want := "before\nafter\n0s       builder of a workst…"
	if got := screen.shown(); got != want {
		t.Errorf("the screen shows\n%s\nwant\n%s", got, want)
	}
}

func TestNoProgressIsFine(t *testing.T) {
	var p *report.Progress
	p.Started("1", "builder", now)
	p.Note("1", "x")
	p.Finished("1", "ok")
	p.Close()
	var b bytes.Buffer
	fmt.Fprint(p.Writer(&b), "half a line")
	if b.String() != "half a line" {
		t.Errorf("wrote %q", b.String())
	}
}

func TestProgressFromManySides(t *testing.T) {
	screen := &terminal{width: 60, height: 24}
	p := report.NewProgress(report.Screen{Out: screen, Size: screen.size}, func() time.Time { return now }, nil)
	log := p.Writer(screen)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			id := strconv.Itoa(i)
			p.Started(id, "builder of "+id, now)
			fmt.Fprintln(log, "line of "+id)
			p.Finished(id, "ok")
		})
	}
	wait.Wait()
	p.Close()
	got := screen.shown()
	if strings.Count(got, "line of") != 8 || strings.Count(got, ": ok") != 8 || strings.Count(got, "\n") != 15 {
		t.Errorf("the screen shows\n%s", got)
	}
}

func TestAFileIsNoScreen(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/out")
	must(t, err)
	defer f.Close()
	getenv := func(name string) string { return map[string]string{"TERM": "xterm"}[name] }
	if _, ok := report.ScreenOf(f, getenv); ok {
		t.Error("a file is taken for a terminal")
	}
	if s := report.StyleOf(f, getenv); s != (report.Style{}) {
		t.Errorf("the style of a file is %+v", s)
	}
}
