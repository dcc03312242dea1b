package work

import (
	"fmt"
	"path"
	"strings"
	"unicode"
)

// Plan is what a planner proposes. Only summary, files and acceptance_criteria
// are required.
type Plan struct {
	Summary            string      `json:"summary" jsonschema:"what will be done and why, in a few sentences"`
	Base               string      `json:"base,omitempty" jsonschema:"commit the plan was made on"`
	Files              PlanFiles   `json:"files" jsonschema:"paths relative to the repository's root"`
	AllowedAreas       []string    `json:"allowed_areas,omitempty" jsonschema:"globs that may be changed beside the listed files"`
	ForbiddenAreas     []string    `json:"forbidden_areas,omitempty" jsonschema:"globs that must not be changed"`
	Contracts          *Contracts  `json:"contracts,omitempty"`
	AcceptanceCriteria []string    `json:"acceptance_criteria" jsonschema:"what must be true at the end, each checkable"`
	Risks              []string    `json:"risks,omitempty"`
	GateProfile        string      `json:"gate_profile,omitempty"`
	Increments         []Increment `json:"increments,omitempty" jsonschema:"steps to build one after the other; none: one step"`
	Questions          []string    `json:"questions,omitempty" jsonschema:"what only a person can decide"`
}

// PlanFiles are the paths a plan expects to touch.
type PlanFiles struct {
	Create []string `json:"create,omitempty"`
	Modify []string `json:"modify,omitempty"`
	Delete []string `json:"delete,omitempty"`
}

// Contracts says how a plan touches what others rely on: "none", or in words.
type Contracts struct {
	OpenAPI string `json:"openapi,omitempty"`
	Events  string `json:"events,omitempty"`
	DB      string `json:"db,omitempty"`
}

// Increment is one step of building.
type Increment struct {
	Title              string   `json:"title"`
	Files              []string `json:"files,omitempty"`
	AcceptanceCriteria []string `json:"acceptance_criteria,omitempty"`
}

const (
	maxPlanFiles      = 2000
	maxPlanIncrements = 50
	maxPlanText       = 20_000  // bytes of one text
	maxPlanSize       = 256_000 // bytes of all texts: the plan is in every prompt, and saved with every change
	maxPlanProblems   = 20
)

// Steps is the number of increments to build: at least one.
func (p *Plan) Steps() int {
	if p == nil || len(p.Increments) == 0 {
		return 1
	}
	return len(p.Increments)
}

// Paths are all paths the plan names.
func (p *Plan) Paths() []string {
	all := append(append(append([]string{}, p.Files.Create...), p.Files.Modify...), p.Files.Delete...)
	for _, inc := range p.Increments {
		all = append(all, inc.Files...)
	}
	return all
}

// Problems is everything that is wrong with the plan; none when it can be
// worked from. A plan that only asks needs nothing but its questions.
func (p *Plan) Problems() []string {
	if p == nil {
		return []string{"plan: missing"}
	}
	var out []string
	say := func(format string, args ...any) {
		if len(out) < maxPlanProblems {
			out = append(out, fmt.Sprintf("plan: "+format, args...))
		}
	}
	if anyText(p.Questions) {
		return out
	}
	if strings.TrimSpace(p.Summary) == "" {
		say("summary: missing")
	}
	if len(p.Summary) > maxPlanText {
		say("summary: longer than %d bytes", maxPlanText)
	}
	if n := p.size(); n > maxPlanSize {
		say("%d bytes of text, more than %d: split the work, or say less", n, maxPlanSize)
	}
	paths := p.Paths()
	if len(paths) == 0 {
		say("files: name at least one path to create, modify or delete")
	}
	if len(paths) > maxPlanFiles {
		say("files: %d paths, more than %d", len(paths), maxPlanFiles)
	}
	for _, f := range paths {
		if why := BadPath(f); why != "" {
			say("files: %.200q: %s", f, why)
		}
	}
	if !anyText(p.AcceptanceCriteria) {
		say("acceptance_criteria: missing")
	}
	for _, glob := range append(append([]string{}, p.AllowedAreas...), p.ForbiddenAreas...) {
		if !ValidGlob(glob) {
			say("areas: %.200q is not a glob", glob)
		}
	}
	if len(p.Increments) > maxPlanIncrements {
		say("increments: %d, more than %d", len(p.Increments), maxPlanIncrements)
	}
	for i, inc := range p.Increments {
		if strings.TrimSpace(inc.Title) == "" {
			say("increments[%d]: title missing", i)
		}
	}
	return out
}

