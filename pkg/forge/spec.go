package forge

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/backburner-cli/backburner/pkg/work"
)

// Spec is a text to work from, as it was found.
type Spec struct {
	ID      string // of the workstream it becomes
	Path    string // of the file; relative to the repository when it was found in one
	Title   string // first heading or line; the id when there is none
	Body    string // the whole text, heading included, lines ended by \n
	Hash    string // work.SpecHash of title and body
	Size    int64  // bytes of the file
	ModTime time.Time
}

// Problem is a spec that cannot be worked from. It is an error that ends in
// what to do about it.
type Problem struct {
	Path string // as shown to people
	What string // "is empty"
	Next string // "write what should be done into it, or remove it"

	Size    int64 // of the file, as far as it is known
	ModTime time.Time
}

// Error is the problem in one line, safe on a terminal.
func (p Problem) Error() string { return p.String() }

// String is the problem in one line, safe on a terminal.
func (p Problem) String() string {
	return fmt.Sprintf("spec %s %s: %s", work.Clip(work.Printable(p.Path), 200), p.What, p.Next)
}

// ReadSpec checks a text that came from path and makes a spec of it. The error
// is a Problem. A byte order mark is dropped, and lines end in \n whatever the
// editor: neither is a change of the text.
func ReadSpec(id, path string, data []byte) (Spec, error) {
	refuse := func(what, next string) (Spec, error) {
		return Spec{}, Problem{Path: path, What: what, Next: next, Size: int64(len(data))}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch why := work.BadID(id); {
	case why != "":
		return refuse(fmt.Sprintf("cannot be named %q (%s)", work.Clip(work.Printable(id), 100), why),
			"give the file a name of at most 80 letters, digits, -, _ and .")
	case len(data) > work.MaxSpec:
		return refuse(TooLong(), "shorten it, or put the details into files of the repository and name them")
	case bytes.IndexByte(data, 0) >= 0:
		return refuse("is not text (it has NUL bytes)", "save it as UTF-8 text")
	case !utf8.Valid(data):
		return refuse("is not UTF-8", "save it as UTF-8 text")
	}
	body := strings.ReplaceAll(string(data), "\r\n", "\n")
	if work.Printable(body) == "" {
		return refuse("is empty", "write what should be done into it, or remove it")
	}
	title := work.SpecTitle(body, id)
	return Spec{ID: id, Path: path, Title: title, Body: body, Hash: work.SpecHash(title, body), Size: int64(len(data))}, nil
}

// TooLong says that a spec has more than work.MaxSpec bytes.
func TooLong() string { return fmt.Sprintf("is longer than %d KiB", work.MaxSpec>>10) }
