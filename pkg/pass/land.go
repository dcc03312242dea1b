package pass

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/git"
	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// land brings finished work to the repository: it publishes branches, and
// merges what a person asked to merge. The intent is saved before the effect,
// so that a repeat finds what was done.
type land struct {
	trees        Workspaces
	store        Store
	forge        Forge
	hub          Hub
	repositories Repositories
	troubles     *troubles
	putOff       map[string]bool // what this tick tried in vain, by intent or workstream
	merging      map[string]bool // repositories that something is being merged into: one merge builds on the other
}

const (
	bundleDiff    = 8 << 20 // bytes of the patch in a review bundle
	bundleCommits = 500
)

func (l *land) Select(board *work.Board, b *Batch, now time.Time) []Job {
	var jobs []Job
	for _, w := range b.workstreams(board) {
		repo, known := l.repositories[w.Repository]
		if !known || board.Agents.Hold != nil || l.putOff[w.ID] {
			continue
		}
		switch work.Next(w, repo.Policy, now).Act {
		case work.FilePlan:
			jobs = append(jobs, l.file(w, repo))
		case work.Publish:
			if l.putOff[w.PublishID()] {
				continue
			}
			jobs = append(jobs, l.publish(board, w, repo))
		case work.PostReview:
			jobs = append(jobs, l.review(board, w, repo))
		case work.Land:
			if l.merging[repo.ID] {
				return []Job{{Wait: true}}
			}
			jobs = append(jobs, l.merge(w, repo))
		}
	}
	return jobs
}

// publish brings the branch to the repository, unless it holds what may not
// be published.
func (l *land) publish(board *work.Board, w *work.Workstream, repo Repository) Job {
	id := w.PublishID()
	copied := w.Clone()
	return Job{Name: "publish " + w.ID, Workstream: w.ID, Repository: repo.ID, Begin: func(now time.Time) (Act, error) {
		w.Intend(work.Intent{ID: id, Kind: "publish", Ref: "refs/heads/" + w.Branch, Old: w.Published, New: w.Head, At: now.UTC()})
		return func(ctx context.Context) Record {
			bad, got, err := l.bring(ctx, copied, repo)
			return func(now time.Time) (Act, error) {
				if ctx.Err() != nil {
					return nil, nil // the intent stays; the next tick repeats it
				}
				if copied.Head != w.Head {
					w.Done(id)
					return nil, w.Replace(copied.Head, bad, now)
				}
				switch i := w.Intent(id); {
				case i == nil:
				case forge.Bars(err) || transient(err) && i.Patient(now):
					l.putOff[id] = true
					return nil, l.later(board, i, repo, err, now)
				case err == nil && crossed(w, got) && i.Patient(now):
					l.putOff[id], i.Trouble = true, got.Detail
					return nil, nil
				}
				w.Done(id)
				if copied.Thread != nil {
					w.Thread.Propose(copied.Thread.Pull)
					w.Thread.Parts, w.Thread.PartsOf = copied.Thread.Parts, copied.Thread.PartsOf
				}
				return nil, published(w, copied.Head, bad, got, err, now)
			}
		}, nil
	}}
}

// crossed reports whether people pushed to what was published, while this went on
// here: the next tick joins the two.
func crossed(w *work.Workstream, got workspace.Published) bool {
	return got.Status == workspace.PublishLeaseFailed && got.Found != "" && w.Published != ""
}

// later notes why something is not published yet. What a person has to mend is
// told as trouble of the repository, and takes as long as it takes.
func (l *land) later(board *work.Board, i *work.Intent, repo Repository, err error, now time.Time) error {
	_, trouble, _ := strings.Cut(err.Error(), ": ") // what was to be done is known
	i.Trouble, i.Waits = strings.Join(strings.Fields(trouble), " "), forge.Bars(err)
	if !i.Waits {
		return nil
	}
	i.At = now.UTC()
	return l.troubles.meet(board.Repository(repo.ID), true, err, now)
}

// transient reports whether the next tick may be able to do what git or the
// disk could not.
func transient(err error) bool {
	if forge.FromHub(err) {
		return forge.Passes(err)
	}
	var rejected *workspace.RejectedError
	var name *git.NameError
	var gone *git.NotRepositoryError
	return err != nil && !errors.Is(err, git.ErrNoRoom) && !errors.As(err, &rejected) && !errors.As(err, &name) && !errors.As(err, &gone)
}

