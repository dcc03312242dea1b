package cmd

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

// BenchmarkMany is one tick that takes many workstreams from the spec file to
// the published branch, with agents that sleep, so that the processor is the
// program's and git's. It takes minutes; once is enough:
//
//	go test ./cmd -bench 'Many/200' -benchtime 1x -run '^$' -timeout 30m
//
//	x-ideal            wall clock, held against what the agents took, by slots
//	cpu-ms/stream      processor time of the tick and all it starts, for each workstream
//	agents-ms/stream   of which the agents and gates themselves have
func BenchmarkMany(b *testing.B) {
	for _, n := range []int{1, 20, 200} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var total many
			for range b.N {
				total.add(runMany(b, n))
			}
			total.report(b)
		})
	}
}

const (
	manySlots = 8
	manySleep = 2 * time.Second // of each run of an agent
)

// many is what it took.
type many struct {
	streams   int
	wall      time.Duration
	agents    time.Duration // of all agents, added up
	all, jobs time.Duration // processor time
}

func (m *many) add(more many) {
	m.streams += more.streams
	m.wall += more.wall
	m.agents += more.agents
	m.all += more.all
	m.jobs += more.jobs
}

func (m *many) report(b *testing.B) {
	each := func(d time.Duration, n int) float64 { return float64(d.Milliseconds()) / float64(n) }
	slots := min(manySlots, m.streams/b.N)
	b.ReportMetric(float64(m.wall)/(float64(m.agents)/float64(slots)), "x-ideal")
	b.ReportMetric(each(m.all, m.streams), "cpu-ms/stream")
	b.ReportMetric(each(m.jobs, m.streams), "agents-ms/stream")
}

func runMany(b *testing.B, n int) many {
	bin, dir := realProgram(b), manyFixture(b, n)
	c := exec.Command(bin, "tick")
	c.Dir, c.Env = dir, killEnvironment(b)
	began := time.Now()
	out, err := c.CombinedOutput()
	if err != nil {
		b.Fatalf("tick: %v\n%s", err, out)
	}
	// What a process has waited for is in its times.
	m := many{streams: n, wall: time.Since(began), all: c.ProcessState.UserTime() + c.ProcessState.SystemTime()}
	state := filepath.Join(dir, ".backburner", "state")
	for i := range n {
		var w work.Workstream
		if readRecord(b, filepath.Join(state, "workstreams", fmt.Sprintf("w%03d.json", i)), &w); w.Status != work.ReadyToMerge {
			b.Fatalf("%s is %s: %s\n%s", w.ID, w.Status, w.Detail, out)
		}
	}
	for _, pattern := range []string{"executions/*/exit.json", "executions/*/*/exit.json"} {
		exits, _ := filepath.Glob(filepath.Join(state, pattern))
		for _, path := range exits {
			var exit proc.Exit
			readRecord(b, path, &exit)
			m.jobs += exit.CPU
			if pattern == "executions/*/exit.json" { // those of gates are one deeper
				m.agents += manySleep
			}
		}
	}
	return m
}

func readRecord(b *testing.B, path string, into any) {
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		b.Fatalf("%s: %v", path, err)
	}
}

// manyFixture is a repository with n spec files.
func manyFixture(b *testing.B, n int) string {
	dir := b.TempDir()
	files := map[string]string{
		"backburner.toml": fmt.Sprintf(`
[tick]
max_active = %d
max_agents = %d
max_gates = 2
[[repository]]
path = "."
plan_approval = "auto"
[agent.mine]
preset = "custom"
command = ["sh", "agent.sh"]
slots = %d
[gate.fast]
steps = [{ name = "there", run = ["test", "-d", "made"] }]
[gate.full]
steps = [{ name = "all", run = ["test", "-d", "made"] }]
`, n, manySlots, manySlots),
		"agent.sh": fmt.Sprintf(`sleep %d
case $BACKBURNER_TASK_KIND in
plan) echo '{"status":"done","plan":{"summary":"s","files":{"create":["made/'$BACKBURNER_WORKSTREAM'"]},"acceptance_criteria":["a"]}}' > "$BACKBURNER_RESULT_FILE" ;;
implement) mkdir -p made; echo hello > made/$BACKBURNER_WORKSTREAM ;;
esac
`, int(manySleep.Seconds())),
	}
	for i := range n {
		files[fmt.Sprintf(".backburner/specs/w%03d.md", i)] = "# Greet\n\nSay hello.\n"
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	gitIn(b, dir, "init", "-q", "-b", "main")
	gitIn(b, dir, "add", ".")
	gitIn(b, dir, "-c", "user.name=Jo", "-c", "user.email=jo@example.org", "commit", "-q", "-m", "first")
	return dir
}
