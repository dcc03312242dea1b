package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// decoder puts the parsed tree of a file into a Config, keeping where each
// setting was and everything that does not fit.
type decoder struct {
	file     string
	lines    map[string]int
	origins  map[string]Origin
	problems *problems
}

func (d *decoder) origin(key string) Origin {
	return Origin{Kind: FromFile, File: d.file, Line: d.lines[key]}
}

func (d *decoder) complain(key, message string) { d.problems.add(d.origin(key), key, message) }

func (d *decoder) complainf(key, format string, args ...any) {
	d.complain(key, fmt.Sprintf(format, args...))
}

// table decodes a table into a struct that has its defaults already.
func (d *decoder) table(key string, data map[string]any, dst reflect.Value) {
	fields := fieldsOf(dst.Type())
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if i := slices.IndexFunc(fields, func(f field) bool { return f.name == name }); i >= 0 {
			d.value(join(key, name), data[name], dst.Field(fields[i].index), &fields[i])
			continue
		}
		d.complain(join(key, name), unknownKey(name, fields))
	}
	for _, f := range fields {
		if _, there := data[f.name]; f.required && !there {
			d.complainf(key, "%s is missing; add it: %s", f.name, f.doc)
		}
	}
}

func (d *decoder) value(key string, data any, dst reflect.Value, f *field) {
	d.origins[key] = d.origin(key)
	switch shapeOf(dst.Type()) {
	case table:
		d.oneTable(key, data, dst)
	case tables:
		d.tables(key, data, dst)
	case named:
		d.named(key, data, dst)
	case pairs:
		d.pairs(key, data, dst)
	case list, listList:
		d.list(key, data, dst, f)
	case scalar:
		if d.scalar(key, data, dst) {
			constrain(dst, f, func(_ int, complaint string) { d.complain(key, complaint) })
		}
	}
}

func (d *decoder) oneTable(key string, data any, dst reflect.Value) {
	m, ok := data.(map[string]any)
	if !ok {
		hint := "write [" + key + "] and its settings below"
		if _, isList := data.([]map[string]any); isList {
			hint = "there is only one; write [" + key + "] with single brackets"
		}
		d.complainf(key, "is %s, not a table; %s", describe(data), hint)
		return
	}
	if dst.Kind() == reflect.Pointer {
		dst.Set(reflect.New(dst.Type().Elem()))
		dst = dst.Elem()
		setDefaults(dst)
	}
	d.table(key, m, dst)
}

func (d *decoder) tables(key string, data any, dst reflect.Value) {
	elements, ok := asList(data)
	if !ok {
		hint := "write a list of { } tables"
		if !strings.Contains(key, ".") {
			hint = "write [[" + key + "]] with double brackets, as there can be several"
		}
		d.complainf(key, "is %s, not a list of tables; %s", describe(data), hint)
		return
	}
	dst.Set(reflect.MakeSlice(dst.Type(), len(elements), len(elements)))
	for i, e := range elements {
		m, ok := e.(map[string]any)
		if !ok {
			d.complainf(element(key, i), "is %s, not a table; write { name = value, ... }", describe(e))
			continue
		}
		d.origins[element(key, i)] = d.origin(element(key, i))
		setDefaults(dst.Index(i))
		d.table(element(key, i), m, dst.Index(i))
	}
}

// named decodes tables whose names are the user's, such as [agent.claude].
func (d *decoder) named(key string, data any, dst reflect.Value) {
	m, ok := data.(map[string]any)
	if !ok {
		d.complainf(key, "is %s, not a table; write [%s.NAME], NAME being yours to choose", describe(data), key)
		return
	}
	dst.Set(reflect.MakeMap(dst.Type()))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		at := join(key, name)
		if complaint := checks["name"](name); complaint != "" {
			d.complain(at, complaint)
			continue
		}
		inner, ok := m[name].(map[string]any)
		if !ok {
			d.complainf(at, "%s stands directly in [%s]; write [%s.NAME] and put it there, NAME being yours to choose", name, key, key)
			continue
		}
		d.origins[at] = d.origin(at)
		v := reflect.New(dst.Type().Elem()).Elem()
		setDefaults(v)
		d.table(at, inner, v)
		dst.SetMapIndex(reflect.ValueOf(name), v)
	}
}

