package pass

import (
	"slices"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

// Batch is a set of workstreams on their way through the table together.
type Batch struct {
	First    bool // the whole board, at the start of the tick
	Inbox    bool // brings the requests that came in meanwhile
	IDs      []string
	Incoming []*Incoming  // requests on their way to being decided
	News     []forge.News // what some of them were read from

	row         int
	outstanding int
	rounds      int             // times the row was asked
	busied      bool            // the row had something to do
	began       map[string]mark // its workstreams when they set out
	joined      func(id string) bool
}

// Incoming is a request together with where it came from.
type Incoming struct {
	*work.Request
	File string         // spec file it was made from; "" when it is from the inbox
	Seen *work.SpecFile // what to remember of that file once the request is decided
	Hub  bool           // it is from the hub, and was never in the inbox
	Done bool
}

// Add takes a workstream along, unless another batch has it.
func (b *Batch) Add(id string) {
	if !b.has(id) && b.joined(id) {
		b.IDs = append(b.IDs, id)
	}
}

func (b *Batch) has(id string) bool { return slices.Contains(b.IDs, id) }

// workstreams are the batch's, in its order, as the board has them now.
func (b *Batch) workstreams(board *work.Board) []*work.Workstream {
	all := make([]*work.Workstream, 0, len(b.IDs))
	for _, id := range b.IDs {
		if w := board.Workstreams[id]; w != nil {
			all = append(all, w)
		}
	}
	return all
}

// busy counts who takes which slots.
type busy struct {
	agents map[string]int
	gates  int
}

func newBusy() *busy { return &busy{agents: make(map[string]int)} }

func (b *busy) total() int {
	n := 0
	for _, k := range b.agents {
		n += k
	}
	return n
}

func (b *busy) take(j Job, by int) {
	if j.Agent != "" {
		b.agents[j.Agent] += by
	}
	if j.Gate {
		b.gates += by
	}
}

// mark is what a workstream was like when it set out.
type mark struct {
	version int64
	blocked bool
}

func markOf(w *work.Workstream) mark { return mark{w.Version, w.Status == work.Blocked} }
