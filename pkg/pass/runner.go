package pass

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

const (
	pollEvery = 200 * time.Millisecond // for new requests, while agents run
	restless  = 100                    // askings of one row by one batch, beside those for its requests; more is a fault in the row
)

// runner drives batches through the table. All its methods run on the one
// goroutine that may change the board; acts run on others and come back
// through the results channel.
type runner struct {
	*Pass
	rows     []Row
	batches  []*Batch
	flight   map[string]*Batch // which batch has a workstream
	cancels  map[string]context.CancelCauseFunc
	known    map[string]bool // request files already read
	results  chan result
	work     chan struct{} // bounds acts that are neither agents nor gates
	owed     []Job         // whose changes are not saved yet
	running  int
	stopping bool
	failure  error // why the pass cannot go on
	tick     *summary
}

// result is a job on its way: what its act came to, or its beginning.
type result struct {
	ctx    context.Context // of its acts
	batch  *Batch
	job    Job
	record Record
}

func newRunner(p *Pass) *runner {
	return &runner{
		Pass: p, flight: make(map[string]*Batch), cancels: make(map[string]context.CancelCauseFunc),
		known: make(map[string]bool), results: make(chan result),
		work: make(chan struct{}, max(2, runtime.NumCPU())), tick: newSummary(p.settings.Tick, p.now(), p.board),
	}
}

func (r *runner) run(ctx context.Context) error {
	ctx, release := r.settings.within(ctx)
	defer release()
	acts, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	r.seen()
	r.begin(&Batch{First: true, IDs: r.wholeBoard()})
	for {
		if ctx.Err() != nil {
			r.stop(cancel, context.Cause(ctx))
			ctx = context.WithoutCancel(ctx) // its end is known now; wait for the acts
		}
		r.advance(acts)
		if r.running == 0 {
			if len(r.batches) == 0 || r.stopping {
				break
			}
			r.giveUpWaiting()
			continue
		}
		select {
		case res := <-r.results:
			r.record(res)
		case <-poll.C:
			r.admit()
		case <-ctx.Done():
		}
	}
	r.last(context.WithoutCancel(ctx))
	return r.failure
}

func (r *runner) wholeBoard() []string {
	var ids []string
	for _, w := range r.board.Ordered() {
		if r.settings.Only == nil || r.settings.Only(w) {
			ids = append(ids, w.ID)
		}
	}
	return ids
}

// advance brings every batch as far as it gets without waiting.
func (r *runner) advance(ctx context.Context) {
	for {
		slices.SortStableFunc(r.batches, r.byTurn)
		for i := 0; i < len(r.batches); i++ { // grows meanwhile
			for !r.stopping && r.batches[i].outstanding == 0 && r.step(ctx, r.batches[i]) {
			}
		}
		if !r.reap() {
			return
		}
	}
}

// byTurn puts the batches of single workstreams, which may be waiting for the
// same slot, into the stable order; the others go before them.
func (r *runner) byTurn(x, y *Batch) int {
	switch oneX, oneY := len(x.IDs) == 1, len(y.IDs) == 1; {
	case oneX && oneY:
		return r.inOrder(x.IDs[0], y.IDs[0])
	case oneX:
		return 1
	case oneY:
		return -1
	}
	return 0
}

func (r *runner) inOrder(x, y string) int {
	at := func(id string) *work.Workstream {
		if w := r.board.Workstreams[id]; w != nil {
			return w
		}
		return &work.Workstream{ID: id} // it left the board meanwhile
	}
	return work.InOrder(at(x), at(y))
}

// reap lets go of the batches that are through. It reports whether there were any.
func (r *runner) reap() bool {
	_ = r.save() // it notes the failure
	var kept, ended []*Batch
	for _, b := range r.batches {
		if b.outstanding == 0 && (r.stopping || r.through(b)) {
			ended = append(ended, b)
		} else {
			kept = append(kept, b)
		}
	}
	r.batches = kept
	var arisen []string
	freed := false
	for _, b := range ended {
		freed = freed || len(b.IDs) > 0
		arisen = append(arisen, r.finish(b)...)
	}
	if !r.stopping && (len(arisen) > 0 || freed && r.room()) {
		r.begin(&Batch{IDs: arisen})
	}
	return len(ended) > 0
}