func (d *decoder) pairs(key string, data any, dst reflect.Value) {
	m, ok := data.(map[string]any)
	if !ok {
		d.complainf(key, "is %s, not a table; write { name = \"text\" }", describe(data))
		return
	}
	dst.Set(reflect.MakeMap(dst.Type()))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		text, ok := m[name].(string)
		if !ok {
			d.complainf(join(key, name), "is %s, not text; put it in quotes", describe(m[name]))
			continue
		}
		d.origins[join(key, name)] = d.origin(join(key, name))
		dst.SetMapIndex(reflect.ValueOf(name), reflect.ValueOf(text))
	}
}

func (d *decoder) list(key string, data any, dst reflect.Value, f *field) {
	elements, ok := asList(data)
	if !ok {
		d.complainf(key, "is %s, not a list; put it in brackets: %s = [%s]", describe(data), f.name, show(data))
		return
	}
	out := reflect.MakeSlice(dst.Type(), len(elements), len(elements))
	sound := true
	for i, e := range elements {
		at := element(key, i)
		d.origins[at] = d.origin(at)
		if out.Index(i).Kind() == reflect.Slice {
			d.list(at, e, out.Index(i), f)
			continue
		}
		sound = d.scalar(at, e, out.Index(i)) && sound
	}
	dst.Set(out)
	if !sound {
		return
	}
	constrain(out, f, func(i int, complaint string) {
		at := key
		if i >= 0 {
			at = element(key, i)
		}
		d.complain(at, complaint)
	})
}

// scalar reports whether the value was of the right type.
func (d *decoder) scalar(key string, data any, dst reflect.Value) bool {
	complaint := setScalar(dst, data)
	if complaint != "" {
		d.complain(key, complaint)
	}
	return complaint == ""
}

// setScalar sets a value from what the TOML library made of it.
func setScalar(dst reflect.Value, data any) string {
	text, isString := data.(string)
	switch {
	case isText(dst.Type()), dst.Type() == durationType:
		if isString {
			return setScalarText(dst, text)
		}
	case dst.Kind() == reflect.String:
		if isString {
			dst.SetString(text)
			return ""
		}
	case dst.Kind() == reflect.Bool:
		if b, ok := data.(bool); ok {
			dst.SetBool(b)
			return ""
		}
	case dst.Kind() == reflect.Int:
		if n, ok := data.(int64); ok {
			dst.SetInt(n)
			return ""
		}
	case dst.Kind() == reflect.Float64:
		switch n := data.(type) {
		case int64:
			dst.SetFloat(float64(n))
			return ""
		case float64:
			if isFinite(n) {
				dst.SetFloat(n)
				return ""
			}
		}
	}
	return fmt.Sprintf("is %s; %s", describe(data), wanted(dst.Type()))
}

// wanted says how a scalar is written.
func wanted(t reflect.Type) string {
	switch {
	case t == durationType:
		return `write a duration in quotes, such as "45m"`
	case isText(t), t.Kind() == reflect.String:
		return "write text in quotes"
	case t.Kind() == reflect.Bool:
		return "write true or false, without quotes"
	case t.Kind() == reflect.Int:
		return "write a whole number, without quotes"
	}
	return "write a number, without quotes"
}

// describe names a value for people.
func describe(data any) string {
	switch v := data.(type) {
	case string:
		return "the text " + show(v)
	case bool:
		return show(v)
	case int64, float64:
		return "the number " + show(v)
	case time.Time:
		return "a date"
	case []map[string]any:
		return "a list of tables"
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return "something else"
}

// show writes a value short enough for a message.
func show(data any) string {
	const longest = 40
	switch v := data.(type) {
	case string:
		if runes := []rune(v); len(runes) > longest {
			return fmt.Sprintf("%q", string(runes[:longest])+"...")
		}
		return fmt.Sprintf("%q", v)
	case bool, int64, float64:
		return fmt.Sprint(v)
	}
	return "..."
}

// asList accepts both forms in which the library hands out lists.
func asList(data any) ([]any, bool) {
	switch v := data.(type) {
	case []any:
		return v, true
	case []map[string]any:
		out := make([]any, len(v))
		for i, m := range v {
			out[i] = m
		}
		return out, true
	}
	return nil, false
}
