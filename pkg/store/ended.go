package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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

// measureBudget is how many executions without a note are measured in one look;
// the others are taken to be of today and of average size.
const measureBudget = 500

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

// endings are all notes.
type endings struct {
	days    map[string][]ended
	changed map[string]bool // days whose notes have to be written
	noted   map[string]bool // by id of the execution
	bytes   int64
}

func (n *endings) order() []string { return slices.Sorted(maps.Keys(n.days)) }

// readEndings reads all notes. An execution that was saved twice after its end
// has two; the later one counts.
func (s *Store) readEndings() (*endings, error) {
	names, err := readNames(s.path("expiry"))
	if err != nil {
		return nil, err
	}
	n := &endings{days: make(map[string][]ended), changed: make(map[string]bool)}
	count := 0
	for _, name := range names {
		if day, ok := strings.CutSuffix(name, ".tsv"); ok {
			n.days[day] = readEnded(s.path("expiry", name))
			count += len(n.days[day])
		}
	}
	n.noted = make(map[string]bool, count)
	for _, day := range slices.Backward(n.order()) {
		for i := range slices.Backward(n.days[day]) {
			note := &n.days[day][i]
			if note.gone = n.noted[note.id]; !note.gone {
				n.noted[note.id] = true
				n.bytes += note.bytes
			}
		}
	}
	return n, nil
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

func (s *Store) writeEnded(day string, notes []ended) error {
	var text bytes.Buffer
	for _, n := range notes {
		if !n.gone {
			fmt.Fprintf(&text, "%d\t%s\n", n.bytes, n.id)
		}
	}
	if text.Len() == 0 {
		return s.remove(s.endedFile(day))
	}
	return s.putRelaxed(s.endedFile(day), text.Bytes())
}

// executions makes the missing notes, and removes executions by age and by
// size, oldest first.
func (e *expiry) executions() error {
	n, err := e.store.readEndings()
	if err != nil {
		return err
	}
	if !e.goingOn {
		if err := e.noteMissing(n); err != nil {
			e.errs = append(e.errs, err)
		}
	}
	for _, day := range n.order() {
		old := e.policy.Executions > 0 && e.dayIsOver(day, e.policy.Executions)
		for i := range n.days[day] {
			note := &n.days[day][i]
			tooMuch := e.policy.ExecutionBytes > 0 && n.bytes > e.policy.ExecutionBytes
			if !old && !tooMuch || e.budget <= 0 {
				break
			}
			if note.gone || e.isOpen(executionOwner(note.id)) {
				continue
			}
			if e.drop(e.store.ExecutionDir(note.id), &e.removed.Executions) {
				n.bytes -= note.bytes
				note.gone, n.changed[day] = true, true
			}
		}
	}
	for day := range n.changed {
		if e.dry {
			break
		}
		if err := e.store.writeEnded(day, n.days[day]); err != nil {
			e.errs = append(e.errs, err)
		}
	}
	return nil
}

// noteMissing notes the executions that have no note. They ended on the day
// their folder last changed; runs that go on have open workstreams.
func (e *expiry) noteMissing(n *endings) error {
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
	today := e.now.UTC().Format(dayFormat)
	measured, measuredBytes := 0, int64(0)
	for _, id := range names {
		if n.noted[id] || badExecution(id) != "" || e.isOpen(executionOwner(id)) {
			continue
		}
		day, note := today, ended{id: id}
		if measured < measureBudget {
			if info, err := os.Lstat(e.store.ExecutionDir(id)); err == nil {
				day = info.ModTime().UTC().Format(dayFormat)
			}
			note.bytes = folderSize(e.store.ExecutionDir(id))
			measured, measuredBytes = measured+1, measuredBytes+note.bytes
		} else {
			note.bytes = measuredBytes / int64(measured)
		}
		n.days[day] = append(n.days[day], note)
		n.changed[day] = true
		n.bytes += note.bytes
	}
	return nil
}
