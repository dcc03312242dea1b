package pass

import (
	"context"
	"fmt"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

// file commits the plan on the branch, as a checkpoint of its own. A tick that
// died after the commit finds it there.
func (l *land) file(w *work.Workstream, repo Repository) Job {
	path, tree, content := w.PlanFile(repo.Policy), treeOf(w), forge.PlanFile(w)
	message := forge.CommitMessage(fmt.Sprintf("Plan %d: %s", w.Revision, w.Title))
	return do("file the plan of "+w.ID, w.ID, func(ctx context.Context) Record {
		got, err := l.trees.PutFile(ctx, repo.Repository, tree, path, []byte(content), message)
		return func(now time.Time) (Act, error) {
			switch {
			case ctx.Err() != nil:
				return nil, nil
			case err != nil:
				return nil, stopWith(w, "workspace:plan", err.Error(), "Set plan_path of the repository to another place, or mend it, then try again with `backburner retry "+w.ID+"`.", now)
			}
			w.FilePlan(path, checkpointOf(got, "", "", now))
			return nil, nil
		}
	})
}
