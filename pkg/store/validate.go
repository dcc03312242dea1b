package store

import (
	"fmt"
	"slices"

	"github.com/backburner-cli/backburner/pkg/work"
)

var taskStatuses = []work.TaskStatus{work.TaskPending, work.TaskRunning, work.TaskCompleted, work.TaskFailed, work.TaskCancelled}

// problem says what is wrong with a workstream's record, "" when it can be
// worked with: what the rest of the program takes for granted, and every id
// that becomes a path.
func problem(w *work.Workstream) string {
	if why := work.BadID(w.ID); why != "" {
		return fmt.Sprintf("id %.100q: %s", w.ID, why)
	}
	if !slices.Contains(work.Statuses, w.Status) {
		return fmt.Sprintf("status %.40q is not known", w.Status)
	}
	if w.Phase != "" && !slices.Contains(work.Statuses, w.Phase) {
		return fmt.Sprintf("phase %.40q is not known", w.Phase)
	}
	switch w.Kind {
	case work.KindIssue, work.KindSpec, work.KindPullRequest:
	default:
		return fmt.Sprintf("kind %.40q is not known", w.Kind)
	}
	if slices.Contains(w.Questions, nil) {
		return "one of its questions is null"
	}
	if w.GateRun != "" && badExecution(w.GateRun) != "" {
		return fmt.Sprintf("gate_run %.100q: %s", w.GateRun, badExecution(w.GateRun))
	}
	for gate, e := range w.Evidence {
		if e.Execution != "" && badExecution(e.Execution) != "" {
			return fmt.Sprintf("evidence of gate %.40q: execution %.100q: %s", gate, e.Execution, badExecution(e.Execution))
		}
	}
	return taskProblem(w.Tasks)
}

func taskProblem(tasks []*work.Task) string {
	seen := make(map[string]bool, len(tasks))
	for i, t := range tasks {
		switch {
		case t == nil:
			return fmt.Sprintf("task %d is null", i+1)
		case t.ID == "":
			return fmt.Sprintf("task %d has no id", i+1)
		case !slices.Contains(taskStatuses, t.Status):
			return fmt.Sprintf("task %.40q: status %.40q is not known", t.ID, t.Status)
		case t.Kind.Role() == "":
			return fmt.Sprintf("task %.40q: kind %.40q is not known", t.ID, t.Kind)
		}
		for _, id := range t.Executions {
			if why := badExecution(id); why != "" {
				return fmt.Sprintf("task %.40q: execution %.100q: %s", t.ID, id, why)
			}
		}
		if log := t.Context.GateLog; log != "" && badExecution(log) != "" {
			return fmt.Sprintf("task %.40q: gate_log %.100q: %s", t.ID, log, badExecution(log))
		}
		if seen[t.ID] {
			return fmt.Sprintf("two tasks are called %.40q", t.ID)
		}
		seen[t.ID] = true
	}
	return ""
}
