package githubtest

import (
	"encoding/json"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// errata are properties that GitHub answers with null, and that its description
// does not say so of: the repository of a deleted fork and its owner, a label
// without description, the line of an outdated comment.
var errata = map[string][]string{
	"pull-request":                {"head.repo", "head.user"},
	"pull-request-simple":         {"head.repo", "head.user", "labels.description"},
	"pull-request-review-comment": {"line"},
}

// admitNull adds null to a property of a translated schema.
func admitNull(schema map[string]any, path string) {
	first, rest, deeper := strings.Cut(path, ".")
	properties := schema["properties"].(map[string]any)
	property := properties[first].(map[string]any)
	switch items, isList := property["items"].(map[string]any); {
	case deeper && isList:
		admitNull(items, rest)
	case deeper:
		admitNull(property, rest)
	default:
		properties[first] = map[string]any{"anyOf": []any{property, map[string]any{"type": "null"}}}
	}
}

// compile makes a JSON schema of one of OpenAPI 3.0 that stands at a place, and
// of all that it refers to; each place is compiled once.
func (d *openAPI) compile(place string, schema map[string]any) (*jsonschema.Resolved, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r := d.resolved[place]; r != nil {
		return r, nil
	}
	needed := map[string]any{}
	follow(schema, d.Components["schemas"], needed)
	definitions := map[string]any{}
	for name, s := range needed {
		definitions[name] = translate(s.(map[string]any))
		for _, path := range errata[name] {
			admitNull(definitions[name].(map[string]any), path)
		}
	}
	root := map[string]any{"$defs": definitions, "allOf": []any{translate(schema)}}
	text, err := json.Marshal(root)
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	r, err := s.Resolve(nil)
	if err == nil {
		d.resolved[place] = r
	}
	return r, err
}

// translate turns a schema of OpenAPI 3.0 into one of JSON Schema. Objects take
// no fields but those that they name: a misspelt one is to be seen.
func translate(from map[string]any) map[string]any {
	to := map[string]any{}
	if ref, isRef := from["$ref"].(string); isRef {
		to["$ref"] = "#/$defs/" + strings.TrimPrefix(ref, schemaRef)
		return to
	}
	for _, key := range []string{"type", "enum", "required", "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"} {
		if v, there := from[key]; there {
			to[key] = v
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if list, there := from[key].([]any); there {
			to[key] = translateAll(list)
		}
	}
	for _, key := range []string{"items", "additionalProperties", "not"} {
		if s, there := from[key].(map[string]any); there {
			to[key] = translate(s)
		}
	}
	if properties, there := from["properties"].(map[string]any); there {
		translated := map[string]any{}
		for name, s := range properties {
			translated[name] = translate(s.(map[string]any))
		}
		to["properties"] = translated
		_, open := from["additionalProperties"]
		if !open && from["allOf"] == nil && from["anyOf"] == nil && from["oneOf"] == nil {
			to["additionalProperties"] = false
		}
	}
	if from["nullable"] == true {
		return map[string]any{"anyOf": []any{to, map[string]any{"type": "null"}}}
	}
	return to
}

func translateAll(list []any) []any {
	all := make([]any, len(list))
	for i, s := range list {
		all[i] = translate(s.(map[string]any))
	}
	return all
}
