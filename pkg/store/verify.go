package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/work"
)

// Severity says how much a problem matters.
type Severity string

// The severities.
const (
	Note Severity = "note" // puts itself right
	Warn Severity = "warn" // a person should look
	Fail Severity = "fail" // no tick can run
)

// Problem is something about a state folder that a person should know.
type Problem struct {
	Severity Severity
	Path     string // relative to the state folder
	Detail   string // what is wrong
	Next     string // what to do about it
}

// String is a sentence for people.
func (p Problem) String() string { return p.Path + ": " + p.Detail + " (" + p.Next + ")" }

// Verify looks at everything in a state folder, history included, and changes
// nothing. A folder that is not there has no problems. It may run beside a
// tick; what is saved while it looks may be reported once and not again.
func Verify(dir string) []Problem {
	v := &verifier{executions: make(map[string]string)}
	s, err := Open(dir, Options{ReadOnly: true})
	if err != nil {
		v.problem(Fail, "meta.json", err.Error(), "nothing else was looked at")
		return v.problems
	}
	v.store = s
	v.meta()
	v.workstreams()
	v.archive()
	v.repositories()
	v.singles()
	v.requests()
	v.ticks()
	v.runs()
	v.quarantine()
	slices.SortStableFunc(v.problems, func(a, b Problem) int { return cmp.Compare(a.Path, b.Path) })
	return v.problems
}

const (
	nextTick = "the next tick sets it aside; repair it before that, or from quarantine/"
	byHand   = "repair or remove it"
)

type verifier struct {
	store      *Store
	problems   []Problem
	executions map[string]string // named by open workstreams -> by which
}

// add is a problem for a person.
func (v *verifier) add(path, detail, next string) { v.problem(Warn, path, detail, next) }

// note is one that is nobody's.
func (v *verifier) note(path, detail, next string) { v.problem(Note, path, detail, next) }

func (v *verifier) problem(severity Severity, path, detail, next string) {
	if rel, err := filepath.Rel(v.storeDir(), path); err == nil && filepath.IsAbs(path) {
		path = rel
	}
	v.problems = append(v.problems, Problem{severity, path, detail, next})
}

func (v *verifier) storeDir() string {
	if v.store == nil {
		return ""
	}
	return v.store.dir
}

// names lists a folder and reports what in it is not ours.
func (v *verifier) names(folder string) []string {
	names, err := readNames(v.store.path(folder))
	if err != nil {
		v.add(folder, err.Error(), "make it readable")
	}
	slices.Sort(names)
	ours := names[:0]
	for _, name := range names {
		if _, ok := recordID(name); ok {
			ours = append(ours, name)
		} else if base, temporary := atomicfile.IsTemporary(name); temporary {
			v.note(filepath.Join(folder, name), "left by a write of "+base+" that was cut short, or is going on", "nothing; it is removed after a while")
		} else {
			v.add(filepath.Join(folder, name), "not one of backburner's files", "move it elsewhere")
		}
	}
	return ours
}

// check reads a record and reports it when it cannot be used.
func check[T any](v *verifier, path, next string, decode func(id string, data []byte) (*T, error)) *T {
	record, bad, err := loadOne(v.store, path, decode)
	if bad != nil {
		err = bad.Err
	}
	if err != nil {
		v.add(path, err.Error(), next)
	}
	return record
}

func (v *verifier) meta() {
	_, err := v.store.readMeta()
	if !errors.Is(err, fs.ErrNotExist) {
		return // Open has read it
	}
	if names, _ := readNames(v.store.path("workstreams")); len(names) > 0 {
		v.add("meta.json", "missing", "restore it; the next tick makes one of its own schema")
	}
}

func (v *verifier) workstreams() {
	folded := make(map[string]string)
	for _, name := range v.names("workstreams") {
		w := check(v, v.store.path("workstreams", name), nextTick, v.store.decodeWorkstream)
		if w == nil {
			continue
		}
		if other := folded[strings.ToLower(w.ID)]; other != "" {
			v.add("workstreams/"+name, fmt.Sprintf("its id differs from %q only in upper and lower case", other), "cancel one of them")
		}
		folded[strings.ToLower(w.ID)] = w.ID
		if path, err := v.store.Archived(w.ID); err == nil && path != "" {
			v.note(path, "the workstream is open as well", "nothing, the open one counts; archiving it replaces this one")
		}
		v.named(w)
	}
	for _, id := range v.folders("workstreams") {
		if path, err := v.store.Archived(id); err == nil && path != "" && folded[strings.ToLower(id)] == "" {
			v.note("workstreams/"+id, "its workstream is in the archive", "nothing; it is moved there within a day")
		}
	}
}

