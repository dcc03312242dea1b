package cmd

import (
	"fmt"
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
	for _, planned := range []bool{false, true} {
		live := func(t *testing.T, fail func(l *hubLife)) (world, said string) {
			l := newHubLife(t, bin)
			if planned {
				l.inPulls()
			}
			fail(l)
			l.live()
			return l.world(), l.said.String()
		}
		want, _ := live(t, func(*hubLife) {})
		texts := []string{"The planner asks", "The planner failed", "Addressed in", "Which?", "merged: ", "backburner/gates: success", "labels: backburner, backburner: blocked"}
		if planned {
			texts = append(texts, "Planned again: revision 2", "Plan 1 was replaced by plan 2", "Plan 2 is in pull request #2")
		} else {
			texts = append(texts, "Plan, revision 1")
		}
		for _, written := range texts {
			if !strings.Contains(want, written) {
				t.Errorf("%q is not written:\n%s", written, want)
			}
		}
		for _, kind := range []string{"lost", "cut", "502", "killed"} {
			t.Run(fmt.Sprintf("%s, plans in pull requests: %v", kind, planned), func(t *testing.T) {
				t.Parallel()
				got, said := live(t, func(l *hubLife) { l.failEach(kind) })
				if got != want {
					t.Errorf("%s\n%s", diff.Diff("without trouble", []byte(want), "with it", []byte(got)), said)
				}
			})
		}
	}
}

// failEach has each request that changes something go wrong once.
func (l *hubLife) failEach(kind string) {
	for _, f := range []githubtest.Fault{
		{Route: "POST /repos/*"}, {Route: "PUT *"}, {Route: "PATCH *"}, {Route: "DELETE *"}, {Route: "graphql", Match: `"query":"mutation`},
	} {
		f.Kind, f.Each = kind, true
		if kind == "killed" {
			f.Kind, f.Then = "lost", func() { _ = l.runs.Load().Kill() }
		}
		l.hub.Fail(f)
	}
}
