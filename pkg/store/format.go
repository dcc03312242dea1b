package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/backburner-cli/backburner/pkg/work"
)

// kind is a kind of record, for migrations and messages.
type kind string

const (
	metaRecord       kind = "meta"
	workstreamRecord kind = "workstream"
	repositoryRecord kind = "repository"
	agentsRecord     kind = "agents"
	spendingRecord   kind = "spending"
	requestRecord    kind = "request"
	executionRecord  kind = "execution"
)

// A migration turns the fields of one record into those of the next schema. It
// need not set the field schema.
type migration func(k kind, fields map[string]json.RawMessage) error

// format is the schema that is read and written, and how older ones get there.
type format struct {
	schema     int
	migrations map[int]migration // by the schema they start from
}

// current is the format of this program. A change of work.Schema comes with a
// row here.
var current = format{schema: work.Schema, migrations: map[int]migration{}}

// SchemaError is returned for state that this program must not touch.
type SchemaError struct {
	Path string // "" where the caller names the file
	Have int    // schema of the file
	Want int    // schema of this program
}

func (e *SchemaError) Error() string {
	file := e.Path
	if file != "" {
		file += ": "
	}
	if e.Have > e.Want {
		return fmt.Sprintf("%swritten by a newer backburner (schema %d, this one knows %d); upgrade backburner, or choose another state folder with --state",
			file, e.Have, e.Want)
	}
	return fmt.Sprintf("%sschema %d cannot be brought to schema %d; load it once with an older backburner, or choose another state folder with --state",
		file, e.Have, e.Want)
}

// canRead returns a *SchemaError unless files of the schema can be read.
func (f format) canRead(path string, schema int) error {
	for at := schema; at != f.schema; at++ {
		if at > f.schema || f.migrations[at] == nil {
			return &SchemaError{Path: path, Have: schema, Want: f.schema}
		}
	}
	return nil
}

// upgrade brings a record of an older schema to the current one.
func (f format) upgrade(k kind, data []byte) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	schema := 0
	if raw, ok := fields["schema"]; ok {
		if err := json.Unmarshal(raw, &schema); err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
	}
	if err := f.canRead("", schema); err != nil {
		return nil, err
	}
	if schema == f.schema {
		return data, nil
	}
	if fields == nil {
		return nil, errors.New("null")
	}
	for ; schema < f.schema; schema++ {
		if err := f.migrations[schema](k, fields); err != nil {
			return nil, fmt.Errorf("from schema %d: %w", schema, err)
		}
		fields["schema"] = json.RawMessage(fmt.Sprint(schema + 1))
	}
	return json.MarshalIndent(fields, "", "  ")
}

// decode reads a record. schema points at the field of that name within into,
// so that the usual case costs one parse and no more.
func decode[T any](f format, k kind, data []byte, into *T, schema *int) error {
	err := json.Unmarshal(data, into)
	if err == nil && *schema == f.schema {
		return nil
	}
	upgraded, upgradeErr := f.upgrade(k, data)
	if upgradeErr != nil {
		return upgradeErr
	}
	if err != nil && bytes.Equal(upgraded, data) {
		return err
	}
	var zero T
	*into = zero
	if err := json.Unmarshal(upgraded, into); err != nil {
		return err
	}
	*schema = f.schema // also when a member "Schema" said something else
	return nil
}

// encode writes a record as people read it, keeping what base, the file it
// replaces, holds and this program does not know.
func encode(sh *shape, record any, base []byte) ([]byte, error) {
	var compact bytes.Buffer
	enc := json.NewEncoder(&compact)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(record); err != nil {
		return nil, err
	}
	data := compact.Bytes()
	if hasUnknown(sh, base) {
		data = graft(sh, base, bytes.TrimSpace(data))
	}
	var out bytes.Buffer
	out.Grow(len(data) + len(data)/2)
	if err := json.Indent(&out, bytes.TrimSpace(data), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	if out.Len() > maxRecord {
		return nil, fmt.Errorf("%d bytes, and at most %d are read back", out.Len(), maxRecord)
	}
	return out.Bytes(), nil
}
