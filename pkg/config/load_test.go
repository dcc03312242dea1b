package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/config"
)

// write puts text into backburner.toml in a new folder and returns the folder.
func write(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, config.FileName), text)
	return dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// load reads text as the file of the working directory.
func load(t *testing.T, text string) (*config.Config, error) {
	t.Helper()
	return config.Load(config.Sources{Dir: write(t, text)})
}

// loader is load for many texts: one folder, one file.
func loader(t *testing.T) func(text string) (*config.Config, error) {
	t.Helper()
	dir := t.TempDir()
	return func(text string) (*config.Config, error) {
		put(t, filepath.Join(dir, config.FileName), text)
		return config.Load(config.Sources{Dir: dir})
	}
}

func mustLoad(t *testing.T, s config.Sources) *config.Config {
	t.Helper()
	c, err := config.Load(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// testdata/all.toml is the documented example: every table, most keys.
func TestDocumentedExample(t *testing.T) {
	text, err := os.ReadFile("testdata/all.toml")
	if err != nil {
		t.Fatal(err)
	}
	c := mustLoad(t, config.Sources{Dir: write(t, string(text))})
	full, ok := c.Gate(&c.Repositories[0], "merge")
	for name, pair := range map[string][2]any{
		"slug":          {c.Repositories[0].Slug, "acme/shop"},
		"generated":     {c.Repositories[0].Generated, []config.Generated{{Paths: []string{"go.sum"}, Run: []string{"go", "mod", "tidy"}}}},
		"deadline":      {c.Tick.Deadline, 50 * time.Minute},
		"task_usd":      {c.Budget.TaskUSD, 5.0},
		"agents":        {c.AgentNames(), []string{"claude", "mine", "codex"}}, // codex is named by a role only
		"preset":        {c.Agents["codex"].Preset, "codex"},
		"builder":       {c.AgentsFor("builder"), []string{"codex", "claude"}},
		"qa":            {c.AgentsFor("qa"), []string{"claude", "mine", "codex"}},
		"my command":    {filepath.Base(c.Agents["mine"].Command[0]), "my-agent.sh"},
		"merge is full": {[]any{full.Steps[0].Name, ok}, []any{"test", true}},
		"mcp":           {c.MCP["linear"].Env, []string{"LINEAR_API_KEY"}},
		"notify":        {c.Notifiers["slack"].Kind, "slack"},
		"events":        {len(c.Notifiers["slack"].Events), 8},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s: got %#v, want %#v", name, pair[0], pair[1])
		}
	}
}

func TestPrecedence(t *testing.T) {
	dir := write(t, "[tick]\nmax_agents = 7\nmax_gates = 7\n\nmax_active = 7\n[github]\ntrusted_users = ['a']\n[budget]\nday_usd = 7")
	c := mustLoad(t, config.Sources{
		Dir: dir,
		Env: []string{"BACKBURNER_TICK_MAX_AGENTS=8", "BACKBURNER_TICK_MAX_GATES=8", "BACKBURNER_GITHUB_TRUSTED_USERS=b, c", "BACKBURNER_BUDGET_DAY_USD=0",
			"BACKBURNER_TICK_QUEUE=false", "BACKBURNER_TICK_DEADLINE=10m", "BACKBURNER_GITHUB_LABELS_ADD=go", "TICK_MAX_ACTIVE=1"},
		Flags: map[string]string{"tick.max_agents": "9"},
	})
	for name, pair := range map[string][2]any{
		"flag over environment":   {c.Tick.MaxAgents, 9},
		"environment over file":   {c.Tick.MaxGates, 8},
		"file over default":       {c.Tick.MaxActive, 7},
		"default":                 {c.Retry.Attempts, 2},
		"list":                    {c.GitHub.TrustedUsers, []string{"b", "c"}},
		"zero is not unset":       {c.Budget.DayUSD, 0.0},
		"boolean":                 {c.Tick.Queue, false},
		"duration":                {c.Tick.Deadline, 10 * time.Minute},
		"deeper table":            {c.GitHub.Labels.Add, "go"},
		"origin of a flag":        {c.Origin("tick.max_agents").String(), "flag"},
		"origin of a variable":    {c.Origin("tick.max_gates").String(), "BACKBURNER_TICK_MAX_GATES"},
		"origin in a file":        {c.Origin("tick.max_active").String(), "backburner.toml:5"},
		"origin of a default":     {c.Origin("retry.attempts").String(), "default"},
		"default list":            {c.Repositories, []config.Repository(nil)},
		"empty list over default": {mustLoad(t, config.Sources{Dir: dir, Env: []string{"BACKBURNER_MAINLINE_CHECK_BEFORE="}}).Mainline.CheckBefore, []string{}},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s: got %#v, want %#v", name, pair[0], pair[1])
		}
	}
}