// bring checks the scope of the work, publishes it, and writes the review bundle.
func (l *land) bring(ctx context.Context, w *work.Workstream, repo Repository) (bad string, got workspace.Published, err error) {
	diff, err := l.trees.Diff(ctx, repo.Repository, w.Base, w.Head, bundleDiff)
	if err != nil {
		return "", got, err
	}
	changed, err := l.changed(ctx, w, repo, diff)
	if err != nil {
		return "", got, err
	}
	if bad = w.OutOfScope(changed, diff.Insertions+diff.Deletions, repo.Policy); bad != "" {
		return bad, got, nil
	}
	head := w.Head
	if bad, err = l.inspect(ctx, w, repo, diff); bad != "" || err != nil || w.Head != head {
		return bad, got, err
	}
	log, err := l.trees.Log(ctx, repo.Repository, w.Base, w.Head, bundleCommits)
	if err != nil {
		return "", got, err
	}
	if got, err = l.push(ctx, w, repo); err != nil {
		return "", got, err
	}
	if err := l.forward(ctx, w, repo, &got); err != nil {
		return "", got, err
	}
	if err := l.openPull(ctx, w, repo, got); err != nil {
		return "", got, err
	}
	return "", got, l.forge.WriteBundle(ctx, l.store.Folder(w.ID), bundleOf(w, diff, log))
}

// changed are the paths of a difference to the base that the work is to answer for:
// what is published already was looked at before, or people put it there.
func (l *land) changed(ctx context.Context, w *work.Workstream, repo Repository, diff workspace.Review) (paths []string, err error) {
	since := diff
	if w.Published != "" {
		if since, err = l.trees.Diff(ctx, repo.Repository, w.Published, w.Head, 0); err != nil {
			return nil, err
		}
	}
	here := make(map[string]bool, len(since.Changes))
	for _, c := range since.Changes {
		here[c.Path] = true
	}
	for _, c := range diff.Changes {
		if here[c.Path] {
			paths = append(paths, c.Path)
		}
	}
	return paths, nil
}

// inspect says what of the work must not be made public. What is only in its
// history goes with that: then the head becomes one commit of all of it, which
// is to be published instead, and why is what is said. So does what an agent's
// message says that is not for an agent to say.
func (l *land) inspect(ctx context.Context, w *work.Workstream, repo Repository, diff workspace.Review) (bad string, err error) {
	known := []string{w.Base}
	if w.Published != "" {
		known = []string{w.Published, w.Base}
	}
	all, history := work.Reader{}, work.Reader{Oversteps: func(message string) bool { return forge.Oversteps(message, ownIssues(w, repo)...) }}
	large, err := l.trees.Outgoing(ctx, repo.Repository, w.Head, known, &history)
	why := history.Trouble()
	switch {
	case err != nil:
		return "", err
	case len(large) > 0:
		why = tooLarge(diff, large)
	case why == "" && history.Overstepped():
		why = "a message in it closes another issue, or keeps services from testing the work"
	case why == "":
		return "", nil
	}
	message := fmt.Sprintf("%s\n\nBackburner-Workstream: %s", forge.CommitMessage(w.Title), w.ID)
	flat, large, err := l.trees.Flatten(ctx, repo.Repository, w.Head, known, message, &all)
	switch {
	case err != nil:
		return "", err
	case len(large) > 0:
		return tooLarge(diff, large), nil
	case all.Trouble() != "":
		return all.Trouble(), nil
	}
	w.Head = flat
	why, _, _ = strings.Cut(why, ";") // what is to be done about it is done
	return why, nil
}

// ownIssues are those that the pull request closes.
func ownIssues(w *work.Workstream, repo Repository) (issues []string) {
	if w.Thread == nil || repo.Slug == "" {
		return nil
	}
	for _, number := range append([]int{w.Thread.Number}, w.Thread.Parts...) {
		issues = append(issues, fmt.Sprintf("%s#%d", repo.Slug, number))
	}
	return issues
}

// tooLarge names a file that is.
func tooLarge(diff workspace.Review, large []string) string {
	for _, c := range diff.Changes {
		if slices.Contains(large, c.Object) {
			return fmt.Sprintf("%s has more than %d MB, which hosts of repositories refuse; have it kept out of git", c.Path, workspace.MostBytes>>20)
		}
	}
	return fmt.Sprintf("there is a file of more than %d MB; have it kept out of git", workspace.MostBytes>>20)
}

