package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// query is one GraphQL request on its way to its answer.
type query struct {
	server *Server
	token  *token
	by     *user
	fault  *Fault
	doc    *ast.QueryDocument
	vars   map[string]any
	cost   int
	nodes  int
	errors []any
}

// gqlError is an error that makes one field null, by GitHub's types.
type gqlError struct{ kind, message string }

func (e *gqlError) Error() string { return e.message }

// graphql answers a request to /graphql.
func (s *Server) graphql(x *exchange) answer {
	var sent struct {
		Query         string         `json:"query"`
		Variables     map[string]any `json:"variables"`
		OperationName string         `json:"operationName"`
	}
	if x.req.Method != http.MethodPost {
		s.violate("%s /graphql: not served", x.req.Method)
		return notFound()
	}
	if json.Unmarshal(x.raw, &sent) != nil || sent.Query == "" {
		return refuse(http.StatusBadRequest, "Problems parsing JSON")
	}
	doc, err := parser.ParseQuery(&ast.Source{Input: sent.Query})
	if err != nil || len(doc.Operations) != 1 {
		s.violate("graphql: %v in %s", err, sent.Query)
		return ok(map[string]any{"errors": []any{map[string]any{"message": fmt.Sprintf("Parse error: %v", err)}}})
	}
	x.logged.Document = describe(doc)
	q := &query{server: s, token: x.token, by: x.token.user, fault: x.fault, doc: doc, vars: sent.Variables}
	if problems := append(s.schemas.checkDocument(sent.Query), q.checkVariables()...); len(problems) > 0 {
		for _, p := range problems {
			s.violate("graphql: %s in %s", p, sent.Query)
			q.fail("", p, nil, nil)
		}
		return ok(map[string]any{"errors": q.errors})
	}
	q.price(doc.Operations[0].SelectionSet, 1)
	q.cost = max(1, (q.cost+50)/100)
	if !x.token.gql.charge(s.world.time(), q.cost) {
		return limited(q.by)
	}
	x.logged.Points = q.cost
	return q.run()
}

// limited is what GraphQL says when no points are left.
func limited(u *user) answer {
	a := ok(map[string]any{"errors": []any{map[string]any{
		"type": "RATE_LIMITED", "message": fmt.Sprintf("API rate limit exceeded for user ID %d.", u.id),
	}}})
	return a.with("X-RateLimit-Remaining", "0")
}

// describe is an operation in a few words, for the log.
func describe(doc *ast.QueryDocument) string {
	op := doc.Operations[0]
	var names []string
	for _, s := range op.SelectionSet {
		if f, isField := s.(*ast.Field); isField {
			names = append(names, f.Name)
		}
	}
	return strings.TrimSpace(string(op.Operation)+" "+op.Name) + "{" + strings.Join(slices.Compact(names), " ") + "}"
}

// checkVariables gives variables their defaults and is what is wrong with them.
func (q *query) checkVariables() (problems []string) {
	declared := map[string]bool{}
	if q.vars == nil {
		q.vars = map[string]any{}
	}
	for _, d := range q.doc.Operations[0].VariableDefinitions {
		declared[d.Variable] = true
		value, given := q.vars[d.Variable]
		if !given && d.DefaultValue != nil {
			value, _ = d.DefaultValue.Value(nil)
			q.vars[d.Variable] = value
		}
		if value == nil && d.Type.NonNull {
			problems = append(problems, fmt.Sprintf("Variable $%s of type %s was provided invalid value", d.Variable, d.Type))
		}
	}
	for _, name := range sortedKeys(q.vars) {
		if !declared[name] {
			problems = append(problems, fmt.Sprintf("Variable $%s is not declared", name))
		}
	}
	return problems
}

// price adds up what a selection costs: the requests that its connections stand
// for, by GitHub's rule, and the nodes that may come.
func (q *query) price(set ast.SelectionSet, times int) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.InlineFragment:
			q.price(s.SelectionSet, times)
		case *ast.FragmentSpread:
			if f := q.doc.Fragments.ForName(s.Name); f != nil {
				q.price(f.SelectionSet, times)
			}
		case *ast.Field:
			a, below := q.arguments(s), times
			if n := max(a.int("first"), a.int("last")); n > 0 {
				q.cost += times
				q.nodes += times * n
				below = times * n
			}
			q.price(s.SelectionSet, below)
		}
	}
}

// maxNodes is GitHub's limit for the nodes that one request can ask for.
const maxNodes = 500_000

func (q *query) run() answer {
	if q.nodes > maxNodes {
		q.fail("MAX_NODE_LIMIT_EXCEEDED", fmt.Sprintf("This query requests up to %d possible nodes which exceeds the maximum limit of 500,000.", q.nodes), nil, nil)
		q.server.violate("graphql: asks for up to %d nodes, more than 500,000", q.nodes)
		return ok(map[string]any{"errors": q.errors})
	}
	op := q.doc.Operations[0]
	root := object{"Query", q}
	if op.Operation == ast.Mutation {
		root.kind = "Mutation"
	}
	data := q.object(root, op.SelectionSet, nil)
	said := map[string]any{"data": data}
	if len(q.errors) > 0 {
		said["errors"] = q.errors
	}
	return ok(said)
}

