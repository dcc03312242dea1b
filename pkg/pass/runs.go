package pass

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/backburner-cli/backburner/pkg/agent"
	"github.com/backburner-cli/backburner/pkg/budget"
	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/git"
	"github.com/backburner-cli/backburner/pkg/prompt"
	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// runs executes tasks and gates: what dispatch starts and settle picks up
// again goes through the same steps, so that a result counts the same whoever
// collects it.
type runs struct {
	agents       *agent.Pool
	gates        Gates
	trees        Workspaces
	store        Store
	forge        Forge
	repositories Repositories
	settings     Settings
	watch        Observer
	now          func() time.Time
}

// The git work that follows an agent ends after afterwards, and leaving after the
// tick is stopped: the next one does it then, from what the run left.
const (
	afterwards = 10 * time.Minute
	leaving    = 3 * time.Second
)

// errUnwanted is why the job of one workstream is ended while the pass goes on.
var errUnwanted = errors.New("a person wants it to end")

// following is the context of the work that follows a run that ctx was for.
func following(ctx context.Context) (context.Context, context.CancelFunc) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterwards)
	forget := context.AfterFunc(ctx, func() {
		if !errors.Is(context.Cause(ctx), errUnwanted) {
			time.AfterFunc(leaving, cancel)
		}
	})
	return bounded, func() { forget(); cancel() }
}

// errand is one run of an agent, as the goroutine that does it sees it.
type errand struct {
	agent  string // name
	call   agent.Call
	before *work.Workstream // as it was at the start
	task   *work.Task       // of it
	record work.Execution
	tree   workspace.Workspace
	repo   Repository
	// putBack is what came of restoring the workspace in which a reading agent wrote.
	putBack workspace.Restored
}

// task is the job of running an agent on a task: the execution is written
// before the workstream names it, and named before the agent starts.
func (r *runs) task(board *work.Board, w *work.Workstream, t *work.Task, name string) Job {
	copied := w.Clone()
	role := t.Kind.Role()
	title := fmt.Sprintf("%s of %s", role, w.ID)
	return Job{Name: title, Workstream: w.ID, Agent: name, Begin: func(now time.Time) (Act, error) {
		id := copied.NextExecution()
		e := r.errand(copied, copied.Task(t.ID), id, name)
		e.record.StartedAt = now.UTC()
		e.call.BudgetUSD, _ = budget.Left(r.settings.Budget.Caps, spent(board, w, t, r.settings.Tick, now))
		return func(ctx context.Context) Record {
			err := r.prepare(copied, copied.Task(t.ID), &e)
			return func(now time.Time) (Act, error) {
				switch {
				case git.Outside(err):
					wait(w, "machine", err.Error(), now)
					return nil, Notice(w.ID + ": no run can be begun: " + err.Error())
				case err != nil:
					return r.refuse(w, "workspace:execution", err.Error()), nil
				}
				if t.Status != work.TaskPending || w.Held != nil {
					return nil, nil // somebody changed their mind meanwhile
				}
				if err := w.Begin(t, now); err != nil {
					return nil, err
				}
				r.watch.Started(id, title+" ("+name+")", now)
				return r.run(board, w, t.ID, e), nil
			}
		}, nil
	}}
}

// errand describes the run of a task by an agent.
func (r *runs) errand(w *work.Workstream, t *work.Task, id, name string) errand {
	repo := r.repositories[w.Repository]
	role := t.Kind.Role()
	e := errand{agent: name, before: w, task: t, tree: treeOf(w), repo: repo}
	e.record = work.Execution{
		Schema: work.Schema, ID: id, Workstream: w.ID, Task: t.ID, Kind: work.ByAgent, TaskKind: t.Kind, Role: role,
		Agent: name, Tick: r.settings.Tick, Before: w.Head,
	}
	e.call = agent.Call{
		Execution: id, Dir: r.store.ExecutionDir(id), Workspace: r.trees.Path(w.ID),
		Task: t.Kind, TaskID: t.ID, Workstream: w.ID,
	}
	if s, ok := w.Sessions[role]; ok && s.Agent == name {
		e.call.Session, e.call.Previous, e.record.Resumed = s.ID, s.Usage, s.ID
	}
	return e
}

