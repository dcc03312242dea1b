package pass

import (
	"context"
	"time"

	"github.com/backburner-cli/backburner/pkg/budget"
	"github.com/backburner-cli/backburner/pkg/work"
)

// may reports whether the tick was asked to look at the workstream.
func (s *Settings) may(w *work.Workstream) bool { return s.Only == nil || s.Only(w) }

// queue is what waits for a place and may have one in this tick.
func (s *Settings) queue(board *work.Board) []*work.Workstream {
	var queue []*work.Workstream
	for _, w := range board.Queue() {
		if s.may(w) {
			queue = append(queue, w)
		}
	}
	return queue
}

// spent is what counts against the caps of a workstream's next task.
func spent(board *work.Board, w *work.Workstream, t *work.Task, tick string, now time.Time) budget.Spent {
	s := budget.Spent{
		Workstream: since(w.Spending, w.Waived),
		Day:        since(board.Spending.Day(day(now)), work.Spending{}),
		Tick:       since(board.Spending.Tick(tick), work.Spending{}),
	}
	if !w.WaivedAt.IsZero() && day(w.WaivedAt) == day(now) {
		s.Day = budget.Used{} // a person wants it done today all the same
	}
	if t != nil {
		s.Task = since(t.Spending, work.Spending{})
	}
	return s
}

func since(all, before work.Spending) budget.Used {
	return budget.Used{
		USD: all.CostUSD - before.CostUSD, UnknownCost: all.UnknownCost - before.UnknownCost,
		Tokens:   all.InputTokens + all.OutputTokens - before.InputTokens - before.OutputTokens,
		Sessions: all.Sessions - before.Sessions, Time: all.Wall - before.Wall,
	}
}

// start reports whether what wants so much time may still start. It may be cut
// by the end all the same, which costs it nothing.
func (s *Settings) start(wants time.Duration, now time.Time) bool {
	return s.Deadline.IsZero() || s.end().Sub(now) >= wants
}

// within ends ctx when the pass has to end what still runs.
func (s *Settings) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.Deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, s.end(), context.DeadlineExceeded)
}

// end is when the pass ends what still runs, so that it is over by its deadline.
func (s *Settings) end() time.Time { return s.Deadline.Add(-wrapUp) }

const (
	enough = 10 * time.Minute // an agent that has this long may start
	wrapUp = 10 * time.Second // kept to end what runs and to save
)

// day is the key of a day in the ledger: local time.
func day(now time.Time) string { return now.Local().Format(time.DateOnly) }
