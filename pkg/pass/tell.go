package pass

import (
	"context"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

// tell says on the thread what is due to be said. A notice leaves the outbox
// only when it was told; telling one twice finds the first.
type tell struct {
	forge Forge
	store Store
}

func (t *tell) Select(board *work.Board, b *Batch, _ time.Time) []Job {
	var jobs []Job
	for _, w := range b.workstreams(board) {
		if len(w.Outbox) > 0 {
			jobs = append(jobs, t.job(w))
		}
	}
	return jobs
}

func (t *tell) job(w *work.Workstream) Job {
	notices := append([]work.Notice{}, w.Outbox...)
	plan, revision := w.Plan, w.Revision // a plan that was accepted never changes
	folder := t.store.Folder(w.ID)
	return do("tell "+w.ID, w.ID, func(ctx context.Context) Record {
		told := make(map[string]bool)
		var trouble error
		for _, n := range notices {
			if strings.HasPrefix(n.ID, "plan:") && plan != nil {
				n.Text = forge.RenderPlan(plan, revision) + "\n" + n.Text
			}
			if trouble = t.forge.Tell(ctx, folder, n); trouble != nil {
				break
			}
			told[n.ID] = true
		}
		return func(time.Time) (Act, error) {
			var left []work.Notice
			for _, n := range w.Outbox {
				if !told[n.ID] {
					left = append(left, n)
				}
			}
			w.Outbox = left
			return nil, trouble
		}
	})
}