// prepare writes the execution's folder: prompt, packet and record.
func (r *runs) prepare(w *work.Workstream, t *work.Task, e *errand) error {
	dir, err := r.store.NewExecutionDir(e.record.ID)
	if err != nil {
		return err
	}
	text, packet, err := r.brief(w, t)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "prompt.md"), text, 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "packet.json"), packet, 0o600); err != nil {
		return err
	}
	if e.call.Schema, err = prompt.Schema(t.Kind); err != nil {
		return err
	}
	return r.store.SaveExecution(&e.record)
}

// run is the act of running the agent to its end.
func (r *runs) run(board *work.Board, w *work.Workstream, task string, e errand) Act {
	return func(ctx context.Context) Record {
		return r.collect(ctx, board, w, task, e, r.agents.Agent(e.agent).Run(ctx, e.call))
	}
}

// adoption is the job of taking over the run of a dead tick.
func (r *runs) adoption(w *work.Workstream, t *work.Task, board *work.Board) Job {
	copied, task, id := w.Clone(), t.ID, t.Execution()
	return do("adopt "+id, w.ID, func(ctx context.Context) Record {
		e := r.errand(copied, copied.Task(task), id, "")
		if record, err := r.store.Execution(id); err == nil {
			e.record, e.agent = *record, record.Agent
			e.call.Session = record.Resumed
		}
		e.record.Adopted = true
		return r.collect(ctx, board, w, task, e, r.agents.Adopt(ctx, e.agent, e.call))
	})
}

// collect looks at what a run left behind, and returns how to record it. Git
// comes first and the workstream last: what state names is there.
func (r *runs) collect(ctx context.Context, board *work.Board, w *work.Workstream, task string, e errand, got agent.Outcome) Record {
	ctx, cancel := following(ctx)
	defer cancel()
	out := work.Outcome{Execution: e.record.ID, Class: got.Class, Detail: got.Detail, Result: got.Result, ResetAt: got.ResetAt}
	r.inspect(ctx, &e, &out)
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil // the next tick adopts the run
	}
	if out.Class == "" {
		out.Class, out.Detail = e.before.Refused(e.task, out)
	}
	e.finish(got, out, r.now())
	err := r.store.SaveExecution(&e.record)
	if err == nil && out.Class == "" && got.Result.Memory != "" {
		err = r.store.AppendMemory(w.ID, got.Result.Memory, memoryCap)
	}
	return func(now time.Time) (Act, error) {
		r.watch.Finished(e.record)
		if err != nil {
			return nil, err
		}
		r.account(board, w, w.Task(task), e, got, now)
		if e.putBack.Outcome != "" {
			w.Recovered(recoveryOf(e.putBack, task, now))
		}
		return nil, w.Finish(w.Task(task), out, e.repo.Policy, now)
	}
}

const memoryCap = 64 << 10 // bytes of a workstream's memory.md

// inspect makes a checkpoint of a writing agent's work, also when it has to
// answer once more; what an agent that was only to read has written is put aside.
func (r *runs) inspect(ctx context.Context, e *errand, out *work.Outcome) {
	if !e.record.TaskKind.Writes() {
		r.putAside(ctx, e, out)
		return
	}
	if out.Class != "" && out.Class != work.ClassOutputInvalid {
		return // what it left is saved by the row recover
	}
	message := out.Result.CommitMessage
	if message == "" {
		message = string(e.record.TaskKind) + ": " + e.tree.ID
	}
	if e.repo.Slug != "" {
		message = forge.CommitMessage(message)
	}
	got, err := r.trees.Checkpoint(ctx, e.repo.Repository, e.tree, message)
	if err != nil {
		out.Class, out.Detail = work.ClassOrdinary, "what the agent left could not be committed: "+err.Error()
		return
	}
	if got.Problem != "" {
		out.Problem = string(got.Problem) + ": " + got.Detail
	} else {
		c := checkpointOf(got, e.record.Task, e.record.ID, time.Time{})
		out.Checkpoint = &c
		e.record.After, e.record.Changed = got.Commit, got.Changed[:min(len(got.Changed), 100)]
		r.reconciled(ctx, e, out)
	}
}

