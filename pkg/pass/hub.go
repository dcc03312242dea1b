package pass

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

// Hub is a forge with issues and pull requests: what people do there becomes
// work, and what became of it is shown there. Everything it is told to do may be
// told again: it finds what it did before.
type Hub interface {
	Read(ctx context.Context, asks []forge.Ask) []forge.News
	Say(ctx context.Context, slug string, w *work.Workstream, n work.Notice) error
	ShowStatus(ctx context.Context, slug string, t work.Thread, id, text string) (comment int64, err error)
	SetLabels(ctx context.Context, slug string, number int, add, remove []string) error
	Mark(ctx context.Context, slug string, r work.Receipt) error
	SetCommitStatus(ctx context.Context, slug, commit, state, text string) error
	OpenPull(ctx context.Context, slug, id string, p forge.PullRequest) (work.Pull, error)
	Raise(ctx context.Context, slug string, p forge.Part) (number int, err error)
	SetDraft(ctx context.Context, slug string, p work.Pull, draft bool) error
	Review(ctx context.Context, slug string, r forge.PostedReview) error
	Merge(ctx context.Context, slug string, m forge.MergeAsk) forge.MergeAnswer
}

// hubs reads what happened on the hub, once per tick, for all repositories at
// once.
type hubs struct {
	hub          Hub
	repositories Repositories
	store        Store
	thread       Forge // keeps what was said beside the state
	troubles     *troubles
	sightings    map[string]work.Sighting // not yet looked at, by workstream
	said         map[string][]forge.Entry // not yet kept, likewise
}

// read asks the hub. What it says goes into the batch as requests; what it saw
// of open workstreams is kept for [hubs.observe].
func (h *hubs) read(board *work.Board, b *Batch) []Job {
	asks := h.asks(board)
	if len(asks) == 0 {
		return nil
	}
	return []Job{do("read the forge", "", func(ctx context.Context) Record {
		all := h.hub.Read(ctx, asks)
		return func(now time.Time) (Act, error) {
			if ctx.Err() != nil {
				return nil, nil // the tick was stopped; the next one reads all of it
			}
			h.sightings, h.said = make(map[string]work.Sighting), make(map[string][]forge.Entry)
			var notices []error
			for _, news := range all {
				notices = append(notices, h.wrong(board, news, now)...)
				maps.Copy(h.sightings, news.Sightings)
				maps.Copy(h.said, news.Said)
				for _, r := range news.Requests {
					b.Incoming = append(b.Incoming, &Incoming{Request: r, Hub: true})
				}
				b.News = append(b.News, news)
			}
			return nil, together(notices)
		}
	})}
}

// wrong is what is to be said of how a repository was read.
func (h *hubs) wrong(board *work.Board, news forge.News, now time.Time) (notices []error) {
	repo := board.Repository(news.Repository)
	for _, n := range news.Notices {
		notices = append(notices, Notice(repo.ID+": "+n))
	}
	for _, err := range []error{news.Err, news.Barred} {
		if err != nil {
			notices = append(notices, h.troubles.meet(repo, false, err, now))
		}
	}
	h.troubles.well(repo.ID, false) // or it was met above
	h.find(news)
	return notices
}

// find has git go where the hub said that the repository is: its old name may be
// somebody else's by now.
func (h *hubs) find(news forge.News) {
	repo := h.repositories[news.Repository]
	repo.URL, repo.Taken = repo.Remote(news.Slug), nil
	if news.Taken {
		repo.Taken = news.Err
	}
	h.repositories[news.Repository] = repo
}

func (h *hubs) asks(board *work.Board) []forge.Ask {
	open := make(map[string][]forge.Open)
	for _, w := range board.Ordered() {
		if w.Thread != nil && w.Status.Open() {
			open[w.Repository] = append(open[w.Repository], forge.Open{
				Workstream: w.ID, Kind: w.Kind, Thread: w.Clone().Thread, Spec: w.Spec, Held: w.Held != nil, Planned: w.PlanToApprove(),
			})
		}
	}
	var asks []forge.Ask
	for _, id := range slices.Sorted(maps.Keys(h.repositories)) {
		if slug := h.repositories[id].Slug; slug != "" {
			asks = append(asks, forge.Ask{Repository: id, Slug: slug, State: board.Repository(id).Hub, NotBefore: board.Repository(id).Untouched(), Open: open[id]})
		}
	}
	return asks
}

// observe draws the consequences of what was seen of open workstreams. end ends
// the agent of one that is over.
func (h *hubs) observe(board *work.Board, b *Batch, end func(workstream string)) []Job {
	var jobs []Job
	for id, seen := range h.sightings {
		w := board.Workstreams[id]
		if w == nil {
			continue
		}
		b.Add(id)
		jobs = append(jobs, decide("look at "+id, id, func(now time.Time) error {
			err := w.Observe(seen, now)
			if !w.Status.Open() {
				end(id)
			}
			return err
		}))
	}
	for id, entries := range h.said {
		jobs = append(jobs, do("keep what was said of "+id, "", func(ctx context.Context) Record {
			var err error
			for i := 0; i < len(entries) && err == nil; i++ {
				err = h.thread.Comment(ctx, h.store.Folder(id), entries[i])
			}
			return func(time.Time) (Act, error) { return nil, err }
		}))
	}
	h.sightings, h.said = nil, nil
	return jobs
}

// wasRead notes how far each repository was read, once all that was read there
// is decided. What is not will be read again.
func wasRead(board *work.Board, b *Batch) []Job {
	var jobs []Job
	for _, news := range b.News {
		undecided := func(in *Incoming) bool { return in.Hub && in.Repository == news.Repository && !in.Done }
		if slices.ContainsFunc(b.Incoming, undecided) {
			continue
		}
		job := decide("remember "+news.Repository, "", func(time.Time) error {
			if news.State != nil { // else it was not read, and only that is saved
				board.Repository(news.Repository).Hub = news.State
			}
			return nil
		})
		job.Repository = news.Repository
		jobs = append(jobs, job)
	}
	b.News = nil
	return jobs
}

// answer says what somebody asked on the hub wants to know; w is nil when there
// is no such work.
func (h *hubs) answer(w *work.Workstream, verb work.Verb, now time.Time) string {
	switch {
	case verb == work.VerbHelp:
		return forge.CommandHelp
	case w == nil:
		return "Nothing is being done here."
	}
	return forge.RenderStatus(w, work.Next(w, h.repositories[w.Repository].Policy, now).Why)
}
