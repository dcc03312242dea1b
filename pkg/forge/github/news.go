package github

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

// memory is what is kept of a repository between ticks. A tick in which nothing
// happened there leaves it as it is.
type memory struct {
	Node   string               `json:"node,omitempty"`
	Slug   string               `json:"slug,omitempty"` // as GitHub names it now
	Issues Mark                 `json:"issues,omitzero"`
	Pulls  Mark                 `json:"pulls,omitzero"`
	Seen   map[string]time.Time `json:"seen,omitempty"` // events already told of, as long as they may be read again
	Talk   map[string]string    `json:"talk,omitempty"` // Open.Said of open threads, by node
	Roles  map[string]Role      `json:"roles,omitempty"`
	Tags   map[string]Tag       `json:"tags,omitempty"`
}

// one is one repository while it is read.
type one struct {
	h      *Hub
	ask    forge.Ask
	m      memory
	news   forge.News
	viewer Viewer
	read   bool               // to its end
	open   map[int]forge.Open // by number of the issue and of the pull request
}

// Read is what happened in the repositories since the last time. An idle one
// costs its part of one request, whatever its history.
func (h *Hub) Read(ctx context.Context, asks []forge.Ask) []forge.News {
	all := make([]*one, len(asks))
	tags, until := make(map[string]Tag), time.Time{}
	for i, ask := range asks {
		all[i] = newOne(h, ask)
		maps.Copy(tags, all[i].m.Tags)
		if ask.NotBefore.After(until) {
			until = ask.NotBefore
		}
		h.names.Store(ask.Slug, all[i].m.Slug)
	}
	o := h.options
	o.Tags, o.NotBefore = tags, until
	h.client = New(o)
	h.readAll(ctx, all)
	kept := h.client.Tags()
	news := make([]forge.News, len(all))
	for i, r := range all {
		news[i] = r.finish(kept)
	}
	return news
}

func newOne(h *Hub, ask forge.Ask) *one {
	r := &one{h: h, ask: ask, open: make(map[int]forge.Open)}
	if json.Unmarshal(ask.State, &r.m) != nil { // none, or of somebody else: read as if for the first time
		r.m = memory{}
	}
	if r.m.Slug == "" {
		r.m.Slug = ask.Slug
	}
	r.news = forge.News{Repository: ask.Repository, Sightings: make(map[string]work.Sighting), Said: make(map[string][]forge.Entry)}
	for _, o := range ask.Open {
		r.open[o.Thread.Number] = o
		if o.Thread.Pull != nil {
			r.open[o.Thread.Pull.Number] = o
		}
	}
	return r
}

// readAll asks about all repositories at once, and then about those that moved.
// What is wrong with all of them is the error of each that is not read.
func (h *Hub) readAll(ctx context.Context, all []*one) {
	if err := h.readEach(ctx, all); err != nil {
		for _, r := range all {
			if !r.read && r.news.Err == nil {
				r.news.Err = err
			}
		}
	}
}

func (h *Hub) readEach(ctx context.Context, all []*one) error {
	slugs := make([]string, len(all))
	for i, r := range all {
		slugs[i] = r.m.Slug
	}
	probed, err := h.client.Probe(ctx, slugs)
	if err != nil {
		return err
	}
	viewer, err := h.client.Viewer(ctx)
	if err != nil {
		return err
	}
	for i, r := range all {
		r.viewer = viewer
		if err := cmp.Or(probed[i].Err, r.another(probed[i])); err != nil {
			r.news.Err = err
		}
	}
	moved := make(map[*one][]string)
	if err := h.lookAtOpen(ctx, all, moved); err != nil {
		return err
	}
	for i, r := range all {
		if r.news.Err != nil {
			continue
		}
		err := r.take(ctx, probed[i], moved[r])
		if isKind(err, KindRateLimited) || isKind(err, KindSecondary) {
			return err // of no use to ask about the others
		}
		r.news.Err, r.read = err, err == nil
	}
	return nil
}

// another is the error of a repository that only has the name of the one that is
// remembered: whose it is, nobody here knows.
func (r *one) another(p Probed) *Error {
	r.h.taken.Delete(r.ask.Slug)
	if p.Err != nil || r.m.Node == "" || r.m.Node == p.Node {
		return nil
	}
	e := &Error{
		Op: "look at " + r.m.Slug, Kind: KindMoved, Message: "another repository has the name " + r.m.Slug + " now",
		Advice: "correct slug in the configuration, or remove its record repositories/" + r.ask.Repository + ".json in the state to take it as it is",
	}
	r.h.taken.Store(r.ask.Slug, e)
	r.news.Taken = true
	return e
}