// What stands in a list or has a name of the user's has defaults of its own.
func TestDefaultsInsideTables(t *testing.T) {
	c := mustLoad(t, config.Sources{Dir: write(t, `
[[repository]]
path = "."
[agent.claude]
slots = 2
price = { output = 3 }
[gate.full]
steps = [{ run = ["a"] }]
[notify.desktop]
[mcp.a]
url = "https://x"
`)})
	step := c.Gates["full"].Steps[0]
	for name, pair := range map[string][2]any{
		"repository": {[]any{c.Repositories[0].Base, c.Repositories[0].Merge, c.Repositories[0].ProtectedPaths}, []any{"main", "squash", []string{".github/workflows/**", "CODEOWNERS"}}},
		"agent":      {[]any{c.Agents["claude"].Slots, c.Agents["claude"].Timeout, c.Agents["claude"].Preset}, []any{2, 45 * time.Minute, "claude"}},
		"price":      {*c.Agents["claude"].Price, config.Price{Output: 3}},
		"step":       {[]any{step.Name, step.Timeout}, []any{"a", 15 * time.Minute}},
		"notifier":   {[]any{c.Notifiers["desktop"].Kind, c.Notifiers["desktop"].Timeout, len(c.Notifiers["desktop"].Events)}, []any{"desktop", 10 * time.Second, 8}},
		"server":     {c.MCP["a"].Timeout, 20 * time.Second},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s: got %v, want %v", name, pair[0], pair[1])
		}
	}
}

func TestNearMissesInTheEnvironment(t *testing.T) {
	for name, want := range map[string]string{
		"BACKBURNER_TICK_MAXAGENTS":     "BACKBURNER_TICK_MAX_AGENTS",
		"BACKBURNER_MAX_AGENTS":         "BACKBURNER_TICK_MAX_AGENTS",
		"BACKBURNER_STATE_DRI":          "BACKBURNER_STATE_DIR",
		"BACKBURNER_ROLES_BUILDERS":     "BACKBURNER_ROLES_BUILDER",
		"BACKBURNER_ROLE":               "",
		"BACKBURNER_TASK_ID":            "",
		"BACKBURNER_EXECUTION":          "",
		"BACKBURNER_SESSION_ID":         "",
		"BACKBURNER_MY_OWN_WRAPPER":     "",
		"BACKBURNER_DIR":                "",
		"BACKBURNER_":                   "",
		"BACKBURNER_AGENT_CLAUDE_MODEL": "",
		"MY_BACKBURNER_STATE_DRI":       "",
	} {
		_, err := config.Load(config.Sources{Dir: t.TempDir(), Env: []string{name + "=1"}})
		switch {
		case want == "" && err != nil:
			t.Errorf("%s is not ours to judge, got: %v", name, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), "did you mean "+want+"?")):
			t.Errorf("%s: want a hint at %s, got: %v", name, want, err)
		}
	}
}

