package github

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Details are the threads of one kind in a repository that moved.
type Details struct {
	Threads []Thread
	Mark    Mark // for the next reading, once what was read is dealt with
}

// Issues reads the issues that moved since the mark, each with what happened
// in it since.
func (c *Client) Issues(ctx context.Context, slug string, m Mark) (Details, error) {
	now := c.Now()
	since := m.Since(now)
	q := query{op: "read the issues of " + slug, text: issuesQuery, vars: slugVars(slug)}
	q.vars["since"] = since.UTC().Format(time.RFC3339)
	d := Details{Mark: Mark{Newest: m.Newest, Read: now}}
	for {
		var got struct {
			Repository *struct{ Issues list[gqlThread] }
		}
		if err := c.askOne(ctx, q, &got); err != nil {
			return d, err
		}
		if got.Repository == nil {
			return d, nothing(q.op)
		}
		page := got.Repository.Issues
		if err := c.add(ctx, &d, page.Nodes, since); err != nil || !page.PageInfo.HasNextPage {
			return d, err
		}
		q.vars["after"] = page.PageInfo.EndCursor
	}
}

// Pulls reads the pull requests that moved since the mark. GitHub has no filter
// for that, but an order: the newest come first.
func (c *Client) Pulls(ctx context.Context, slug string, m Mark) (Details, error) {
	now := c.Now()
	since := m.Since(now)
	q := query{op: "read the pull requests of " + slug, text: pullsQuery, vars: slugVars(slug)}
	d := Details{Mark: Mark{Newest: m.Newest, Read: now}}
	for {
		var got struct {
			Repository *struct{ PullRequests list[gqlThread] }
		}
		if err := c.askOne(ctx, q, &got); err != nil {
			return d, err
		}
		if got.Repository == nil {
			return d, nothing(q.op)
		}
		page, old := got.Repository.PullRequests, false
		for i, node := range page.Nodes {
			if old = node.UpdatedAt.Before(since); old {
				page.Nodes = page.Nodes[:i]
				break
			}
		}
		if err := c.add(ctx, &d, page.Nodes, since); err != nil || old || !page.PageInfo.HasNextPage {
			return d, err
		}
		q.vars["after"] = page.PageInfo.EndCursor
	}
}

// Threads reads threads by their node ids, whether they moved or not, with all
// that happened in them since a time. One that is gone is left out.
func (c *Client) Threads(ctx context.Context, nodes []string, since time.Time) ([]Thread, error) {
	var d Details
	for len(nodes) > 0 {
		batch := nodes[:min(len(nodes), 25)]
		nodes = nodes[len(batch):]
		var got struct{ Nodes []*gqlThread }
		q := query{op: "read threads", text: threadsQuery, vars: map[string]any{"ids": batch}}
		parts, err := c.ask(ctx, q, &got)
		if err != nil {
			return d.Threads, err
		}
		if err := other(parts); err != nil {
			return d.Threads, err
		}
		if len(got.Nodes) != len(batch) {
			return d.Threads, nothing(q.op)
		}
		var there []gqlThread
		for _, g := range got.Nodes {
			if g != nil && g.Node != "" {
				there = append(there, *g)
			}
		}
		if err := c.add(ctx, &d, there, since); err != nil {
			return d.Threads, err
		}
	}
	return d.Threads, nil
}

// add takes in a page, with what of each thread was not on it.
func (c *Client) add(ctx context.Context, d *Details, page []gqlThread, since time.Time) error {
	for i := range page {
		if page[i].Node == "" {
			continue // the token may not see it
		}
		if err := c.complete(ctx, &page[i], since); err != nil {
			return err
		}
		t := page[i].thread()
		d.Threads = append(d.Threads, t)
		if t.UpdatedAt.After(d.Mark.Newest) {
			d.Mark.Newest = t.UpdatedAt
		}
	}
	return nil
}

// complete reads on, back in time, where the oldest that was read is newer than
// what was known before.
func (c *Client) complete(ctx context.Context, t *gqlThread, since time.Time) error {
	for comments := &t.Comments; comments.PageInfo.HasPreviousPage && first(comments.Nodes, gqlComment.at).After(since); {
		var more gqlThread
		if err := c.more(ctx, t, moreComments, comments.PageInfo.StartCursor, &more); err != nil {
			return err
		}
		prepend(comments, more.Comments)
	}
	for timeline := &t.Timeline; timeline.PageInfo.HasPreviousPage && first(timeline.Nodes, gqlHappening.at).After(since); {
		var more gqlThread
		if err := c.more(ctx, t, moreTimeline, timeline.PageInfo.StartCursor, &more); err != nil {
			return err
		}
		prepend(timeline, more.Timeline)
	}
	for reviews := &t.Reviews; reviews.PageInfo.HasPreviousPage && first(reviews.Nodes, gqlReview.at).After(since); {
		var more gqlThread
		if err := c.more(ctx, t, moreReviews, reviews.PageInfo.StartCursor, &more); err != nil {
			return err
		}
		prepend(reviews, more.Reviews)
	}
	return c.completeReviews(ctx, t, since)
}

func (c *Client) completeReviews(ctx context.Context, t *gqlThread, since time.Time) error {
	for i := range t.Reviews.Nodes {
		r := &t.Reviews.Nodes[i]
		for r.Comments.PageInfo.HasNextPage && r.at().After(since) {
			var more gqlReview
			if err := c.more(ctx, &gqlThread{Node: r.Node, Number: t.Number}, moreReviewComments, r.Comments.PageInfo.EndCursor, &more); err != nil {
				return err
			}
			r.Comments.Nodes = append(r.Comments.Nodes, more.Comments.Nodes...)
			r.Comments.PageInfo = more.Comments.PageInfo
		}
	}
	return nil
}

func (c *Client) more(ctx context.Context, t *gqlThread, text, at string, out any) error {
	q := query{op: fmt.Sprintf("read more of #%d", t.Number), text: text, vars: map[string]any{"id": t.Node, "at": at}}
	return c.askOne(ctx, q, &struct {
		Node any `json:"node"`
	}{out})
}

func (g gqlComment) at() time.Time   { return g.CreatedAt }
func (g gqlHappening) at() time.Time { return g.CreatedAt }
func (g gqlReview) at() time.Time {
	if g.SubmittedAt.IsZero() {
		return g.CreatedAt
	}
	return g.SubmittedAt
}

// first is the time of the oldest; what is not dated was not seen, so there may be more.
func first[T any](nodes []T, at func(T) time.Time) time.Time {
	for _, n := range nodes {
		if t := at(n); !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

func prepend[T any](all *list[T], more list[T]) {
	all.Nodes = append(more.Nodes, all.Nodes...)
	all.PageInfo = more.PageInfo
}

// askOne is a query about one thing: a part of it that is missing is an error.
func (c *Client) askOne(ctx context.Context, q query, out any) error {
	parts, err := c.ask(ctx, q, out)
	if err != nil {
		return err
	}
	for _, e := range parts {
		return e
	}
	return nil
}

// other is a problem that is not about things that are gone.
func other(parts map[string]*Error) error {
	for _, e := range parts {
		if e.Kind != KindNotFound {
			return e
		}
	}
	return nil
}

func slugVars(slug string) map[string]any {
	owner, name, _ := strings.Cut(slug, "/")
	return map[string]any{"owner": owner, "name": name}
}
