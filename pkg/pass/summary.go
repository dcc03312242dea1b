package pass

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// Notice is trouble that is worth a line in the summary, and no log entry: an
// input that was refused, a file that was set aside.
type Notice string

func (n Notice) Error() string { return string(n) }

// summary gathers what a tick did, as the runner sees it happen.
type summary struct {
	work.Tick
	last    map[string]work.Workstream // as last observed: status, executions
	changes map[string]*work.Change
	order   []string
}

func newSummary(id string, now time.Time, board *work.Board) *summary {
	s := &summary{
		Tick: work.Tick{ID: id, StartedAt: now.UTC()},
		last: make(map[string]work.Workstream, len(board.Workstreams)), changes: make(map[string]*work.Change),
	}
	for id, w := range board.Workstreams {
		s.last[id] = snapshot(w)
	}
	return s
}

// snapshot keeps what changes are told from.
func snapshot(w *work.Workstream) work.Workstream {
	return work.Workstream{Status: w.Status, Recoveries: w.Recoveries}
}

// observe notes what changed since a workstream was last observed.
func (s *summary) observe(w *work.Workstream) {
	before, known := s.last[w.ID]
	if !known && w.Version > 0 { // it came from the archive, and only what is closed comes back
		before.Status, before.Recoveries = work.Closed, w.Recoveries
		s.last[w.ID] = before
	}
	now := snapshot(w)
	defer func() { s.last[w.ID] = now }()
	if !known || before.Status != now.Status {
		c := s.change(w.ID)
		if before.Status != now.Status && now.Status != work.New {
			c.Steps = append(c.Steps, string(now.Status)+": "+w.Detail)
		}
	}
	for _, r := range w.Recoveries[len(before.Recoveries):] {
		s.recovered(w.ID, r)
	}
}

// recovered counts a recovery. One that found nothing to do is nobody's news.
func (s *summary) recovered(workstream string, r work.Recovery) {
	if s.Recoveries == nil {
		s.Recoveries = make(map[string]int)
	}
	s.Recoveries[r.Outcome]++
	if r.Outcome == string(workspace.Skipped) {
		return
	}
	c := s.change(workstream)
	c.Steps = append(c.Steps, "workspace "+r.Outcome+": "+kept(r))
}

// kept says what lay in a workspace, and where it is now.
func kept(r work.Recovery) string {
	detail := orElse(r.Detail, "nothing lay there")
	if where := r.Where(); where != "" {
		return "what lay there " + where + ": " + detail
	}
	return detail
}

// finished counts an execution and tells of it.
func (s *summary) finished(x work.Execution) {
	switch x.Kind {
	case work.ByGate:
		s.Gates++
	case work.ByAgent:
		s.Agents++
		if x.Usage.CostUSD != nil {
			s.CostUSD += *x.Usage.CostUSD
		} else {
			s.UnknownCost++
		}
	}
	if x.Class != "" && x.Class != work.ClassInterrupted {
		s.Failed++
	}
	if x.Kind == work.ByOrchestrator {
		return // what was refused stops its workstream, which says why
	}
	c := s.change(x.Workstream)
	who := string(x.Role) + " (" + x.Agent + ")"
	if x.Kind == work.ByGate {
		who = x.Gate + " gate"
	}
	text := who + ": " + x.Ended()
	if x.Class != "" && x.Detail != "" {
		text += ": " + work.Clip(x.Detail, 300)
	}
	c.Steps = append(c.Steps, text)
}

// change is what is told of a workstream; made when there is nothing yet.
func (s *summary) change(id string) *work.Change {
	c := s.changes[id]
	if c == nil {
		c = &work.Change{ID: id, From: s.last[id].Status}
		s.changes[id] = c
		s.order = append(s.order, id)
	}
	return c
}

func (s *summary) notice(text string) {
	if !slices.Contains(s.Notices, text) {
		s.Notices = append(s.Notices, text)
	}
}

// stopped notes why the tick ended before its work did.
func (s *summary) stopped(why error) {
	if s.Outcome = "interrupted"; errors.Is(why, context.DeadlineExceeded) {
		s.Outcome = "deadline"
	}
}

// line is the finished record of the tick.
func (s *summary) line(board *work.Board, repositories Repositories, failure error, now time.Time) work.Tick {
	t := s.Tick
	t.EndedAt = now.UTC()
	t.Passing = goingAway(board)
	t.Changes = []work.Change{}
	for _, id := range s.order {
		c := *s.changes[id]
		if w := board.Workstreams[id]; w != nil {
			c.To, c.Reason, c.Detail = w.Status, w.Reason, w.Detail
			c.Next = intend(board, w, repositories, now).Next
		} else {
			c.To = s.last[id].Status
		}
		t.Changes = append(t.Changes, c)
	}
	switch {
	case failure != nil:
		t.Outcome, t.Error = "error", failure.Error()
	case t.Outcome != "":
	case len(t.Changes) == 0 && len(t.Notices) == 0:
		t.Outcome = "idle"
	default:
		t.Outcome = "done"
	}
	return t
}

// tee tells the summary and whoever watches.
type tee struct {
	watch   Observer
	summary *summary
}

func (t tee) Started(execution, what string, at time.Time) { t.watch.Started(execution, what, at) }

func (t tee) Finished(x work.Execution) {
	t.summary.finished(x)
	t.watch.Finished(x)
}