// take reads what moved in one repository.
func (r *one) take(ctx context.Context, p Probed, talked []string) error {
	if p.Slug != "" && !strings.EqualFold(p.Slug, r.ask.Slug) && p.Slug != r.m.Slug {
		r.news.Notices = append(r.news.Notices, fmt.Sprintf("%s is called %s now; change its slug in the configuration", r.ask.Slug, p.Slug))
	}
	r.m.Slug, r.m.Node = p.Slug, p.Node
	r.h.names.Store(r.ask.Slug, p.Slug)
	r.news.Barred = r.barred(p)
	var threads []Thread
	read := make(map[string]bool) // by node
	for _, kind := range []struct {
		mark   *Mark
		newest time.Time
		read   func(context.Context, string, Mark) (Details, error)
	}{{&r.m.Issues, p.Issues, r.h.client.Issues}, {&r.m.Pulls, p.Pulls, r.h.client.Pulls}} {
		if !kind.mark.Due(kind.newest) {
			continue
		}
		details, err := kind.read(ctx, r.m.Slug, *kind.mark)
		if err != nil {
			return err
		}
		*kind.mark = details.Mark
		for _, t := range details.Threads {
			read[t.Node] = true
		}
		threads = append(threads, details.Threads...)
	}
	talked = slices.DeleteFunc(talked, func(node string) bool { return read[node] })
	more, err := r.h.client.Threads(ctx, talked, r.h.client.Now().Add(-FirstLook))
	if err != nil {
		return err
	}
	return r.events(ctx, append(threads, more...))
}

// barred is why nothing can be told in a repository, as far as that can be seen
// from outside; what an app may do cannot.
func (r *one) barred(p Probed) error {
	e := &Error{Op: "look at " + p.Slug}
	switch {
	case p.Archived:
		e.Kind, e.Message = KindArchived, "the repository is archived, so that it can only be read"
	case (p.Permission == "READ" || p.Permission == "TRIAGE") && !r.viewer.Bot():
		e.Kind, e.Message = KindScope, r.viewer.Login+" may not write to the repository"
	default:
		return nil
	}
	e.Advice = advice(e, nil)
	return e
}

// events turns what happened in threads into requests and what was said. How far
// back does not depend on what moved when: an edit moves nothing, and is found when
// something else does.
func (r *one) events(ctx context.Context, threads []Thread) error {
	since := r.h.client.Now().Add(-FirstLook)
	if r.m.Seen == nil {
		r.m.Seen = make(map[string]time.Time)
	}
	for _, t := range threads {
		events := Events(t, Rules{Prefix: r.h.words.Prefix, Labels: r.h.words.Labels, Viewer: r.viewer, Since: since})
		for _, e := range Unseen(events, r.m.Seen) {
			if err := r.consider(ctx, t, e); err != nil {
				return err
			}
			if _, open := r.open[t.Number]; open || e.Kind != Edited { // else it counts once there is work
				r.m.Seen[e.ID] = e.At
			}
		}
	}
	slices.SortStableFunc(r.news.Requests, func(x, y *work.Request) int { return x.At.Compare(y.At) })
	if len(threads) > 0 {
		Forget(r.m.Seen, since.Add(-Overlap))
	}
	return nil
}

// finish is the news, with what is to be remembered.
func (r *one) finish(tags map[string]Tag) forge.News {
	r.news.Slug = r.m.Slug
	if !r.read { // all of it is read again
		r.news.Requests, r.news.Said, r.news.State = nil, nil, nil
		return r.news
	}
	r.m.Tags = nil
	for key, tag := range tags {
		if strings.Contains(key, "/"+r.m.Slug+"/collaborators/") { // the only thing asked again and again
			if r.m.Tags == nil {
				r.m.Tags = make(map[string]Tag)
			}
			r.m.Tags[key] = tag
		}
	}
	state, err := json.Marshal(r.m)
	if err != nil {
		r.news.Err = err
		return r.news
	}
	r.news.State = state
	return r.news
}
