package gate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/gate"
	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

// The test program is its own supervisor.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "supervise" {
		if err := proc.Supervise(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func sh(name, script string) gate.Step {
	return gate.Step{Name: name, Run: []string{"sh", "-c", script}, Timeout: time.Minute}
}

// bench is a place where gates are run.
type bench struct {
	*gate.Runner
	call gate.Call
}

func newBench(t *testing.T, steps ...gate.Step) *bench {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{
		Runner: gate.New([]string{self}, append(basis(), "COLOUR=blue"), nil),
		call:   gate.Call{Gate: gate.Gate{Name: "fast", Steps: steps}, Execution: "cart.0007", Dir: t.TempDir(), Workspace: t.TempDir()},
	}
	t.Cleanup(func() {
		if err := b.End(context.Background(), b.call.Dir); err != nil {
			t.Error(err)
		}
	})
	return b
}

// basis is the least environment. With the race detector, a supervisor would
// wait a second at its end for races to be reported.
func basis() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}
}

func (b *bench) run() gate.Outcome { return b.Run(context.Background(), b.call) }

func (b *bench) has(name string) bool {
	_, err := os.Lstat(filepath.Join(b.call.Workspace, name))
	return err == nil
}

func TestGreen(t *testing.T) {
	b := newBench(t, sh("go vet", "echo out; echo err >&2; pwd"), sh("test", "cat; touch ran"))
	o := b.run()
	if !o.Green || o.Reason != "" || o.Class != "" || o.Detail != "" || len(o.Steps) != 2 {
		t.Fatalf("outcome %+v", o)
	}
	first := o.Steps[0]
	if first.Name != "go vet" || first.Log != "01-go-vet/log" || first.ExitCode != 0 || first.Tries != 1 || first.Duration <= 0 || first.Run[0] != "sh" {
		t.Errorf("step %+v", first)
	}
	log, err := os.ReadFile(filepath.Join(b.call.Dir, first.Log))
	workspace, _ := filepath.EvalSymlinks(b.call.Workspace)
	if want := "out\nerr\n" + workspace + "\n"; err != nil || string(log) != want {
		t.Errorf("log %q, %v, want %q", log, err, want)
	}
	if !b.has("ran") {
		t.Error("the second step did not run")
	}
	if tail, err := gate.Tail(b.call.Dir, 1000); tail != "" || err != nil {
		t.Errorf("tail of a green gate is %q, %v", tail, err)
	}
}

func TestRedStopsTheRest(t *testing.T) {
	b := newBench(t, sh("vet", "true"), sh("test", "echo noise; echo FAIL cart; exit 3"), sh("lint", "touch ran"))
	o := b.run()
	if o.Green || o.Reason != gate.StepFailed || o.Class != work.ClassGate || len(o.Steps) != 2 {
		t.Fatalf("outcome %+v", o)
	}
	if want := "test: exit code 3\nnoise\nFAIL cart"; o.Detail != want {
		t.Errorf("detail %q, want %q", o.Detail, want)
	}
	if o.Steps[1].Reason != gate.StepFailed || o.Steps[1].ExitCode != 3 {
		t.Errorf("step %+v", o.Steps[1])
	}
	if b.has("ran") {
		t.Error("a step after the red one ran")
	}
	if tail, err := gate.Tail(b.call.Dir, 1000); tail != "noise\nFAIL cart" || err != nil {
		t.Errorf("tail %q, %v", tail, err)
	}
	var kept []work.StepResult
	content, err := os.ReadFile(filepath.Join(b.call.Dir, "steps.json"))
	if err != nil || json.Unmarshal(content, &kept) != nil || len(kept) != 2 || kept[1].Reason != gate.StepFailed {
		t.Errorf("steps.json is %s, %v", content, err)
	}
}

func TestReasons(t *testing.T) {
	out := gate.Step{Name: "test", Run: []string{"true"}, Dir: "../.."}
	missing := gate.Step{Name: "test", Run: []string{"true"}, Dir: "nowhere"}
	slow := sh("test", "sleep 60")
	slow.Timeout = 100 * time.Millisecond
	tests := []struct {
		name   string
		step   gate.Step
		reason string
		detail string
	}{
		{"timeout", slow, gate.Timeout, "test: not done after 100ms"},
		{"program not there", gate.Step{Run: []string{"no-such-program", "-v"}}, gate.NotFound, "no-such-program: start no-such-program: program not found"},
		{"script not there", gate.Step{Run: []string{"./test.sh"}}, gate.NotFound, "test.sh"},
		{"not found by the shell", sh("test", "no-such-program"), gate.StepFailed, "exit code 127, usually a command that is not installed"},
		{"killed", sh("test", "kill -9 $$"), gate.Killed, "ended by SIGKILL, perhaps for want of memory"},
		{"folder leads out", out, gate.BadDir, `its folder "../.." is not in the workspace`},
		{"folder is not there", missing, gate.BadDir, `its folder "nowhere" is not there`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.step)
			o := b.run()
			if o.Green || o.Reason != tt.reason || o.Class != work.ClassGate || !strings.Contains(o.Detail, tt.detail) {
				t.Errorf("outcome %+v, want %s with %q", o, tt.reason, tt.detail)
			}
			if len(o.Steps) != 1 || o.Steps[0].Reason != tt.reason {
				t.Errorf("steps %+v", o.Steps)
			}
		})
	}
}

