package pass

import (
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// classify judges the failures nobody has judged yet.
type classify struct {
	repositories Repositories
}

func (c *classify) Select(board *work.Board, b *Batch, _ time.Time) []Job {
	var jobs []Job
	for _, w := range b.workstreams(board) {
		for _, t := range w.Tasks {
			if t.Status == work.TaskFailed && t.Unread {
				jobs = append(jobs, decide("classify "+w.ID, w.ID, func(now time.Time) error {
					_, err := w.Classify(t, c.repositories[w.Repository].Policy.Limits, now)
					return err
				}))
			}
		}
	}
	return jobs
}
