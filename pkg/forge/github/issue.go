package github

import (
	"context"
	"net/http"
	"net/url"
)

// Draft is an issue that is to be, once.
type Draft struct {
	Slug    string
	Key     string // its identity in the repository
	Title   string
	Body    string
	Pointer string
	Labels  []string
	Parent  int // issue that it is a part of; 0 for none
}

// Raised is an issue that is there.
type Raised struct {
	Number int
	ID     ID
	Node   string
	URL    string
}

type restIssue struct {
	restComment
	Node   string    `json:"node_id"`
	Number int       `json:"number"`
	Pull   *struct{} `json:"pull_request"`
}

func (r restIssue) raised() Raised {
	return Raised{Number: r.Number, ID: r.ID, Node: r.Node, URL: r.HTMLURL}
}

// Raise opens an issue, and makes it a part of its parent, unless that was done.
func (c *Client) Raise(ctx context.Context, d Draft) (Raised, error) {
	parts, err := c.parts(ctx, d)
	if err != nil {
		return Raised{}, err
	}
	found, err := c.own(ctx, d, parts)
	if err != nil || found.Number != 0 {
		return found, err // a part already
	}
	if found, err = c.raise(ctx, d); err != nil || d.Parent == 0 {
		return found, err
	}
	_, err = c.do(ctx, request{
		op: "make " + threadName(d.Slug, found.Number) + " a part of #" + threadName("", d.Parent)[1:], method: http.MethodPost,
		path: threadPath(d.Slug, d.Parent, "sub_issues"), body: map[string]ID{"sub_issue_id": found.ID},
	}, nil)
	return found, err
}

// raise opens the issue, unless an earlier call did and went no further.
func (c *Client) raise(ctx context.Context, d Draft) (Raised, error) {
	viewer, err := c.Viewer(ctx)
	if err != nil {
		return Raised{}, err
	}
	var mine []restIssue
	q := url.Values{"creator": {viewer.Login}, "state": {"all"}, "sort": {"created"}, "direction": {"desc"}, "per_page": {"100"}}
	seen := 0
	r := request{op: "look for an issue in " + d.Slug, path: repoPath(d.Slug, "issues") + "?" + q.Encode()}
	err = pages(ctx, c, r, func(page []restIssue) bool {
		mine, seen = append(mine, page...), seen+1
		return seen < 3 // an earlier attempt is not far back
	})
	if err != nil {
		return Raised{}, err
	}
	if found, err := c.own(ctx, d, mine); err != nil || found.Number != 0 {
		return found, err
	}
	var made restIssue
	labels := d.Labels
	if labels == nil {
		labels = []string{}
	}
	_, err = c.do(ctx, request{
		op: "open an issue in " + d.Slug, method: http.MethodPost, path: repoPath(d.Slug, "issues"),
		body: map[string]any{"title": titled(d.Title), "body": c.body(d.Body, d.Pointer, d.Key), "labels": labels},
	}, &made)
	return made.raised(), err
}

func (c *Client) parts(ctx context.Context, d Draft) (all []restIssue, err error) {
	if d.Parent == 0 {
		return nil, nil
	}
	r := request{op: "read the parts of " + threadName(d.Slug, d.Parent), path: threadPath(d.Slug, d.Parent, "sub_issues") + "?per_page=100"}
	err = pages(ctx, c, r, func(page []restIssue) bool {
		all = append(all, page...)
		return true
	})
	return all, err
}

// own is the one of some issues that we opened by the draft's key.
func (c *Client) own(ctx context.Context, d Draft, among []restIssue) (Raised, error) {
	viewer, err := c.Viewer(ctx)
	if err != nil {
		return Raised{}, err
	}
	for _, one := range among {
		if one.Pull == nil && viewer.Is(one.by()) && marks(one.Body, d.Key) {
			return one.raised(), nil
		}
	}
	return Raised{}, nil
}
