package work_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// A life is a workstream on its way through many ticks, with agents, gates,
// people and a base that do as chance has it. It goes through the rows of a
// pass as package pass does, in the order of its table.
type life struct {
	t      *testing.T
	rnd    *rand.Rand
	w      *work.Workstream
	policy work.Policy
	now    time.Time
	log    []func() string
	steps  int // things that happened

	trees  int       // made so far
	parked time.Time // until when no agent can be had
	calm   bool      // nobody asks for anything, no agent is cut or parked
	habits map[string]int
	cut    bool // this tick was
}

const (
	tickBatches = 200 // of one tick; more is a circle
	triageSteps = 100
)

// tick is one pass over the workstream.
func (l *life) tick() {
	l.cut = false
	l.w.CountStuck(l.policy.Limits.EscalateAfter, l.now)
	for first, n := true, 0; ; first, n = false, n+1 {
		if n > tickBatches {
			l.fail("the tick does not come to rest")
		}
		before := l.steps
		l.settle()
		l.triage(first)
		l.recover()
		l.refresh()
		if l.dispatch(); l.cut {
			break // the tick was killed
		}
		l.classify()
		l.land()
		if l.steps == before || !l.arises() {
			break
		}
	}
}

func (l *life) next() work.Step {
	s := work.Next(l.w, l.policy, l.now)
	if s.Why == "" {
		l.fail("Next does not say why")
	}
	if s.Act == work.RunAgent && s.Task != nil && (s.Task.Status != work.TaskPending || s.Task.Irrelevant != "") {
		l.fail("Next dispatches a task that is not pending: %+v", s.Task)
	}
	if s.Act == work.RunAgent && !slices.Contains(tasksOf[l.w.Status], s.Kind) {
		l.fail("Next dispatches %s while %s", s.Kind, l.w.Status)
	}
	if s.Act == work.RunAgent && (s.Kind == work.Reconcile) != (l.w.Conflict != nil) {
		l.fail("Next dispatches %s; conflict: %v", s.Kind, l.w.Conflict)
	}
	return s
}

// tasksOf are the kinds of task that a status can want.
var tasksOf = map[work.Status][]work.TaskKind{
	work.Intake: {work.AnalyzeIssue}, work.Planning: {work.MakePlan},
	work.Building: {work.Implement, work.Assess, work.AddressReview}, work.QA: {work.Verify}, work.Blocked: {work.Reconcile},
}

// arises is the pass's rule for more to do in the same tick.
func (l *life) arises() bool {
	s := l.next()
	return s.Act != work.Nothing && (l.w.Status != work.Blocked || s.Act == work.RunAgent)
}

func (l *life) triage(first bool) {
	for n := 0; ; n++ {
		if n > triageSteps {
			l.fail("triage does not come to rest")
		}
		if l.w.Status == work.New && l.w.Held == nil {
			l.ok("admit", l.w.Move(work.Intake, work.Reason{Code: "admitted"}, l.now))
		}
		s := l.next()
		if l.w.Status == work.Blocked && !first && s.Act == work.MoveOn {
			return
		}
		if s.Act == work.RunAgent && l.w.Status.Active() && !l.calm && l.one(60) {
			l.ok("pause", l.w.Move(work.PausedBudget, work.Reason{Code: "budget:day"}, l.now))
			return
		}
		if s.Act != work.MoveOn && s.Act != work.NextPiece && (s.Act != work.RunAgent || s.Task != nil) {
			return
		}
		blocked := l.w.Status == work.Blocked
		l.ok("advance: "+s.Why, l.w.Advance(s, l.policy.Limits, l.now))
		first = first && !blocked // it is recovered once in a tick
	}
}

// settle takes over what a tick that was killed left running.
func (l *life) settle() {
	if t := l.w.Running(); t != nil {
		l.end(t)
	}
	l.w.GateRun = ""
}

func (l *life) recover() {
	if l.w.Running() != nil || !l.w.Status.Open() {
		return
	}
	for _, t := range l.w.Tasks {
		t.RecoveryNeeded = false
	}
}

// refresh brings the branch up to its base, as far as that goes.
func (l *life) refresh() {
	if l.w.Status == work.ReadyToMerge && l.w.Held == nil && !l.calm && l.one(10) {
		l.conflict()
		return
	}
	switch l.next().Act {
	case work.RunAgent, work.RunGate, work.Publish:
	default:
		return
	}
	if l.w.Head == "" {
		l.w.Head, l.w.Tree, l.w.Base = "base", "base", "base"
	}
	if l.w.Conflict != nil || !l.w.Status.Active() {
		return
	}
	switch {
	case l.chance("conflict", 30):
		l.conflict()
	case l.calm:
	case l.one(20):
		l.w.AddCheckpoint(l.leave(true))
		l.say("the base is merged")
	case l.one(60):
		for _, t := range l.w.Tasks {
			if t.Status == work.TaskPending {
				t.Class = work.ClassPreDispatch
				l.ok("refuse", t.Move(work.TaskFailed, "workspace", l.now))
			}
		}
		l.ok("refuse", l.w.Move(work.Blocked, work.Reason{Code: "workspace:blocked_dirty", Detail: "dirty"}, l.now))
	}
}

func (l *life) conflict() {
	l.w.Conflict = &work.Conflict{Ours: l.w.Head, Base: "moved", Files: []string{"a.go"}, DetectedAt: l.now}
	l.ok("conflict", l.w.Move(work.Blocked, work.Reason{Code: "mainline_conflict", Detail: "conflicts"}, l.now))
}