func (r *runs) putAside(ctx context.Context, e *errand, out *work.Outcome) {
	state, err := r.trees.Verify(ctx, e.repo.Repository, e.tree)
	if err == nil && (!state.Clean || state.Head != e.tree.Head) {
		e.putBack, err = r.trees.Restore(ctx, e.repo.Repository, e.tree, e.record.Task)
	}
	if err == nil && (e.putBack.Outcome == workspace.Rejected || e.putBack.Outcome == workspace.Failed) {
		err = errors.New(e.putBack.Detail)
	}
	if err != nil {
		out.Class, out.Detail = work.ClassOrdinary, "the workspace could not be put back: "+err.Error()
	}
}

// finish completes the record of the execution.
func (e *errand) finish(got agent.Outcome, out work.Outcome, now time.Time) {
	x := &e.record
	x.EndedAt, x.ExitCode = got.Exit.EndedAt.UTC(), got.Exit.Code
	if x.EndedAt.Before(x.StartedAt) || x.EndedAt.After(now) { // it never ran, or what it left says so
		x.EndedAt = now.UTC()
	}
	if x.StartedAt.IsZero() { // its record was lost
		x.StartedAt = x.EndedAt
	}
	x.Class, x.Detail, x.Session, x.Usage = out.Class, out.Detail, got.Session, got.Usage
	if x.Outcome = string(out.Class); x.Outcome == "" {
		x.Outcome = orElse(got.Result.Status, "ok")
	}
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// account books what the run cost, and remembers its session and whether its
// agent can be used.
func (r *runs) account(board *work.Board, w *work.Workstream, t *work.Task, e errand, got agent.Outcome, now time.Time) {
	wall := e.record.EndedAt.Sub(e.record.StartedAt)
	w.Spending.Add(got.Usage, wall)
	t.Spending.Add(got.Usage, wall)
	board.Spending.Record(day(now), e.record.ID, work.Cost{
		USD: got.Usage.CostUSD, Tokens: got.Usage.InputTokens + got.Usage.OutputTokens, Wall: wall, Tick: r.settings.Tick,
	})
	switch {
	case got.SessionLost:
		delete(w.Sessions, e.record.Role)
	case got.Session != "":
		if w.Sessions == nil {
			w.Sessions = make(map[work.Role]work.Session)
		}
		w.Sessions[e.record.Role] = work.Session{Agent: e.agent, ID: got.Session, At: now.UTC(), Usage: got.Totals}
	}
	board.Agents.Note(e.agent, got.Class, got.Detail, got.ResetAt, now)
	r.alert(board, w, t, now)
}

// alert says, once, that a cap is nearly reached.
func (r *runs) alert(board *work.Board, w *work.Workstream, t *work.Task, now time.Time) {
	of := map[string]string{budget.ScopeTask: t.ID, budget.ScopeDay: day(now), budget.ScopeTick: r.settings.Tick}
	for _, a := range budget.Check(r.settings.Budget.Caps, spent(board, w, t, r.settings.Tick, now)).Alerts {
		w.Say("alert:"+a.Cap+":"+of[a.Scope], "budget_alert", "A budget is nearly used up: "+a.Detail+".", now)
	}
}

// checkpointOf turns what a workspace reports into the domain's record.
func checkpointOf(c workspace.Checkpoint, task, execution string, at time.Time) work.Checkpoint {
	return work.Checkpoint{
		Commit: c.Commit, Tree: c.Tree, DiffHash: c.DiffHash, Task: task, Execution: execution, At: at.UTC(),
		NetNew: c.NetNew, Changed: len(c.Changed), Insertions: c.Insertions, Deletions: c.Deletions,
	}
}
