package work_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

var taskStatuses = []work.TaskStatus{work.TaskPending, work.TaskRunning, work.TaskCompleted, work.TaskFailed, work.TaskCancelled}

// taskArrows are the legal changes of a task's status, written down once more.
var taskArrows = map[work.TaskStatus][]work.TaskStatus{
	work.TaskPending:   {work.TaskRunning, work.TaskFailed, work.TaskCancelled},
	work.TaskRunning:   {work.TaskCompleted, work.TaskFailed, work.TaskPending, work.TaskCancelled},
	work.TaskFailed:    {work.TaskPending},
	work.TaskCompleted: {},
	work.TaskCancelled: {},
}

func TestEveryChangeOfATask(t *testing.T) {
	printed := make(map[[2]string]bool)
	for _, row := range commentRows(t, "[Task.Move]") {
		printed[[2]string{row[0], row[2]}] = true
	}
	later := noon.Add(time.Hour)
	for _, from := range taskStatuses {
		for _, to := range append(slices.Clone(taskStatuses), "nonsense") {
			task := &work.Task{ID: "t1", Status: from, Reason: "before", ChangedAt: noon}
			err := task.Move(to, "why", later)
			legal := slices.Contains(taskArrows[from], to)
			if printed[[2]string{string(from), string(to)}] != legal {
				t.Errorf("%s to %s: the package comment says %v", from, to, !legal)
			}
			if legal {
				if err != nil || task.Status != to || task.Reason != "why" || !task.ChangedAt.Equal(later) {
					t.Errorf("%s to %s: %v, %+v", from, to, err, task)
				}
				continue
			}
			var illegal *work.TransitionError
			if !errors.As(err, &illegal) || illegal.What != "task t1" || illegal.From != string(from) || illegal.To != string(to) {
				t.Errorf("%s to %s: %v", from, to, err)
			}
			if task.Status != from || task.Reason != "before" || !task.ChangedAt.Equal(noon) {
				t.Errorf("%s to %s was refused and changed the task: %+v", from, to, task)
			}
		}
	}
}

func TestRolesAndWhoWrites(t *testing.T) {
	for _, c := range []struct {
		kind   work.TaskKind
		role   work.Role
		writes bool
	}{
		{work.AnalyzeIssue, work.Planner, false},
		{work.MakePlan, work.Planner, false},
		{work.BreakDownPlan, work.Planner, false},
		{work.Implement, work.Builder, true},
		{work.Assess, work.Assessor, false},
		{work.Verify, work.QAEngineer, true},
		{work.ReviewPR, work.Reviewer, false},
		{work.AddressReview, work.Builder, true},
		{work.Respond, work.Planner, false},
		{work.Reconcile, work.Reconciler, true},
		{work.PreparePR, work.Reconciler, true},
		{"nonsense", "", false},
	} {
		if c.kind.Role() != c.role || c.kind.Writes() != c.writes {
			t.Errorf("%s: role %q, writes %v", c.kind, c.kind.Role(), c.kind.Writes())
		}
		if c.role != "" && !slices.Contains(work.Roles, c.role) {
			t.Errorf("%s is not among the roles", c.role)
		}
	}
}

func TestHoldsEnd(t *testing.T) {
	for _, c := range []struct {
		name string
		hold *work.TaskHold
		held bool
	}{
		{"not held", nil, false},
		{"until its cause is gone", &work.TaskHold{Reason: "mcp"}, true},
		{"until later", &work.TaskHold{Reason: "backoff", NextEligibleAt: noon.Add(time.Second)}, true},
		{"until now", &work.TaskHold{Reason: "backoff", NextEligibleAt: noon}, false},
		{"until before", &work.TaskHold{Reason: "backoff", NextEligibleAt: noon.Add(-time.Second)}, false},
	} {
		task := &work.Task{Status: work.TaskPending, Held: c.hold}
		if task.HeldAt(noon) != c.held {
			t.Errorf("%s: held %v", c.name, task.HeldAt(noon))
		}
	}
}

func TestTasksOfAWorkstream(t *testing.T) {
	w := stream(work.New)
	if w.Pending() != nil || w.Running() != nil || w.Last(work.Implement) != nil || w.Task("t1") != nil {
		t.Fatal("a workstream without tasks has some")
	}
	first := w.AddTask(work.Implement, work.TaskContext{Increment: 2, Words: "so"}, noon)
	second := w.AddTask(work.Implement, work.TaskContext{}, noon)
	third := w.AddTask(work.Verify, work.TaskContext{}, noon)
	if first.ID != "t1" || second.ID != "t2" || third.ID != "t3" || first.Context.Words != "so" || first.Status != work.TaskPending {
		t.Fatalf("made %+v, %s, %s", first, second.ID, third.ID)
	}
	first.Irrelevant = "the issue was closed"
	if w.Pending() != second || w.Last(work.Implement) != second || w.Task("t3") != third {
		t.Error("the wrong task was found")
	}
	must(t, second.Move(work.TaskRunning, "", noon))
	if w.Running() != second || w.Pending() != third {
		t.Error("the wrong task was found while one runs")
	}
}

func TestBeginNamesTheExecution(t *testing.T) {
	w := stream(work.Building)
	task := add(w, work.Implement, work.TaskPending)
	task.Held = &work.TaskHold{Reason: "backoff"}
	for range 2 {
		if w.NextExecution() != "login.0001" || task.Execution() != "" {
			t.Fatal("asking for the next id uses it up")
		}
	}
	must(t, w.Begin(task, noon))
	if task.Status != work.TaskRunning || task.Execution() != "login.0001" || task.Held != nil || w.NextExecution() != "login.0002" {
		t.Fatalf("after the beginning: %+v", task)
	}
	if err := w.Begin(task, noon); err == nil || w.NextExecution() != "login.0002" || len(task.Executions) != 1 {
		t.Errorf("a running task began once more: %v", err)
	}
	must(t, w.Begin(nil, noon))
	if w.GateRun != "login.0002" || w.NextExecution() != "login.0003" {
		t.Errorf("gate run %q", w.GateRun)
	}
	w.ExecutionSeq = 12344
	if id := w.NextExecution(); !strings.HasSuffix(id, ".12345") {
		t.Errorf("execution %s", id)
	}
}
