package store

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	"github.com/backburner-cli/backburner/pkg/work"
)

// shape is what this program knows of a JSON value: which members of an object
// are its own, and what is in them. A nil shape is a value without members
// worth telling apart: a string, a time, a list of numbers.
type shape struct {
	fields map[string]*shape // of a struct, by JSON name
	elem   *shape            // of a map or list
	list   bool
}

// Shapes are made when a record of their kind is first saved.
var (
	workstreamShape = sync.OnceValue(func() *shape { return shapeOf[work.Workstream]() })
	repositoryShape = sync.OnceValue(func() *shape { return shapeOf[work.Repository]() })
	agentsShape     = sync.OnceValue(func() *shape { return shapeOf[work.AgentStates]() })
	spendingShape   = sync.OnceValue(func() *shape { return shapeOf[work.Ledger]() })
	requestShape    = sync.OnceValue(func() *shape { return shapeOf[work.Request]() })
	executionShape  = sync.OnceValue(func() *shape { return shapeOf[work.Execution]() })
	metaShape       = sync.OnceValue(func() *shape { return shapeOf[meta]() })
)

func shapeOf[T any]() *shape {
	return buildShape(reflect.TypeFor[T](), make(map[reflect.Type]*shape))
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// buildShape follows a type the way encoding/json does. seen ends recursion in
// types that contain themselves.
func buildShape(t reflect.Type, seen map[reflect.Type]*shape) *shape {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if known, ok := seen[t]; ok {
		return known
	}
	if pt := reflect.PointerTo(t); pt.Implements(jsonMarshaler) || pt.Implements(textMarshaler) {
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		sh := &shape{fields: make(map[string]*shape, t.NumField())}
		seen[t] = sh
		sh.addFields(t, seen)
		return sh
	case reflect.Map, reflect.Slice, reflect.Array:
		if elem := buildShape(t.Elem(), seen); elem != nil {
			return &shape{elem: elem, list: t.Kind() != reflect.Map}
		}
	}
	return nil
}

func (sh *shape) addFields(t reflect.Type, seen map[reflect.Type]*shape) {
	for f := range fieldsOf(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" && f.Tag.Get("json") == "-":
		case f.Anonymous && name == "" && deref(f.Type).Kind() == reflect.Struct:
			sh.addFields(deref(f.Type), seen)
		case f.IsExported():
			if name == "" {
				name = f.Name
			}
			sh.fields[name] = buildShape(f.Type, seen)
		}
	}
}

func fieldsOf(t reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

func deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// knows reports whether a member of an object is this program's own, and its
// shape. Names are compared as encoding/json does, which ignores case: a member
// "Title" was read as the title and must not come back beside it.
func (sh *shape) knows(name []byte) (*shape, bool) {
	if sh.fields == nil {
		return sh.elem, true // a map: every key is ours
	}
	if field, ok := sh.fields[string(name)]; ok {
		return field, true
	}
	for known, field := range sh.fields {
		if strings.EqualFold(known, string(name)) {
			return field, true
		}
	}
	return nil, false
}
