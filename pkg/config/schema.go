package config

import (
	"encoding/json"
	"reflect"
	"strconv"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/google/jsonschema-go/jsonschema"
)

// SchemaURL is where editors find the schema.
const SchemaURL = "https://raw.githubusercontent.com/backburner-cli/backburner/main/pkg/config/backburner.schema.json"

// patterns are the checks that a schema can express, roughly; Load is the judge.
// The empty text is the same as leaving the key out.
var patterns = map[string]string{
	"slug":      `^$|^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$`,
	"clone_url": `^$|\{slug\}`,
	"url":       `^$|^https?://`,
	"id_path":   `^$|\{id\}`,
	"author":    `^$|^[^<>]+<[^<> ]+@[^<> ]*>$`,
	"agent_env": `^[A-Za-z_][A-Za-z0-9_]*(\*|=.*)?$`,
	"env":       `^[A-Za-z_][A-Za-z0-9_]*(=.*)?$`,
	"env_name":  `^$|^[A-Za-z_][A-Za-z0-9_]*$`,
}

// durationPattern is what time.ParseDuration accepts, without signs.
const durationPattern = `^(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`

// namePattern is checkName.
const namePattern = `^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`

// Schema is the JSON schema (draft 7, which editors know) of the configuration
// file, for completion and first checks while typing.
func Schema() ([]byte, error) {
	s := tableSchema(reflect.TypeFor[Config]())
	s.Schema = "http://json-schema.org/draft-07/schema#"
	s.ID = SchemaURL
	s.Title = "backburner.toml"
	s.Description = "Configuration of backburner"
	text, err := json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}

func tableSchema(t reflect.Type) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for _, f := range fieldsOf(t) {
		p := valueSchema(f.typ, &f)
		p.Description = f.doc
		if f.hasDefault {
			p.Default = f.defaultJSON()
		}
		if f.example != "" {
			p.Examples = []any{f.exampleValue()}
		}
		s.Properties[f.name] = p
		s.PropertyOrder = append(s.PropertyOrder, f.name)
		if f.required {
			s.Required = append(s.Required, f.name)
		}
	}
	return s
}

func valueSchema(t reflect.Type, f *field) *jsonschema.Schema {
	switch shapeOf(t) {
	case table:
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		return tableSchema(t)
	case tables:
		return &jsonschema.Schema{Type: "array", Items: tableSchema(t.Elem())}
	case named:
		return &jsonschema.Schema{Type: "object", AdditionalProperties: tableSchema(t.Elem()),
			PropertyNames: &jsonschema.Schema{Pattern: namePattern}}
	case pairs:
		return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{Type: "string"}}
	case list, listList:
		s := &jsonschema.Schema{Type: "array", Items: valueSchema(t.Elem(), f)}
		if f.check == "argv" {
			s.MinItems = new(1)
		}
		return s
	}
	return scalarSchema(t, f)
}

func scalarSchema(t reflect.Type, f *field) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Pattern: patterns[f.check]}
	switch {
	case t == durationType:
		s.Pattern = durationPattern
		return s
	case t.Kind() == reflect.Bool:
		s.Type = "boolean"
	case t.Kind() == reflect.Int:
		s.Type = "integer"
	case t.Kind() == reflect.Float64:
		s.Type = "number"
	}
	for _, value := range f.enum {
		s.Enum = append(s.Enum, value)
	}
	s.Minimum, s.Maximum = bound(f.min), bound(f.max)
	return s
}

func bound(text string) *float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil
	}
	return &n
}

// defaultJSON is the default as JSON; it cannot fail on scalars and lists of them.
func (f *field) defaultJSON() json.RawMessage {
	v := reflect.New(f.typ).Elem()
	setText(v, f.def)
	value := v.Interface()
	if d, ok := value.(time.Duration); ok {
		value = formatDuration(d)
	}
	text, _ := json.Marshal(value)
	return text
}

// exampleValue is the example as the TOML library reads it.
func (f *field) exampleValue() any {
	var doc struct{ V any }
	if _, err := toml.Decode("V = "+f.example, &doc); err != nil {
		panic("config: example of " + f.name + ": " + err.Error())
	}
	return doc.V
}
