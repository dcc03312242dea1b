package githubtest

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
)

// field is one field of a GraphQL type: its arguments and where its value comes
// from. A list is answered as a connection of the type kind.
type field struct {
	args []string
	get  func(q *query, source any, a arguments) any
	list bool
	kind string
}

// arguments of a field, variables filled in.
type arguments map[string]any

func (a arguments) text(name string) string {
	s, _ := a[name].(string)
	return s
}

func (a arguments) int(name string) int {
	switch n := a[name].(type) {
	case int64:
		return int(n)
	case float64:
		return int(n)
	}
	return 0
}

func (a arguments) texts(name string) []string {
	var all []string
	list, _ := a[name].([]any)
	for _, v := range list {
		if s, isText := v.(string); isText {
			all = append(all, s)
		}
	}
	return all
}

func (a arguments) object(name string) arguments {
	o, _ := a[name].(map[string]any)
	return o
}

// boundaries is GitHub's refusal of a connection without, or with too many, records.
func (a arguments) boundaries(name string) *gqlError {
	first, last := a.int("first"), a.int("last")
	switch {
	case first == 0 && last == 0:
		return &gqlError{"MISSING_PAGINATION_BOUNDARIES", fmt.Sprintf("You must provide a `first` or `last` value to properly paginate the `%s` connection.", name)}
	case first > 100 || last > 100:
		return &gqlError{"EXCESSIVE_PAGINATION", fmt.Sprintf("Requesting %d records on the `%s` connection exceeds the `first` limit of 100 records.", max(first, last), name)}
	}
	return nil
}

// connection is one page of a list.
type connection struct {
	nodes        []object
	total        int
	before, more bool
}

// newConnection takes the page that the arguments ask for.
func newConnection(all []object, a arguments) *connection {
	c := &connection{total: len(all)}
	from, to := 0, len(all)
	for n, o := range all {
		switch cursor(o) {
		case a.text("after"):
			from = n + 1
		case a.text("before"):
			to = n
		}
	}
	if first := a.int("first"); first > 0 {
		to = min(to, from+first)
	}
	if last := a.int("last"); last > 0 {
		from = max(from, to-last)
	}
	c.nodes, c.before, c.more = all[min(from, to):to], from > 0, to < len(all)
	return c
}

// cursor is opaque to clients; it names the record, so that a list that grew or
// was sorted anew still goes on behind it.
func cursor(o object) string {
	return base64.StdEncoding.EncodeToString([]byte("cursor:v2:" + o.value.(interface{ nodeID() string }).nodeID()))
}

// ends are the cursors of a page.
func (c *connection) ends() (start, end any) {
	if len(c.nodes) == 0 {
		return nil, nil
	}
	return cursor(c.nodes[0]), cursor(c.nodes[len(c.nodes)-1])
}

var paging = []string{"first", "last", "after", "before"}

// get is a field without arguments.
func get[T any](f func(T) any) field {
	return field{get: func(_ *query, source any, _ arguments) any { return f(source.(T)) }}
}

// ask is a field with arguments.
func ask[T any](f func(*query, T, arguments) any, args ...string) field {
	return field{args: args, get: func(q *query, source any, a arguments) any { return f(q, source.(T), a) }}
}

// list is a connection; its function gives []object or an error.
func list[T any](kind string, f func(*query, T, arguments) any, args ...string) field {
	return field{args: append(slices.Clone(paging), args...), list: true, kind: kind, get: func(q *query, source any, a arguments) any { return f(q, source.(T), a) }}
}

// objects gives records their type.
func objects[T any](kind string, records []T) []object {
	all := []object{}
	for _, r := range records {
		all = append(all, object{kind, r})
	}
	return all
}

func sortedKeys[M ~map[string]V, V any](m M) []string { return slices.Sorted(maps.Keys(m)) }
