package github

import (
	"context"
	"net/http"
	"strings"
)

// AddLabels puts labels on a thread; those that are there stay.
func (c *Client) AddLabels(ctx context.Context, slug string, number int, names ...string) error {
	if len(names) == 0 {
		return nil
	}
	r := request{op: "label " + threadName(slug, number), method: http.MethodPost, path: threadPath(slug, number, "labels"), body: map[string][]string{"labels": names}}
	_, err := c.do(ctx, r, nil)
	return err
}

// RemoveLabel takes a label off a thread; one that is not there is off.
func (c *Client) RemoveLabel(ctx context.Context, slug string, number int, name string) error {
	r := request{op: "take a label off " + threadName(slug, number), method: http.MethodDelete, path: threadPath(slug, number, "labels", name)}
	_, err := c.do(ctx, r, nil)
	if isKind(err, KindNotFound) {
		return nil
	}
	return err
}

// Label is a label of a repository.
type Label struct {
	Name        string `json:"name"`
	Color       string `json:"color"` // six hex digits
	Description string `json:"description"`
}

// EnsureLabel makes a label in a repository unless there is one of that name;
// what people made of its colour stays.
func (c *Client) EnsureLabel(ctx context.Context, slug string, l Label) error {
	op := "make the label " + l.Name + " in " + slug
	_, err := c.do(ctx, request{op: op, path: repoPath(slug, "labels", l.Name)}, nil)
	if !isKind(err, KindNotFound) {
		return err
	}
	_, err = c.do(ctx, request{op: op, method: http.MethodPost, path: repoPath(slug, "labels"), body: l}, nil)
	if isKind(err, KindInvalid) && strings.Contains(err.Error(), "already") { // somebody was quicker
		return nil
	}
	return err
}

// Reaction is a receipt that people see.
type Reaction string

// The receipts for a command.
const (
	Seen    Reaction = "eyes"
	Done    Reaction = "rocket"
	Refused Reaction = "confused"
)

// React puts a reaction on what an event came from. The same one again changes
// nothing.
func (c *Client) React(ctx context.Context, on Target, what Reaction) error {
	where := threadPath(on.Slug, on.Number, "reactions")
	switch on.Kind {
	case OnComment:
		where = repoPath(on.Slug, "issues", "comments", on.ID.String(), "reactions")
	case OnReviewComment:
		where = repoPath(on.Slug, "pulls", "comments", on.ID.String(), "reactions")
	}
	r := request{op: "react on " + threadName(on.Slug, on.Number), method: http.MethodPost, path: where, body: map[string]Reaction{"content": what}}
	_, err := c.do(ctx, r, nil)
	return err
}