// size is how many bytes of text the plan has.
func (p *Plan) size() int {
	n := len(p.Summary) + len(p.Base) + len(p.GateProfile)
	if c := p.Contracts; c != nil {
		n += len(c.OpenAPI) + len(c.Events) + len(c.DB)
	}
	lists := [][]string{p.Paths(), p.AllowedAreas, p.ForbiddenAreas, p.AcceptanceCriteria, p.Risks, p.Questions}
	for _, inc := range p.Increments {
		n += len(inc.Title)
		lists = append(lists, inc.AcceptanceCriteria)
	}
	for _, list := range lists {
		for _, text := range list {
			n += len(text)
		}
	}
	return n
}

func anyText(list []string) bool {
	for _, s := range list {
		if strings.TrimSpace(s) != "" {
			return true
		}
	}
	return false
}

// BadPath says why a path from outside cannot be a path inside a repository;
// "" when it can.
func BadPath(p string) string {
	switch {
	case p == "":
		return "empty"
	case len(p) > 4096:
		return "too long"
	case strings.ContainsFunc(p, unicode.IsControl):
		return "has control characters"
	case path.IsAbs(p) || strings.HasPrefix(p, "~") || strings.Contains(p, `\`):
		return "must be relative, with forward slashes"
	case p == ".." || strings.HasPrefix(p, "../"):
		return "leaves the repository"
	case path.Clean(p) == "." || p != path.Clean(p) && p != path.Clean(p)+"/":
		return "must be clean, without . and .."
	}
	for part := range strings.SplitSeq(p, "/") {
		if strings.EqualFold(part, ".git") {
			return "is git's own"
		}
	}
	return ""
}

// ValidGlob reports whether a glob compiles; `**` crosses folders.
func ValidGlob(glob string) bool {
	_, err := path.Match(strings.ReplaceAll(glob, "**", "*"), "x")
	return glob != "" && err == nil
}

// MatchGlob reports whether a path matches a glob in which `*` stays within a
// folder and `**` crosses folders. A glob without a slash matches the name in
// any folder, one that begins with a slash only from the root, and a glob that
// names a folder matches what is below it.
func MatchGlob(glob, p string) bool {
	glob = strings.TrimSuffix(glob, "/")
	rooted, anchored := strings.CutPrefix(glob, "/")
	if !anchored && !strings.Contains(glob, "/") {
		rooted = "**/" + glob
	}
	return matchParts(strings.Split(rooted, "/"), strings.Split(p, "/"))
}

// matchParts goes back to the last `**` only: an earlier one could match no
// more. So a glob from outside costs at most its length times the path's.
func matchParts(glob, parts []string) bool {
	g, n := 0, 0
	back, retry := -1, 0
	for g < len(glob) {
		if glob[g] == "**" {
			g++
			back, retry = g, n
			continue
		}
		if n < len(parts) {
			if ok, err := path.Match(glob[g], parts[n]); err == nil && ok {
				g, n = g+1, n+1
				continue
			}
		}
		if retry++; back < 0 || retry > len(parts) {
			return false
		}
		g, n = back, retry
	}
	return true // the rest of parts, if any, lies below what matched
}

// MatchAny is the first glob that matches the path, "" when none does.
func MatchAny(globs []string, p string) string {
	for _, g := range globs {
		if MatchGlob(g, p) {
			return g
		}
	}
	return ""
}
