package pass

import (
	"context"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// refuse fails what was about to run, before dispatch, and stops the
// workstream. Each refusal is an execution too, written before it is named.
func (r *runs) refuse(w *work.Workstream, code, detail string) Act {
	copied := w.Clone()
	return func(context.Context) Record {
		var refused []work.Execution
		var err error
		for _, t := range copied.Tasks {
			if t.Status != work.TaskPending || t.Irrelevant != "" {
				continue
			}
			x := r.refusal(copied, t, detail)
			if err = r.keep(&x); err != nil {
				break
			}
			_ = copied.Refuse(t, code, r.now()) // the next one has the next id
			refused = append(refused, x)
		}
		return func(now time.Time) (Act, error) {
			for _, x := range refused {
				r.watch.Finished(x)
				t := w.Task(x.Task)
				if x.ID != w.NextExecution() || t == nil || t.Status != work.TaskPending {
					continue // somebody changed their mind meanwhile
				}
				if err := w.Refuse(t, code, now); err != nil {
					return nil, err
				}
			}
			w.SayStopped(code, detail, work.Notice{
				Event: "blocked", Text: "Stopped before dispatch: " + strings.TrimRight(detail, ".") + ".", Class: work.ClassPreDispatch,
				Then: "Try again with `backburner retry " + w.ID + "`.",
			}, now)
			if blockErr := block(w, work.Reason{Code: code, Detail: detail}, now); blockErr != nil {
				return nil, blockErr
			}
			return nil, err
		}
	}
}

// refusal is the record of a task that was not dispatched.
func (r *runs) refusal(w *work.Workstream, t *work.Task, why string) work.Execution {
	at := r.now().UTC()
	return work.Execution{
		Schema: work.Schema, ID: w.NextExecution(), Workstream: w.ID, Task: t.ID, Kind: work.ByOrchestrator, TaskKind: t.Kind,
		Role: t.Kind.Role(), Tick: r.settings.Tick, StartedAt: at, EndedAt: at, Before: w.Head,
		Class: work.ClassPreDispatch, Outcome: string(work.ClassPreDispatch), Detail: why,
	}
}

// keep writes the record of an execution that is over already.
func (r *runs) keep(x *work.Execution) error {
	if _, err := r.store.NewExecutionDir(x.ID); err != nil {
		return err
	}
	return r.store.SaveExecution(x)
}
