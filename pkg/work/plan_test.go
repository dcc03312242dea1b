package work_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

func TestPlanProblems(t *testing.T) {
	many := make([]string, 2001)
	for i := range many {
		many[i] = fmt.Sprintf("f%d", i)
	}
	for _, c := range []struct {
		name  string
		spoil func(*work.Plan)
		want  []string
	}{
		{"nothing", func(*work.Plan) {}, nil},
		{"everything optional", func(p *work.Plan) {
			p.Base, p.AllowedAreas, p.ForbiddenAreas, p.Risks, p.GateProfile = "c0", []string{"docs/**"}, []string{"*.pem"}, []string{"none"}, "full"
			p.Contracts = &work.Contracts{OpenAPI: "none", Events: "none", DB: "none"}
			p.Increments = []work.Increment{{Title: "one", Files: []string{"b.go"}, AcceptanceCriteria: []string{"b"}}}
		}, nil},
		{"no summary", func(p *work.Plan) { p.Summary = " \n" }, []string{"plan: summary: missing"}},
		{"long summary", func(p *work.Plan) { p.Summary = strings.Repeat("x", 20_001) }, []string{"plan: summary: longer than 20000 bytes"}},
		{"no files", func(p *work.Plan) { p.Files = work.PlanFiles{} }, []string{"plan: files: name at least one path to create, modify or delete"}},
		{"files of an increment only", func(p *work.Plan) {
			p.Files, p.Increments = work.PlanFiles{}, []work.Increment{{Title: "one", Files: []string{"b.go"}}}
		}, nil},
		{"too many files", func(p *work.Plan) { p.Files.Create = many }, []string{"plan: files: 2002 paths, more than 2000"}},
		{"a path that leaves", func(p *work.Plan) { p.Files.Delete = []string{"../x"} }, []string{`plan: files: "../x": leaves the repository`}},
		{"a path of an increment", func(p *work.Plan) { p.Increments = []work.Increment{{Title: "one", Files: []string{"/etc"}}} },
			[]string{`plan: files: "/etc": must be relative, with forward slashes`}},
		{"no criteria", func(p *work.Plan) { p.AcceptanceCriteria = nil }, []string{"plan: acceptance_criteria: missing"}},
		{"blank criteria", func(p *work.Plan) { p.AcceptanceCriteria = []string{" ", ""} }, []string{"plan: acceptance_criteria: missing"}},
		{"bad areas", func(p *work.Plan) { p.AllowedAreas, p.ForbiddenAreas = []string{"[a"}, []string{""} },
			[]string{`plan: areas: "[a" is not a glob`, `plan: areas: "" is not a glob`}},
		{"too many increments", func(p *work.Plan) { p.Increments = slices.Repeat([]work.Increment{{Title: "x"}}, 51) },
			[]string{"plan: increments: 51, more than 50"}},
		{"increment without a title", func(p *work.Plan) { p.Increments = []work.Increment{{Title: "one"}, {Title: " "}} },
			[]string{"plan: increments[1]: title missing"}},
		{"several", func(p *work.Plan) { p.Summary, p.AcceptanceCriteria = "", nil },
			[]string{"plan: summary: missing", "plan: acceptance_criteria: missing"}},
		{"only a question", func(p *work.Plan) { *p = work.Plan{Questions: []string{"Which?"}} }, nil},
		{"only a blank question", func(p *work.Plan) { *p = work.Plan{Questions: []string{" "}} }, []string{
			"plan: summary: missing", "plan: files: name at least one path to create, modify or delete", "plan: acceptance_criteria: missing"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plan(1)
			c.spoil(p)
			if got := p.Problems(); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if got := (*work.Plan)(nil).Problems(); !slices.Equal(got, []string{"plan: missing"}) {
		t.Errorf("no plan: %q", got)
	}
}

func TestPlanProblemsAreNotEndless(t *testing.T) {
	p := plan(1)
	p.Files.Create = slices.Repeat([]string{"/" + strings.Repeat("x", 10_000)}, 5000)
	got := p.Problems()
	if len(got) != 20 {
		t.Errorf("%d problems", len(got))
	}
	for _, line := range got {
		if len(line) > 500 {
			t.Fatalf("a problem of %d bytes", len(line))
		}
	}
}

func TestPlanStepsAndPaths(t *testing.T) {
	for want, p := range []*work.Plan{1: nil, 2: plan(2), 3: plan(3)} {
		if want > 0 && p.Steps() != want {
			t.Errorf("%d steps, want %d", p.Steps(), want)
		}
	}
	if got := plan(1).Steps(); got != 1 {
		t.Errorf("%d steps without increments", got)
	}
	p := &work.Plan{
		Files:      work.PlanFiles{Create: []string{"a"}, Modify: []string{"b"}, Delete: []string{"c"}},
		Increments: []work.Increment{{Files: []string{"d"}}, {Files: []string{"e", "f"}}},
	}
	if got := p.Paths(); !slices.Equal(got, []string{"a", "b", "c", "d", "e", "f"}) {
		t.Errorf("paths %q", got)
	}
	if p.Files.Create = p.Files.Create[:1:1]; len(p.Paths()) != 6 || len(p.Files.Create) != 1 {
		t.Error("asking for the paths changes the plan")
	}
}

func TestBadPath(t *testing.T) {
	for _, fine := range []string{"a", "a.go", "a/b", "docs/", ".github/workflows/ci.yml", ".gitignore", "..a", "a..b", "a b", "ä/ö", "-x", "a/.gitkeep", "[x]", "*"} {
		if why := work.BadPath(fine); why != "" {
			t.Errorf("%q: %s", fine, why)
		}
	}
	for bad, want := range map[string]string{
		"":                        "empty",
		strings.Repeat("a", 4097): "too long",
		"a\x00b":                  "has control characters",
		"a\nb":                    "has control characters",
		"a\rb":                    "has control characters",
		"a\tb":                    "has control characters",
		"\x1b[31ma":               "has control characters",
		"a\u0085b":                "has control characters",
		"/etc/passwd":             "must be relative, with forward slashes",
		"~/x":                     "must be relative, with forward slashes",
		`a\b`:                     "must be relative, with forward slashes",
		`C:\x`:                    "must be relative, with forward slashes",
		".":                       "must be clean, without . and ..",
		"./":                      "must be clean, without . and ..",
		"./a":                     "must be clean, without . and ..",
		"a/./b":                   "must be clean, without . and ..",
		"a//b":                    "must be clean, without . and ..",
		"a/../b":                  "must be clean, without . and ..",
		"a/..":                    "must be clean, without . and ..",
		"a//":                     "must be clean, without . and ..",
		"..":                      "leaves the repository",
		"../":                     "leaves the repository",
		"../x":                    "leaves the repository",
		"../../x":                 "leaves the repository",
		".git":                    "is git's own",
		".git/config":             "is git's own",
		".GIT/hooks/pre-commit":   "is git's own",
		"vendor/x/.git/config":    "is git's own",
	} {
		if got := work.BadPath(bad); got != want {
			t.Errorf("%.40q: %q, want %q", bad, got, want)
		}
	}
}

func TestValidGlob(t *testing.T) {
	for glob, want := range map[string]bool{
		"a": true, "*.go": true, "**": true, "docs/**": true, "**/x": true, "[a-z]*": true, "/a": true, "a?": true, "{a,b}": true,
		"": false, "[": false, "[a": false, "a/[b": false, `a\`: false, "docs/**/[": false,
	} {
		if got := work.ValidGlob(glob); got != want {
			t.Errorf("%q: %v", glob, got)
		}
	}
}

func TestMatchGlob(t *testing.T) {
	for _, c := range []struct {
		glob     string
		yes, not []string
	}{
		{"a.go", []string{"a.go", "x/a.go", "x/y/a.go"}, []string{"b.go", "a.gox", "xa.go", "x/aa.go"}},
		{"*.go", []string{"a.go", "x/a.go", ".go"}, []string{"a.goo", "a.go2/b"}},
		{"CODEOWNERS", []string{"CODEOWNERS", ".github/CODEOWNERS", "CODEOWNERS/x"}, []string{"codeowners"}},
		{"docs", []string{"docs", "docs/a", "docs/a/b", "x/docs/a"}, []string{"docs2", "adocs"}},
		{"docs/", []string{"docs/a", "docs"}, []string{"docs2/a"}},
		{"docs/*", []string{"docs/a", "docs/a/b"}, []string{"docs", "x/docs/a"}},
		{"docs/*.md", []string{"docs/a.md"}, []string{"docs/x/a.md", "docs/a.mdx", "a.md"}},
		{"docs/**", []string{"docs", "docs/a", "docs/a/b/c"}, []string{"x/docs/a", "docs2/a"}},
		{"docs/**/*.md", []string{"docs/a.md", "docs/x/a.md", "docs/x/y/a.md"}, []string{"docs/a.go", "a.md"}},
		{"**/internal/**", []string{"internal", "internal/a", "x/internal/a", "x/y/internal/z/a"}, []string{"internals/a", "x/y"}},
		{"**", []string{"a", "a/b/c"}, nil},
		{"**/**", []string{"a", "a/b/c"}, nil},
		{".github/workflows/**", []string{".github/workflows/ci.yml", ".github/workflows/x/y"}, []string{".github/ci.yml", "x/.github/workflows/ci.yml"}},
		{"/go.mod", []string{"go.mod"}, []string{"tools/go.mod"}},
		{"/docs/**", []string{"docs/a"}, []string{"x/docs/a"}},
		{"a?c", []string{"abc", "x/abc"}, []string{"ac", "a/c"}},
		{"[ab].go", []string{"a.go", "b.go"}, []string{"c.go"}},
		{"a/**/b/**/c", []string{"a/b/c", "a/x/b/y/z/c", "a/b/b/c", "a/b/x/b/c"}, []string{"a/c", "a/b", "b/c", "a/x/c"}},
		{"[", nil, []string{"[", "a"}},
		{"", nil, []string{"a", "a/b"}},
	} {
		for _, p := range c.yes {
			if !work.MatchGlob(c.glob, p) {
				t.Errorf("%q does not match %q", c.glob, p)
			}
		}
		for _, p := range c.not {
			if work.MatchGlob(c.glob, p) {
				t.Errorf("%q matches %q", c.glob, p)
			}
		}
	}
	if got := work.MatchAny([]string{"*.md", "docs/**", "**"}, "docs/a.go"); got != "docs/**" {
		t.Errorf("the first that matches: %q", got)
	}
	if got := work.MatchAny([]string{"*.md"}, "a.go"); got != "" {
		t.Errorf("none matches: %q", got)
	}
}

// TestMatchGlobIsNoTrap matches what a plan from outside may hold. Tried in
// every way, these take longer than anybody waits.
func TestMatchGlobIsNoTrap(t *testing.T) {
	done := make(chan bool)
	go func() {
		deep := strings.Repeat("a/", 500) + "b"
		done <- work.MatchGlob(strings.Repeat("**/a/", 100)+"c", deep) ||
			work.MatchGlob(strings.Repeat("**/", 500)+"c", deep) ||
			work.MatchGlob("x/"+strings.Repeat("*a", 2000)+"c", "x/"+strings.Repeat("a", 4000))
	}()
	select {
	case matched := <-done:
		if matched {
			t.Error("a path that does not match does")
		}
	case <-time.After(time.Minute):
		t.Fatal("it is still trying")
	}
}
