//go:build linux && (amd64 || arm64)

package cmd

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The sweep interferes with a tick at each of its changes to files, those of
// git, supervisors, agents and gates included, and demands that the next ticks
// finish the job as if nothing had been. Without a flag it takes a sample. Every
// point, which takes two cores two hours, or every tenth:
//
//	go test ./cmd -run TestSweep -sweep=all -timeout 6h
//	go test ./cmd -run TestSweep -sweep=10 -timeout 1h
//
// and one point again: -sweep=all -run 'TestSweep/points/build/tree/0123$' -v
var sweepFlag = flag.String("sweep", "sample", "`all`, or the distance between the points of TestSweep")

// sample is how many points of a scene are taken without the flag.
var sample = map[string]map[string]int{
	"build":  {"tree": 5, "tick": 4, "fault": 4},
	"merge":  {"tree": 2, "tick": 2, "fault": 2},
	"resume": {"tree": 2, "tick": 1},
}

// mode is one way to interfere, and what is demanded then.
type mode struct {
	name string
	do   interference
	run  func(*worker, scene, trial) error
}

var modes = []mode{
	{"tree", killTree, (*worker).killed},
	{"tick", killTick, (*worker).killed},
	{"fault", failCall, (*worker).failed},
}

func TestSweep(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time; the race detector has nothing to find in it")
	}
	workers := newWorkers(t)
	var tally tally
	t.Run("points", func(t *testing.T) {
		for _, s := range scenes {
			w := <-workers
			counts := w.survey(t, s)
			workers <- w
			for _, m := range modes {
				for _, p := range points(s, m, counts[m.do]) {
					t.Run(fmt.Sprintf("%s/%s/%04d%s", s.name, m.name, p.at, suffix(p)), func(t *testing.T) {
						t.Parallel()
						w := <-workers
						defer func() { workers <- w }()
						tally.note(t, m.name, w, m.run(w, s, p))
					})
				}
			}
		}
	})
	t.Log(tally.String())
}

// points chooses where to interfere, of so many changes.
func points(s scene, m mode, changes []change) []trial {
	var chosen []trial
	every, err := strconv.Atoi(*sweepFlag)
	switch {
	case *sweepFlag == "sample":
		many := sample[s.name][m.name]
		for i := range many {
			chosen = append(chosen, trial{do: m.do, at: 1 + (2*i+1)*len(changes)/(2*many)})
		}
	case *sweepFlag == "all":
		every = 1
		fallthrough
	case err == nil && every > 0:
		for at := 1; at <= len(changes); at += every {
			chosen = append(chosen, trial{do: m.do, at: at})
		}
	}
	switch {
	case m.do != failCall:
		return chosen
	case s.name == "resume":
		return nil // its calls are those of build
	}
	return faults(chosen, changes)
}

// faults says how the calls at these points fail: in a whole sweep in every way
// that they may, else in one.
func faults(at []trial, changes []change) []trial {
	var chosen []trial
	for i, p := range at {
		ways := waysToFail(changes[p.at-1].name)
		if *sweepFlag != "all" {
			ways = ways[i%len(ways):][:1]
		}
		for _, p.errno = range ways {
			chosen = append(chosen, p)
		}
	}
	return chosen
}

func waysToFail(call string) []syscall.Errno {
	switch {
	case call == "openat":
		return []syscall.Errno{syscall.ENOSPC, syscall.EMFILE, syscall.EROFS, syscall.EIO}
	case strings.Contains(call, "sync"), strings.Contains(call, "write"):
		return []syscall.Errno{syscall.ENOSPC, syscall.EIO}
	}
	return []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EROFS}
}

func suffix(p trial) string {
	if p.errno == 0 {
		return ""
	}
	return "-" + unix.ErrnoName(p.errno)
}

// tally counts what came of the points.
type tally struct{ points, missed, failed, second, helped atomic.Int64 }

func (a *tally) note(t *testing.T, mode string, w *worker, err error) {
	a.points.Add(1)
	switch {
	case w.run.hit == "":
		a.missed.Add(1)
	case w.helped:
		a.helped.Add(1)
		t.Logf("needed a person after: %s", w.run.hit)
	case w.ticks > 1:
		a.second.Add(1)
		t.Logf("needed %d ticks after: %s", w.ticks, w.run.hit)
	}
	if err != nil {
		a.failed.Add(1)
		t.Errorf("%s at %s\n%v\n\nthe ticks said:\n%s", mode, w.run.hit, err, w.said())
	}
}

func (a *tally) String() string {
	return fmt.Sprintf("%d points: %d failed, %d needed a second tick, %d a person, %d were not reached",
		a.points.Load(), a.failed.Load(), a.second.Load(), a.helped.Load(), a.missed.Load())
}

// killed demands of a tick that was killed that the next one, or the one after
// that, finishes the job.
func (w *worker) killed(s scene, p trial) error {
	if err := w.play(s, p); err != nil {
		return err
	}
	if p.do == killTree {
		if err := within(w.run.gone, "all that was traced to die"); err != nil {
			return err
		}
	}
	if err := w.harmed(dead); err != nil {
		return err
	}
	if err := w.readable(); err != nil {
		return fmt.Errorf("after the kill: %w", err)
	}
	if err := w.goOn(s); err != nil {
		return err
	}
	if err := within(w.run.gone, "what the killed tick left to end"); err != nil {
		return err
	}
	if err := w.harmed(done); err != nil {
		return err
	}
	if err := w.runOnce(); err != nil {
		return err
	}
	return w.sound(s)
}

func (w *worker) harmed(when int) error {
	if w.harm[when] == nil {
		return nil
	}
	return w.harm[when](w)
}

// goOn ticks until the job is finished, twice at most. Where no tick can, a
// person helps, once.
func (w *worker) goOn(s scene) error {
	err := w.tickOn(s)
	if err == nil || s.help == nil || w.run.hit == "" || w.run.do == failCall {
		return err
	}
	w.helped = true
	if help := s.help(w); help != nil {
		return errors.Join(err, help)
	}
	if err := w.backburner(s.again, "greet"); err != nil {
		return err
	}
	return w.tickOn(s)
}

func (w *worker) tickOn(s scene) (err error) {
	for w.ticks = 1; w.ticks <= 2; w.ticks++ {
		if err := w.backburner("tick"); err != nil {
			return err
		}
		if err = s.unfinished(w); err == nil {
			return nil
		}
	}
	return err
}

// failed demands of a tick one of whose calls failed that it finished all the
// same, or said why not; and that the next one does once that was put right.
func (w *worker) failed(s scene, p trial) error {
	if err := w.play(s, p); err != nil {
		return err
	}
	if err := within(w.run.gone, "all of the traced tick to end"); err != nil {
		return err
	}
	if err := w.readable(); err != nil {
		return fmt.Errorf("after the fault: %w", err)
	}
	unfinished := s.unfinished(w)
	if unfinished != nil && !w.named(p.errno) {
		return fmt.Errorf("the tick (exit code %d) does not say that there was %q, and yet: %w", w.run.exitCode(), p.errno, unfinished)
	}
	if unfinished != nil {
		_ = w.backburner(s.again, "greet") // refused when there is nothing to do again
	}
	if err := w.goOn(s); err != nil {
		return err
	}
	return w.sound(s)
}
