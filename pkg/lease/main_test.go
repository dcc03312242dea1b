package lease

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
)

// childEnv makes the test binary a process that wants the lease.
const childEnv = "LEASE_TEST_CHILD"

// order is what such a process is told in childEnv.
type order struct {
	Dir    string
	TickID string
	Host   string
	Boot   string // other than the machine's: a holder of another boot
	Renew  time.Duration
	Churn  bool // acquire and release until killed
	Gate   bool // wait until the pipe after stderr ends
}

// answer is what it prints, one line per step.
type answer struct {
	Token int64
	How   string // of the take-over, when there was one
	Held  bool
	Lost  bool
	Error string
}

func init() {
	if os.Getenv(childEnv) != "" {
		runtime.LockOSThread() // strace counts system calls per thread
	}
}

func TestMain(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		var o order
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			panic(err)
		}
		runChild(o)
		return
	}
	os.Exit(m.Run())
}

func runChild(o order) {
	options := Options{TickID: o.TickID, Host: o.Host, Renew: o.Renew, Identity: proc.Self()}
	if o.Boot != "" {
		options.Identity.BootID = o.Boot
	}
	ctx := context.Background()
	if o.Gate {
		tell(answer{}) // at the gate
		_, _ = io.Copy(io.Discard, os.NewFile(3, "gate"))
	}
	if o.Churn {
		tell(answer{}) // started
		for {
			if l, err := Acquire(ctx, o.Dir, options); err == nil {
				_ = l.Release()
			}
		}
	}
	l, err := Acquire(ctx, o.Dir, options)
	if err != nil {
		tell(answerOf(nil, err))
		return
	}
	tell(answerOf(l, nil))
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch in.Text() {
		case "check":
			tell(answerOf(l, l.Check()))
		case "context":
			<-l.Context().Done()
			tell(answerOf(l, context.Cause(l.Context())))
		case "release":
			tell(answerOf(l, l.Release()))
		}
	}
}

func answerOf(l *Lease, err error) answer {
	var a answer
	if l != nil {
		a.Token = l.Holder().Token
		if l.TookOver() != nil {
			a.How = l.TookOver().How
		}
	}
	if err != nil {
		var held *HeldError
		a.Held, a.Lost, a.Error = errors.As(err, &held), errors.Is(err, ErrLost), err.Error()
	}
	return a
}

func tell(a answer) {
	if err := json.NewEncoder(os.Stdout).Encode(a); err != nil {
		os.Exit(1)
	}
}

// process is a test binary that wants, or has, the lease.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *json.Decoder
	done bool
}

// start starts one; the words of wrapper come before the program.
func start(t *testing.T, o order, wrapper ...string) *process {
	t.Helper()
	return startAt(t, nil, o, wrapper...)
}

// startAll starts n and lets them begin in the same instant.
func startAll(t *testing.T, n int, dir string) []*process {
	t.Helper()
	gate, open, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	defer open.Close()
	var all []*process
	for i := range n {
		all = append(all, startAt(t, gate, order{Dir: dir, TickID: fmt.Sprint("t", i), Gate: true}))
	}
	for i, p := range all {
		if _, ok := p.answer(); !ok {
			t.Fatalf("process %d did not come to the gate", i)
		}
	}
	return all
}

func startAt(t *testing.T, gate *os.File, o order, wrapper ...string) *process {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := append(slices.Clone(wrapper), self)
	p := &process{t: t, cmd: exec.Command(args[0], args[1:]...)}
	p.cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	p.cmd.Stderr = os.Stderr
	if gate != nil {
		p.cmd.ExtraFiles = []*os.File{gate}
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = json.NewDecoder(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return p
}

// kill ends the process as a crash does, and waits for that.
func (p *process) kill() {
	if !p.done {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
	p.done = true
}

// answer reads the next line of the process; ok is false when it ended first.
func (p *process) answer() (a answer, ok bool) {
	return a, p.out.Decode(&a) == nil
}

// ask makes the process do one step and tell what came of it.
func (p *process) ask(step string) answer {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.in, step); err != nil {
		p.t.Fatal(err)
	}
	a, ok := p.answer()
	if !ok {
		p.t.Fatalf("the process ended when asked to %s", step)
	}
	return a
}

// holding starts a process and fails the test unless it gets the lease.
func holding(t *testing.T, o order) (*process, answer) {
	t.Helper()
	p := start(t, o)
	a, ok := p.answer()
	if !ok || a.Error != "" {
		t.Fatalf("the process did not get the lease: %+v", a)
	}
	return p, a
}

// waitState waits until the process is in a state of /proc: T stopped, Z dead
// and not waited for.
func (p *process) waitState(state string) {
	p.t.Helper()
	for {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
		if err != nil {
			p.t.Fatal(err)
		}
		if _, after, _ := strings.Cut(string(stat), ") "); strings.HasPrefix(after, state) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
