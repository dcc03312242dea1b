package store

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"unicode/utf8"
)

// graft returns fresh with those members of old added, at any depth, that the
// shape does not know. Objects are matched by key; objects in lists by their
// "id", or by index when they have none. Both are valid JSON. When there is
// nothing to add, fresh itself is returned.
func graft(sh *shape, old, fresh []byte) []byte {
	switch {
	case sh == nil || len(old) == 0 || len(fresh) == 0:
		return fresh
	case sh.list && first(old) == '[' && first(fresh) == '[':
		return graftList(sh.elem, old, fresh)
	case !sh.list && first(old) == '{' && first(fresh) == '{':
		return graftObject(sh, old, fresh)
	}
	return fresh
}

// hasUnknown reports whether there is anything to graft in old: nearly always
// not, and then looking must cost little.
func hasUnknown(sh *shape, old []byte) bool {
	switch {
	case sh == nil || len(old) == 0:
		return false
	case sh.list && first(old) == '[':
		for value := range listValues(old) {
			if hasUnknown(sh.elem, value) {
				return true
			}
		}
	case !sh.list && first(old) == '{':
		for m := range objectMembers(old) {
			if field, known := sh.knows(m.rawName()); !known || hasUnknown(field, m.value) {
				return true
			}
		}
	}
	return false
}

func graftObject(sh *shape, old, fresh []byte) []byte {
	members := slices.Collect(objectMembers(fresh))
	index := make(map[string]int, len(members))
	for i, m := range members {
		index[m.name()] = i
	}
	changed := false
	for m := range objectMembers(old) {
		name := m.name()
		field, known := sh.knows([]byte(name))
		at, there := index[name]
		switch {
		case !known && there: // a second member of that name: the last one counts
			members[at].value, changed = m.value, true
		case !known:
			index[name] = len(members)
			members, changed = append(members, m), true
		case field != nil && there:
			if value := graft(field, m.value, members[at].value); !same(value, members[at].value) {
				members[at].value, changed = value, true
			}
		}
	}
	if !changed {
		return fresh
	}
	return joinObject(members)
}

func graftList(elem *shape, old, fresh []byte) []byte {
	olds := slices.Collect(listValues(old))
	byID := make(map[string][]byte, len(olds))
	for _, value := range olds {
		if id := idOf(value); id != "" {
			byID[id] = value
		}
	}
	items := slices.Collect(listValues(fresh))
	changed := false
	for i, item := range items {
		match := byID[idOf(item)]
		if match == nil && idOf(item) == "" && i < len(olds) && idOf(olds[i]) == "" {
			match = olds[i]
		}
		if value := graft(elem, match, item); !same(value, item) {
			items[i], changed = value, true
		}
	}
	if !changed {
		return fresh
	}
	return append(append([]byte{'['}, bytes.Join(items, []byte{','})...), ']')
}

// same reports whether two slices are the same bytes in memory: graft returns
// its argument when it added nothing.
func same(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// idOf is the string that an object has as its "id", "" when it has none.
func idOf(value []byte) string {
	if first(value) != '{' {
		return ""
	}
	for m := range objectMembers(value) {
		if string(m.rawName()) == "id" && first(m.value) == '"' {
			return unquote(m.value)
		}
	}
	return ""
}

// member is one member of an object, as it was written.
type member struct{ key, value []byte }

func (m member) name() string { return unquote(m.key) }

// rawName is the name, without a copy where that can be.
func (m member) rawName() []byte {
	if isPlain(m.key) {
		return m.key[1 : len(m.key)-1]
	}
	return []byte(m.name())
}

// isPlain reports whether a quoted string is what is between its quotes.
func isPlain(quoted []byte) bool {
	return bytes.IndexByte(quoted, '\\') < 0 && utf8.Valid(quoted)
}

func unquote(quoted []byte) string {
	if isPlain(quoted) {
		return string(quoted[1 : len(quoted)-1])
	}
	var text string
	_ = json.Unmarshal(quoted, &text) // valid: it was cut out of valid JSON
	return text
}

func joinObject(members []member) []byte {
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, m.key...), ':'), m.value...)
	}
	return append(out, '}')
}

// objectMembers iterates over the members of a valid JSON object.
func objectMembers(object []byte) iter.Seq[member] {
	return func(yield func(member) bool) {
		for at := skipSpace(object, 1+skipSpace(object, 0)); object[at] != '}'; {
			keyEnd := skipValue(object, at)
			start := skipSpace(object, 1+skipSpace(object, keyEnd)) // behind the colon
			end := skipValue(object, start)
			if !yield(member{object[at:keyEnd], object[start:end]}) {
				return
			}
			if at = skipSpace(object, end); object[at] == ',' {
				at = skipSpace(object, at+1)
			}
		}
	}
}

// listValues iterates over the values of a valid JSON array.
func listValues(list []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for at := skipSpace(list, 1+skipSpace(list, 0)); list[at] != ']'; {
			end := skipValue(list, at)
			if !yield(list[at:end]) {
				return
			}
			if at = skipSpace(list, end); list[at] == ',' {
				at = skipSpace(list, at+1)
			}
		}
	}
}

// first is the first byte of a value that is no space, 0 when there is none.
func first(value []byte) byte {
	if at := skipSpace(value, 0); at < len(value) {
		return value[at]
	}
	return 0
}

func skipSpace(data []byte, at int) int {
	for at < len(data) && (data[at] == ' ' || data[at] == '\n' || data[at] == '\t' || data[at] == '\r') {
		at++
	}
	return at
}

// skipValue is the position behind the valid value that starts at at.
func skipValue(data []byte, at int) int {
	switch data[at] {
	case '"':
		return skipString(data, at)
	case '{', '[':
		depth := 0
		for {
			switch data[at] {
			case '"':
				at = skipString(data, at)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return at + 1
				}
			}
			at++
		}
	}
	for at < len(data) && bytes.IndexByte([]byte(",]}: \n\t\r"), data[at]) < 0 {
		at++
	}
	return at
}

func skipString(data []byte, at int) int {
	for at++; data[at] != '"'; at++ {
		if data[at] == '\\' {
			at++
		}
	}
	return at + 1
}
