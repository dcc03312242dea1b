package pass

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/gate"
	"github.com/backburner-cli/backburner/pkg/work"
)

// tell says what is due to be said: on the thread kept with the state, and on
// the hub where the workstream is there. A notice leaves the outbox only when it
// was told; telling one twice finds the first.
type tell struct {
	forge        Forge
	store        Store
	hub          Hub
	repositories Repositories
	troubles     *troubles
	silent       map[string]bool  // repositories, and workstreams, of which something could not be told: the next tick tries again
	bare         map[string]bool  // repositories in which no labels can be put on: this tick leaves it at that
	marking      map[string]bool  // repositories in which receipts are being left
	even         map[string]int64 // versions of workstreams of which nothing was owed
}

func (t *tell) Select(board *work.Board, b *Batch, now time.Time) []Job {
	return t.due(board, b, now, func(w *work.Workstream) bool {
		return work.Next(w, t.repositories[w.Repository].Policy, now).Act == work.Nothing || w.Status == work.Blocked
	})
}

// standing also shows how work stands that goes on at once.
func (t *tell) standing(board *work.Board, b *Batch, now time.Time) []Job {
	return t.due(board, b, now, func(*work.Workstream) bool { return true })
}

func (t *tell) due(board *work.Board, b *Batch, now time.Time, shows func(*work.Workstream) bool) []Job {
	var jobs []Job
	for _, w := range b.workstreams(board) {
		show := shows(w)
		if (len(w.Outbox) > 0 || show && t.owes(w, now)) && !t.mute(w) {
			jobs = append(jobs, t.job(board, w, show, now))
		}
	}
	return jobs
}

// between is what is told between two rows: what was said, and receipts. How the
// work stands is shown when it comes to rest, not at each step on the way.
func (t *tell) between(board *work.Board, b *Batch, now time.Time) []Job {
	var jobs []Job
	for _, w := range b.workstreams(board) {
		if len(w.Outbox) > 0 && !t.mute(w) {
			jobs = append(jobs, t.job(board, w, false, now))
		}
	}
	if b.First || b.Inbox {
		jobs = append(jobs, t.receipts(board)...)
	}
	return jobs
}

func (t *tell) mute(w *work.Workstream) bool { return t.barred(w.Repository) || t.silent[w.ID] }

// barred reports whether nothing is told in a repository yet, or by this tick: a
// forge says of what may not be seen today that it is not there.
func (t *tell) barred(repository string) bool {
	if t.silent[repository] || t.repositories[repository].Slug == "" {
		return t.silent[repository]
	}
	reading := direction{repository, false}
	return !t.troubles.tried[reading] || len(t.troubles.met[reading]) > 0
}

// owes reports whether something is due to be told of a workstream.
func (t *tell) owes(w *work.Workstream, now time.Time) bool {
	if len(w.Outbox) > 0 || !t.onHub(w) {
		return len(w.Outbox) > 0
	}
	if version, looked := t.even[w.ID]; looked && version == w.Version {
		return false
	}
	if t.display(w, now).due(w.Thread) {
		return true
	}
	t.even[w.ID] = w.Version
	return false
}

func (t *tell) onHub(w *work.Workstream) bool {
	return w.Thread != nil && !w.Thread.Gone && t.repositories[w.Repository].Slug != ""
}

func (t *tell) display(w *work.Workstream, now time.Time) display {
	d := displayOf(w, work.Next(w, t.repositories[w.Repository].Policy, now))
	d.bare = t.bare[w.Repository]
	parts := partsOf(w, t.repositories[w.Repository])
	d.parts, d.plan = parts.parts, parts.plan
	return d
}

func (t *tell) job(board *work.Board, w *work.Workstream, rests bool, now time.Time) Job {
	copied := w.Clone() // a plan that was accepted never changes
	slug := ""
	var show *display
	if w.Thread != nil {
		slug = t.repositories[w.Repository].Slug
	}
	if rests && t.onHub(w) {
		d := t.display(w, now)
		show = &d
	}
	job := do("tell "+w.ID, w.ID, func(ctx context.Context) Record {
		told, trouble := t.notices(ctx, slug, copied)
		var unlabelled error
		if !forge.Passes(trouble) && show != nil {
			var shown error
			shown, unlabelled = show.on(ctx, t.hub, slug, copied.Thread)
			trouble = errors.Join(trouble, shown)
		}
		return func(now time.Time) (Act, error) {
			w.Outbox = slices.DeleteFunc(w.Outbox, func(n work.Notice) bool {
				at, done := told[n.ID]
				return done && at.Equal(n.At) // else there is more to say by now
			})
			if w.Thread != nil {
				w.Thread.Shown(copied.Thread)
			}
			if slug == "" {
				return nil, trouble
			}
			repo := board.Repository(w.Repository)
			said := t.spoke(ctx, repo, w.ID, trouble, now)
			if bare := t.unlabelled(ctx, repo, unlabelled, now); bare != nil {
				said = together([]error{said, bare})
			}
			return nil, said
		}
	})
	job.Repository = w.Repository
	return job
}

// spoke notes how it went to tell something of a workstream, or of the repository.
// What passes by itself keeps the whole repository silent, the rest only this.
func (t *tell) spoke(ctx context.Context, repo *work.Repository, of string, trouble error, now time.Time) error {
	switch {
	case ctx.Err() != nil: // the tick was stopped, which is nobody's trouble
		return nil
	case trouble == nil:
		t.troubles.well(repo.ID, true)
		return nil
	}
	if forge.Passes(trouble) {
		of = repo.ID
	}
	t.silent[of] = true
	return t.troubles.meet(repo, true, trouble, now)
}

