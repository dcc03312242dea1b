package cmd

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// killPoints is how many moments of a tick TestKilledTick ends it at.
const killPoints = 20

// TestKilledTick ends a tick with SIGKILL at moments spread over its whole
// life, and lets the next one go on: it must finish the job, and have done
// nothing twice.
func TestKilledTick(t *testing.T) {
	bin := program(t)
	fixture := killFixture(t)
	began := time.Now()
	first := copyTree(t, fixture)
	tick(t, bin, first)
	finished(t, first)
	life := time.Since(began)
	points := killPoints
	if testing.Short() {
		points = 4
	}
	for i := range points {
		dir := copyTree(t, fixture)
		c := exec.Command(bin, "tick")
		c.Dir, c.Env = dir, killEnvironment(t)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(life * time.Duration(i) / time.Duration(points))
		_ = c.Process.Kill()
		_ = c.Wait()
		tick(t, bin, dir)
		finished(t, dir)
	}
}

// program is this test's binary under the name by which it is backburner.
func program(t *testing.T) string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "backburner")
	if err := os.WriteFile(bin, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return bin
}

func killEnvironment(t testing.TB) []string {
	return append(os.Environ(), "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GORACE=atexit_sleep_ms=0")
}

// killFixture is a repository with one piece of work that needs everything: a
// plan, a build, a red gate that is repaired, and qa.
func killFixture(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		".backburner/specs/greet.md": "# Greet\n\nSay hello.\n",
		"backburner.toml": `
[[repository]]
path = "."
plan_approval = "auto"
[agent.mine]
preset = "custom"
command = ["sh", "agent.sh"]
[gate.fast]
steps = [{ name = "there", run = ["test", "-f", "second.txt"] }]
[gate.full]
steps = [{ name = "hello", run = ["grep", "-q", "hello", "hello.txt"] }]
`,
		"agent.sh": `case $BACKBURNER_TASK_KIND in
plan) echo '{"status":"done","plan":{"summary":"s","files":{"create":["hello.txt"]},"acceptance_criteria":["a"]}}' > "$BACKBURNER_RESULT_FILE" ;;
implement) if test -f hello.txt; then echo two > second.txt; else echo hello > hello.txt; fi ;;
esac
`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gitIn(t, dir, "init", "-q", "-b", "main")
	gitIn(t, dir, "add", ".")
	gitIn(t, dir, "-c", "user.name=Jo", "-c", "user.email=jo@example.org", "commit", "-q", "-m", "first")
	return dir
}

func gitIn(t testing.TB, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir, c.Env = dir, killEnvironment(t)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func copyTree(t *testing.T, from string) string {
	to := filepath.Join(t.TempDir(), "shop")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

func tick(t *testing.T, bin, dir string) {
	t.Helper()
	c := exec.Command(bin, "tick")
	c.Dir, c.Env = dir, killEnvironment(t)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("tick: %v\n%s", err, out)
	}
}

// finished checks that the work is done, once, and that nothing was damaged.
func finished(t *testing.T, dir string) {
	t.Helper()
	state := filepath.Join(dir, ".backburner", "state")
	var w struct {
		Status, Head, Published string
		Intents, Outbox         []any
		Tasks                   []struct{ Kind, Status string }
	}
	data, err := os.ReadFile(filepath.Join(state, "workstreams", "greet.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &w); err != nil {
		t.Fatal(err)
	}
	if w.Status != "ready_to_merge" || w.Head != w.Published || len(w.Intents)+len(w.Outbox) != 0 {
		t.Fatalf("the work is %s, published %s of %s, with %d intents and %d notices left\n%s", w.Status, w.Published, w.Head, len(w.Intents), len(w.Outbox), data)
	}
	done := map[string]int{}
	for _, task := range w.Tasks {
		if task.Status == "completed" {
			done[task.Kind]++
		}
	}
	if done["plan"] != 1 || done["implement"] != 2 || done["verify"] != 1 {
		t.Fatalf("tasks completed: %v", done)
	}
	if got := gitIn(t, dir, "rev-parse", "backburner/greet"); got != w.Head {
		t.Fatalf("the branch is at %s, the state says %s", got, w.Head)
	}
	if files := gitIn(t, dir, "ls-tree", "--name-only", "backburner/greet", "hello.txt", "second.txt"); files != "hello.txt\nsecond.txt" {
		t.Fatalf("the branch has %q", files)
	}
	gitIn(t, dir, "fsck", "--no-progress")
	toldOnce(t, filepath.Join(state, "workstreams", "greet", "thread.md"))
	if left, _ := fs.Glob(os.DirFS(state), "quarantine/*"); len(left) > 0 {
		t.Fatalf("set aside: %v", left)
	}
}

// toldOnce checks that no notice is in the thread twice.
func toldOnce(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, "<!-- backburner:") {
			continue
		}
		if seen[line] {
			t.Fatalf("told twice: %s", line)
		}
		seen[line] = true
	}
	if len(seen) == 0 {
		t.Fatalf("no notice was told:\n%s", data)
	}
}
