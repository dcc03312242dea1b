package githubtest

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// SchemasVariable names the folder with GitHub's descriptions of its interfaces
// for tests: schema.graphql and api.github.com.json, from the npm packages
// @octokit/graphql-schema and @octokit/openapi.
const SchemasVariable = "BACKBURNER_TEST_GITHUB_SCHEMAS"

// schemas are GitHub's descriptions, as far as there are any.
type schemas struct {
	why     string // they are not there
	graphql *ast.Schema
	rest    *openAPI
	mu      sync.Mutex
	checked map[string][]string // what is wrong with a document
}

// loaded are the descriptions of a folder: they are large, and read once per process.
var loaded sync.Map

func loadSchemas(dir string) (*schemas, error) {
	if dir == "" {
		return &schemas{why: SchemasVariable + " names no folder with them"}, nil
	}
	load, _ := loaded.LoadOrStore(dir, sync.OnceValues(func() (*schemas, error) { return readSchemas(dir) }))
	return load.(func() (*schemas, error))()
}

func readSchemas(dir string) (*schemas, error) {
	text, err := os.ReadFile(filepath.Join(dir, "schema.graphql"))
	if err != nil {
		return nil, err
	}
	graphql, err := readGraphQL(string(text))
	if err != nil {
		return nil, fmt.Errorf("schema.graphql in %s: %w", dir, err)
	}
	rest, err := readOpenAPI(dir)
	if err != nil {
		return nil, err
	}
	return &schemas{graphql: graphql, rest: rest, checked: map[string][]string{}}, nil
}

// readGraphQL parses the schema. As published it names some fields twice, which
// a strict parser refuses: the first one stands.
func readGraphQL(text string) (*ast.Schema, error) {
	doc, err := parser.ParseSchemas(validator.Prelude, &ast.Source{Name: "schema.graphql", Input: text})
	if err != nil {
		return nil, err
	}
	for _, def := range doc.Definitions {
		seen := map[string]bool{}
		def.Fields = slices.DeleteFunc(def.Fields, func(f *ast.FieldDefinition) bool {
			twice := seen[f.Name]
			seen[f.Name] = true
			return twice
		})
	}
	return validator.ValidateSchemaDocument(doc)
}

// Unchecked is why requests and answers are not held against GitHub's
// descriptions; "" when they are.
func (s *Server) Unchecked() string { return s.schemas.why }

// checkDocument is what is wrong with a GraphQL document.
func (d *schemas) checkDocument(text string) []string {
	if d.graphql == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	problems, known := d.checked[text]
	if !known {
		if _, err := gqlparser.LoadQueryWithRules(d.graphql, text, rules.NewDefaultRules()); err != nil {
			for _, e := range err {
				problems = append(problems, e.Message)
			}
		}
		d.checked[text] = problems
	}
	return problems
}

// checkField holds what a field is answered with against its type.
func (q *query) checkField(kind, name string, value any) {
	d := q.server.schemas
	if d.graphql == nil {
		return
	}
	var f *ast.FieldDefinition
	if def := d.graphql.Types[kind]; def != nil {
		f = def.Fields.ForName(name)
	}
	if f == nil {
		q.server.violate("graphql: answers with the field %s of %s, which GitHub does not have", name, kind)
		return
	}
	if wrong := d.mistyped(f.Type, value); wrong != "" {
		q.server.violate("graphql: answers %s.%s with %s, which is %s", kind, name, wrong, f.Type)
	}
}

// mistyped describes a value that is not of a type; "" when it is.
func (d *schemas) mistyped(t *ast.Type, value any) string {
	switch v := value.(type) {
	case nil, *gqlError:
		if t.NonNull {
			return "null"
		}
		return ""
	case []object:
		return d.mistypedList(t, len(v), func(i int) any { return v[i] })
	case []any:
		return d.mistypedList(t, len(v), func(i int) any { return v[i] })
	case object:
		if t.Elem == nil {
			possible := d.graphql.GetPossibleTypes(d.graphql.Types[t.Name()])
			if slices.ContainsFunc(possible, func(p *ast.Definition) bool { return p.Name == v.kind }) {
				return ""
			}
		}
		return "a " + v.kind
	}
	if t.Elem == nil && d.scalar(t.Name(), value) {
		return ""
	}
	return fmt.Sprintf("%T %v", value, value)
}

func (d *schemas) mistypedList(t *ast.Type, length int, at func(int) any) string {
	if t.Elem == nil {
		return "a list"
	}
	for i := range length {
		if wrong := d.mistyped(t.Elem, at(i)); wrong != "" {
			return wrong
		}
	}
	return ""
}

func (d *schemas) scalar(name string, value any) bool {
	text, isText := value.(string)
	switch name {
	case "Int":
		number, err := json.Marshal(value)
		var n int64
		return err == nil && json.Unmarshal(number, &n) == nil && n <= math.MaxInt32 && n >= math.MinInt32
	case "Boolean":
		_, isBool := value.(bool)
		return isBool
	case "DateTime":
		_, err := time.Parse(time.RFC3339, text)
		return err == nil
	case "URI":
		return strings.Contains(text, "://")
	case "GitObjectID":
		return len(text) == 40 && strings.Trim(text, "0123456789abcdef") == ""
	}
	if def := d.graphql.Types[name]; def != nil && def.Kind == ast.Enum {
		return def.EnumValues.ForName(text) != nil
	}
	return isText
}