// unlabelled notes that labels are refused in a repository, which stops nothing.
func (t *tell) unlabelled(ctx context.Context, repo *work.Repository, trouble error, now time.Time) error {
	if trouble == nil || ctx.Err() != nil {
		return nil
	}
	t.bare[repo.ID] = true
	return t.troubles.meet(repo, true, trouble, now)
}

// notices tells what is in the outbox, in order, and which of it was told, by when it was said. What
// one of them cannot be told for does not keep the others back, unless it passes.
func (t *tell) notices(ctx context.Context, slug string, w *work.Workstream) (told map[string]time.Time, trouble error) {
	told = make(map[string]time.Time)
	folder := t.store.Folder(w.ID)
	for _, n := range w.Outbox {
		pointer, err := t.worded(ctx, folder, w, &n)
		if err == nil {
			err = t.forge.Tell(ctx, folder, n)
		}
		if err != nil {
			return told, errors.Join(trouble, err)
		}
		if pointer != "" {
			n.Text = pointer
		}
		if slug != "" && spoken[n.Event] && (n.OnPull || !w.Thread.Gone) {
			err := t.hub.Say(ctx, slug, w, t.logged(n))
			if trouble = errors.Join(trouble, err); forge.Passes(err) {
				return told, trouble
			}
			if err != nil {
				continue
			}
		}
		told[n.ID] = n.At
	}
	return told, trouble
}

// worded gives a notice its text. A plan that is not published as a comment is kept
// where it belongs; then the hub is only told where that is.
func (t *tell) worded(ctx context.Context, folder string, w *work.Workstream, n *work.Notice) (pointer string, err error) {
	if !strings.HasPrefix(n.ID, "plan:") || w.Plan == nil {
		n.Text = forge.Quoted(n.Text)
		return "", nil
	}
	plan, as := forge.RenderPlan(w.Plan, w.Revision), t.repositories[w.Repository].Policy.PlanAs
	n.Text = strings.TrimSpace(plan)
	if as == work.PlanAsFile {
		err = t.forge.WritePlan(ctx, folder, plan)
	}
	return forge.PlanPointer(w, as), err
}

// loggedBytes is how much of a log is told on the hub.
const loggedBytes = 6 << 10

// logged is a notice with more of the log of its run, where that can be read.
func (t *tell) logged(n work.Notice) work.Notice {
	if n.Run == "" {
		return n
	}
	dir, log := t.store.ExecutionDir(n.Run), ""
	if n.Class == work.ClassGate {
		log, _ = gate.Tail(dir, loggedBytes)
	} else {
		log, _ = gate.TailFile(filepath.Join(dir, "stderr"), loggedBytes)
	}
	if log != "" {
		n.Log = log
	}
	return n
}

// spoken are the events that get a comment of their own on the hub; the others
// show in the status comment, or as the mark on what asked for them.
var spoken = map[string]bool{
	"plan": true, "awaiting_approval": true, "proposal": true, "awaiting_input": true, "blocked": true, "failed": true, "failure": true,
	"paused_budget": true, "escalated": true, "ready_to_merge": true, "reply": true, "not_pushed": true, "edited": true, "not_merged": true,
	"rewritten": true, "issue_gone": true, "checks_red": true, "one_commit": true,
}

// receipts tells those who asked for something on the hub what became of it.
func (t *tell) receipts(board *work.Board) []Job {
	var jobs []Job
	for id, repo := range board.Repositories {
		slug := t.repositories[id].Slug
		if len(repo.Marks) == 0 || slug == "" || t.barred(id) || t.silent[receiptsOf+id] || t.marking[id] {
			continue
		}
		t.marking[id] = true // a batch that comes in meanwhile leaves its own to a later row
		marks := slices.Clone(repo.Marks)
		job := do(receiptsOf+id, "", func(ctx context.Context) Record {
			left, trouble := t.mark(ctx, slug, marks)
			return func(now time.Time) (Act, error) {
				delete(t.marking, id)
				repo.Marks = slices.DeleteFunc(repo.Marks, func(m work.Receipt) bool { return slices.Contains(marks, m) && !slices.Contains(left, m) })
				return nil, t.spoke(ctx, repo, receiptsOf+id, trouble, now)
			}
		})
		job.Repository = id
		jobs = append(jobs, job)
	}
	return jobs
}

const receiptsOf = "receipts of "

// mark leaves receipts, and returns those that could not be left.
func (t *tell) mark(ctx context.Context, slug string, marks []work.Receipt) (left []work.Receipt, trouble error) {
	worst, marked := worstOf(marks), make(map[string]bool)
	for i, m := range marks {
		if marked[m.Target] && m.Text == "" {
			continue
		}
		shown := m
		shown.Outcome = worst[m.Target]
		err := t.hub.Mark(ctx, slug, shown)
		marked[m.Target] = marked[m.Target] || err == nil
		if trouble = errors.Join(trouble, err); forge.Passes(err) {
			return append(left, marks[i:]...), trouble
		}
		if err != nil {
			left = append(left, m)
		}
	}
	return left, trouble
}

// worstOf is what each thing is marked with, when several were asked for there.
func worstOf(marks []work.Receipt) map[string]work.Decision {
	worst := make(map[string]work.Decision)
	for _, m := range marks {
		switch had, some := worst[m.Target]; {
		case !some, m.Outcome == work.Rejected, m.Outcome == work.Deferred && had != work.Rejected:
			worst[m.Target] = m.Outcome
		}
	}
	return worst
}
