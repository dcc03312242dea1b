package work

import (
	"fmt"
	"time"
)

// ExecutionKind says who acted.
type ExecutionKind string

// The kinds of execution.
const (
	ByAgent        ExecutionKind = "agent"
	ByGate         ExecutionKind = "gate"
	ByOrchestrator ExecutionKind = "orchestrator"
)

// Execution is the record of one run of an agent, of a gate, or of the
// orchestrator acting in an agent's place. It is written when the run starts
// and once more when it ended; after that it never changes.
type Execution struct {
	Schema     int           `json:"schema"`
	ID         string        `json:"id"`
	Workstream string        `json:"workstream"`
	Task       string        `json:"task,omitempty"`
	Kind       ExecutionKind `json:"kind"`
	TaskKind   TaskKind      `json:"task_kind,omitempty"`
	Role       Role          `json:"role,omitempty"`
	Agent      string        `json:"agent,omitempty"`
	Gate       string        `json:"gate,omitempty"`
	Tick       string        `json:"tick"`
	StartedAt  time.Time     `json:"started_at"`
	EndedAt    time.Time     `json:"ended_at,omitzero"`
	Before     string        `json:"before,omitempty"` // commit it started from
	After      string        `json:"after,omitempty"`
	Outcome    string        `json:"outcome,omitempty"` // ok, or the failure's class, or green / red
	Class      Class         `json:"class,omitempty"`
	Detail     string        `json:"detail,omitempty"`
	ExitCode   int           `json:"exit_code"`
	Session    string        `json:"session,omitempty"`
	Usage      Usage         `json:"usage,omitzero"`
	Resumed    string        `json:"resumed,omitempty"` // session it went on with
	Adopted    bool          `json:"adopted,omitempty"` // its tick died; a later one took its result
	Steps      []StepResult  `json:"steps,omitempty"`   // of a gate
	Changed    []string      `json:"changed,omitempty"` // paths, at most a hundred
}

// StepResult is what one command of a gate did.
type StepResult struct {
	Name     string        `json:"name"`
	Run      []string      `json:"run"`
	ExitCode int           `json:"exit_code"`
	Reason   string        `json:"reason,omitempty"` // empty when it passed
	Duration time.Duration `json:"duration_ns"`
	Log      string        `json:"log"` // file in the execution's folder
	Tries    int           `json:"tries,omitempty"`
}

// NextExecution is the id the workstream's next execution will have. Its
// folder is written before [Workstream.Begin] names it, so a crash between the
// two makes the next run overwrite what was never named.
func (w *Workstream) NextExecution() string {
	return fmt.Sprintf("%s.%04d", w.ID, w.ExecutionSeq+1)
}

// Begin notes that the next execution runs now: of the task, or of a gate when
// the task is nil.
func (w *Workstream) Begin(t *Task, now time.Time) error {
	id := w.NextExecution()
	if t == nil {
		w.GateRun = id
	} else {
		if err := t.Move(TaskRunning, "dispatched", now); err != nil {
			return err
		}
		t.Executions = append(t.Executions, id)
		t.Held = nil
	}
	w.ExecutionSeq++
	return nil
}

// Refuse fails a pending task before it is dispatched. The workstream's next
// execution, written before, says why.
func (w *Workstream) Refuse(t *Task, code string, now time.Time) error {
	id := w.NextExecution()
	if err := t.Move(TaskFailed, code, now); err != nil {
		return err
	}
	t.Class, t.Executions = ClassPreDispatch, append(t.Executions, id)
	w.ExecutionSeq++
	return nil
}

// Ended is how the run ended, in a word for people; "running" before that.
func (x *Execution) Ended() string {
	switch x.Outcome {
	case "":
		return "running"
	case string(ClassOrdinary):
		return "failed"
	}
	return x.Outcome
}