func TestNoCommandIsRed(t *testing.T) {
	for _, steps := range [][]gate.Step{nil, {{Name: "empty"}}} {
		if o := newBench(t, steps...).run(); o.Green || o.Reason != gate.NoCommand || o.Class != work.ClassGate || o.Detail == "" {
			t.Errorf("outcome %+v of %v", o, steps)
		}
	}
}

func TestFolderOfAStepIsNoLinkOut(t *testing.T) {
	b := newBench(t, gate.Step{Name: "test", Run: []string{"touch", "ran"}, Dir: "web"})
	outside := t.TempDir()
	must(t, os.Symlink(outside, filepath.Join(b.call.Workspace, "web")))
	if o := b.run(); o.Reason != gate.BadDir || !strings.Contains(o.Detail, "leads out") {
		t.Errorf("outcome %+v", o)
	}
	if _, err := os.Lstat(filepath.Join(outside, "ran")); err == nil {
		t.Error("it ran outside of the workspace")
	}
	must(t, os.Remove(filepath.Join(b.call.Workspace, "web")))
	must(t, os.Mkdir(filepath.Join(b.call.Workspace, "web"), 0o755))
	if o := b.run(); !o.Green || !b.has("web/ran") {
		t.Errorf("outcome %+v in a folder of the workspace", o)
	}
}

func TestInterrupted(t *testing.T) {
	b := newBench(t, sh("test", "touch started; sleep 60"), sh("lint", "touch ran"))
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for !b.has("started") && ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	o := b.Run(ctx, b.call)
	if o.Green || o.Reason != gate.Interrupted || o.Class != work.ClassInterrupted || len(o.Steps) != 1 || b.has("ran") {
		t.Errorf("outcome %+v", o)
	}
	if o := b.Run(ctx, b.call); o.Reason != gate.Interrupted || len(o.Steps) != 0 {
		t.Errorf("outcome %+v of a run whose context has ended", o)
	}
}

func TestTimeoutOfTheWholeGate(t *testing.T) {
	b := newBench(t, sh("test", "sleep 60"))
	b.call.Gate.Timeout = 100 * time.Millisecond
	if o := b.run(); o.Reason != gate.Timeout || o.Class != work.ClassGate || !strings.Contains(o.Detail, "time limit of the gate") {
		t.Errorf("outcome %+v", o)
	}
}

func TestRetries(t *testing.T) {
	// Each try leaves a file and fails, until there are three.
	flaky := sh("test", "n=$(ls | wc -l); touch try$n; test $n -ge 2 || exit 7")
	tests := []struct {
		name    string
		retries int
		codes   []int
		green   bool
		tries   int
	}{
		{"none", 0, nil, false, 1},
		{"too few", 1, nil, false, 2},
		{"enough", 2, nil, true, 3},
		{"its code", 2, []int{1, 7}, true, 3},
		{"another code", 2, []int{1}, false, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			step := flaky
			step.Retries, step.RetryCodes = tt.retries, tt.codes
			o := newBench(t, step).run()
			if o.Green != tt.green || len(o.Steps) != 1 || o.Steps[0].Tries != tt.tries {
				t.Fatalf("outcome %+v", o)
			}
			if tt.green && (o.Detail != "test passed only when tried 3 times" || o.Steps[0].Log != "01-test.3/log" || o.Steps[0].ExitCode != 0) {
				t.Errorf("outcome %+v", o)
			}
		})
	}
}

func TestTimeoutIsNotRetried(t *testing.T) {
	step := sh("test", "sleep 60")
	step.Timeout, step.Retries = 50*time.Millisecond, 3
	if o := newBench(t, step).run(); o.Reason != gate.Timeout || o.Steps[0].Tries != 1 {
		t.Errorf("outcome %+v", o)
	}
}

