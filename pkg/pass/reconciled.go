package pass

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/backburner-cli/backburner/pkg/work"
)

// reconciled holds a reconciler that says it is done to its word: the base is
// merged, and the files that were in conflict have no markers left. A merge
// with markers is not kept on the branch; the row recover saves it.
func (r *runs) reconciled(ctx context.Context, e *errand, out *work.Outcome) {
	base, conflict := e.task.Context.Base, e.before.Conflict
	if e.task.Kind != work.Reconcile || base == "" || conflict == nil || out.Class != "" || out.Result.Status != work.ResultDone {
		return
	}
	shared, err := r.trees.MergeBase(ctx, e.repo.Repository, out.Checkpoint.Commit, base)
	if err == nil && shared != base {
		out.Class, out.Detail = work.ClassNoWork, "the reconciler did not merge "+base[:min(len(base), 10)]+" of "+e.repo.Base
		return
	}
	var marked []string
	if err == nil {
		diff, diffErr := r.trees.Diff(ctx, e.repo.Repository, base, out.Checkpoint.Commit, bundleDiff)
		err, marked = diffErr, withMarkers(diff.Patch, conflict.Files)
	}
	switch {
	case err != nil:
		out.Class, out.Detail = work.ClassOrdinary, err.Error()
	case len(marked) > 0:
		out.Class, out.Detail = work.ClassNoWork, "the reconciler left conflict markers in "+first(marked, 5)
		out.Checkpoint, e.record.After = nil, ""
	}
}

// withMarkers are those of the files in which a patch adds a whole conflict.
func withMarkers(patch []byte, files []string) []string {
	var marked []string
	path, open := "", false
	for line := range bytes.Lines(patch) {
		text := strings.TrimRight(string(line[:min(len(line), 4096)]), "\t\r\n")
		switch {
		case strings.HasPrefix(text, "+++ "):
			path, open = strings.TrimPrefix(strings.TrimPrefix(text, "+++ "), "b/"), false
		case strings.HasPrefix(text, "+<<<<<<< "):
			open = true
		case open && strings.HasPrefix(text, "+>>>>>>> "):
			open = false
			if slices.Contains(files, path) && !slices.Contains(marked, path) {
				marked = append(marked, path)
			}
		}
	}
	return marked
}
