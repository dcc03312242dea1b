package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/work"
)

// healthy is a state with something of everything in it.
func healthy(t *testing.T) *Store {
	s := mustOpen(t, t.TempDir())
	w := mustSave(t, s, "open")[0]
	for _, task := range w.Tasks {
		run(t, s, task.Executions[0], noon, 10)
	}
	if err := s.Archive(closed(t, s, "closed", noon)); err != nil {
		t.Fatal(err)
	}
	r := &work.Request{Verb: work.VerbRetry}
	settled := &work.Request{Verb: work.VerbRetry}
	for _, err := range []error{
		s.SaveRepository(&work.Repository{ID: "shop"}), s.SaveAgents(&work.AgentStates{}), s.SaveLedger(&work.Ledger{}),
		s.Submit(r), s.Submit(settled), s.AppendTick(work.Tick{ID: "1", StartedAt: noon}), s.AppendMemory("open", "text", 100),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	settled.Progress.Decision = work.Applied
	if err := s.SettleRequest(settled); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Expire(noon, RetentionPolicy{}); err != nil {
		t.Fatal(err)
	}
	write(t, s.path("lease.json"), "{}")
	return s
}

func TestVerify(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(s *Store) error
		want   string // one problem has this in it; "" when there is none
	}{
		"healthy":           {func(*Store) error { return nil }, ""},
		"missing folder":    {func(s *Store) error { return os.RemoveAll(s.dir) }, ""},
		"newer":             {put("meta.json", `{"schema":9}`), "meta.json: "},
		"no meta":           {gone("meta.json"), "meta.json: missing"},
		"broken workstream": {put("workstreams/open2.json", `{`), "workstreams/open2.json: unexpected end"},
		"two of one folding": {func(s *Store) error {
			return os.WriteFile(s.workstreamFile("Open"), []byte(strings.Replace(plain, `"x"`, `"Open"`, 1)+"}"), 0o644)
		}, "upper and lower case"},
		"open and archived":      {func(s *Store) error { return os.Link(s.workstreamFile("open"), s.path("archive/2026-11/open.json")) }, "archive/2026-11/open.json: the workstream is open as well"},
		"folder left behind":     {func(s *Store) error { return os.Mkdir(s.Folder("closed"), 0o755) }, "workstreams/closed: its workstream is in the archive"},
		"not ours":               {put("workstreams/notes.txt", ``), "workstreams/notes.txt: not one of backburner's files"},
		"temporary":              {put("workstreams/.open.json.tmp-1a", `{`), "left by a write of open.json"},
		"broken archive":         {put("archive/2026-11/closed.json", `{`), "archive/2026-11/closed.json: "},
		"no month":               {put("archive/old/x.json", `{`), "archive/old: not one of"},
		"broken repository":      {put("repositories/shop.json", `{}`), "repositories/shop.json: "},
		"broken agents":          {put("agents.json", `{`), "agents.json: "},
		"broken spending":        {put("spending.json", `[]`), "spending.json: "},
		"broken request":         {put("requests/r.json", `{}`), "requests/r.json: "},
		"broken settled request": {put("requests/done/r.json", `{}`), "requests/done/r.json: "},
		"cut log":                {put("ticks/2026-11-29.jsonl", "{}\n{\n\n"), "lines that are no ticks: 2"},
		"missing execution":      {gone("executions/open.0002"), "executions/open.0002: missing, and workstream open names it"},
		"execution cut short":    {gone("executions/open.0002/execution.json"), "executions/open.0002: it has no execution.json"},
		"broken execution":       {put("executions/open.0002/execution.json", `{"schema":1,"id":"open.0001"}`), `it holds the execution "open.0001"`},
		"execution nobody names": {put("executions/closed.0001/prompt.md", ``), ""},
		"strange execution":      {put("executions/a b/x", ``), "executions/a b: not one of"},
		"set aside":              {put("quarantine/workstreams/x.json", `{`), "quarantine/workstreams/x.json: set aside"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := healthy(t)
			if err := c.damage(s); err != nil {
				t.Fatal(err)
			}
			before := tree(t, s.dir)
			problems := Verify(s.dir)
			if tree(t, s.dir) != before {
				t.Error("it changed something")
			}
			if c.want == "" && len(problems) == 0 {
				return
			}
			if len(problems) != 1 || !strings.Contains(problems[0].String(), c.want) || problems[0].Next == "" || filepath.IsAbs(problems[0].Path) {
				t.Errorf("%q", problems)
			}
		})
	}
}

func put(name, content string) func(*Store) error {
	return func(s *Store) error {
		if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o755); err != nil {
			return err
		}
		return os.WriteFile(s.path(name), []byte(content), 0o644)
	}
}

func gone(name string) func(*Store) error {
	return func(s *Store) error { return os.RemoveAll(s.path(name)) }
}

func TestVerifyReportsAFolderThatIsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	write(t, path, "")
	if problems := Verify(path); len(problems) != 1 {
		t.Errorf("%v", problems)
	}
}
