package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
)

// Looking at the folders of all executions to find the old ones would take
// seconds where there are many. So which ended when, and how large they are, is
// noted as they end: expiry/<day>.tsv has a line "bytes TAB id" for each
// execution that ended that day (UTC). The notes are an aid and not the truth:
// what they miss, after a crash or because somebody removed them, is noted again
// when Expire compares them with the names of the folders.

// scanBudget is how many executions without a note are measured per call.
const scanBudget = 5000

// ended is one note.
type ended struct {
	id    string
	bytes int64
	gone  bool // its folder is, or a later note counts
}

func (s *Store) endedFile(day string) string { return s.path("expiry", day+".tsv") }

// noteEnded adds a note. It has no error: a note that could not be made is made
// by a later Expire.
func (s *Store) noteEnded(id string, at time.Time) {
	line := fmt.Appendf(nil, "%d\t%s", folderSize(s.ExecutionDir(id)), id)
	_ = s.appendLine(s.endedFile(at.UTC().Format(dayFormat)), line)
}

// folderSize is how many bytes the files below a folder have. What cannot be
// looked at counts as nothing.
func folderSize(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}

// executions removes executions by age and by size, oldest first, and then
// notes those that have no note yet.
func (e *expiry) executions() error {
	names, err := readNames(e.store.path("expiry"))
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return filepath.Ext(name) != ".tsv" })
	slices.Sort(names) // by day
	days := make([][]ended, len(names))
	noted := make(map[string]bool)
	var total int64
	for i, name := range slices.Backward(names) {
		days[i] = readEnded(e.store.path("expiry", name))
		for j := range slices.Backward(days[i]) {
			n := &days[i][j]
			n.gone = noted[n.id] // saved again later, which is what counts
			if !n.gone {
				noted[n.id] = true
				total += n.bytes
			}
		}
	}
	for i, name := range names {
		if err := e.endedDay(strings.TrimSuffix(name, ".tsv"), days[i], &total); err != nil {
			e.errs = append(e.errs, err)
		}
	}
	return e.unnoted(noted)
}

// endedDay removes what has to go of one day, and its notes with it.
func (e *expiry) endedDay(day string, notes []ended, total *int64) error {
	old := e.policy.Executions > 0 && e.dayIsOver(day, e.policy.Executions)
	changed := false
	for i := range notes {
		tooMuch := e.policy.ExecutionBytes > 0 && *total > e.policy.ExecutionBytes
		if !old && !tooMuch || e.budget <= 0 {
			break
		}
		if notes[i].gone || e.isOpen(executionOwner(notes[i].id)) {
			continue
		}
		if e.drop(e.store.ExecutionDir(notes[i].id)) {
			*total -= notes[i].bytes
			notes[i].gone, changed = true, true
		}
	}
	if !changed {
		return nil
	}
	return e.writeEnded(day, notes)
}

func (e *expiry) writeEnded(day string, notes []ended) error {
	var text bytes.Buffer
	for _, n := range notes {
		if !n.gone {
			fmt.Fprintf(&text, "%d\t%s\n", n.bytes, n.id)
		}
	}
	if text.Len() == 0 {
		return e.store.remove(e.store.endedFile(day))
	}
	return e.store.putRelaxed(e.store.endedFile(day), text.Bytes())
}

// readEnded reads the notes of a day. Lines that are no notes are passed over:
// the executions they meant are noted again.
func readEnded(path string) []ended {
	data, err := atomicfile.Read(path, 64<<20)
	if err != nil {
		return nil
	}
	notes := make([]ended, 0, bytes.Count(data, []byte{'\n'}))
	for line := range strings.Lines(string(data)) {
		size, id, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		n, err := strconv.ParseInt(size, 10, 64)
		if err == nil && n >= 0 && badExecution(id) == "" {
			notes = append(notes, ended{id: id, bytes: n})
		}
	}
	return notes
}

// unnoted makes the missing notes. They are of the day the folder was last
// changed; runs that go on have open workstreams, which keep them.
func (e *expiry) unnoted(noted map[string]bool) error {
	if e.budget <= 0 {
		return nil
	}
	f, err := os.Open(e.store.path("executions"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return err
	}
	left := scanBudget
	for _, id := range names {
		if noted[id] || badExecution(id) != "" || e.isOpen(executionOwner(id)) {
			continue
		}
		if left--; left < 0 {
			e.budget = 0 // there is more to do than one call does
			return nil
		}
		if info, err := os.Lstat(e.store.ExecutionDir(id)); err == nil {
			e.store.noteEnded(id, info.ModTime())
		}
	}
	return nil
}
