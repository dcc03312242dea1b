package pass

import (
	"context"
	"errors"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// settle finishes what a dead tick left: its live agents and gates are ended,
// the results of finished agents adopted. A tick that is alive never gets
// here: the lease sees to that.
type settle struct{ runs *runs }

func (s *settle) Select(board *work.Board, b *Batch, _ time.Time) []Job {
	if !b.First {
		return nil
	}
	jobs := []Job{do("clean leftovers", "", func(ctx context.Context) Record {
		_, err := s.runs.trees.CleanLeftovers(ctx, AsideFor)
		var rejected *workspace.RejectedError
		if errors.As(err, &rejected) {
			err = nil // said by the work that needs the folder
		}
		return func(time.Time) (Act, error) { return nil, err }
	})}
	for _, w := range b.workstreams(board) {
		if t := w.Running(); t != nil {
			jobs = append(jobs, s.runs.adoption(w, t, board))
		}
		if w.GateRun != "" {
			jobs = append(jobs, s.gate(w))
		}
	}
	return jobs
}

// gate ends what still runs of a gate; it is run again from its beginning.
func (s *settle) gate(w *work.Workstream) Job {
	id := w.GateRun
	return do("end gate "+id, w.ID, func(ctx context.Context) Record {
		err := errors.Join(s.runs.gates.End(ctx, s.runs.store.ExecutionDir(id)), s.cut(id))
		return func(time.Time) (Act, error) {
			if err == nil { // else it may still change the tree, and the next tick tries again
				w.GateRun = ""
			}
			return nil, err
		}
	})
}

// cut completes the record of a gate that nobody waited for.
func (s *settle) cut(id string) error {
	x, err := s.runs.store.Execution(id)
	if err != nil || !x.EndedAt.IsZero() {
		return nil // nothing to complete
	}
	x.EndedAt, x.Class, x.Outcome = s.runs.now().UTC(), work.ClassInterrupted, string(work.ClassInterrupted)
	x.Detail = "the tick that ran it died"
	return s.runs.store.SaveExecution(x)
}

// AsideFor is how long a workspace that was moved aside is kept.
const AsideFor = 14 * 24 * time.Hour