func (r *runner) through(b *Batch) bool { return b.row >= len(r.rows) || r.rows[b.row].Last }

// step asks the batch's row once and launches what it wants. It reports
// whether the batch can be asked again at once.
func (r *runner) step(ctx context.Context, b *Batch) bool {
	if r.through(b) {
		return false
	}
	row := r.rows[b.row]
	if row.Each && (b.First || len(b.IDs) != 1) {
		r.split(b)
		return false
	}
	jobs := row.Phase.Select(r.board, b, r.now())
	if len(jobs) == 1 && jobs[0].Wait {
		return false
	}
	if b.rounds++; b.rounds > restless+len(b.Incoming) {
		r.fail(fmt.Errorf("%s: does not come to rest", row.Name))
		return false
	}
	for _, j := range jobs {
		r.launch(ctx, row, b, j)
	}
	b.busied = b.busied || len(jobs) > 0
	if len(jobs) == 0 || !row.Again {
		r.next(ctx, b, row)
	}
	return true
}

// next moves a batch to its next row, telling what is due on the way.
func (r *runner) next(ctx context.Context, b *Batch, row Row) {
	if !row.Each {
		due := r.tell.between
		if row.Shows {
			due = r.tell.standing
		}
		for _, j := range due(r.board, b, r.now()) {
			r.launch(ctx, row, b, j)
		}
	}
	if row.Safe && b.busied {
		r.admit()
	}
	b.row++
	b.rounds, b.busied = 0, false
}

func (r *runner) room() bool {
	return r.board.Active() < r.settings.MaxActive && len(r.settings.queue(r.board)) > 0
}

// seen notes which request files the first batch will read.
func (r *runner) seen() {
	names, err := r.store.RequestNames()
	if err != nil {
		return // reading them says why
	}
	for _, n := range names {
		r.known[n] = true
	}
}

// admit brings in the requests that came meanwhile, as a batch of their own.
func (r *runner) admit() {
	if r.stopping {
		return
	}
	names, err := r.store.RequestNames()
	if err != nil {
		r.tick.notice("requests: " + err.Error())
		return
	}
	fresh := false
	for _, n := range names {
		if !r.known[n] {
			r.known[n], fresh = true, true
		}
	}
	if fresh {
		r.begin(&Batch{Inbox: true})
	}
}

// giveUpWaiting ends batches that wait for a slot nobody will free.
func (r *runner) giveUpWaiting() {
	for _, b := range r.batches {
		if b.outstanding == 0 && !r.through(b) {
			b.row++
			b.rounds = 0
			return
		}
	}
}

// fail notes why the pass cannot go on, and stops it.
func (r *runner) fail(err error) {
	if r.failure == nil {
		r.failure = err
	}
	r.stopping = true
	for _, cancel := range r.cancels {
		cancel(nil)
	}
}

// stop ends what runs; what it did so far is recorded as it comes back.
func (r *runner) stop(cancel context.CancelCauseFunc, why error) {
	r.stopping = true
	r.tick.stopped(why)
	cancel(why)
}

// last runs the rows that close the pass.
func (r *runner) last(ctx context.Context) {
	b := &Batch{IDs: r.wholeBoard(), First: true, joined: func(string) bool { return false }}
	for _, row := range r.rows {
		if !row.Last || r.stopping && !row.Always {
			continue
		}
		for _, j := range row.Phase.Select(r.board, b, r.now()) {
			r.launch(ctx, row, b, j)
		}
		for r.running > 0 {
			r.record(<-r.results)
		}
		_ = r.save()
	}
}
