package forge_test

import (
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

func TestRenderPlan(t *testing.T) {
	p := &work.Plan{
		Summary:      "Show the cart.\n\n# Not a heading\n<!-- hidden -->",
		Base:         "aaa",
		Files:        work.PlanFiles{Create: []string{"cart.go"}, Modify: []string{"a`b.go"}, Delete: []string{"old.go"}},
		AllowedAreas: []string{"docs/**"}, ForbiddenAreas: []string{"db/**"},
		Contracts:          &work.Contracts{OpenAPI: "GET /cart is new", Events: "none"},
		AcceptanceCriteria: []string{"the cart\nis shown"},
		Risks:              []string{"slow"},
		GateProfile:        "ui",
		Increments:         []work.Increment{{Title: "show", Files: []string{"cart.go"}, AcceptanceCriteria: []string{"shown"}}, {Title: "hide"}},
		Questions:          []string{"Which currency?"},
	}
	want := "## Plan, revision 2\n\nShow the cart.\n\n\\# Not a heading\n&lt;!-- hidden -->\n" +
		"\n### Files\n\n- create `cart.go`\n- modify `` a`b.go ``\n- delete `old.go`\n" +
		"\n### Acceptance criteria\n\n- the cart is shown\n" +
		"\n### Increments\n\n1. show\n   - shown\n   - files: `cart.go`\n2. hide\n" +
		"\n### Risks\n\n- slow\n" +
		"\n### Contracts touched\n\n- OpenAPI: GET /cart is new\n" +
		"\nMay also change: `docs/**`\n\nMust not change: `db/**`\n" +
		"\n### Questions\n\n- Which currency?\n" +
		"\nGate profile: `ui`\n\nMade on `aaa`.\n"
	if got := forge.RenderPlan(p, 2); got != want {
		t.Errorf("plan is\n%s\nwant\n%s", got, want)
	}
	if got := forge.RenderPlan(nil, 0); !strings.Contains(got, "no plan") {
		t.Errorf("no plan is %q", got)
	}
	if got := forge.RenderPlan(&work.Plan{Summary: "s"}, 0); got != "## Plan, revision 1\n\ns\n" {
		t.Errorf("a bare plan is %q", got)
	}
}
