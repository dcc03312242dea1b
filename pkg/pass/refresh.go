package pass

import (
	"context"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/git"
	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// refresh makes the workspaces of what is about to run, brings them up to
// their branches, and compares those with the base before a wave. A repository
// is looked at once per tick.
type refresh struct {
	trees        Workspaces
	runs         *runs
	repositories Repositories
	bases        map[string]*base
}

// base is what a repository looked like when this tick first needed it.
type base struct {
	workspace.Base
	err  error
	done map[*Batch]map[string]bool // workstreams this batch already refreshed
}

func (r *refresh) Select(board *work.Board, b *Batch, now time.Time) []Job {
	if r.bases == nil {
		r.bases = make(map[string]*base)
	}
	var jobs []Job
	asked := make(map[string]bool)
	for _, w := range b.workstreams(board) {
		repo, known := r.repositories[w.Repository]
		ready, stopped := b.First && w.Status == work.ReadyToMerge, b.First && stoppedByRepository(w)
		needed := needsTree(work.Next(w, repo.Policy, now))
		if !known || !ready && !stopped && !needed {
			continue
		}
		seen := r.bases[repo.ID]
		switch {
		case seen == nil && !asked[repo.ID]:
			asked[repo.ID] = true
			jobs = append(jobs, r.look(board, repo))
		case seen == nil || seen.done[b][w.ID]:
		case seen.trouble(repo) != "":
			seen.mark(b, w.ID)
			switch {
			case stopped:
				jobs = append(jobs, stillUnusable(w, seen.trouble(repo))...)
			case !ready || needed:
				jobs = append(jobs, r.unusable(w, repo, seen))
			}
		case stopped:
			jobs = append(jobs, usable(w)) // not marked: now its workspace has to follow
		case ready && seen.moved(w):
			seen.mark(b, w.ID)
			jobs = append(jobs, r.moved(w, repo, seen.Base))
		case ready && !needed:
			seen.mark(b, w.ID)
			if j, ok := r.ready(w, repo, seen.Base); ok {
				jobs = append(jobs, j)
			}
		default:
			seen.mark(b, w.ID)
			jobs = append(jobs, r.prepare(w, repo, seen.Base))
		}
	}
	return jobs
}

func needsTree(s work.Step) bool {
	return s.Act == work.RunAgent || s.Act == work.RunGate || s.Act == work.FilePlan || s.Act == work.Publish
}

func (s *base) mark(b *Batch, id string) {
	if s.done == nil {
		s.done = make(map[*Batch]map[string]bool)
	}
	if s.done[b] == nil {
		s.done[b] = make(map[string]bool)
	}
	s.done[b][id] = true
}

// look asks the repository for its base.
func (r *refresh) look(board *work.Board, repo Repository) Job {
	var branches []string
	for _, w := range board.Workstreams {
		if w.Repository == repo.ID && w.Head != "" && git.CheckBranch(w.Branch) == nil { // a bad one is its own trouble
			branches = append(branches, w.Branch)
		}
	}
	job := do("look at "+repo.ID, "", func(ctx context.Context) Record {
		seen, err := workspace.Base{}, repo.Taken
		if err == nil {
			seen, err = r.trees.Sync(ctx, repo.Repository, branches...)
		}
		return func(now time.Time) (Act, error) {
			r.bases[repo.ID] = &base{Base: seen, err: err}
			if git.Outside(err) {
				return nil, Notice(repo.ID + " cannot be looked at: " + err.Error())
			}
			if err == nil {
				known := board.Repository(repo.ID)
				if known.Base != seen.SHA {
					known.Base, known.Tree, known.SeenAt = seen.SHA, seen.Tree, now.UTC()
				}
			}
			return nil, nil
		}
	})
	job.Repository = repo.ID
	return job
}

// prepare brings one workspace up to its branch, then the branch up to its base.
func (r *refresh) prepare(w *work.Workstream, repo Repository, at workspace.Base) Job {
	tree, pull := treeOf(w), w.Reviewed()
	return do("refresh "+w.ID, w.ID, func(ctx context.Context) Record {
		got, err := r.tree(ctx, repo, tree, pull)
		fork := at.SHA // where a new branch begins
		anew := tree.Head == "" || pull != 0 || got.Status == workspace.Rewritten
		if err == nil && anew && got.Head != "" && got.Head != at.SHA {
			fork, err = r.trees.MergeBase(ctx, repo.Repository, got.Head, at.SHA) // it is not new
		}
		return func(now time.Time) (Act, error) {
			if ctx.Err() != nil {
				return nil, nil
			}
			if err != nil {
				return r.runs.refuse(w, "workspace:failed", err.Error()), nil
			}
			if then, stop := r.prepared(w, got, now); stop {
				return then, nil
			}
			if w.Base == "" || anew {
				w.Base = fork
			}
			return r.mainline(w, repo, at), nil
		}
	})
}

// tree makes the workspace, or brings it up to date: to its branch, or to the
// pull request that is only looked at.
func (r *refresh) tree(ctx context.Context, repo Repository, tree workspace.Workspace, pull int) (workspace.Prepared, error) {
	if pull != 0 {
		return r.trees.PreparePull(ctx, repo.Repository, tree, pull)
	}
	return r.trees.Prepare(ctx, repo.Repository, tree)
}

// moved reports whether the published branch is no longer where it was left.
func (s *base) moved(w *work.Workstream) bool {
	branch := s.Branches[w.Branch]
	return branch != "" && branch != w.Published
}

// moved takes back what was ready when people moved its branch.
func (r *refresh) moved(w *work.Workstream, repo Repository, at workspace.Base) Job {
	job := r.prepare(w, repo, at)
	follow := job.Begin
	job.Begin = func(now time.Time) (Act, error) {
		err := w.Move(work.QA, work.Reason{Code: "evidence_stale", Detail: "somebody moved " + w.Branch + ", so it is verified again"}, now)
		if err != nil {
			return nil, err
		}
		return follow(now)
	}
	return job
}

// ready looks whether what is ready to merge still is: people may have merged
// it, or moved the base so that the two conflict.
func (r *refresh) ready(w *work.Workstream, repo Repository, at workspace.Base) (Job, bool) {
	tree := treeOf(w)
	if at.SHA == w.Base || at.SHA == w.Compared || w.LandsOnHub() {
		return Job{}, false
	}
	return do("look at "+w.ID, w.ID, func(ctx context.Context) Record {
		landed, err := r.trees.MergeBase(ctx, repo.Repository, tree.Head, at.SHA)
		var got workspace.Mainline
		if err == nil && landed != tree.Head {
			got, err = r.trees.Mainline(ctx, repo.Repository, tree.Head, at.SHA)
		}
		return func(now time.Time) (Act, error) {
			switch {
			case err != nil:
				return nil, err
			case landed == tree.Head, got.Status == workspace.MainlineBehind && got.Tree == at.Tree: // also as other commits
				return nil, landedOn(w, repo.Base, at.SHA, now)
			case got.Status == workspace.MainlineConflict:
				return nil, conflict(w, got, now)
			}
			w.Compared = at.SHA
			return nil, nil
		}
	}), true
}

// landedOn notes that the base has the work: people merged it, or a tick that
// was asked to did, and died before it could note that.
func landedOn(w *work.Workstream, base, sha string, now time.Time) error {
	said, detail := "Merged by people: "+base+" has it.", "people merged it into "+base
	if intent := mergeIntent(w); intent.ID != "" {
		w.Done(intent.ID)
		said = base + " has all of it, at " + sha
		detail = said
	}
	w.Say("merged:"+sha, "merged", said, now)
	return w.Move(work.Merged, work.Reason{Code: "landed", Detail: detail}, now)
}

// prepared notes what became of the workspace; stop means nothing may run in it.
func (r *refresh) prepared(w *work.Workstream, got workspace.Prepared, now time.Time) (then Act, stop bool) {
	status := string(got.Status)
	switch {
	case strings.HasPrefix(status, "deferred_"):
		wait(w, status, got.Detail, now)
		return nil, true
	case strings.HasPrefix(status, "blocked_"):
		if t := w.Pending(); t != nil && (got.Status == workspace.BlockedDirty || got.Status == workspace.BlockedWrongBranch) {
			t.RecoveryNeeded = true
		}
		return r.runs.refuse(w, "workspace:"+status, got.Detail), true
	}
	if got.Remote != "" && w.Published != "" { // what is there is public, whoever wrote it
		w.Published = got.Remote
	}
	if got.Status == workspace.Joined {
		w.Join(work.Checkpoint{Commit: got.Head, Tree: got.Tree, NetNew: true, At: now.UTC()}, now)
		return nil, false
	}
	w.Head, w.Tree = got.Head, got.Tree
	switch {
	case got.Status == workspace.Rewritten:
		said := "Somebody replaced what was published on `" + w.Branch + "`, and the work goes on from " + got.Head + "."
		if got.Kept != "" {
			said += " What it was is saved as `" + got.Kept + "`."
		}
		w.Say("rewritten:"+got.Head, "rewritten", said, now)
		w.Published = got.Head
	case got.Status == workspace.FastForwarded && w.Published != "":
		w.Published = got.Head
	}
	return nil, false
}

// mainline compares the branch with a base that moved; nil when there is
// nothing to compare.
func (r *refresh) mainline(w *work.Workstream, repo Repository, at workspace.Base) Act {
	if w.Base == at.SHA || w.Conflict != nil || !repo.Policy.CheckBefore[w.Status] {
		return nil
	}
	tree := treeOf(w)
	return func(ctx context.Context) Record {
		got, err := r.trees.Mainline(ctx, repo.Repository, tree.Head, at.SHA)
		if err == nil && got.Status == workspace.MainlineBehind && repo.Policy.AutoMerge {
			return r.merge(ctx, w, tree, repo, at)
		}
		return func(now time.Time) (Act, error) {
			switch {
			case ctx.Err() != nil:
				return nil, nil
			case err != nil:
				return r.runs.refuse(w, "workspace:mainline", err.Error()), nil
			case got.Status == workspace.MainlineConflict:
				return nil, conflict(w, got, now)
			case got.Status == workspace.MainlineUpToDate:
				w.Base = at.SHA
			}
			return nil, nil
		}
	}
}

// merge brings the base into the branch, as a checkpoint of its own.
func (r *refresh) merge(ctx context.Context, w *work.Workstream, tree workspace.Workspace, repo Repository, at workspace.Base) Record {
	got, err := r.trees.MergeMainline(ctx, repo.Repository, tree, "Merge "+repo.Base+" into "+tree.Branch)
	return func(now time.Time) (Act, error) {
		if ctx.Err() != nil {
			return nil, nil
		}
		if err != nil {
			return r.runs.refuse(w, "workspace:mainline", err.Error()), nil
		}
		verified := w.Verified != "" && w.Verified == w.Tree
		w.AddCheckpoint(checkpointOf(got, "", "", now))
		w.Base = at.SHA
		if verified {
			w.Verified = w.Tree // the gates judge the merge; nobody's work changed
		}
		return nil, nil
	}
}

// conflict stops the workstream until its branch is reconciled with the base.
func conflict(w *work.Workstream, got workspace.Mainline, now time.Time) error {
	w.Conflict = &work.Conflict{Ours: got.Ours, Base: got.Base, Files: got.Files, DetectedAt: now.UTC()}
	where := "the branch conflicts with its base in " + first(got.Files, 5)
	w.Say("conflict:"+got.Ours+":"+got.Base, "blocked", "Stopped: "+where+". The reconciler merges the two.", now)
	if err := block(w, work.Reason{Code: "mainline_conflict", Detail: where}, now); err != nil {
		return err
	}
	asked := mergeIntent(w)
	if asked.ID == "" {
		return nil
	}
	w.Done(asked.ID)
	w.Say("not_merged:"+asked.Request, "not_merged", "Not merged: "+where+". Ask again with `backburner merge "+w.ID+"` when it is ready.", now)
	return Notice("merge " + w.ID + ": not merged: " + where + "; ask again when it is ready")
}
