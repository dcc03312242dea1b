package gate

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/work"
)

// Tail is the end of what the red steps of an execution wrote, at most maxBytes,
// for an agent or for people: valid UTF-8 without control characters and without
// secrets, beginning with a whole line. Where it is not known which step was red, because the run
// was cut, it is that of the newest log. An execution that wrote nothing has
// "".
func Tail(execution string, maxBytes int) (string, error) {
	names, err := redLogs(execution)
	if err != nil {
		return "", fmt.Errorf("gate log: %w", err)
	}
	var parts []string
	for _, l := range names {
		head := ""
		if len(names) > 1 {
			head = "--- " + l.step + "\n"
		}
		text, err := tailOf(filepath.Join(execution, filepath.FromSlash(l.path)), maxBytes/len(names)-len(head)-1)
		if err != nil && !os.IsNotExist(err) {
			return "", fmt.Errorf("gate log: %w", err)
		}
		if text != "" {
			parts = append(parts, head+text)
		}
	}
	return strings.Join(parts, "\n"), nil
}

// log is where a step wrote to.
type log struct {
	step string
	path string // in the folder of the execution
}

func redLogs(execution string) ([]log, error) {
	var steps []work.StepResult
	content, err := atomicfile.Read(filepath.Join(execution, stepsFile), 16<<20)
	if err == nil {
		err = json.Unmarshal(content, &steps)
	}
	if err != nil {
		return newestLog(execution)
	}
	var logs []log
	for _, s := range steps {
		if s.Reason != "" && s.Log != "" && filepath.IsLocal(filepath.FromSlash(s.Log)) {
			logs = append(logs, log{s.Name, s.Log})
		}
	}
	return logs, nil
}

func newestLog(execution string) ([]log, error) {
	entries, err := os.ReadDir(execution)
	if err != nil {
		return nil, err
	}
	for _, entry := range slices.Backward(entries) {
		path := filepath.Join(execution, entry.Name(), logFile)
		if info, err := os.Lstat(path); entry.IsDir() && err == nil && info.Mode().IsRegular() {
			return []log{{entry.Name(), entry.Name() + "/" + logFile}}, nil
		}
	}
	return nil, nil
}

// TailFile is the end of one file, by the same rules as [Tail].
func TailFile(path string, maxBytes int) (string, error) { return tailOf(path, maxBytes) }

// tailOf is the readable end of a file.
func tailOf(path string, maxBytes int) (string, error) {
	if maxBytes <= 0 {
		return "", nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0) // it may not be what was looked at before
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "", err
	}
	// Colours and redrawn progress lines take room that is not shown, and a secret is known by its beginning.
	window := min(info.Size(), 4*int64(maxBytes)+16<<10)
	data := make([]byte, window)
	n, err := f.ReadAt(data, info.Size()-window)
	if err != nil && err != io.EOF {
		return "", err
	}
	text := readable(data[:n])
	if window < info.Size() {
		text = wholeLines(text)
	}
	if text = work.Redact(text); len(text) > maxBytes {
		text = wholeLines(lastBytes(text, maxBytes))
	}
	return text, nil
}

// escape is a terminal's control sequence: CSI, OSC, or two characters.
var escape = regexp.MustCompile(`\x1b(?:\[[0-9:;<=>?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])`)

// readable is what a person would have seen of the output in the end.
func readable(data []byte) string {
	text := escape.ReplaceAllString(strings.ToValidUTF8(string(data), "�"), "")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		if at := strings.LastIndexByte(line, '\r'); at >= 0 { // redrawn: the last state stays
			line = line[at+1:]
		}
		lines[i] = strings.Map(func(r rune) rune {
			if r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				return -1
			}
			return r
		}, line)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// wholeLines drops the first line, which is cut, unless there is no other.
func wholeLines(text string) string {
	if _, rest, ok := strings.Cut(text, "\n"); ok {
		return rest
	}
	return text
}

func lastBytes(text string, n int) string {
	start := len(text) - n
	for start < len(text) && !utf8.RuneStart(text[start]) {
		start++
	}
	return text[start:]
}

// lastLines is the end of a log for Detail, on lines of its own; "" when there
// is none.
func lastLines(path string) string {
	text, err := tailOf(path, tailBytes)
	if err != nil || text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	return "\n" + strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}