func (l *life) dispatch() {
	s := l.next()
	switch {
	case s.Act == work.RunGate:
		l.gate(s.Gate)
	case s.Act == work.RunAgent && s.Task != nil && l.now.Before(l.parked):
		s.Task.Held = &work.TaskHold{Reason: "no_agent", Detail: "parked", NextEligibleAt: l.parked}
		l.say("no agent")
	case s.Act == work.RunAgent && s.Task != nil:
		l.agent(s.Task)
	}
}

func (l *life) gate(name string) {
	l.ok("begin", l.w.Begin(nil, l.now))
	id := l.w.GateRun
	if l.person(); !l.calm && l.one(30) {
		l.cut = true
		return
	}
	if l.w.Status.Active() {
		green := l.chance("green "+name, 2)
		l.w.AddEvidence(work.Evidence{Gate: name, Green: green, Commit: l.w.Head, Tree: l.w.Tree, Execution: id, At: l.now})
		l.say("%s gate: %v", name, green)
	}
	l.w.GateRun = ""
}

func (l *life) agent(t *work.Task) {
	l.ok("begin", l.w.Begin(t, l.now))
	if n := len(running(l.w)); n != 1 {
		l.fail("%d tasks run", n)
	}
	if l.person(); !l.calm && l.one(30) {
		l.cut = true
		return
	}
	l.end(t)
	l.cut = l.cut || !l.calm && l.one(30)
}

// end takes what the agent left.
func (l *life) end(t *work.Task) {
	o := l.outcome(t.Kind)
	l.say("%s %s: class %q, result %q", t.ID, t.Kind, o.Class, o.Result.Status)
	l.ok("finish", l.w.Finish(t, o, l.policy, l.now))
	if t.Status == work.TaskRunning {
		l.fail("%s still runs after its end", t.ID)
	}
	switch {
	case o.Class == work.ClassInterrupted && l.w.Held == nil:
		l.cut = true // only the end of the tick, or a person, cuts an agent
	case o.Class == work.ClassQuota || o.Class == work.ClassAuth:
		l.parked = l.now.Add(time.Hour)
	}
}

func (l *life) classify() {
	for _, t := range l.w.Tasks {
		if t.Status == work.TaskFailed && t.Unread {
			_, err := l.w.Classify(t, l.policy.Limits, l.now)
			l.ok("classify", err)
			if t.Status == work.TaskFailed && t.Unread {
				l.fail("%s is still to be classified", t.ID)
			}
		}
	}
}

func (l *life) land() {
	switch l.next().Act {
	case work.Publish:
		if l.chance("protected", 8) {
			l.ok("publish", l.w.Move(work.Blocked, work.Reason{Code: "checkpoint_invalid", Detail: "protected"}, l.now))
			return
		}
		l.w.Published = l.w.Head
		l.say("published")
	case work.Land:
		l.w.Intents = nil
		if !l.one(4) {
			l.ok("land", l.w.Move(work.Merged, work.Reason{Code: "landed"}, l.now))
		}
	}
}

func (l *life) one(in int) bool { return l.rnd.Intn(in) == 0 }

// chance is one in so many at first; when all is calm, a habit: always or never.
func (l *life) chance(what string, in int) bool {
	if l.calm {
		in = min(in, 4)
	}
	return l.pick(what, in) == 0
}

func (l *life) pick(what string, n int) int {
	if !l.calm {
		return l.rnd.Intn(n)
	}
	if _, known := l.habits[what]; !known {
		l.habits[what] = l.rnd.Intn(n)
	}
	return l.habits[what]
}

func (l *life) state() []byte {
	data, err := json.Marshal(l.w)
	if err != nil {
		l.fail("%v", err)
	}
	return data
}

func (l *life) say(format string, args ...any) {
	l.steps++
	status := l.w.Status
	l.log = append(l.log, func() string { return fmt.Sprintf("%-17s %s", status, fmt.Sprintf(format, args...)) })
}

// ok notes a step and checks what must hold after each.
func (l *life) ok(what string, err error) {
	l.say("%s (%s)", what, l.w.Reason)
	if err != nil {
		l.fail("%s: %v", what, err)
	}
	if len(l.w.Tasks) != l.w.TaskSeq {
		l.fail("%d tasks were made, %d are there", l.w.TaskSeq, len(l.w.Tasks))
	}
	if len(running(l.w)) > 1 {
		l.fail("two tasks run")
	}
	waits := make(map[work.TaskKind]bool)
	for _, t := range l.w.Tasks {
		if t.Status == work.TaskPending && waits[t.Kind] {
			l.fail("two tasks wait to %s", t.Kind)
		}
		waits[t.Kind] = waits[t.Kind] || t.Status == work.TaskPending
	}
	if l.w.Status.Interrupts() == (l.w.Phase == "") || l.w.Phase.Interrupts() {
		l.fail("%s with phase %q", l.w.Status, l.w.Phase)
	}
	if l.w.Status == work.AwaitingInput && len(l.w.OpenQuestions()) == 0 {
		l.fail("waits for an answer to nothing")
	}
}

func (l *life) fail(format string, args ...any) {
	l.t.Helper()
	var story []string
	for _, line := range l.log[max(0, len(l.log)-60):] {
		story = append(story, line())
	}
	l.t.Fatalf("%s\n\nhow it got there:\n%s\n\n%s", fmt.Sprintf(format, args...), strings.Join(story, "\n"), l.state())
}

func running(w *work.Workstream) []*work.Task {
	var all []*work.Task
	for _, t := range w.Tasks {
		if t.Status == work.TaskRunning {
			all = append(all, t)
		}
	}
	return all
}
