package pass

import (
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// Intention is what the next tick will do for one workstream, as of now.
type Intention struct {
	ID     string      `json:"id"`
	Status work.Status `json:"status"`
	Act    work.Act    `json:"act,omitempty"` // "" when it waits
	Next   string      `json:"next"`
}

// Preview says what the first step of a tick would be for each workstream. It
// uses the rule the pass uses, and does nothing.
func Preview(board *work.Board, s Settings, repositories Repositories, now time.Time) []Intention {
	room := s.MaxActive - board.Active()
	var out []Intention
	for _, w := range board.Ordered() {
		if !s.may(w) {
			continue
		}
		out = append(out, intend(board, w, repositories, now))
		if i := &out[len(out)-1]; w.Status == work.New && w.Held == nil && room > 0 {
			room--
			i.Act, i.Next = work.MoveOn, "admit it to the active set"
		}
	}
	return out
}

func intend(board *work.Board, w *work.Workstream, repositories Repositories, now time.Time) Intention {
	repo, known := repositories[w.Repository]
	i := Intention{ID: w.ID, Status: w.Status}
	switch {
	case !known:
		i.Next = "repository " + w.Repository + " is not configured any more (a local one is called like its folder); see: backburner state verify"
	case board.Agents.Hold != nil:
		i.Next = "everything is held; go on with: backburner resume --all"
	default:
		step := work.Next(w, repo.Policy, now)
		i.Act, i.Next = step.Act, step.Why
	}
	return i
}