func TestFinding(t *testing.T) {
	root := t.TempDir()
	user := filepath.Join(root, "xdg", "backburner", config.FileName)
	home := filepath.Join(root, "home", ".config", "backburner", config.FileName)
	inner := filepath.Join(root, "work", "a", "b")
	above := filepath.Join(root, "work", config.FileName)
	named := filepath.Join(root, "named.toml")
	xdg := []string{"HOME=" + filepath.Join(root, "home"), "XDG_CONFIG_HOME=" + filepath.Join(root, "xdg")}
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		name       string
		put        string // a file that is there from this step on
		s          config.Sources
		file, base string
	}{
		{"nothing", "", config.Sources{Env: xdg}, "", inner},
		{"home", home, config.Sources{Env: xdg[:1]}, home, inner},
		{"relative XDG_CONFIG_HOME is ignored", "", config.Sources{Env: append(xdg[:1:1], "XDG_CONFIG_HOME=xdg")}, home, inner},
		{"XDG_CONFIG_HOME", user, config.Sources{Env: xdg}, user, inner},
		{"upwards goes before the user's", above, config.Sources{Env: xdg}, above, filepath.Dir(above)},
		{"variable goes before what is found", named, config.Sources{Env: append(xdg, "BACKBURNER_CONFIG=../../../named.toml")}, named, root},
		{"flag goes before the variable", "", config.Sources{Env: append(xdg, "BACKBURNER_CONFIG=/nowhere"), Path: named}, named, root},
		{"the user's by name", "", config.Sources{Env: xdg, Path: user}, user, inner},
	}
	for _, step := range steps {
		if step.put != "" {
			put(t, step.put, "[tick]\nmax_agents = 3")
		}
		step.s.Dir = inner
		c := mustLoad(t, step.s)
		if c.File() != step.file || c.Base() != step.base {
			t.Errorf("%s: file %q and base %q, want %q and %q", step.name, c.File(), c.Base(), step.file, step.base)
		}
		if got := c.Tick.MaxAgents; (got == 3) != (step.file != "") {
			t.Errorf("%s: max_agents is %d", step.name, got)
		}
	}
}

