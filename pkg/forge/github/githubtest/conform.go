package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// checkRequest holds a request against GitHub's description.
func (s *Server) checkRequest(x *exchange) {
	if s.schemas.rest == nil {
		return
	}
	op := s.schemas.rest.Paths[x.route.path][strings.ToLower(x.route.method)]
	where := x.route.method + " " + x.route.path
	known := map[string]bool{}
	for _, p := range op.Parameters {
		text, given := x.vars[p.Name], true
		if p.In == "query" {
			known[p.Name] = true
			text, given = x.req.URL.Query().Get(p.Name), x.req.URL.Query().Has(p.Name)
		}
		switch {
		case given:
			s.conform(where+" parameter "+p.Name, p.Schema, typed(text, p.Schema))
		case p.Required:
			s.violate("%s: the parameter %s is required", where, p.Name)
		}
	}
	for name := range x.req.URL.Query() {
		if !known[name] {
			s.violate("%s: GitHub has no parameter %s", where, name)
		}
	}
	s.checkRequestBody(x, op, where)
}

func (s *Server) checkRequestBody(x *exchange, op operation, where string) {
	switch {
	case op.Body == nil && len(x.raw) > 0:
		s.violate("%s: GitHub takes no body", where)
	case op.Body == nil:
	case len(x.raw) == 0 && op.Body.Required:
		s.violate("%s: there is no body", where)
	case len(x.raw) > 0:
		var body any
		must(json.Unmarshal(x.raw, &body)) // it was parsed before
		s.conform(where+" body", op.Body.schema(), body)
	}
}

// typed is the text of a parameter as the value it stands for.
func typed(text string, schema map[string]any) any {
	switch schema["type"] {
	case "integer":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return float64(n)
		}
	case "boolean":
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	}
	return text
}

// general are the answers that every operation may give, whether its
// description names them or not.
var general = map[int]string{
	http.StatusMovedPermanently: "basic-error", http.StatusTemporaryRedirect: "basic-error",
	http.StatusBadRequest: "basic-error", http.StatusUnauthorized: "basic-error", http.StatusForbidden: "basic-error",
	http.StatusNotFound: "basic-error", http.StatusMethodNotAllowed: "basic-error", http.StatusConflict: "basic-error",
	http.StatusGone: "basic-error", http.StatusUnprocessableEntity: "validation-error",
}

// checkAnswer holds an answer of this server against GitHub's description.
func (s *Server) checkAnswer(x *exchange) {
	if s.schemas.rest == nil || x.route == nil {
		return
	}
	where := fmt.Sprintf("%s %s answer %d", x.route.method, x.route.path, x.answer.status)
	response, named := s.schemas.rest.Paths[x.route.path][strings.ToLower(x.route.method)].Responses[strconv.Itoa(x.answer.status)]
	schema := response.schema()
	if !named {
		name := general[x.answer.status]
		if name == "" {
			s.violate("%s: GitHub gives no such answer", where)
			return
		}
		schema = map[string]any{"$ref": schemaRef + name}
	}
	if schema == nil {
		if len(x.text) > 0 {
			s.violate("%s: GitHub gives no body", where)
		}
		return
	}
	var body any
	if err := json.Unmarshal(x.text, &body); err != nil {
		s.violate("%s: %v", where, err)
		return
	}
	if m, isObject := body.(map[string]any); isObject && x.answer.status >= http.StatusBadRequest {
		delete(m, "status") // GitHub sends it with every error, and describes it for some
	}
	s.conform(where, schema, body)
}

// conform holds a value against the schema that stands at a place.
func (s *Server) conform(place string, schema map[string]any, value any) {
	compiled, err := s.schemas.rest.compile(place, schema)
	if err == nil {
		err = compiled.Validate(value)
	}
	if err != nil {
		s.violate("%s: %s", place, brief(err))
	}
}

// brief cuts the lines of an error, which hold whole values.
func brief(err error) string {
	const width = 300
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		if len(line) > width {
			lines[i] = line[:width] + "..."
		}
	}
	return strings.Join(lines, "\n")
}
