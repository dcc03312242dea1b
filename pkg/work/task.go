package work

import (
	"fmt"
	"slices"
	"time"
)

// TaskKind is what one task asks for.
type TaskKind string

// The kinds of task.
const (
	AnalyzeIssue  TaskKind = "analyze_issue"
	MakePlan      TaskKind = "plan"
	BreakDownPlan TaskKind = "break_down_plan"
	Implement     TaskKind = "implement"
	Assess        TaskKind = "assess_increment"
	Verify        TaskKind = "verify"
	ReviewPR      TaskKind = "review_pr"
	AddressReview TaskKind = "address_review"
	Respond       TaskKind = "respond"
	Reconcile     TaskKind = "reconcile_mainline"
	PreparePR     TaskKind = "prepare_pr_for_merge"
)

// Role is what a task asks of an agent.
type Role string

// The roles.
const (
	Planner     Role = "planner"
	Builder     Role = "builder"
	QAEngineer  Role = "qa"
	Reviewer    Role = "reviewer"
	Reconciler  Role = "reconciler"
	Assessor    Role = "assessor"
	Prioritizer Role = "prioritizer"
)

// Roles lists every role.
var Roles = []Role{Planner, Builder, QAEngineer, Reviewer, Reconciler, Assessor, Prioritizer}

var kinds = map[TaskKind]struct {
	role   Role
	writes bool
	phase  Status // in which it is dispatched; "" in any
}{
	AnalyzeIssue:  {Planner, false, Intake},
	MakePlan:      {Planner, false, Planning},
	BreakDownPlan: {Planner, false, Planning},
	Implement:     {Builder, true, Building},
	Assess:        {Assessor, false, Building},
	Verify:        {QAEngineer, true, QA},
	ReviewPR:      {Reviewer, false, ""},
	AddressReview: {Builder, true, Building},
	Respond:       {Planner, false, ""},
	Reconcile:     {Reconciler, true, Blocked},
	PreparePR:     {Reconciler, true, ""},
}

// phaseTask is the kind of task that the work of a phase begins with.
var phaseTask = map[Status]TaskKind{Planning: MakePlan, Building: Implement, QA: Verify}

// Role is the role of an agent that can do a task of this kind.
func (k TaskKind) Role() Role { return kinds[k].role }

// Who is whom a task of this kind is for, in a sentence: "builder", "qa agent".
func (k TaskKind) Who() string {
	if k.Role() == QAEngineer {
		return "qa agent"
	}
	return string(k.Role())
}

// Writes reports whether a task of this kind may change its workspace.
func (k TaskKind) Writes() bool { return kinds[k].writes }

// TaskStatus says where a task stands.
type TaskStatus string

// The statuses of a task.
const (
	TaskPending   TaskStatus = "pending"
	TaskRunning   TaskStatus = "running"
	TaskCompleted TaskStatus = "completed"
	TaskFailed    TaskStatus = "failed"
	TaskCancelled TaskStatus = "cancelled"
)

var taskTransitions = map[TaskStatus][]TaskStatus{
	TaskPending: {TaskRunning, TaskFailed, TaskCancelled},
	TaskRunning: {TaskCompleted, TaskFailed, TaskPending, TaskCancelled},
	TaskFailed:  {TaskPending},
}

// Task is one unit of dispatch in a workstream.
type Task struct {
	ID        string     `json:"id"` // unique in its workstream: "t1", "t2", ...
	Kind      TaskKind   `json:"kind"`
	Status    TaskStatus `json:"status"`
	Reason    string     `json:"reason,omitempty"` // code of the last change
	CreatedAt time.Time  `json:"created_at"`
	ChangedAt time.Time  `json:"changed_at"`

	Context  TaskContext `json:"context"`
	Attempts int         `json:"attempts,omitempty"` // executions that ended in a failure charged to the task
	Resends  int         `json:"resends,omitempty"`  // invalid answers already asked for once more
	Spending Spending    `json:"spending,omitzero"`  // of its runs since a person last started it again

	Held       *TaskHold `json:"held,omitempty"`
	Irrelevant string    `json:"irrelevant,omitempty"` // why the world no longer needs it; never dispatched

	RecoveryNeeded bool     `json:"recovery_needed,omitempty"` // its workspace must be restored before anything runs there
	Class          Class    `json:"class,omitempty"`           // of its last failure
	Replies        []int64  `json:"replies,omitempty"`         // comments of the review it addresses
	Answer         string   `json:"answer,omitempty"`          // to a review: what it says was done
	Executions     []string `json:"executions,omitempty"`      // ids, oldest first; the last one is live while running
	Unread         bool     `json:"unread,omitempty"`          // its last failure is not classified yet
}

