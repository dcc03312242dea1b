package report

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/backburner-cli/backburner/pkg/work"
)

// redrawEvery is how often the running time is brought up to date.
const redrawEvery = time.Second

// Screen is a terminal that progress is drawn on.
type Screen struct {
	Out  io.Writer
	Size func() (width, height int) // asked before every drawing: windows change
	Dim  bool                       // lines may be drawn less bright than what stays
}

// ScreenOf is the screen of a file that is a terminal which can move its cursor;
// false when it is none.
func ScreenOf(f *os.File, getenv func(string) string) (Screen, bool) {
	if !term.IsTerminal(int(f.Fd())) || getenv("TERM") == "dumb" || getenv("TERM") == "" {
		return Screen{}, false
	}
	size := func() (int, int) {
		width, height, err := term.GetSize(int(f.Fd()))
		if err != nil || width <= 0 || height <= 0 {
			return 80, 24
		}
		return width, height
	}
	return Screen{Out: f, Size: size, Dim: StyleOf(f, getenv).Color}, true
}

// Progress shows what runs on the last lines of a terminal, one line each, and
// draws them anew in place. Everything else that goes to that terminal meanwhile
// has to go through [Progress.Writer]. A nil *Progress shows nothing, so that
// there is one way to write it down for terminals and pipes. All methods may be
// called from several goroutines at once.
type Progress struct {
	screen   Screen
	now      func() time.Time
	activity func(execution string) (written int64, at time.Time)

	mu      sync.Mutex
	runs    []*run
	writers []*above
	drawn   []int // widths of the lines on the screen
	end     chan struct{}
	ticker  sync.WaitGroup
	closed  bool
}

// run is one agent or gate that runs.
type run struct {
	id    string
	what  string
	since time.Time
	note  string
}

// NewProgress begins to show progress. activity says how much a run has
// written so far and when last; nil leaves that out.
func NewProgress(screen Screen, now func() time.Time, activity func(execution string) (int64, time.Time)) *Progress {
	p := &Progress{screen: screen, now: now, activity: activity, end: make(chan struct{})}
	p.ticker.Go(p.keepTime)
	return p
}

func (p *Progress) keepTime() {
	tick := time.NewTicker(redrawEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.end:
			return
		case <-tick.C:
			p.change(func() {})
		}
	}
}

// Started adds a line for a run: what is "builder of cart (claude)".
func (p *Progress) Started(id, what string, since time.Time) {
	p.change(func() {
		p.runs = append(p.runs, &run{id: id, what: oneLine(what), since: since})
	})
}

// Note shows a word about a run, such as its cost so far, in place of the last one.
func (p *Progress) Note(id, text string) {
	p.change(func() {
		if r := p.find(id); r != nil {
			r.note = oneLine(text)
		}
	})
}

// Finished takes a run's line away and leaves one that says how it ended.
func (p *Progress) Finished(id, outcome string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.find(id)
	if r == nil || p.closed {
		return
	}
	p.runs = slices.DeleteFunc(p.runs, func(other *run) bool { return other == r })
	width, _ := p.screen.Size()
	line := cut(fmt.Sprintf("%s  %s: %s", pad(elapsed(p.now().Sub(r.since)), 7), r.what, oneLine(outcome)), width-1)
	p.write(p.erase() + line + "\n" + p.draw())
}

// Close takes all lines away and stops drawing. Writer goes on to work.
func (p *Progress) Close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		p.write(p.erase())
		for _, a := range p.writers {
			_ = a.flush(len(a.rest))
		}
		close(p.end)
	}
	p.mu.Unlock()
	p.ticker.Wait()
}

// Writer is the terminal for everybody else, such as a logger: what is written
// stands above the lines of progress. A nil Progress writes straight to out.
func (p *Progress) Writer(out io.Writer) io.Writer {
	if p == nil {
		return out
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	a := &above{p: p, out: out}
	p.writers = append(p.writers, a)
	return a
}

// above writes whole lines above the progress; an unfinished line waits for its
// rest, or it would be drawn over.
type above struct {
	p    *Progress
	out  io.Writer
	rest []byte
}

func (a *above) Write(text []byte) (int, error) {
	p := a.p
	p.mu.Lock()
	defer p.mu.Unlock()
	a.rest = append(a.rest, text...)
	if p.closed {
		return len(text), a.flush(len(a.rest))
	}
	end := bytes.LastIndexByte(a.rest, '\n') + 1
	if end == 0 {
		return len(text), nil
	}
	p.write(p.erase())
	err := a.flush(end)
	p.write(p.draw())
	return len(text), err
}

// flush writes the first n bytes of what waits.
func (a *above) flush(n int) error {
	if n == 0 {
		return nil
	}
	_, err := a.out.Write(a.rest[:n])
	a.rest = slices.Clone(a.rest[n:])
	return err
}

// change alters what is shown and draws it anew.
func (p *Progress) change(alter func()) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	alter()
	p.write(p.erase() + p.draw())
}

func (p *Progress) find(id string) *run {
	for _, r := range p.runs {
		if r.id == id {
			return r
		}
	}
	return nil
}

// write goes to the terminal in one piece, or parts of it could be seen. That
// it fails is of no consequence to the work.
func (p *Progress) write(text string) {
	if text != "" {
		_, _ = io.WriteString(p.screen.Out, text)
	}
}

// erase is what takes the drawn lines away and goes to where they began. A
// window that became narrower has broken them into several.
func (p *Progress) erase() string {
	if len(p.drawn) == 0 {
		return ""
	}
	width, _ := p.screen.Size()
	rows := 0
	for _, w := range p.drawn {
		rows += 1 + max(0, w-1)/max(width, 1)
	}
	p.drawn = nil
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", rows)
}

// draw is the lines of all that runs, as far as there is room for them.
func (p *Progress) draw() string {
	width, height := p.screen.Size()
	shown := p.runs
	room := max(height/2, 1) // the other half is for what was written before
	more := 0
	if len(shown) > room {
		more = len(shown) - (room - 1)
		shown = shown[:room-1]
	}
	var lines []string
	for _, r := range shown {
		lines = append(lines, p.line(r))
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	var b strings.Builder
	for _, line := range lines {
		line = cut(line, width-1) // a full line would move the cursor on some terminals
		p.drawn = append(p.drawn, widthOf(line))
		b.WriteString(Style{Color: p.screen.Dim}.paint(dim, line) + "\n")
	}
	return b.String()
}

func (p *Progress) line(r *run) string {
	now := p.now()
	text := pad(elapsed(now.Sub(r.since)), 7) + "  " + r.what
	if p.activity != nil {
		if written, at := p.activity(r.id); written > 0 {
			text += ", " + size(written)
			if quiet := now.Sub(at); quiet >= time.Minute {
				text += ", quiet for " + quiet.Round(time.Second).String()
			}
		}
	}
	if r.note != "" {
		text += ", " + r.note
	}
	return work.Printable(text)
}

// elapsed is a running time: whole seconds, as it is redrawn that often.
func elapsed(d time.Duration) string { return max(d, 0).Truncate(time.Second).String() }

func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%d kB", n>>10)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}
