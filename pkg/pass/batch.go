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

// begin sends a batch on its way.
func (r *runner) begin(b *Batch) {
	b.began = make(map[string]mark, len(b.IDs))
	b.joined = func(id string) bool { return r.join(b, id) }
	ids := b.IDs
	b.IDs = nil
	for _, id := range ids {
		if r.join(b, id) {
			b.IDs = append(b.IDs, id)
		}
	}
	r.batches = append(r.batches, b)
}

// join gives a workstream to a batch, unless another has it.
func (r *runner) join(b *Batch, id string) bool {
	if r.flight[id] != nil {
		return false
	}
	r.flight[id] = b
	if w := r.board.Workstreams[id]; w != nil {
		b.began[id] = markOf(w)
	}
	return true
}

// split turns a batch into one of each workstream that has its turn, all at
// the same row. The others stay, and are through.
func (r *runner) split(b *Batch) {
	var idle []string
	slices.SortFunc(b.IDs, r.inOrder)
	for _, id := range b.IDs {
		one := &Batch{IDs: []string{id}, row: b.row, began: map[string]mark{id: b.began[id]}}
		one.joined = func(string) bool { return false }
		if !r.hasTurn(one) {
			idle = append(idle, id)
			continue
		}
		r.flight[id] = one
		r.batches = append(r.batches, one)
	}
	b.IDs, b.row = idle, len(r.rows)
}

// hasTurn reports whether one of the rows that are still to come for each
// workstream has something to do for this one.
func (r *runner) hasTurn(one *Batch) bool {
	for _, row := range r.rows[one.row:] {
		if row.Each && len(row.Phase.Select(r.board, one, r.now())) > 0 {
			return true
		}
	}
	return false
}

// finish lets go of a batch that is through. It returns the workstreams that
// have more to do in this tick.
func (r *runner) finish(b *Batch) (arisen []string) {
	for _, id := range b.IDs {
		delete(r.flight, id)
		w := r.board.Workstreams[id]
		if w != nil && w.Version != b.began[id].version && r.settings.may(w) && r.arises(w, b.began[id]) {
			arisen = append(arisen, id)
		}
	}
	return arisen
}

// arises reports whether there is more to do for a workstream in this tick. A
// blocked one is recovered by the next tick, but for a conflict found just now.
func (r *runner) arises(w *work.Workstream, began mark) bool {
	step := work.Next(w, r.repositories[w.Repository].Policy, r.now())
	return step.Act != work.Nothing && (w.Status != work.Blocked || step.Act == work.RunAgent && !began.blocked)
}
