package pass

import (
	"context"
	"errors"
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
	r.record(ctx, result{batch: b, job: j, record: j.Begin})
}

// record notes what was decided or came of an act, saves it, and starts the
// act that follows, or ends the job.
func (r *runner) record(ctx context.Context, res result) {
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
		record := act(ctx)
		r.results <- result{res.batch, res.job, record}
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
	if err != nil {
		r.trouble(res.job, err)
	}
	if saveErr := r.save(res.job); saveErr != nil {
		r.fail(saveErr)
		return nil, saveErr
	}
	return act, err
}

func (r *runner) trouble(j Job, err error) {
	var shown Notice
	if errors.As(err, &shown) {
		r.tick.notice(string(shown))
		return
	}
	r.log.Error(j.Name, "err", err)
	r.tick.notice(j.Name + ": " + err.Error())
}

// save writes what a job may have changed.
func (r *runner) save(j Job) error {
	if w := r.board.Workstreams[j.Workstream]; w != nil {
		if err := r.store.Save(w); err != nil {
			return err
		}
		r.tick.observe(w)
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
