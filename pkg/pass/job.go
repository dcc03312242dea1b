package pass

import (
	"context"
	"errors"

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
		ctx, r.cancels[j.Workstream] = context.WithCancel(ctx)
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

// note runs a record and saves what it changed. Trouble with one workstream
// is logged and noted; it never stops the others.
func (r *runner) note(res result) (Act, error) {
	var act Act
	var err error
	if res.record != nil {
		act, err = res.record(r.now())
	}
	err = r.trouble(res.job, err)
	if saveErr := r.save(res.job); saveErr != nil {
		r.fail(saveErr)
		return nil, saveErr
	}
	return act, err
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

// save writes what a job may have changed.
func (r *runner) save(j Job) error {
	if w := r.board.Workstreams[j.Workstream]; w != nil {
		if err := r.saveWorkstream(w); err != nil {
			return err
		}
	}
	if repo := r.board.Repositories[j.Repository]; repo != nil {
		if err := r.store.SaveRepository(repo); err != nil {
			return err
		}
	}
	if j.Agent == "" && j.Workstream != "" {
		return nil
	}
	if err := r.store.SaveAgents(r.board.Agents); err != nil {
		return err
	}
	return r.store.SaveLedger(r.board.Spending)
}

// saveWorkstream saves one workstream. One that somebody else changed on disk
// is left to the next tick, which finds what runs for it by its executions.
func (r *runner) saveWorkstream(w *work.Workstream) error {
	err := r.store.Save(w)
	var conflict *store.ConflictError
	if errors.As(err, &conflict) {
		delete(r.board.Workstreams, w.ID)
		r.tick.notice(err.Error())
		return nil
	}
	if err == nil {
		r.tick.observe(w)
	}
	return err
}

func (r *runner) ended(res result) {
	res.batch.outstanding--
	r.running--
	r.busy.take(res.job, -1)
	if cancel := r.cancels[res.job.Workstream]; cancel != nil && (res.job.Agent != "" || res.job.Gate) {
		cancel()
		delete(r.cancels, res.job.Workstream)
	}
	if res.job.Agent != "" || res.job.Gate {
		r.admit()
	}
}

// endRun ends the agent or gate that runs for a workstream.
func (r *runner) endRun(workstream string) {
	if cancel := r.cancels[workstream]; cancel != nil {
		cancel()
	}
}
