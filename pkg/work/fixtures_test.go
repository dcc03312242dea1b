package work_test

import (
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// noon is when everything in these tests happens, unless they say otherwise.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

var limits = work.Limits{Attempts: 2, GateRetries: 2, RepairRounds: 2, EscalateAfter: 3, ReviewRounds: 3, ConflictRounds: 3}

// gated is a policy with both gates that work goes through.
func gated() work.Policy {
	return work.Policy{Gates: map[string]bool{work.GateFast: true, work.GateFull: true}, Limits: limits}
}

// stream is a workstream in a status, as it comes to be there: its branch is
// made, it has a plan once it is planned, and it remembers a phase when the
// status interrupts one.
func stream(status work.Status) *work.Workstream {
	w := &work.Workstream{
		Schema: work.Schema, ID: "login", Kind: work.KindSpec, Repository: "shop", Title: "Fix the login",
		Status: status, CreatedAt: noon, ChangedAt: noon, Branch: "backburner/login",
		Spec: work.Spec{Source: "login.md", Body: "Fix it.", Hash: work.SpecHash("Fix the login", "Fix it.")},
		Head: "c0", Tree: "t0", Base: "c0",
	}
	switch status {
	case work.New, work.Intake, work.Planning:
	default:
		w.Plan, w.Revision = plan(1), 1
		add(w, work.MakePlan, work.TaskCompleted)
	}
	switch status {
	case work.Blocked, work.PausedBudget, work.Failed, work.Closed, work.AwaitingInput:
		w.Phase = work.Building
	}
	if status == work.AwaitingInput {
		t := add(w, work.Implement, work.TaskPending)
		w.Questions = []*work.Question{{ID: "q1", Task: t.ID, Text: "Which one?", AskedAt: noon}}
	}
	return w
}

// plan is a plan that can be worked from, in so many increments.
func plan(increments int) *work.Plan {
	p := &work.Plan{Summary: "Do it.", Files: work.PlanFiles{Modify: []string{"a.go"}}, AcceptanceCriteria: []string{"It works."}}
	if increments > 1 {
		for range increments {
			p.Increments = append(p.Increments, work.Increment{Title: "a step"})
		}
	}
	return p
}

// add gives a workstream a task that has reached a status.
func add(w *work.Workstream, kind work.TaskKind, status work.TaskStatus) *work.Task {
	t := w.AddTask(kind, work.TaskContext{Increment: w.Increment}, noon)
	t.Status = status
	if status == work.TaskRunning {
		t.Executions = []string{w.NextExecution()}
		w.ExecutionSeq++
	}
	return t
}

// built gives a workstream what a builder left: a completed task and new work.
func built(w *work.Workstream) {
	add(w, work.Implement, work.TaskCompleted)
	w.AddCheckpoint(work.Checkpoint{Commit: "c1", Tree: "t1", DiffHash: "d1", NetNew: true})
}

// judged gives a workstream a gate's result, for the tree it is at.
func judged(w *work.Workstream, gate string, green bool) {
	w.AddEvidence(work.Evidence{Gate: gate, Green: green, Commit: w.Head, Tree: w.Tree, Execution: "login.0001", Detail: "exit 1"})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
