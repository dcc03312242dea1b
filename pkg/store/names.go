package store

import (
	"fmt"
	"strings"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/work"
)

// maxRecord is the most bytes that are read of one record. A specification
// (work.MaxSpec) of characters that JSON writes as \u0000 fits ten times.
const maxRecord = 16 << 20

// nowhere is a name in which nothing is ever found, for ids that must not
// become paths.
const nowhere = ".invalid"

func checkID(what, id string) error {
	if why := work.BadID(id); why != "" {
		return fmt.Errorf("%s id %.100q: %s", what, id, why)
	}
	return nil
}

// badExecution says why id cannot be the id of an execution; "" when it can.
// Ids are made by work.Workstream.NextExecution: a workstream's id, a dot and a
// number.
func badExecution(id string) string {
	owner := executionOwner(id)
	if owner == "" {
		return work.BadID(id)
	}
	return work.BadID(owner)
}

// executionOwner is the id of the workstream an execution belongs to, "" when
// its id does not say.
func executionOwner(id string) string {
	dot := strings.LastIndexByte(id, '.')
	if dot < 0 {
		return ""
	}
	number := id[dot+1:]
	if number == "" || len(number) > 12 || strings.Trim(number, "0123456789") != "" {
		return ""
	}
	return id[:dot]
}

func checkExecution(id string) error {
	if why := badExecution(id); why != "" {
		return fmt.Errorf("execution id %.100q: %s", id, why)
	}
	return nil
}

// recordID is the id of the record in a file called name; ok is false for
// files that are not records: temporaries, other people's.
func recordID(name string) (id string, ok bool) {
	id, ok = strings.CutSuffix(name, ".json")
	if !ok {
		return "", false
	}
	if _, temporary := atomicfile.IsTemporary(name); temporary {
		return "", false
	}
	return id, work.BadID(id) == ""
}

func (s *Store) workstreamFile(id string) string { return s.path("workstreams", id+".json") }

// Folder is where the files of a workstream are that are not its record:
// memory.md, the local forge's thread.md, the review bundle. It need not exist.
func (s *Store) Folder(id string) string {
	if work.BadID(id) != "" {
		id = nowhere
	}
	return s.path("workstreams", id)
}