// named notes the executions that a workstream refers to.
func (v *verifier) named(w *work.Workstream) {
	for _, t := range w.Tasks {
		for _, id := range t.Executions {
			v.executions[id] = w.ID
		}
	}
	if w.GateRun != "" {
		v.executions[w.GateRun] = w.ID
	}
}

// folders lists the folders in a folder.
func (v *verifier) folders(folder string) []string {
	entries, err := os.ReadDir(v.store.path(folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		v.add(folder, err.Error(), "make it readable")
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names
}

func (v *verifier) archive() {
	for _, month := range v.folders("archive") {
		folder := filepath.Join("archive", month)
		if _, ok := monthEnd(month); !ok {
			v.add(folder, "not one of backburner's folders", "move it elsewhere")
			continue
		}
		for _, name := range v.names(folder) {
			check(v, v.store.path(folder, name), byHand, v.store.decodeWorkstream)
		}
	}
}

func (v *verifier) repositories() {
	for _, name := range v.names("repositories") {
		check(v, v.store.path("repositories", name), nextTick, v.store.decodeRepository)
	}
}

func (v *verifier) singles() {
	_, agents, err := loadSingle(v.store, agentsRecord, "agents.json", func(a *work.AgentStates) *int { return &a.Schema })
	_, spending, spendingErr := loadSingle(v.store, spendingRecord, "spending.json", func(l *work.Ledger) *int { return &l.Schema })
	for _, q := range append(agents, spending...) {
		v.add(q.Path, q.Err.Error(), nextTick)
	}
	if err := errors.Join(err, spendingErr); err != nil {
		v.add(".", err.Error(), byHand)
	}
}

func (v *verifier) requests() {
	for _, name := range v.names("requests") {
		check(v, v.store.path("requests", name), nextTick, v.store.decodeRequest)
	}
	for _, name := range v.names("requests/done") {
		check(v, v.store.path("requests", "done", name), byHand, v.store.decodeRequest)
	}
}

func (v *verifier) ticks() {
	days, err := v.store.tickDays()
	if err != nil {
		v.add("ticks", err.Error(), byHand)
	}
	for _, day := range days {
		path, bad := v.store.tickFile(day), 0
		err := eachLine(path, func(line []byte) {
			if _, ok := tickOf(line); !ok && strings.TrimSpace(string(line)) != "" {
				bad++
			}
		})
		if err != nil {
			v.add(path, err.Error(), byHand)
		}
		if bad > 0 {
			v.note(path, fmt.Sprintf("lines that are no ticks: %d", bad), "nothing; they are passed over")
		}
	}
}

// runs checks the executions, and that those which open workstreams name are
// there.
func (v *verifier) runs() {
	for _, id := range v.folders("executions") {
		owner := v.executions[id]
		delete(v.executions, id)
		if badExecution(id) != "" {
			v.add("executions/"+id, "not one of backburner's folders", "move it elsewhere")
			continue
		}
		_, err := v.store.Execution(id)
		switch {
		case err == nil:
		case !errors.Is(err, fs.ErrNotExist):
			v.add("executions/"+id+"/execution.json", err.Error(), byHand)
		case owner != "":
			v.add("executions/"+id, "it has no execution.json, and workstream "+owner+" names it", "look at the workstream with backburner status "+owner)
		}
	}
	for id, owner := range v.executions {
		v.add("executions/"+id, "missing, and workstream "+owner+" names it", "look at the workstream with backburner status "+owner)
	}
}

func (v *verifier) quarantine() {
	_ = filepath.WalkDir(v.store.path("quarantine"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			v.add(path, "set aside because it could not be used", "repair it and move it back to where it was, or remove it")
		}
		return nil
	})
}
