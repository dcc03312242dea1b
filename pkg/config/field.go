package config

import (
	"encoding"
	"reflect"
	"strings"
	"time"
)

// field is one setting: a struct field with what its tags say.
//
//	toml      name; fields without it are no settings
//	doc       one line for people
//	default   as it would stand in an environment variable
//	enum      allowed values, separated by commas; of each element of a list
//	min, max  range, in the form of the value; of each element of a list
//	check     name of a check in checks; of each element of a list
//	example   a value, as it would stand in the file
//	required  "true": must be given where its table is
type field struct {
	name, doc, def, check, example string
	hasDefault, required           bool
	enum                           []string
	min, max                       string
	index                          int
	typ                            reflect.Type
}

// fieldsOf are the settings of a table, in the order of the struct.
func fieldsOf(t reflect.Type) []field {
	fields := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		name := tag.Get("toml")
		if name == "" {
			continue
		}
		f := field{name: name, doc: tag.Get("doc"), check: tag.Get("check"), example: tag.Get("example"), min: tag.Get("min"), max: tag.Get("max"),
			required: tag.Get("required") == "true", index: i, typ: t.Field(i).Type}
		f.def, f.hasDefault = tag.Lookup("default")
		if enum := tag.Get("enum"); enum != "" {
			f.enum = strings.Split(enum, ",")
		}
		fields = append(fields, f)
	}
	return fields
}

// fieldNamed is the setting of that name in a table, or nil.
func fieldNamed(t reflect.Type, name string) *field {
	for _, f := range fieldsOf(t) {
		if f.name == name {
			return &f
		}
	}
	return nil
}

// shape is how a setting is written in TOML.
type shape int

const (
	scalar   shape = iota // text, number, boolean, duration
	list                  // [a, b]
	table                 // [name], or { } for an optional one
	tables                // [[name]]
	named                 // [name.NAME], NAME being the user's
	pairs                 // { NAME = "text" }
	listList              // [[a, b], [c]]
)

var (
	durationType = reflect.TypeFor[time.Duration]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// isText reports whether values of t parse themselves from text.
func isText(t reflect.Type) bool { return reflect.PointerTo(t).Implements(textType) }

// shapeOf panics on a type that settings cannot have: a mistake in this package.
func shapeOf(t reflect.Type) shape {
	switch {
	case isText(t):
		return scalar
	case t.Kind() == reflect.Struct, t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		return table
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct:
		return named
	case t.Kind() == reflect.Map:
		return pairs
	case t.Kind() == reflect.Slice && shapeOf(t.Elem()) == table:
		return tables
	case t.Kind() == reflect.Slice && shapeOf(t.Elem()) == list:
		return listList
	case t.Kind() == reflect.Slice:
		return list
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
		return scalar
	}
	panic("config: no setting can be a " + t.String())
}

// newWithDefaults is a T with the defaults of its settings.
func newWithDefaults[T any]() T {
	var v T
	setDefaults(reflect.ValueOf(&v).Elem())
	return v
}

// setDefaults panics on a default that does not parse: a mistake in this package.
func setDefaults(v reflect.Value) {
	for _, f := range fieldsOf(v.Type()) {
		switch {
		case v.Field(f.index).Kind() == reflect.Struct && shapeOf(f.typ) == table:
			setDefaults(v.Field(f.index))
		case f.hasDefault:
			if complaint := setText(v.Field(f.index), f.def); complaint != "" {
				panic("config: default of " + f.name + ": " + complaint)
			}
		}
	}
}