func TestPaths(t *testing.T) {
	dir := write(t, `
[state]
dir = "s/../state"
remote = "../shared.git"
[[repository]]
path = "."
[[repository]]
path = "~/shop"
[[repository]]
path = "/srv/shop/"
[agent.claude]
command = ["bin/claude", "bin/x"]
wrap = ["bwrap", "./x"]
[mcp.a]
command = ["~/bin/a"]
[notify.command]
command = ["./tell"]
[gate.full]
steps = [{ run = ["./test.sh"] }]
`)
	sub := filepath.Join(dir, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	c := mustLoad(t, config.Sources{Dir: sub, Env: []string{"HOME=/home/jane"}, Flags: map[string]string{"workspace.root": "w"}})
	for name, pair := range map[string][2]string{
		"from the file's folder":               {c.State.Dir, filepath.Join(dir, "state")},
		"a flag's from the working directory":  {c.Workspace.Root, filepath.Join(sub, "w")},
		"remote":                               {c.State.Remote, filepath.Join(filepath.Dir(dir), "shared.git")},
		"dot":                                  {c.Repositories[0].Path, dir},
		"home":                                 {c.Repositories[1].Path, "/home/jane/shop"},
		"absolute":                             {c.Repositories[2].Path, "/srv/shop"},
		"program of an agent":                  {c.Agents["claude"].Command[0], filepath.Join(dir, "bin/claude")},
		"its argument":                         {c.Agents["claude"].Command[1], "bin/x"},
		"program without a slash is looked up": {c.Agents["claude"].Wrap[0], "bwrap"},
		"program of a server":                  {c.MCP["a"].Command[0], "/home/jane/bin/a"},
		"program of a notifier":                {c.Notifiers["command"].Command[0], filepath.Join(dir, "tell")},
		"a gate's program is the work's own":   {c.Gates["full"].Steps[0].Run[0], "./test.sh"},
		"folders inside a repository stay what they were": {c.Forge.SpecsDir, ".backburner/specs"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: got %q, want %q", name, pair[0], pair[1])
		}
	}
}

func TestSamePathTwice(t *testing.T) {
	dir := write(t, "[[repository]]\npath = '.'\n\n[[repository]]\npath = 'x/..'")
	_, err := config.Load(config.Sources{Dir: dir})
	if want := "backburner.toml:4: repository[1]: " + dir + " is configured already at backburner.toml:1; keep one of the two"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestDefault(t *testing.T) {
	c := config.Default("/srv/shop").WithAgents("codex", "nonsense", "custom", "claude", "codex")
	if got := c.AgentNames(); !slices.Equal(got, []string{"codex", "claude"}) {
		t.Errorf("agents: %q", got)
	}
	if got := c.AgentsFor("builder"); !slices.Equal(got, []string{"codex", "claude"}) {
		t.Errorf("builders: %q", got)
	}
	if a := c.Agents["claude"]; a.Preset != "claude" || a.Slots != 1 || a.Timeout != 45*time.Minute {
		t.Errorf("claude: %+v", a)
	}
	if len(c.Repositories) != 1 || c.Repositories[0].Path != "/srv/shop" || c.Repositories[0].Base != "main" || c.Repositories[0].PlanApproval != "required" {
		t.Errorf("repositories: %+v", c.Repositories)
	}
	if c.State.Dir != "/srv/shop/.backburner/state" || c.Workspace.Root != "/srv/shop/.backburner" {
		t.Errorf("state in %s, workspaces in %s", c.State.Dir, c.Workspace.Root)
	}
	if _, there := c.Gate(&c.Repositories[0], "full"); there {
		t.Error("there is a gate that nobody asked for")
	}
}

func TestWithLeavesWhatIsConfigured(t *testing.T) {
	dir := write(t, "[[repository]]\nslug = 'a/b'\n[agent.mine]\ncommand = ['x']")
	c := mustLoad(t, config.Sources{Dir: dir})
	if got := c.WithRepository("/x").WithAgents("claude"); got.Repositories[0].Slug != "a/b" || !slices.Equal(got.AgentNames(), []string{"mine"}) {
		t.Errorf("got %+v and %q", got.Repositories, got.AgentNames())
	}
	if c.Agents["mine"].Preset != "custom" {
		t.Errorf("preset %q of an agent with a command", c.Agents["mine"].Preset)
	}
	empty := mustLoad(t, config.Sources{Dir: t.TempDir()})
	if empty.WithRepository("/x").WithAgents("claude"); len(empty.Repositories)+len(empty.Agents) > 0 {
		t.Error("With changed its receiver")
	}
}

func TestGates(t *testing.T) {
	c := mustLoad(t, config.Sources{Dir: write(t, `
[[repository]]
path = "."
[[repository]]
slug = "acme/web"
gates = { full = "full-web", fast = "none" }
[gate.fast]
steps = [{ run = ["go", "vet", "./..."] }, { run = ["go", "vet"] }, { run = ["make", "-k"] }, { name = "go", run = ["x"] }, { run = ["/usr/bin/go"] }]
[gate.full]
steps = [{ name = "a", run = ["a"] }, { name = "b", run = ["b"] }, { name = "c", run = ["c"] }]
groups = [["b", "a"], ["c"]]
[gate.full-web]
parallel = true
steps = [{ name = "d", run = ["d"] }, { name = "e", run = ["e"] }]
[gate.none]
steps = [{ name = "f", run = ["f"] }]
[gate.merge]
steps = []
`)})
	names := func(repo *config.Repository, gate string) string {
		g, ok := c.Gate(repo, gate)
		if !ok {
			return "none"
		}
		var groups []string
		for _, group := range g.Order() {
			var in []string
			for _, s := range group {
				in = append(in, s.Name)
			}
			groups = append(groups, strings.Join(in, "+"))
		}
		return strings.Join(groups, ", ")
	}
	local, web := &c.Repositories[0], &c.Repositories[1]
	for _, tc := range []struct {
		repo       *config.Repository
		gate, want string
	}{
		{local, "fast", "go vet, go vet 2, make, go, go 2"},
		{local, "full", "b+a, c"},
		{local, "merge", "b+a, c"}, // no steps: the full gate
		{web, "full", "d+e"},
		{web, "merge", "d+e"}, // of the repository's full gate
		{web, "fast", "f"},
		{nil, "full", "b+a, c"},
		{local, "nightly", "none"},
	} {
		if got := names(tc.repo, tc.gate); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.gate, got, tc.want)
		}
	}
}

func TestSkippedMergeGate(t *testing.T) {
	c := mustLoad(t, config.Sources{Dir: write(t, "[gate.full]\nsteps = [{ run = ['a'] }]\n[gate.merge]\nskip = true")})
	if _, there := c.Gate(nil, "merge"); there {
		t.Error("a skipped merge gate is the full gate all the same")
	}
}