// fail adds an error in GitHub's form.
func (q *query) fail(kind, message string, path []any, at *ast.Position) {
	e := map[string]any{"message": message}
	if kind != "" {
		e["type"] = kind
	}
	if path != nil {
		e["path"] = path
	}
	if at != nil {
		e["locations"] = []any{map[string]any{"line": at.Line, "column": at.Column}}
	}
	q.errors = append(q.errors, e)
}

// object answers a selection on a record.
func (q *query) object(o object, set ast.SelectionSet, path []any) map[string]any {
	result := map[string]any{}
	names, fields := q.collect(o.kind, set, nil, map[string][]*ast.Field{})
	for _, name := range names {
		at := append(slices.Clone(path), name)
		first := fields[name][0]
		if first.Name == "__typename" {
			result[name] = o.kind
			continue
		}
		f, served := types[o.kind][first.Name]
		if !served {
			q.server.violate("graphql: the field %s of %s is not served", first.Name, o.kind)
			q.fail("", fmt.Sprintf("Field '%s' doesn't exist on type '%s'", first.Name, o.kind), at, first.Position)
			continue
		}
		var below ast.SelectionSet
		for _, same := range fields[name] {
			below = append(below, same.SelectionSet...)
		}
		value := q.resolve(o, first, f)
		q.checkField(o.kind, first.Name, value)
		result[name] = q.complete(value, below, at, first.Position)
	}
	return result
}

// collect brings together what a selection asks of a type, in its order.
func (q *query) collect(kind string, set ast.SelectionSet, names []string, fields map[string][]*ast.Field) ([]string, map[string][]*ast.Field) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			if _, there := fields[s.Alias]; !there {
				names = append(names, s.Alias)
			}
			fields[s.Alias] = append(fields[s.Alias], s)
		case *ast.InlineFragment:
			if is(kind, s.TypeCondition) {
				names, fields = q.collect(kind, s.SelectionSet, names, fields)
			}
		case *ast.FragmentSpread:
			if f := q.doc.Fragments.ForName(s.Name); f != nil && is(kind, f.TypeCondition) {
				names, fields = q.collect(kind, f.SelectionSet, names, fields)
			}
		}
	}
	return names, fields
}

// resolve asks a field for its value; arguments that it does not serve are violations.
func (q *query) resolve(o object, asked *ast.Field, f field) any {
	a := q.arguments(asked)
	for _, name := range sortedKeys(a) {
		if !slices.Contains(f.args, name) {
			return q.refuse("the argument %s of %s.%s is not served", name, o.kind, asked.Name)
		}
	}
	if len(asked.Directives) > 0 {
		return q.refuse("directives are not served: %s.%s", o.kind, asked.Name)
	}
	if !f.list {
		return f.get(q, o.value, a)
	}
	// The count alone may be asked for without bounds.
	if err := a.boundaries(asked.Name); err != nil && asks(asked.SelectionSet, "nodes") {
		q.server.violate("graphql: %s", err.message)
		return err
	}
	switch v := f.get(q, o.value, a).(type) {
	case []object:
		return object{f.kind, newConnection(v, a)}
	default:
		return v
	}
}

// refuse is the answer to what is not served, which is a violation too.
func (q *query) refuse(format string, args ...any) *gqlError {
	e := &gqlError{"", fmt.Sprintf(format, args...)}
	q.server.violate("graphql: %s", e.message)
	return e
}

// asks reports whether a selection has a field, by itself.
func asks(set ast.SelectionSet, name string) bool {
	return slices.ContainsFunc(set, func(s ast.Selection) bool {
		f, isField := s.(*ast.Field)
		return isField && f.Name == name
	})
}

// complete turns a value of the state into one of the answer.
func (q *query) complete(v any, below ast.SelectionSet, path []any, at *ast.Position) any {
	switch v := v.(type) {
	case *gqlError:
		q.fail(v.kind, v.message, path, at)
		return nil
	case object:
		return q.object(v, below, path)
	case []object:
		list := []any{}
		for n, o := range v {
			list = append(list, q.object(o, below, append(slices.Clone(path), n)))
		}
		return list
	case []any:
		list := []any{}
		for n, o := range v {
			list = append(list, q.complete(o, below, append(slices.Clone(path), n), at))
		}
		return list
	}
	return v
}

// arguments are those of a field with variables filled in.
func (q *query) arguments(f *ast.Field) arguments {
	a := arguments{}
	for _, arg := range f.Arguments {
		v, err := arg.Value.Value(q.vars)
		must(err)
		a[arg.Name] = v
	}
	return a
}
