package pass

import (
	"context"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// report writes the tick's line, so that it is known when the last one was and
// what it did.
type report struct {
	store Store
	line  func() work.Tick
}

func (r *report) Select(*work.Board, *Batch, time.Time) []Job {
	tick := r.line()
	return []Job{do("write the tick's line", "", func(context.Context) Record {
		err := r.store.AppendTick(tick)
		return func(time.Time) (Act, error) { return nil, err }
	})}
}
