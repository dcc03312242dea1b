//go:build linux && (amd64 || arm64)

package cmd

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The soak lets a repository live through many ticks, with agents and gates
// that do anything, people who do anything, and ticks that are killed at any
// moment, and looks after each tick whether what is promised holds. In the end
// it leaves the ticks alone, and all work must come to rest. Without a flag it
// is short. The whole, which takes two cores ten minutes:
//
//	go test ./cmd -run TestSoak -soak=200 -soak.seeds=5 -soak.seed=1 -timeout 3h
//
// The name of a test is its seed. The same seed brings the same agents, people
// and interference, but what a kill hits depends on the machine.
var (
	soakTicks = flag.Int("soak", 8, "`ticks` of TestSoak")
	soakSeeds = flag.Int("soak.seeds", 2, "`number` of soaks")
	soakSeed  = flag.Uint64("soak.seed", 1, "`seed` of the first; the others follow")
)

func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time; the race detector has nothing to find in it")
	}
	bin := program(t)
	for n := range *soakSeeds {
		seed := *soakSeed + uint64(n)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := newSoak(t, bin, seed)
			for range *soakTicks {
				s.live()
				s.must(t, s.sound())
			}
			s.must(t, s.comeToRest())
			t.Log(s.story())
		})
	}
}

// soak is a small world: a repository with its origin, backburner, and what is
// known of what happened.
type soak struct {
	bin    string
	dir    string // with the books of agents and gates; the repository is dir/shop
	seed   uint64
	dice   *rand.Rand
	env    []string
	output *os.File

	began   int           // ticks so far
	pace    time.Duration // how long an undisturbed tick takes of late
	whole   bool          // the last tick came to its end
	kills   int
	journal []string        // what was done
	before  sight           // of the user's repository, before the tick
	touched map[string]bool // branches that a person moved since
}

func newSoak(t *testing.T, bin string, seed uint64) *soak {
	dir, err := os.MkdirTemp("/dev/shm", "backburner-soak-") // a power cut is not simulated, so no disk is needed
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() {
		if !t.Failed() {
			_ = os.RemoveAll(dir)
		}
	})
	output, err := os.OpenFile(filepath.Join(dir, "output"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = output.Close() })
	s := &soak{bin: bin, dir: dir, seed: seed, dice: rand.New(rand.NewPCG(seed, 1)), output: output, pace: time.Second, touched: map[string]bool{}}
	s.env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "GIT_CONFIG_NOSYSTEM=1", "GORACE=atexit_sleep_ms=0")
	if err := s.create(); err != nil {
		t.Fatal(err)
	}
	return s
}

// must ends the test with all that is known when a promise was not kept.
func (s *soak) must(t *testing.T, err error) {
	if err == nil {
		return
	}
	t.Helper()
	said, _ := os.ReadFile(s.output.Name())
	last := s.journal[max(0, len(s.journal)-40):]
	t.Fatalf("seed %d, tick %d, kept in %s:\n%v\n\nwhat happened last:\n%s\n\nwhat was said last:\n%s",
		s.seed, s.began, s.dir, err, strings.Join(last, "\n"), said[max(0, len(said)-4000):])
}

func (s *soak) note(format string, args ...any) {
	s.journal = append(s.journal, fmt.Sprintf("%4d ", s.began)+fmt.Sprintf(format, args...))
}

// story is how much happened.
func (s *soak) story() string {
	executions, _ := filepath.Glob(filepath.Join(s.state(), "executions", "*"))
	ledger, _ := os.ReadFile(filepath.Join(s.dir, "ledger"))
	pushes, _ := os.ReadFile(filepath.Join(s.dir, "pushes"))
	archived, _ := filepath.Glob(filepath.Join(s.state(), "archive", "*", "*.json"))
	return fmt.Sprintf("%d ticks, %d killed, %d runs, %d writings and commits kept, %d pushes, %d workstreams archived",
		s.began, s.kills, len(executions), strings.Count(string(ledger), "\n"), strings.Count(string(pushes), "\n"), len(archived))
}

// live lets people do what they do, and makes a tick that may be interfered with.
func (s *soak) live() {
	for range s.dice.IntN(6) {
		s.request()
	}
	if s.dice.IntN(3) == 0 {
		s.person()
	}
	s.before, s.touched = s.look(), map[string]bool{}
	after := time.Duration(s.dice.Int64N(int64(s.pace)*5/4 + 1))
	switch n := s.dice.IntN(20); {
	case n < 10:
		s.tick(nil, 0)
	case n < 14:
		s.tick(s.killTree, after)
	case n < 17:
		s.tick(s.killTick, after)
	case n < 18:
		s.tick(s.terminate, after)
	default:
		s.tick(s.meanwhile, after)
	}
}

// comeToRest leaves the ticks alone: what is left must come to wait for a
// person; and when that person has answered all, to an end.
func (s *soak) comeToRest() error {
	s.cleanUp()
	s.ageLocks()
	if err := os.WriteFile(filepath.Join(s.dir, "calm"), nil, 0o600); err != nil {
		return err
	}
	for _, help := range []func(){func() {}, s.helpAll, s.helpAll} {
		help()
		if err := s.tickUntilQuiet(); err != nil {
			return err
		}
	}
	return s.explained()
}

// ageLocks makes the locks that killed agents left in workspaces old enough to be
// taken for what they are; a tick that meets a young one waits without a word.
func (s *soak) ageLocks() {
	old := time.Now().Add(-time.Minute)
	for _, pattern := range []string{"*.lock", "refs/*/*.lock", "refs/*/*/*.lock"} {
		locks, _ := filepath.Glob(filepath.Join(s.dir, "shop", ".backburner", "workspaces", "*", ".git", pattern))
		for _, lock := range locks {
			_ = os.Chtimes(lock, old, old)
		}
	}
}

// fewTicks is how many ticks everything needs at most to come to rest.
const fewTicks = 12

func (s *soak) tickUntilQuiet() error {
	for range fewTicks {
		s.before, s.touched = s.look(), map[string]bool{}
		said := s.tick(nil, 0)
		if err := s.sound(); err != nil {
			return err
		}
		if said == "" {
			return nil
		}
	}
	return errors.New("it does not come to rest")
}
