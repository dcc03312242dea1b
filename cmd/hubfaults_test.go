package cmd

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/backburner-cli/backburner/pkg/forge/github/githubtest"
)

// Whatever happens to a request that changes something on GitHub, the change is
// there once in the end, and nothing else is: the world is the one in which
// nothing went wrong. Each kind of trouble happens once to every such request.
func TestHubFaults(t *testing.T) {
	bin := program(t)
	if testing.Short() {
		t.Skip("the race detector has nothing to find in it")
	}
	well := newHubLife(t, bin)
	well.live()
	want := well.world()
	for _, written := range []string{"The planner asks", "Plan, revision 1", "The planner failed", "Addressed in", "Which?", "merged: ", "backburner/gates: success", "labels: backburner, backburner: blocked"} {
		if !strings.Contains(want, written) {
			t.Errorf("%q is not written:\n%s", written, want)
		}
	}
	for _, kind := range []string{"lost", "cut", "502", "killed"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := newHubLife(t, bin)
			for _, f := range []githubtest.Fault{
				{Route: "POST /repos/*"}, {Route: "PUT *"}, {Route: "PATCH *"}, {Route: "DELETE *"}, {Route: "graphql", Match: `"query":"mutation`},
			} {
				f.Kind, f.Each = kind, true
				if kind == "killed" {
					f.Kind, f.Then = "lost", func() { _ = l.runs.Load().Kill() }
				}
				l.hub.Fail(f)
			}
			l.live()
			if got := l.world(); got != want {
				t.Errorf("%s\n%s", diff.Diff("without trouble", []byte(want), "with it", []byte(got)), l.said.String())
			}
		})
	}
}
