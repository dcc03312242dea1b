package local

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

// threadFile is the thread in the folder of a workstream.
const threadFile = "thread.md"

// maxThread bounds what is read of a thread, in bytes.
const maxThread = 64 << 20

// An entry is a heading, the text, and last its marker: where the marker is,
// the whole entry is. So nothing has to be taken away after a crash, and what
// people write into the file themselves is never touched.
const (
	markerStart = "<!-- backburner:"
	markerEnd   = " -->"
)

var markerLine = regexp.MustCompile(`(?m)^<!-- backburner:[^\s]+ -->\n`)

// Tell says a notice on the thread in folder, exactly once: when its id is there
// already, that was it. When it returned nil the notice survives a power loss.
func Tell(folder string, n work.Notice) error {
	return say(folder, n.ID, render(n.ID, n.At, strings.ReplaceAll(n.Event, "_", " "), forge.RenderNotice(n, false)))
}

// Comment puts what a person said on the thread in folder, by the same promise.
func Comment(folder string, e forge.Entry) error {
	return say(folder, e.ID, render(e.ID, e.At, e.By, e.Text))
}

// say appends an entry unless its marker is there. One writer at a time is
// the caller's affair; a second one cannot tear an entry, but may repeat one.
func say(folder, id string, entry []byte) error {
	path := filepath.Join(folder, threadFile)
	if err := atomicfile.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("thread: %w", err)
	}
	old, err := readThread(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := atomicfile.Create(path, bytes.TrimPrefix(entry, []byte("\n")), 0o644); !errors.Is(err, fs.ErrExist) {
			return wrapThread(err)
		}
		old, err = readThread(path)
	}
	if err != nil {
		return wrapThread(err)
	}
	if hasMarker(old, id) {
		return nil
	}
	return wrapThread(appendDurably(path, missing(old, entry)))
}

func wrapThread(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("thread: %w", err)
}

func readThread(path string) ([]byte, error) { return atomicfile.Read(path, maxThread) }

// missing is what has to be appended to get the entry: only its rest when a
// crash cut it short, else all of it on a line of its own.
func missing(old, entry []byte) []byte {
	tail := old
	if marks := markerLine.FindAllIndex(old, -1); len(marks) > 0 {
		tail = old[marks[len(marks)-1][1]:]
	}
	if bytes.HasPrefix(entry, tail) {
		return entry[len(tail):]
	}
	if first := bytes.TrimPrefix(entry, []byte("\n")); bytes.HasPrefix(first, tail) { // the first entry has no empty line before it
		return first[len(tail):]
	}
	if !bytes.HasSuffix(old, []byte("\n")) {
		return append([]byte("\n"), entry...)
	}
	return entry
}

func appendDurably(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// render is an entry as it stands in the file.
func render(id string, at time.Time, who, text string) []byte {
	heading := at.UTC().Format("2006-01-02 15:04 UTC")
	if who = forge.Defuse(work.Printable(who)); who != "" {
		heading += " · " + who
	}
	return fmt.Appendf(nil, "\n## %s\n\n%s\n\n%s\n", heading, strings.TrimSpace(clean(text)), marker(id))
}

// marker is the line that says an entry is whole. It holds nothing that could
// end the comment or the line early.
func marker(id string) string {
	var b strings.Builder
	for i := range len(id) {
		c := id[i]
		if c > ' ' && c < 0x7f && c != '<' && c != '>' && c != '%' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return markerStart + b.String() + markerEnd
}

func hasMarker(thread []byte, id string) bool {
	line := []byte(marker(id) + "\n")
	return bytes.HasPrefix(thread, line) || bytes.Contains(thread, append([]byte("\n"), line...))
}

// clean is a text without what can deceive its reader on a terminal or forge a
// marker: control and bidirectional characters go, HTML comments become visible.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "�"))
	return forge.Defuse(text)
}

// Thread is the newest of the thread in folder, at most maxBytes, without the
// markers: whole entries as far as they fit, else the end of the last one, with
// a line that says so. No thread is "".
func Thread(folder string, maxBytes int) (string, error) {
	data, err := readThread(filepath.Join(folder, threadFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", wrapThread(err)
	}
	entries := split(data)
	kept, size := len(entries), 0
	for kept > 0 && size+len(entries[kept-1])+2 <= maxBytes {
		kept--
		size += len(entries[kept]) + 2
	}
	switch {
	case kept == 0:
		return strings.Join(entries, "\n\n"), nil
	case kept == len(entries):
		return endOf(entries[kept-1], maxBytes), nil
	}
	return fmt.Sprintf("(%d earlier left out)\n\n", kept) + strings.Join(entries[kept:], "\n\n"), nil
}

// split is the thread by entries, without markers and made safe to show: the
// file is one that anybody may have edited.
func split(data []byte) []string {
	var entries []string
	for _, part := range markerLine.Split(string(data), -1) {
		if part = strings.TrimSpace(clean(part)); part != "" {
			entries = append(entries, part)
		}
	}
	return entries
}

// endOf is the last at most n bytes of a text, from the beginning of a line
// where there is one.
func endOf(text string, n int) string {
	if n <= 0 || text == "" {
		return ""
	}
	start := max(0, len(text)-n)
	for start < len(text) && !utf8.RuneStart(text[start]) {
		start++
	}
	end := text[start:]
	if _, rest, ok := strings.Cut(end, "\n"); ok && rest != "" {
		end = rest
	}
	return end
}
