package work_test

import (
	"testing"

	"github.com/backburner-cli/backburner/pkg/work"
)

func TestCheckpointsAndNewWork(t *testing.T) {
	at := func(commit, diff string, netNew bool) work.Checkpoint {
		return work.Checkpoint{Commit: commit, Tree: "tree of " + commit, DiffHash: diff, NetNew: netNew}
	}
	for _, c := range []struct {
		name      string
		left      []work.Checkpoint
		duplicate string // of the last one
		newWork   bool
	}{
		{"nothing was left yet", nil, "", true},
		{"a first change", []work.Checkpoint{at("c1", "d1", true)}, "", true},
		{"another change", []work.Checkpoint{at("c1", "d1", true), at("c2", "d2", true)}, "", true},
		{"nothing changed", []work.Checkpoint{at("c1", "d1", true), at("c1", "d1", false)}, "c1", false},
		{"nothing changed, and the difference is not known", []work.Checkpoint{at("c1", "", true), at("c1", "", false)}, "", false},
		{"two differences that are not known are not the same", []work.Checkpoint{at("c1", "", true), at("c2", "", true)}, "", true},
		{"back to what was there before", []work.Checkpoint{at("c1", "d1", true), at("c2", "d2", true), at("c3", "d1", true)}, "c1", false},
		{"the oldest of several", []work.Checkpoint{at("c1", "d1", true), at("c2", "d1", true), at("c3", "d1", true)}, "c1", false},
		{"forth again", []work.Checkpoint{at("c1", "d1", true), at("c2", "d1", false), at("c3", "d3", true)}, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := stream(work.Building)
			for _, left := range c.left {
				w.AddCheckpoint(left)
				if w.Head != left.Commit || w.Tree != left.Tree {
					t.Fatalf("the branch is at %s %s", w.Head, w.Tree)
				}
			}
			if w.NewWork() != c.newWork || len(w.Checkpoints) != len(c.left) {
				t.Errorf("new work: %v; %d checkpoints", w.NewWork(), len(w.Checkpoints))
			}
			if n := len(c.left); n > 0 && w.Checkpoints[n-1].DuplicateOf != c.duplicate {
				t.Errorf("duplicate of %q, want %q", w.Checkpoints[n-1].DuplicateOf, c.duplicate)
			}
		})
	}
}

func TestEvidenceIsFreshForItsTree(t *testing.T) {
	w := stream(work.Building)
	if _, fresh := w.Fresh(work.GateFast); fresh || w.Green(work.GateFast) {
		t.Error("there is evidence before any gate ran")
	}
	judged(w, work.GateFast, true)
	if e, fresh := w.Fresh(work.GateFast); !fresh || !e.Green || !w.Green(work.GateFast) || w.LastGate != work.GateFast {
		t.Errorf("after a green gate: %+v", e)
	}
	if w.Green(work.GateFull) {
		t.Error("one gate counts for another")
	}
	judged(w, work.GateFull, false)
	if _, fresh := w.Fresh(work.GateFull); !fresh || w.Green(work.GateFull) || w.LastGate != work.GateFull || !w.Green(work.GateFast) {
		t.Error("a red gate is not fresh, or took another along")
	}
	w.AddCheckpoint(work.Checkpoint{Commit: "c2", Tree: "t2", NetNew: true})
	if e, fresh := w.Fresh(work.GateFast); fresh || !e.Green || w.Green(work.GateFast) {
		t.Error("evidence is fresh for another tree")
	}
	w.AddCheckpoint(work.Checkpoint{Commit: "c3", Tree: "t0", NetNew: true})
	if !w.Green(work.GateFast) {
		t.Error("the tree that was tested is back, under another commit")
	}
	w.AddEvidence(work.Evidence{Gate: work.GateMerge, Green: true})
	if w.Tree = ""; w.Green(work.GateMerge) {
		t.Error("no tree was tested, and none is there")
	}
}

func TestAGreenGateEndsTheRoundsOfRedOnes(t *testing.T) {
	w := stream(work.Building)
	w.Rounds = work.Rounds{Repairs: 2, Gate: 1, Worker: 1, Conflict: 1, Review: 1}
	judged(w, work.GateFast, false)
	if w.Rounds.Repairs != 2 || w.Rounds.Gate != 1 {
		t.Errorf("after a red gate: %+v", w.Rounds)
	}
	judged(w, work.GateFast, true)
	if want := (work.Rounds{Worker: 1, Conflict: 1, Review: 1}); w.Rounds != want {
		t.Errorf("after a green gate: %+v", w.Rounds)
	}
}

func TestOutOfScope(t *testing.T) {
	protected := []string{".github/workflows/**", "CODEOWNERS"}
	planned := func(change func(*work.Plan)) *work.Plan {
		p := plan(1)
		p.Files = work.PlanFiles{Create: []string{"new.go", "assets/"}, Modify: []string{"a.go"}}
		change(p)
		return p
	}
	anywhere := planned(func(*work.Plan) {})
	areas := planned(func(p *work.Plan) { p.AllowedAreas, p.ForbiddenAreas = []string{"docs/**"}, []string{"docs/secret/**"} })
	for _, c := range []struct {
		name    string
		plan    *work.Plan
		changed []string
		lines   int
		most    int
		want    string
	}{
		{"nothing", anywhere, nil, 0, 0, ""},
		{"a plan without areas", anywhere, []string{"x/y.go"}, 10, 0, ""},
		{"no plan", nil, []string{"x/y.go"}, 10, 0, ""},
		{"protected", anywhere, []string{"a.go", ".github/workflows/ci.yml"}, 10, 0,
			".github/workflows/ci.yml is protected (.github/workflows/**): only people may change it"},
		{"protected, without a plan", nil, []string{"x/CODEOWNERS"}, 10, 0, "x/CODEOWNERS is protected (CODEOWNERS): only people may change it"},
		{"protected, though the plan names it", planned(func(p *work.Plan) { p.Files.Modify = []string{"CODEOWNERS"} }), []string{"CODEOWNERS"}, 1, 0,
			"CODEOWNERS is protected (CODEOWNERS): only people may change it"},
		{"in an area", areas, []string{"docs/a.md"}, 1, 0, ""},
		{"a planned file", areas, []string{"a.go", "new.go"}, 1, 0, ""},
		{"below a planned folder", areas, []string{"assets/x/y.png"}, 1, 0, ""},
		{"beside a planned folder", areas, []string{"assets2/y.png"}, 1, 0, "assets2/y.png is outside of the areas the plan allows"},
		{"forbidden", areas, []string{"docs/secret/a.md"}, 1, 0, "docs/secret/a.md is in an area the plan forbids (docs/secret/**)"},
		{"outside", areas, []string{"docs/a.md", "b.go"}, 1, 0, "b.go is outside of the areas the plan allows"},
		{"just small enough", anywhere, []string{"a.go"}, 400, 400, ""},
		{"too many lines", anywhere, []string{"a.go"}, 401, 400, "401 changed lines are more than max_diff_lines = 400"},
		{"no cap", anywhere, []string{"a.go"}, 1 << 30, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := stream(work.QA)
			w.Plan = c.plan
			if got := w.OutOfScope(c.changed, c.lines, work.Policy{ProtectedPaths: protected, MaxDiffLines: c.most}); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
