package prompt

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/backburner-cli/backburner/pkg/work"
)

// allKinds are the kinds of task, of which each has a template, a schema and an example.
var allKinds = []work.TaskKind{work.AnalyzeIssue, work.MakePlan, work.BreakDownPlan, work.Implement, work.Assess, work.Verify,
	work.ReviewPR, work.AddressReview, work.Respond, work.Reconcile, work.PreparePR, Prioritize}

func TestExamplesFitTheirSchemas(t *testing.T) {
	for _, kind := range allKinds {
		t.Run(string(kind), func(t *testing.T) {
			if err := validate(t, kind, withNulls(t, kind, examples[kind])); err != nil {
				t.Errorf("does not fit: %v", err)
			}
			var r work.Result
			if err := json.Unmarshal([]byte(examples[kind]), &r); err != nil {
				t.Fatal(err)
			}
			if problems := r.Problems(kind); len(problems) > 0 {
				t.Errorf("is not accepted: %v", problems)
			}
		})
	}
}

func TestSchemaRefuses(t *testing.T) {
	for name, answer := range map[string]string{
		"an unknown status":   `{"status": "finished", "summary": "", "questions": [], "memory": null, "plan": null}`,
		"a further property":  `{"status": "done", "summary": "", "questions": [], "memory": null, "plan": null, "sesame": 1}`,
		"a missing property":  `{"status": "done", "summary": "", "questions": []}`,
		"a number as summary": `{"status": "done", "summary": 3, "questions": [], "memory": null, "plan": null}`,
	} {
		if validate(t, work.MakePlan, []byte(answer)) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if err := validate(t, work.MakePlan, []byte(`{"status": "needs_input", "summary": null, "questions": ["why?"], "memory": null, "plan": null}`)); err != nil {
		t.Errorf("null in place of a plan: %v", err)
	}
	if _, err := Schema("juggle"); err == nil {
		t.Error("a kind that does not exist has a schema")
	}
}

// TestSchemasAreStrict holds them to the rules of OpenAI's structured outputs.
func TestSchemasAreStrict(t *testing.T) {
	for _, kind := range allKinds {
		raw, err := Schema(kind)
		if err != nil {
			t.Fatal(err)
		}
		var s any
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		if depth := checkStrict(t, string(kind), s); depth > 10 {
			t.Errorf("%s: %d levels deep", kind, depth)
		}
	}
}

func checkStrict(t *testing.T, where string, schema any) (depth int) {
	s := schema.(map[string]any)
	for key := range s {
		if !slices.Contains([]string{"type", "properties", "required", "additionalProperties", "items", "description", "enum"}, key) {
			t.Errorf("%s: keyword %q", where, key)
		}
	}
	if items, ok := s["items"]; ok {
		depth = checkStrict(t, where+"[]", items)
	}
	properties, ok := s["properties"].(map[string]any)
	if !ok {
		return depth
	}
	if s["additionalProperties"] != false {
		t.Errorf("%s: additionalProperties is %v", where, s["additionalProperties"])
	}
	if required, _ := s["required"].([]any); len(required) != len(properties) {
		t.Errorf("%s: %d of %d properties are required", where, len(required), len(properties))
	}
	for name, p := range properties {
		depth = max(depth, 1+checkStrict(t, where+"."+name, p))
	}
	return depth
}

func validate(t *testing.T, kind work.TaskKind, answer []byte) error {
	t.Helper()
	raw, err := Schema(kind)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(answer, &v); err != nil {
		t.Fatal(err)
	}
	return resolved.Validate(v)
}

// withNulls adds what an example leaves out, as a model that is held to the schema would.
func withNulls(t *testing.T, kind work.TaskKind, example string) []byte {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(example), &v); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(slices.Clone(commonFields), fields[kind]...) {
		if _, ok := v[name]; !ok {
			v[name] = nil
		}
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
