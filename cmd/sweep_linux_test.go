//go:build linux && (amd64 || arm64)

package cmd

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// The sweep interferes with a tick at each of its changes to files, those of
// git, supervisors, agents and gates included, and demands that the next ticks
// finish the job as if nothing had been. Without a flag it takes a sample. The
// whole, the whole with what is provably the same (see points), or every tenth:
//
//	go test ./cmd -run TestSweep -sweep=all -timeout 3h
//	go test ./cmd -run TestSweep -sweep=every -timeout 9h
//	go test ./cmd -run TestSweep -sweep=10 -timeout 1h
//
// and one point again: -sweep=all -run 'TestSweep/build/tree/0123$' -v
var sweepFlag = flag.String("sweep", "sample", "`all`, every, or the distance between the points of TestSweep")

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
	{"child", failChild, (*worker).failed},
}

func TestSweep(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time; the race detector has nothing to find in it")
	}
	sweep := sweep{workers: newWorkers(t), seen: make(sights)}
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) { sweep.scene(t, s) })
	}
	t.Log(sweep.tally.String())
}

// sweep is what the scenes of one run share.
type sweep struct {
	workers chan *worker
	seen    sights
	tally   tally
}

func (a *sweep) scene(t *testing.T, s scene) {
	w := <-a.workers
	changes := w.survey(t, s)
	a.workers <- w
	for _, m := range modes {
		if s.sample[m.name] == 0 {
			continue
		}
		chosen := thin(a.seen.points(s, m.do, changes), s.sample[m.name])
		t.Logf("%s: %d points", m.name, len(chosen))
		for _, p := range chosen {
			t.Run(fmt.Sprintf("%s/%04d%s", m.name, p.at, suffix(p)), func(t *testing.T) {
				t.Parallel()
				w := <-a.workers
				defer func() { a.workers <- w }()
				a.tally.note(t, m.name, w, m.run(w, s, p))
			})
		}
	}
}

// thin takes as many points as the flag wants; sample is how many without it.
func thin(all []trial, sample int) []trial {
	every, err := strconv.Atoi(*sweepFlag)
	var chosen []trial
	switch {
	case *sweepFlag == "all", *sweepFlag == "every":
		return all
	case err == nil && every > 0:
		for i := 0; i < len(all); i += every {
			chosen = append(chosen, all[i])
		}
	default:
		for i := range min(sample, len(all)) {
			chosen = append(chosen, all[(2*i+1)*len(all)/(2*sample)])
		}
	}
	return chosen
}

func suffix(p trial) string {
	if p.errno == 0 {
		return ""
	}
	return "-" + unix.ErrnoName(p.errno)
}

// tally counts what came of the points.
type tally struct{ points, missed, failed, second, helped, silent atomic.Int64 }

func (a *tally) note(t *testing.T, mode string, w *worker, err error) {
	a.points.Add(1)
	switch {
	case w.run.hit == "":
		a.missed.Add(1)
	case w.silent:
		a.silent.Add(1)
		t.Logf("finished without a word of: %s", w.run.hit)
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
	return fmt.Sprintf("%d points: %d failed, %d needed a second tick, %d a person, %d finished without a word, %d were not reached",
		a.points.Load(), a.failed.Load(), a.second.Load(), a.helped.Load(), a.silent.Load(), a.missed.Load())
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
	if err := w.runOnce(s.goal); err != nil {
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
		if err = w.unfinished(s.goal); err == nil {
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
	if err := w.harmed(dead); err != nil {
		return err
	}
	if err := w.readable(); err != nil {
		return fmt.Errorf("after the fault: %w", err)
	}
	unfinished, told := w.unfinished(s.goal), w.told(p.errno)
	w.silent = told != nil
	if unfinished != nil {
		if told != nil {
			return fmt.Errorf("%w, and yet: %w", told, unfinished)
		}
		_ = w.backburner(s.again, "greet") // refused when there is nothing to do again
	}
	if err := w.goOn(s); err != nil {
		return err
	}
	return w.sound(s)
}
