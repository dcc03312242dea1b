package githubtest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// openAPI is the part of GitHub's description of REST that is served here.
type openAPI struct {
	Paths      map[string]map[string]operation `json:"paths"` // path to method in lower case
	Components map[string]map[string]any       `json:"components"`

	mu       sync.Mutex
	resolved map[string]*jsonschema.Resolved
}

type operation struct {
	Parameters []parameter        `json:"parameters"`
	Body       *content           `json:"requestBody"`
	Responses  map[string]content `json:"responses"`
}

type parameter struct {
	Name     string         `json:"name"`
	In       string         `json:"in"`
	Required bool           `json:"required"`
	Schema   map[string]any `json:"schema"`
}

type content struct {
	Required bool `json:"required"`
	Content  map[string]struct {
		Schema map[string]any `json:"schema"`
	} `json:"content"`
}

// schema is that of JSON; nil when there is none.
func (c content) schema() map[string]any { return c.Content["application/json"].Schema }

// readOpenAPI reads what the routes need. The whole description is 13 MB: what
// was taken out of it is kept beside it for the next process.
func readOpenAPI(dir string) (*openAPI, error) {
	whole := filepath.Join(dir, "api.github.com.json")
	info, err := os.Stat(whole)
	if err != nil {
		return nil, err
	}
	sum := fnv.New64a()
	for _, r := range routes {
		_, _ = fmt.Fprintln(sum, r.method, r.path) // a hash never fails
	}
	part := filepath.Join(dir, fmt.Sprintf("rest-%d-%x.json", info.Size(), sum.Sum64()))
	text, err := os.ReadFile(part)
	if err != nil {
		if text, err = extract(whole); err != nil {
			return nil, fmt.Errorf("%s: %w", whole, err)
		}
		keep(part, text)
	}
	d := &openAPI{resolved: map[string]*jsonschema.Resolved{}}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("%s: %w", part, err)
	}
	return d, nil
}

// keep is a convenience: where the folder cannot be written, the next process
// extracts again.
func keep(path string, text []byte) {
	f, err := os.CreateTemp(filepath.Dir(path), ".rest-*")
	if err != nil {
		return
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(text)
	if f.Close() == nil && err == nil {
		_ = os.Rename(f.Name(), path)
	}
}

// extract takes the operations of the routes out of the description, with all
// that they refer to.
func extract(whole string) ([]byte, error) {
	text, err := os.ReadFile(whole)
	if err != nil {
		return nil, err
	}
	var from struct {
		Paths      map[string]map[string]any `json:"paths"`
		Components map[string]map[string]any `json:"components"`
	}
	if err := json.Unmarshal(text, &from); err != nil {
		return nil, err
	}
	paths, components := map[string]map[string]any{}, map[string]map[string]any{"schemas": {}}
	for _, r := range routes {
		op, there := from.Paths[r.path][strings.ToLower(r.method)]
		if !there {
			return nil, fmt.Errorf("%s %s: GitHub has no such operation", r.method, r.path)
		}
		if paths[r.path] == nil {
			paths[r.path] = map[string]any{}
		}
		paths[r.path][strings.ToLower(r.method)] = inline(op, from.Components)
		follow(paths[r.path], from.Components["schemas"], components["schemas"])
	}
	for _, name := range []string{"basic-error", "validation-error"} {
		components["schemas"][name] = from.Components["schemas"][name]
		follow(components["schemas"][name], from.Components["schemas"], components["schemas"])
	}
	return json.Marshal(map[string]any{"paths": paths, "components": components})
}

// inline puts parameters and responses in the place of references to them;
// references to schemas stay.
func inline(v any, components map[string]map[string]any) any {
	switch v := v.(type) {
	case map[string]any:
		if ref, isRef := v["$ref"].(string); isRef {
			kind, name, _ := strings.Cut(strings.TrimPrefix(ref, "#/components/"), "/")
			if kind == "schemas" {
				return v
			}
			return inline(components[kind][name], components)
		}
		n := map[string]any{}
		for key, value := range v {
			if key != "examples" && key != "example" && key != "headers" {
				n[key] = inline(value, components)
			}
		}
		return n
	case []any:
		n := make([]any, len(v))
		for i, value := range v {
			n[i] = inline(value, components)
		}
		return n
	}
	return v
}

// follow copies the schemas that something refers to.
func follow(v any, from, to map[string]any) {
	switch v := v.(type) {
	case map[string]map[string]any:
		for _, value := range v {
			follow(value, from, to)
		}
	case map[string]any:
		if ref, isRef := v["$ref"].(string); isRef {
			name := strings.TrimPrefix(ref, schemaRef)
			if _, done := to[name]; !done {
				to[name] = from[name]
				follow(from[name], from, to)
			}
		}
		for _, value := range v {
			follow(value, from, to)
		}
	case []any:
		for _, value := range v {
			follow(value, from, to)
		}
	}
}

const schemaRef = "#/components/schemas/"