// forward pushes what was published in a repository on this machine on to its
// origin, if it has one. That this did not work stops nothing: it is said.
func (l *land) forward(ctx context.Context, w *work.Workstream, repo Repository, got *workspace.Published) error {
	if repo.Path == "" || got.Status != workspace.PublishPushed && got.Status != workspace.PublishAlready {
		return nil
	}
	on, err := l.trees.Forward(ctx, repo.Repository, w.Branch, w.Head)
	if err == nil && on.Status != "" && on.Status != workspace.PublishPushed && on.Status != workspace.PublishAlready {
		got.Detail = on.Detail
	}
	return err
}

// push publishes the branch where it is as it was last seen, or where all that
// is there is part of it: nothing of anybody is overwritten.
func (l *land) push(ctx context.Context, w *work.Workstream, repo Repository) (workspace.Published, error) {
	old := w.Published
	if old != "" {
		follows, err := l.follows(ctx, w, repo, old)
		if err != nil {
			return workspace.Published{}, err
		}
		if !follows { // what was seen there must not be what is replaced
			old = ""
		}
	}
	got, err := l.trees.Publish(ctx, repo.Repository, w.Branch, w.Head, old)
	switch {
	case err != nil || got.Status != workspace.PublishLeaseFailed || got.Found == "" && old == "":
		return got, err
	case got.Found == "": // it was deleted
		return l.trees.Publish(ctx, repo.Repository, w.Branch, w.Head, "")
	}
	if follows, err := l.follows(ctx, w, repo, got.Found); err != nil || !follows {
		return got, nil // it has commits that are not known here
	}
	return l.trees.Publish(ctx, repo.Repository, w.Branch, w.Head, got.Found)
}

// follows reports whether the work has a commit in it.
func (l *land) follows(ctx context.Context, w *work.Workstream, repo Repository, commit string) (bool, error) {
	shared, err := l.trees.MergeBase(ctx, repo.Repository, commit, w.Head)
	return shared == commit, err
}

func bundleOf(w *work.Workstream, d workspace.Review, log []git.LogEntry) forge.Bundle {
	var commits bytes.Buffer
	for _, c := range log {
		fmt.Fprintf(&commits, "%s %s\n", c.Commit[:min(len(c.Commit), 12)], work.Printable(c.Subject))
	}
	b := forge.Bundle{
		Workstream: w.ID, Title: w.Title, Branch: w.Branch, Base: w.Base, Head: w.Head, Diff: d.Patch, Log: commits.Bytes(),
		Plan: w.Plan, Revision: w.Revision, Summary: "```text\n" + d.Stat + "\n```", Next: "backburner merge " + w.ID,
	}
	for _, name := range []string{work.GateFast, work.GateFull} {
		if e, ok := w.Evidence[name]; ok {
			b.Gates = append(b.Gates, e)
		}
	}
	return b
}

func published(w *work.Workstream, head, bad string, got workspace.Published, err error, now time.Time) error {
	switch {
	case err != nil:
		return stop(w, "workspace:publish", err.Error(), now)
	case bad != "":
		return stopWith(w, "checkpoint_invalid", bad, "Have it taken back with `backburner retry "+w.ID+" \"take it back\"`. What protected_paths or max_diff_lines forbids can be allowed there.", now)
	case got.Status == workspace.PublishPushed || got.Status == workspace.PublishAlready:
		w.Publish(head, now)
		if got.Detail != "" {
			w.Say("origin:"+head, "not_pushed", "`"+w.Branch+"` is in the repository, but could not be pushed to its origin: "+strings.TrimRight(got.Detail, ".")+".", now)
		}
		return nil
	}
	if got.Status == workspace.PublishFailed {
		return stopWith(w, "remote_local_divergence", got.Detail, "See that backburner may push there, then try again with `backburner retry "+w.ID+"`.", now)
	}
	return stop(w, "remote_local_divergence", got.Detail, now)
}

// stop blocks a workstream and says so.
func stop(w *work.Workstream, code, detail string, now time.Time) error {
	return stopWith(w, code, detail, "Try again with `backburner retry "+w.ID+"`.", now)
}

func stopWith(w *work.Workstream, code, detail, then string, now time.Time) error {
	w.SayStopped(code, detail, work.Notice{Event: "blocked", Text: "Stopped: " + strings.TrimRight(detail, ".") + ".", Class: work.ClassHandover, Then: then}, now)
	return block(w, work.Reason{Code: code, Detail: detail}, now)
}
