package work_test

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// outcome is how an agent's run ends: by chance, or by the role's habit.
func (l *life) outcome(kind work.TaskKind) work.Outcome {
	o := work.Outcome{Execution: "e", Detail: "said so", Result: work.Result{Status: work.ResultDone, Summary: "done"}}
	change := !l.chance("idle "+string(kind), 3)
	if kind.Writes() {
		c := l.leave(change)
		o.Checkpoint = &c
	}
	switch kind {
	case work.MakePlan:
		o.Result.Plan = plan(1 + l.rnd.Intn(3))
	case work.Assess:
		o.Result.Assessment = &work.Assessment{Continue: !l.chance("stop", 5), Reason: "so"}
	}
	switch n := l.pick(string(kind), 16); {
	case n < 3: // fails, and leaves nothing that counts
		o.Class, o.Checkpoint = l.class(), nil
	case n < 4:
		o.Class = l.class()
	case n < 5:
		o.Result = work.Result{Status: work.ResultNeedsInput, Questions: []string{"Which?", "When?"}}
	case n < 6:
		o.Result = work.Result{Status: work.ResultBlocked, Summary: "cannot"}
	case n < 7:
		o.Result = work.Result{Status: "nonsense"}
	case n < 8:
		o.Problem, o.Checkpoint = "the branch is another", nil
	case n < 9:
		o.Result.Status = work.ResultNoChange
	case n < 10:
		o.Result.Plan = &work.Plan{Questions: []string{""}}
	}
	return o
}

func (l *life) class() work.Class {
	c := work.Classes[l.pick("class", len(work.Classes))]
	if l.calm && (c == work.ClassInterrupted || c == work.ClassQuota || c == work.ClassAuth) {
		return work.ClassOrdinary // these cost nothing, and so may go on for ever
	}
	return c
}

// leave is a checkpoint: of new work, or of nothing new.
func (l *life) leave(change bool) work.Checkpoint {
	if !change {
		return work.Checkpoint{Commit: l.w.Head, Tree: l.w.Tree, DiffHash: "d" + l.w.Tree}
	}
	l.trees++
	tree := fmt.Sprintf("t%d", l.trees)
	return work.Checkpoint{Commit: "c" + tree, Tree: tree, DiffHash: "d" + tree, NetNew: true}
}

func newLife(t *testing.T, seed int64) *life {
	rnd := rand.New(rand.NewSource(seed))
	flip := func() bool { return rnd.Intn(2) == 0 }
	return &life{
		t: t, rnd: rnd, w: stream(work.New), now: noon, habits: make(map[string]int),
		policy: work.Policy{
			ApprovePlans: flip(), Discovery: []string{"", "off", "auto", "required"}[rnd.Intn(4)], Assess: flip(),
			Gates: map[string]bool{work.GateFast: flip(), work.GateFull: flip()},
			Limits: work.Limits{Attempts: 1 + rnd.Intn(3), GateRetries: rnd.Intn(3), RepairRounds: rnd.Intn(3),
				EscalateAfter: 3, ReviewRounds: 1, ConflictRounds: 1 + rnd.Intn(3)},
		},
	}
}

// TestLives lets many workstreams live through what agents, gates, people and
// the base may do to them. Nothing they meet may be illegal, each tick comes to
// rest, and so does the workstream when nobody asks for anything any more.
func TestLives(t *testing.T) {
	const seeds = 1000
	ends := make(map[work.Status]int)
	for seed := range int64(seeds) {
		l := newLife(t, seed)
		l.say("seed %d", seed)
		for range 25 {
			l.person()
			l.tick()
			l.now = l.now.Add(2 * time.Hour)
		}
		l.rest()
		ends[l.w.Status]++
	}
	for _, s := range []work.Status{work.AwaitingInput, work.ReadyToMerge, work.Merged, work.Blocked, work.Failed} {
		if ends[s] == 0 {
			t.Errorf("no life ended as %s: the test does not reach it", s)
		}
	}
}

// wanted is what a person can do about a workstream that rests.
var wanted = map[work.Status]work.Verb{
	work.AwaitingApproval: work.VerbApprove, work.AwaitingInput: work.VerbAnswer, work.Blocked: work.VerbRetry,
	work.PausedBudget: work.VerbResume, work.Failed: work.VerbRetry, work.Closed: work.VerbRetry,
}

// rest has people do what they are told to, and then lets the workstream be,
// until it rests for good.
func (l *life) rest() {
	l.calm = true
	for _, t := range l.w.Tasks {
		if t.Held != nil && t.Held.NextEligibleAt.IsZero() {
			t.Held = nil // its cause is gone
		}
	}
	for range 6 {
		if l.w.Held != nil {
			l.ask(work.VerbResume)
		}
		l.ask(wanted[l.w.Status])
		l.tick()
		l.now = l.now.Add(2 * time.Hour)
	}
	var last int
	for n := range 60 {
		before := l.steps
		l.tick()
		l.now = l.now.Add(2 * time.Hour)
		if l.steps > before {
			last = n
		}
	}
	if last > 40 {
		l.fail("it does not come to rest: %d ticks after anybody asked for anything it still goes on", last)
	}
	s := l.next()
	if s.Act != work.Nothing {
		l.fail("it rests, but could go on with %s: %s", s.Act, s.Why)
	}
	for _, t := range l.w.Tasks {
		if t.Held != nil && t.Held.Reason == "mcp" {
			return // it waits for a server
		}
	}
	if l.w.Status != work.Merged && !strings.Contains(s.Why, "backburner ") {
		l.fail("it rests, and nobody is told what to type: %s", s.Why)
	}
}

// person asks for something, or for nothing.
func (l *life) person() {
	if l.calm || !l.one(4) {
		return
	}
	l.ask(verbs[l.rnd.Intn(len(verbs))])
}

func (l *life) ask(verb work.Verb) {
	r := &work.Request{ID: fmt.Sprintf("r%d", l.rnd.Int63()), Verb: verb, Workstream: l.w.ID, By: "kim", At: l.now,
		Title: l.w.Title, Body: fmt.Sprintf("text %d", l.rnd.Intn(3)), Text: []string{"", "words"}[l.rnd.Intn(2)]}
	a, err := l.w.Apply(r, l.now)
	l.ok(string(verb), err)
	l.say("%s: %s %s %s", verb, a.Decision, a.Reason, a.Detail)
	if a.Decision == work.Applied && l.one(8) {
		after := l.state()
		if _, err := l.w.Apply(r, l.now); err != nil || !bytes.Equal(after, l.state()) {
			l.fail("applying %s twice is not applying it once: %v", verb, err)
		}
	}
}

var verbs = []work.Verb{work.VerbAnswer, work.VerbApprove, work.VerbReject, work.VerbRetry, work.VerbRetry, work.VerbHold, work.VerbResume,
	work.VerbResume, work.VerbCancel, work.VerbPrioritize, work.VerbSkip, work.VerbEdit, work.VerbMerge, work.VerbAnswer, work.VerbApprove}
