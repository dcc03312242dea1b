package local_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/forge/local"
	"github.com/backburner-cli/backburner/pkg/work"
)

func bundle() forge.Bundle {
	return forge.Bundle{
		Workstream: "cart", Title: "Show the cart", Branch: "backburner/cart", Base: "aaa", Head: "bbb",
		Diff: []byte("diff --git a/cart.go b/cart.go\n"), Log: []byte("bbb show the cart\n"),
		Plan: &work.Plan{Summary: "Show it."}, Revision: 2,
		Gates: []work.Evidence{
			{Gate: "fast", Green: true, Commit: "bbb", Execution: "cart.0003", At: noon},
			{Gate: "full", Reason: "step_failed", Detail: "test: exit code 1", Commit: "bbb", Execution: "cart.0004", At: noon},
		},
		Summary: "The cart is shown. <!-- hidden -->", Next: "backburner merge cart",
	}
}

func names(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	must(t, err)
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func TestBundle(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "[cart]")
	must(t, local.WriteBundle(folder, bundle()))
	review := filepath.Join(folder, "review")
	if got := names(t, review); got != "diff.patch gates.json log.txt plan.json plan.md summary.md" {
		t.Errorf("the bundle has %s", got)
	}
	summary, err := os.ReadFile(filepath.Join(review, "summary.md"))
	must(t, err)
	want := "# Show the cart\n\n- Workstream: `cart`\n- Branch: `backburner/cart`\n- Base: `aaa`\n- Head: `bbb`\n\n" +
		"## What was done\n\nThe cart is shown. &lt;!-- hidden -->\n\n## Gates\n\n" +
		"- **fast** is green on `bbb`, 2026-03-04T12:00:00Z, execution `cart.0003`\n" +
		"- **full** is red (test: exit code 1) on `bbb`, 2026-03-04T12:00:00Z, execution `cart.0004`\n\n" +
		"## Next\n\n    backburner merge cart\n\n" +
		"The difference is in `diff.patch`, the commits are in `log.txt`, the gates in `gates.json`, the plan in `plan.md`.\n"
	if string(summary) != want {
		t.Errorf("summary is\n%s\nwant\n%s", summary, want)
	}
	var gates []work.Evidence
	data, err := os.ReadFile(filepath.Join(review, "gates.json"))
	must(t, err)
	must(t, json.Unmarshal(data, &gates))
	if len(gates) != 2 || gates[0].Gate != "fast" {
		t.Errorf("gates.json is %s", data)
	}
}

func TestBundleIsReplacedAsAWhole(t *testing.T) {
	folder := t.TempDir()
	must(t, local.WriteBundle(folder, bundle()))
	must(t, os.WriteFile(filepath.Join(folder, "review", "stray"), nil, 0o644))
	must(t, os.Mkdir(filepath.Join(folder, ".review.123"), 0o755)) // of a tick that was killed
	later := bundle()
	later.Plan, later.Head, later.Gates = nil, "ccc", nil
	must(t, local.WriteBundle(folder, later))
	if got := names(t, filepath.Join(folder, "review")); got != "diff.patch gates.json log.txt summary.md" {
		t.Errorf("the bundle has %s", got)
	}
	if got := names(t, folder); got != "review" {
		t.Errorf("the folder has %s", got)
	}
	summary, err := os.ReadFile(filepath.Join(folder, "review", "summary.md"))
	must(t, err)
	if !strings.Contains(string(summary), "`ccc`") || !strings.Contains(string(summary), "None has run.") {
		t.Errorf("summary is\n%s", summary)
	}
	if data, _ := os.ReadFile(filepath.Join(folder, "review", "gates.json")); string(data) != "[]\n" {
		t.Errorf("gates.json is %q", data)
	}
}