// TaskContext is what a task knows beyond its workstream.
type TaskContext struct {
	Increment int    `json:"increment,omitempty"` // index in the plan, from 0
	Gate      string `json:"gate,omitempty"`      // the red gate it repairs
	GateLog   string `json:"gate_log,omitempty"`  // execution whose log it reads
	Words     string `json:"words,omitempty"`     // what a person said: rejection, retry note, review
	Revises   int    `json:"revises,omitempty"`   // plan revision it replaces
	Base      string `json:"base,omitempty"`      // base commit of a reconcile or a merge preparation
	Request   string `json:"request,omitempty"`   // request that asked for it
	By        string `json:"by,omitempty"`        // who made that, where it is said
}

// TaskHold keeps a pending task back without costing it anything.
type TaskHold struct {
	Reason         string    `json:"reason"` // quota, mcp, budget, no_slot, backoff, deferred_...
	Detail         string    `json:"detail,omitempty"`
	NextEligibleAt time.Time `json:"next_eligible_at,omitzero"` // zero: when the cause is gone
}

// Move changes the task's status, or returns a *TransitionError and changes nothing.
func (t *Task) Move(to TaskStatus, reason string, now time.Time) error {
	for _, ok := range taskTransitions[t.Status] {
		if ok == to {
			t.Status, t.Reason, t.ChangedAt = to, reason, now.UTC()
			return nil
		}
	}
	return &TransitionError{What: "task " + t.ID, From: string(t.Status), To: string(to)}
}

// HeldAt reports whether the task is held at now. A hold without a time lasts
// until what set it clears it.
func (t *Task) HeldAt(now time.Time) bool {
	return t.Held != nil && (t.Held.NextEligibleAt.IsZero() || now.Before(t.Held.NextEligibleAt))
}

// Execution is the id of the task's live or last execution, "" when there is none.
func (t *Task) Execution() string {
	if len(t.Executions) == 0 {
		return ""
	}
	return t.Executions[len(t.Executions)-1]
}

// Began reports whether an agent was ever dispatched for the task.
func (t *Task) Began() bool { return len(t.Executions) > 0 && t.Class != ClassPreDispatch }

// AddTask appends a pending task and returns it.
func (w *Workstream) AddTask(kind TaskKind, c TaskContext, now time.Time) *Task {
	w.TaskSeq++
	w.Tasks = append(w.Tasks, &Task{
		ID: fmt.Sprintf("t%d", w.TaskSeq), Kind: kind, Status: TaskPending, Context: c,
		CreatedAt: now.UTC(), ChangedAt: now.UTC(),
	})
	return w.Tasks[len(w.Tasks)-1]
}

// Task finds a task by id; nil when there is none.
func (w *Workstream) Task(id string) *Task {
	for _, t := range w.Tasks {
		if t.ID == id {
			return t
		}
	}
	return nil
}

// Pending is the first pending, relevant task, held or not; nil when there is none.
func (w *Workstream) Pending() *Task {
	for _, t := range w.Tasks {
		if t.Status == TaskPending && t.Irrelevant == "" {
			return t
		}
	}
	return nil
}

// due is the first pending, relevant task that a phase may dispatch; nil when
// there is none.
func (w *Workstream) due(phase Status) *Task {
	for _, t := range w.Tasks {
		if in := kinds[t.Kind].phase; t.Status == TaskPending && t.Irrelevant == "" && (in == phase || in == "") {
			return t
		}
	}
	return nil
}

// unfinished is the newest task of a phase when it failed or still waits, and
// nothing was completed since; nil otherwise.
func (w *Workstream) unfinished(phase Status) *Task {
	for _, t := range slices.Backward(w.Tasks) {
		in := kinds[t.Kind].phase
		switch {
		case t.Status == TaskCompleted && (in == phase || in != "" && in != Blocked):
			return nil
		case in == phase && t.Irrelevant == "" && (t.Status == TaskFailed || t.Status == TaskPending):
			return t
		}
	}
	return nil
}

// Running is the task whose agent runs, or ran when a tick died; nil when there is none.
func (w *Workstream) Running() *Task {
	for _, t := range w.Tasks {
		if t.Status == TaskRunning {
			return t
		}
	}
	return nil
}

// unread is a failed task that nobody has judged yet; nil when there is none.
// It may be tried again, so nothing takes its place before.
func (w *Workstream) unread() *Task {
	for _, t := range w.Tasks {
		if t.Status == TaskFailed && t.Unread {
			return t
		}
	}
	return nil
}

// Last is the newest task of a kind; nil when there is none.
func (w *Workstream) Last(kind TaskKind) *Task {
	for i := len(w.Tasks) - 1; i >= 0; i-- {
		if w.Tasks[i].Kind == kind {
			return w.Tasks[i]
		}
	}
	return nil
}