// Two steps of one group can only pass when both run at once: each waits for
// the other.
func TestGroupRunsAtOnce(t *testing.T) {
	meet := func(mine, other string) gate.Step {
		s := sh(mine, "touch "+mine+"; while [ ! -e "+other+" ]; do sleep 0.01; done")
		s.Group = "both"
		return s
	}
	after := sh("after", "test -e a && test -e b")
	if o := newBench(t, meet("a", "b"), meet("b", "a"), after).run(); !o.Green || len(o.Steps) != 3 {
		t.Errorf("outcome %+v", o)
	}
}

func TestGroupIsWaitedFor(t *testing.T) {
	bad, good := sh("bad", "touch failed; echo no; exit 1"), sh("good", "while [ ! -e failed ]; do sleep 0.01; done; sleep 0.05; touch finished; echo fine")
	worse := sh("worse", "echo no either; exit 2")
	for _, s := range []*gate.Step{&bad, &good, &worse} {
		s.Group = "all"
	}
	b := newBench(t, good, bad, worse, sh("after", "touch ran"))
	o := b.run()
	if o.Reason != gate.StepFailed || len(o.Steps) != 3 || !strings.HasPrefix(o.Detail, "bad: exit code 1") {
		t.Errorf("outcome %+v", o)
	}
	if !b.has("finished") || b.has("ran") {
		t.Error("the group was not run to its end, or the next step was run")
	}
	if tail, err := gate.Tail(b.call.Dir, 1000); tail != "--- bad\nno\n--- worse\nno either" || err != nil {
		t.Errorf("tail %q, %v", tail, err)
	}
}

func TestEnvironmentOfAStep(t *testing.T) {
	t.Setenv("TOKEN_OF_A_SERVICE", "s3")
	t.Setenv("GITHUB_TOKEN", "secret")
	t.Setenv("UNASKED", "x")
	step := sh("env", `echo "$COLOUR $SIZE $TOKEN_OF_A_SERVICE ${GITHUB_TOKEN-none} ${UNASKED-none} ${ABSENT-none}"`)
	step.Env = []string{"COLOUR=red", "SIZE=a b", "TOKEN_OF_A_SERVICE", "GITHUB_TOKEN", "ABSENT"}
	b := newBench(t, step)
	o := b.run()
	log, err := os.ReadFile(filepath.Join(b.call.Dir, "01-env", "log"))
	if want := "red a b s3 none none none\n"; !o.Green || err != nil || string(log) != want {
		t.Errorf("log %q, %v, want %q", log, err, want)
	}
}

func TestWrapper(t *testing.T) {
	self, err := os.Executable()
	must(t, err)
	b := newBench(t, sh("test", "echo in $WRAPPED"))
	b.Runner = gate.New([]string{self}, basis(), []string{"env", "WRAPPED=box"})
	o := b.run()
	log, err := os.ReadFile(filepath.Join(b.call.Dir, "01-test", "log"))
	if !o.Green || err != nil || string(log) != "in box\n" {
		t.Errorf("outcome %+v, log %q, %v", o, log, err)
	}
}

// A tick that was killed leaves folders, and perhaps processes, that the next
// run of the same execution meets.
func TestRunAgainInTheSameFolder(t *testing.T) {
	b := newBench(t, sh("test", "touch first; test -e second"))
	if o := b.run(); o.Green {
		t.Fatalf("outcome %+v", o)
	}
	must(t, os.WriteFile(filepath.Join(b.call.Workspace, "second"), nil, 0o644))
	if o := b.run(); !o.Green {
		t.Errorf("outcome %+v", o)
	}
}

func TestEndOfADeadTick(t *testing.T) {
	b := newBench(t, sh("test", "touch started; sleep 60"))
	done := make(chan gate.Outcome)
	go func() { done <- b.run() }()
	for !b.has("started") {
		time.Sleep(5 * time.Millisecond)
	}
	must(t, b.End(context.Background(), b.call.Dir))
	if o := <-done; o.Green {
		t.Errorf("outcome %+v of a run that was ended", o)
	}
	if state, _, err := proc.Adopt(filepath.Join(b.call.Dir, "01-test")); state != proc.Finished || err != nil {
		t.Errorf("state %s, %v", state, err)
	}
	must(t, b.End(context.Background(), filepath.Join(b.call.Dir, "no-such")))
}

func TestSupervisorThatIsNotThere(t *testing.T) {
	b := newBench(t, sh("test", "true"))
	b.Runner = gate.New([]string{filepath.Join(t.TempDir(), "backburner")}, basis(), nil)
	o := b.run()
	if o.Green || o.Reason != gate.NotRun || o.Class != work.ClassTransient {
		t.Errorf("outcome %+v", o)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
