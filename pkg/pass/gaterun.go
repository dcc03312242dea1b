package pass

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/backburner-cli/backburner/pkg/gate"
	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// gate is the job of running a gate on exactly the commit the workstream is at.
func (r *runs) gate(w *work.Workstream, name string) Job {
	id, tree, repo := w.NextExecution(), treeOf(w), r.repositories[w.Repository]
	title := fmt.Sprintf("%s gate of %s", name, w.ID)
	x := work.Execution{
		Schema: work.Schema, ID: id, Workstream: w.ID, Kind: work.ByGate, Gate: name, Tick: r.settings.Tick, Before: w.Head,
	}
	return Job{Name: title, Workstream: w.ID, Gate: true, Begin: func(now time.Time) (Act, error) {
		x.StartedAt = now.UTC()
		return func(context.Context) Record {
			dir, err := r.store.NewExecutionDir(id)
			if err == nil {
				err = r.store.SaveExecution(&x)
			}
			return func(now time.Time) (Act, error) {
				if err != nil {
					return r.refuse(w, "workspace:execution", err.Error()), nil
				}
				if w.Held != nil || !w.Status.Active() {
					return nil, nil
				}
				if err := w.Begin(nil, now); err != nil {
					return nil, err
				}
				r.watch.Started(id, title, now)
				return r.judge(w, x, dir, tree, repo), nil
			}
		}, nil
	}}
}

// judge runs the gate, and checks that it judged the commit and nothing else.
func (r *runs) judge(w *work.Workstream, x work.Execution, dir string, tree workspace.Workspace, repo Repository) Act {
	return func(ctx context.Context) Record {
		got := r.gates.Run(ctx, gate.Call{Gate: repo.Gates[x.Gate], Execution: x.ID, Dir: dir, Workspace: r.trees.Path(w.ID)})
		after, cancel := following(ctx)
		defer cancel()
		state, err := r.untouched(after, &got, tree, repo)
		if errors.Is(after.Err(), context.Canceled) {
			return nil // the next tick settles it
		}
		x.EndedAt, x.Steps, x.Detail, x.Outcome = r.now().UTC(), got.Steps, got.Detail, "green"
		if !got.Green {
			x.Outcome, x.Class = "red", got.Class
		}
		if got.Class == work.ClassInterrupted {
			x.Outcome = string(got.Class) // it judged nothing
		}
		if err == nil {
			err = r.store.SaveExecution(&x)
		}
		return func(now time.Time) (Act, error) {
			r.watch.Finished(x)
			w.GateRun = ""
			if err != nil {
				return r.refuse(w, "workspace:gate", err.Error()), nil
			}
			if got.Class != "" && got.Class != work.ClassGate {
				return r.notJudged(w, got), nil
			}
			w.AddEvidence(work.Evidence{
				Gate: x.Gate, Green: got.Green, Reason: got.Reason, Detail: got.Detail,
				Commit: tree.Head, Tree: state, Execution: x.ID, At: now.UTC(),
			})
			return nil, nil
		}
	}
}

// notJudged is a run that says nothing about the work: it was cut, and is run
// again, or the machine failed, and a person has to see to it.
func (r *runs) notJudged(w *work.Workstream, got gate.Outcome) Act {
	if got.Class == work.ClassInterrupted || !w.Status.Active() {
		return nil
	}
	return r.refuse(w, "workspace:gate", got.Detail)
}

// untouched turns a gate that changed the tree or moved HEAD red, and puts the
// workspace back. It returns the tree that was tested.
func (r *runs) untouched(ctx context.Context, got *gate.Outcome, tree workspace.Workspace, repo Repository) (string, error) {
	state, err := r.trees.Verify(ctx, repo.Repository, tree)
	if err != nil {
		return "", err
	}
	switch {
	case state.Head != tree.Head:
		got.Reason, got.Detail = "moved_head", "the gate moved HEAD; a gate only looks"
	case !state.Clean:
		got.Reason, got.Detail = "dirtied_tree", fmt.Sprintf("the gate changed the tree (%s); a gate only looks, so have it write to ignored files", first(state.Dirty, 5))
	default:
		return state.Tree, nil
	}
	got.Green, got.Class = false, work.ClassGate
	if _, err := r.trees.Restore(ctx, repo.Repository, tree, "gate"); err != nil {
		return "", err
	}
	state, err = r.trees.Verify(ctx, repo.Repository, tree)
	return state.Tree, err
}

// first joins the first few of a list, and says how many more there are.
func first(list []string, n int) string {
	text := ""
	for i, s := range list {
		if i == n {
			return fmt.Sprintf("%s and %d more", text, len(list)-n)
		}
		if i > 0 {
			text += ", "
		}
		text += work.Printable(s)
	}
	return text
}
