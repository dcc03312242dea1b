package report

import (
	"os"
	"regexp"
	"strings"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"github.com/backburner-cli/backburner/pkg/work"
)

// Style is how text is laid out.
type Style struct {
	Width int  // columns of the screen; 0 when there is none, so nothing is cut
	Color bool // ANSI colours may be used
}

// StyleOf is the style for a file: that of a screen when it is a terminal, and
// plain otherwise. NO_COLOR and TERM=dumb switch colours off.
func StyleOf(f *os.File, getenv func(string) string) Style {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return Style{}
	}
	return Style{Width: max(width, 0), Color: getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"}
}

// The colours are the eight that every terminal has, as its user chose them.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	blue   = "34"
)

func (s Style) paint(color, text string) string {
	if !s.Color || color == "" || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// columns is the width to lay out for, at least so wide that it makes sense.
func (s Style) columns() int {
	if s.Width == 0 {
		return 0
	}
	return max(s.Width, 20)
}

func widthOf(text string) int { return runewidth.StringWidth(text) }

// pad fills a text with blanks to n columns.
func pad(text string, n int) string {
	return text + strings.Repeat(" ", max(0, n-widthOf(text)))
}

// cut shortens a text to n columns; 0 leaves it whole.
func cut(text string, n int) string {
	if n <= 0 || widthOf(text) <= n {
		return text
	}
	return runewidth.Truncate(text, n, "…")
}

// wrap breaks a text into lines of n columns between words; 0 makes one line.
// What stands in a line of its own is not broken: neither are commands longer
// than a line.
func wrap(text string, n int) []string {
	if n <= 0 || widthOf(text) <= n {
		return []string{text}
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case widthOf(line)+1+widthOf(word) <= n:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

// escape is a terminal's control sequence: CSI, OSC, or two characters.
var escape = regexp.MustCompile(`\x1b(?:\[[0-9:;<=>?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])`)

// oneLine is a text from outside on one line, safe on a terminal. The lines it
// had are told apart.
func oneLine(text string) string {
	var kept []string
	for line := range strings.Lines(escape.ReplaceAllString(text, "")) {
		if line = work.Printable(line); line != "" {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, " | ")
}

// block is a text from outside with its lines, safe on a terminal.
func block(text string) []string {
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(escape.ReplaceAllString(text, ""))) {
		trimmed := strings.TrimLeft(line, " \t")
		indent := strings.ReplaceAll(line[:len(line)-len(trimmed)], "\t", "    ")
		lines = append(lines, strings.TrimRight(indent+work.Printable(trimmed), " "))
	}
	return lines
}
