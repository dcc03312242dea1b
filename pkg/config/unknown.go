package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// unknownKey is the message for a name that its table does not have: the name
// that was probably meant, else the table where there is such a name, else what
// the table has.
func unknownKey(name string, fields []field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	if near := Nearest(name, names); near != "" {
		return fmt.Sprintf("unknown key; did you mean %s?", near)
	}
	if homes := tablesWith(name); len(homes) > 0 {
		return fmt.Sprintf("unknown key; it belongs in %s", strings.Join(homes, " or "))
	}
	return fmt.Sprintf("unknown key; known here: %s", strings.Join(names, ", "))
}

// tablesWith are the headers of the tables that have a key of that name.
func tablesWith(name string) []string {
	var homes []string
	walk(reflect.TypeFor[Config](), "", func(key string, f *field) {
		if f.name != name || shapeOf(f.typ) == table && f.typ.Kind() == reflect.Struct {
			return
		}
		home, _, _ := cutLast(key)
		if home != "" {
			homes = append(homes, header(home))
		}
	})
	return slices.Compact(homes)
}

// header is how the table with such a key is opened.
func header(key string) string {
	if list, ok := strings.CutSuffix(key, "[]"); ok {
		return "[[" + list + "]]"
	}
	return "[" + key + "]"
}

func cutLast(key string) (table, name string, ok bool) {
	i := strings.LastIndexByte(key, '.')
	if i < 0 {
		return "", key, false
	}
	return key[:i], key[i+1:], true
}

// walk visits every setting there can be, tables included, in the order of the
// structs. Elements of lists of tables are "key[]", the user's names are "NAME".
func walk(t reflect.Type, prefix string, visit func(key string, f *field)) {
	for _, f := range fieldsOf(t) {
		key := f.name
		if prefix != "" {
			key = prefix + "." + f.name
		}
		visit(key, &f)
		switch shapeOf(f.typ) {
		case table:
			if f.typ.Kind() == reflect.Pointer {
				walk(f.typ.Elem(), key, visit)
			} else {
				walk(f.typ, key, visit)
			}
		case tables:
			walk(f.typ.Elem(), key+"[]", visit)
		case named:
			walk(f.typ.Elem(), key+".NAME", visit)
		}
	}
}
