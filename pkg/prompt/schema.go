package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/backburner-cli/backburner/pkg/work"
)

// fields are the properties of [work.Result] that an answer to each kind of task may have, beside the common ones.
var fields = map[work.TaskKind][]string{
	work.AnalyzeIssue:  nil,
	work.MakePlan:      {"plan"},
	work.BreakDownPlan: {"plan"},
	work.Implement:     {"commit_message"},
	work.Assess:        {"assessment"},
	work.Verify:        {"commit_message"},
	work.ReviewPR:      {"review"},
	work.AddressReview: {"commit_message"},
	work.Respond:       nil,
	work.Reconcile:     {"commit_message"},
	work.PreparePR:     {"commit_message"},
	Prioritize:         {"order"},
}

var commonFields = []string{"status", "summary", "questions", "memory"}

// described explains what the types of the domain leave to be said.
var described = map[string]string{
	"order":               "the ids of all waiting workstreams, the first to be started first",
	"verdict":             "approve, comment or request_changes",
	"body":                "Markdown",
	"path":                "relative to the repository's root",
	"line":                "line in the new version of the file",
	"continue":            "whether building goes on with the next increment",
	"reason":              "why, for people",
	"openapi":             "how the HTTP interface changes; \"none\" if it does not",
	"events":              "how published events change; \"none\" if they do not",
	"db":                  "how the database schema changes; \"none\" if it does not",
	"forbidden_areas":     "globs that must not be changed for this work",
	"gate_profile":        "empty, unless the repository has gates beside its usual ones",
	"increments":          "steps that are built, tested and reviewed one after the other; empty for small work",
	"create":              "paths of new files",
	"modify":              "paths of files to change",
	"delete":              "paths of files to remove",
	"commit_message":      "Subject line, empty line, and why; in the style of the repository",
	"base":                "commit the plan was made on",
	"risks":               "what could go wrong, and how it would be noticed",
	"contracts":           "what others rely on and this work changes",
	"comments":            "remarks on single lines",
	"title":               "what the step achieves",
	"files":               "paths, relative to the repository's root",
	"acceptance_criteria": "what must be true at the end, each of them checkable",
}

var schemas = sync.OnceValues(func() (map[work.TaskKind]*jsonschema.Schema, error) {
	all := make(map[work.TaskKind]*jsonschema.Schema, len(fields))
	for kind, own := range fields {
		s, err := jsonschema.For[work.Result](nil)
		if err != nil {
			return nil, fmt.Errorf("schema of an answer: %w", err)
		}
		keep(s, append(slices.Clone(commonFields), own...))
		s.Properties["status"].Enum = []any{work.ResultDone, work.ResultNeedsInput, work.ResultBlocked, work.ResultNoChange}
		if review := s.Properties["review"]; review != nil {
			review.Properties["verdict"].Enum = []any{"approve", "comment", "request_changes"}
		}
		strict(s)
		all[kind] = s
	}
	return all, nil
})

// Schema is the JSON schema of the answer to a kind of task, as compact JSON. It is in the strict form that OpenAI's
// interface wants: no further properties, and every property required, where what may be left out may be null instead.
func Schema(kind work.TaskKind) (json.RawMessage, error) {
	all, err := schemas()
	if err != nil {
		return nil, err
	}
	s, ok := all[kind]
	if !ok {
		return nil, fmt.Errorf("task kind %q has no schema", kind)
	}
	return json.Marshal(s)
}

func keep(s *jsonschema.Schema, names []string) {
	for name := range s.Properties {
		if !slices.Contains(names, name) {
			delete(s.Properties, name)
		}
	}
	in := func(name string) bool { return !slices.Contains(names, name) }
	s.Required = slices.DeleteFunc(s.Required, in)
	s.PropertyOrder = slices.DeleteFunc(s.PropertyOrder, in)
}

// strict makes every property of every object required, and nullable where it was not.
func strict(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	for name, p := range s.Properties {
		if p.Description == "" {
			p.Description = described[name]
		}
		if !slices.Contains(s.Required, name) {
			nullable(p)
		}
		strict(p)
	}
	strict(s.Items)
	if len(s.Properties) > 0 {
		s.Required = slices.Clone(s.PropertyOrder)
		s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}} // false
	}
}

func nullable(s *jsonschema.Schema) {
	if s.Type != "" {
		s.Types, s.Type = []string{s.Type}, ""
	}
	if !slices.Contains(s.Types, "null") {
		s.Types = append(s.Types, "null")
	}
}
