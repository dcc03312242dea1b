package config

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Key documents one setting.
type Key struct {
	Name    string   // such as tick.max_agents, repository[].slug, agent.NAME.model
	Type    string   // how its value is written: "text", "whole number", "duration", ...
	Default string   // as TOML; empty: none
	Example string   // as TOML; empty: none
	Values  []string // the only values allowed; nil: any
	Env     string   // environment variable; empty: only the file can set it
	Doc     string   // one line
}

// Keys documents every setting, in the order of the structs.
func Keys() []Key {
	var keys []Key
	walk(reflect.TypeFor[Config](), "", func(name string, f *field) {
		if s := shapeOf(f.typ); s == table || s == tables || s == named {
			return
		}
		key := Key{Name: name, Type: typeName(f.typ), Example: f.example, Values: f.enum, Doc: f.doc}
		if f.hasDefault {
			key.Default = f.defaultTOML()
		}
		if !strings.Contains(name, "[]") && !strings.Contains(name, ".NAME") {
			key.Env = envName(name)
		}
		keys = append(keys, key)
	})
	return keys
}

// typeName says for people how values of t are written.
func typeName(t reflect.Type) string {
	switch shapeOf(t) {
	case list:
		return "list of " + typeName(t.Elem()) + "s"
	case listList:
		return "list of lists of texts"
	case pairs:
		return "table of texts"
	}
	switch {
	case t == durationType:
		return "duration"
	case t.Kind() == reflect.Bool:
		return "boolean"
	case t.Kind() == reflect.Int:
		return "whole number"
	case t.Kind() == reflect.Float64:
		return "number"
	}
	return "text"
}

// defaultTOML is the default as it is written in the file.
func (f *field) defaultTOML() string {
	v := reflect.New(f.typ).Elem()
	setText(v, f.def)
	return valueTOML(v)
}

// valueTOML writes a scalar or list as it is written in the file.
func valueTOML(v reflect.Value) string {
	switch value := v.Interface().(type) {
	case time.Duration:
		return tomlText(formatDuration(value))
	case encoding.TextMarshaler:
		text, _ := value.MarshalText()
		return tomlText(string(text))
	case string:
		return tomlText(value)
	case float64:
		return formatNumber(value)
	}
	if v.Kind() != reflect.Slice {
		return fmt.Sprint(v.Interface())
	}
	parts := make([]string, v.Len())
	for i := range parts {
		parts[i] = valueTOML(v.Index(i))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
