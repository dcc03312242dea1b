package pass

import (
	"context"
	"errors"
	"slices"

	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/work"
)

// launch records a job's beginning, and starts its first act.
func (r *runner) launch(ctx context.Context, row Row, b *Batch, j Job) {
	r.log.Debug("begin", "phase", row.Name, "job", j.Name)
	b.outstanding++
	r.running++
	r.busy.take(j, 1)
	if j.Agent != "" || j.Gate {
		ctx, r.cancels[j.Workstream] = context.WithCancelCause(ctx)
	}
	r.record(result{ctx: ctx, batch: b, job: j, record: j.Begin})
}

// record notes what was decided or came of an act, saves it, and starts the
// act that follows, or ends the job.
func (r *runner) record(res result) {
	act, err := r.note(res)
	if act == nil || err != nil || r.failure != nil {
		r.ended(res)
		return
	}
	if err := r.lease(); err != nil {
		r.fail(err)
		r.ended(res)
		return
	}
	heavy := res.job.Agent != "" || res.job.Gate
	go func() {
		if !heavy {
			r.work <- struct{}{}
			defer func() { <-r.work }()
		}
		res.record = act(res.ctx)
		r.results <- res
	}()
}

// note runs a record. What it changed is saved before the act that follows; when
// none does, together with what is decided next, before anything else happens.
// Trouble with one workstream is logged and noted; it never stops the others.
func (r *runner) note(res result) (Act, error) {
	var act Act
	var err error
	if res.record != nil {
		act, err = res.record(r.now())
	}
	err = r.trouble(res.job, err)
	r.owed = append(r.owed, res.job)
	if w := r.board.Workstreams[res.job.Workstream]; w != nil {
		r.tick.observe(w)
	}
	if act == nil {
		return nil, err
	}
	return act, errors.Join(err, r.save())
}

// trouble puts what went wrong with a job into the summary. What is only a
// notice does not end the job.
func (r *runner) trouble(j Job, err error) error {
	var shown Notice
	switch {
	case err == nil:
		return nil
	case errors.As(err, &shown):
		r.tick.notice(string(shown))
		return nil
	}
	r.tick.notice(j.Name + ": " + err.Error())
	return err
}

// save writes what the jobs since the last time may have changed: workstreams
// before repositories, for those tell that they need not be looked at again. An
// error means that the pass cannot go on.
func (r *runner) save() error {
	owed := r.owed
	r.owed = nil
	err := r.saveOwed(owed)
	if err != nil {
		r.fail(err)
	}
	return err
}

func (r *runner) saveOwed(owed []Job) error {
	// What was spent comes first: once the workstream is saved nobody looks at the run again.
	if slices.ContainsFunc(owed, func(j Job) bool { return j.Agent != "" || j.Workstream == "" }) {
		if err := r.store.SaveLedger(r.board.Spending); err != nil {
			return err
		}
		if err := r.store.SaveAgents(r.board.Agents); err != nil {
			return err
		}
	}
	saved := make(map[string]bool)
	for _, j := range owed {
		if w := r.board.Workstreams[j.Workstream]; w != nil && !saved[w.ID] {
			saved[w.ID] = true
			if err := r.saveWorkstream(w); err != nil {
				return err
			}
		}
	}
	for _, j := range owed {
		if repo := r.board.Repositories[j.Repository]; repo != nil {
			if err := r.store.SaveRepository(repo); err != nil {
				return err
			}
		}
	}
	return nil
}

// saveWorkstream saves one workstream. One whose file somebody else changed or
// spoiled is left to the next tick, which finds what runs for it by its executions.
func (r *runner) saveWorkstream(w *work.Workstream) error {
	err := r.store.Save(w)
	var conflict *store.ConflictError
	var record *store.RecordError
	if errors.As(err, &conflict) || errors.As(err, &record) {
		delete(r.board.Workstreams, w.ID)
		r.tick.notice(err.Error())
		return nil
	}
	return err
}

func (r *runner) ended(res result) {
	res.batch.outstanding--
	r.running--
	r.busy.take(res.job, -1)
	if cancel := r.cancels[res.job.Workstream]; cancel != nil && (res.job.Agent != "" || res.job.Gate) {
		cancel(nil)
		delete(r.cancels, res.job.Workstream)
	}
	if res.job.Agent != "" || res.job.Gate {
		r.admit()
	}
}

// endRun ends the agent or gate that runs for a workstream.
func (r *runner) endRun(workstream string) {
	if cancel := r.cancels[workstream]; cancel != nil {
		cancel(errUnwanted)
	}
}
