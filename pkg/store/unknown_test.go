package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/work"
)

func TestUnknownFieldsSurvive(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	mustSave(t, s, "x")
	// A newer program of the same schema, or a person, added fields everywhere.
	file := s.workstreamFile("x")
	text := read(t, file)
	for old, added := range map[string]string{
		`"status": "building",`:      `"status": "building", "mood": {"z": 1, "a": [15e-1, 12345678901234567890]},`,
		`"id": "t2",`:                `"id": "t2", "owner": "ann",`,
		`"increment": 1,`:            `"increment": 1, "colour": "<red>",`,
		`"modify": [`:                `"rename": {"a": "b"}, "modify": [`,
		`"title": "invoice"`:         `"title": "invoice", "size": 3`,
		`"gate": "fast",`:            `"gate": "fast", "cover\u0061ge": 0.50,`,
		`"diff_hash": "2",`:          `"diff_hash": "2", "signed": true,`,
		`"hash": "sha256:`:           `"language": "en", "hash": "sha256:`,
		`"repository": "shop",`:      `"repository": "shop", "Title": "read as the title",`,
		`"summary": "Round once, in`: `"summary": "ignored, and then", "Summary": "Round once, in`,
	} {
		if !strings.Contains(text, old) {
			t.Fatalf("%s is not in %s", old, text)
		}
		text = strings.Replace(text, old, added, 1)
	}
	write(t, file, text)

	b := mustLoad(t, s)
	w := b.Workstreams["x"]
	if w.Title != "Totals are rounded twice" {
		t.Fatalf("title %q", w.Title)
	}
	w.Tasks = append([]*work.Task{w.Tasks[3]}, w.Tasks[1:3]...) // t4, t2, t3
	w.Held = &work.Hold{By: "ann", At: noon}
	if err := s.Save(w); err != nil {
		t.Fatal(err)
	}
	saved := read(t, file)
	var got map[string]any
	if err := json.Unmarshal([]byte(saved), &got); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]any{
		"mood.z": 1.0, "tasks.1.owner": "ann", "tasks.1.context.colour": "<red>", "tasks.0.owner": nil,
		"plan.files.rename.a": "b", "plan.increments.1.size": 3.0, "evidence.fast.coverage": 0.5,
		"checkpoints.2.signed": true, "spec.language": "en", "Title": nil, "plan.Summary": nil,
		"title": "Totals are rounded twice", "plan.summary": "Round once, in the invoice.",
	} {
		if v := dig(got, path); v != want {
			t.Errorf("%s is %v, want %v", path, v, want)
		}
	}
	for _, verbatim := range []string{"15e-1", "12345678901234567890", "0.50", `"<red>"`} {
		if !strings.Contains(saved, verbatim) {
			t.Errorf("%s was rewritten", verbatim)
		}
	}

	before := tree(t, s.dir)
	if err := s.Save(mustLoad(t, s).Workstreams["x"]); err != nil || tree(t, s.dir) != before {
		t.Errorf("saving the same wrote something: %v", err)
	}
	w.Held, w.Plan = nil, nil
	if err := s.Save(w); err != nil {
		t.Fatal(err)
	}
	saved = read(t, file)
	if strings.Contains(saved, `"held"`) || strings.Contains(saved, `"rename"`) || !strings.Contains(saved, `"mood"`) {
		t.Errorf("what was cleared came back, or what is unknown went:\n%s", saved)
	}
}

// dig finds a value by a path of keys and indexes.
func dig(value any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			var i int
			if _, err := fmt.Sscan(step, &i); err != nil || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

func TestUnknownFieldsOfOtherRecordsSurvive(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	write(t, s.path("agents.json"), `{"schema":1,"agents":{"claude":{"failures":1,"mood":"good"}},"x":1}`)
	write(t, s.path("spending.json"), `{"schema":1,"days":{"2026-11-30":{"a.0001":{"tokens":1,"tick":"1","x":2}}}}`)
	write(t, s.path("repositories", "shop.json"), `{"schema":1,"id":"shop","specs":{"a.md":{"size":1,"x":3}}}`)
	write(t, s.path("requests", "r1.json"), `{"schema":1,"id":"r1","verb":"retry","by":"ann","progress":{"x":4}}`)
	write(t, s.path("executions", "a.0001", "execution.json"), `{"schema":1,"id":"a.0001","steps":[{"name":"vet","x":5}]}`)
	b := mustLoad(t, s)
	b.Agents.Agents["claude"] = work.AgentState{Failures: 2}
	b.Spending.Record("2026-11-30", "b.0001", work.Cost{Tick: "2"})
	b.Repositories["shop"].Base = "abc"
	b.Requests[0].Progress = work.Progress{Decision: work.Applied}
	e, err := s.Execution("a.0001")
	if err != nil {
		t.Fatal(err)
	}
	e.Outcome = "green"
	for _, err := range []error{
		s.SaveAgents(b.Agents), s.SaveLedger(b.Spending), s.SaveRepository(b.Repositories["shop"]),
		s.SettleRequest(b.Requests[0]), s.SaveExecution(e),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string][]string{
		"agents.json":                      {`"mood": "good"`, `"x": 1`, `"failures": 2`},
		"spending.json":                    {`"x": 2`, `"b.0001"`},
		"repositories/shop.json":           {`"x": 3`, `"abc"`},
		"requests/done/r1.json":            {`"x": 4`, `"applied"`},
		"executions/a.0001/execution.json": {`"x": 5`, `"green"`},
	} {
		for _, part := range want {
			if text := read(t, s.path(name)); !strings.Contains(text, part) {
				t.Errorf("%s: no %s in\n%s", name, part, text)
			}
		}
	}
}
