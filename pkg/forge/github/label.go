package github

import (
	"context"
	"net/http"
	"slices"
	"strings"
)

// Label is a label of a repository.
type Label struct {
	Name        string `json:"name"`
	Color       string `json:"color"` // six hex digits
	Description string `json:"description"`
}

// madeColor is that of a label which GitHub made because one was put on that
// the repository did not have.
const madeColor = "ededed"

// AddLabels puts labels on a thread; those that are there stay. One that GitHub
// had to make grey gets its colour and description; what people made of it stays.
func (c *Client) AddLabels(ctx context.Context, slug string, number int, labels ...Label) error {
	if len(labels) == 0 {
		return nil
	}
	var names []string
	for _, l := range labels {
		names = append(names, l.Name)
	}
	var on []Label
	r := request{op: "label " + threadName(slug, number), method: http.MethodPost, path: threadPath(slug, number, "labels"), body: map[string][]string{"labels": names}}
	if _, err := c.do(ctx, r, &on); err != nil {
		return err
	}
	for _, l := range labels {
		made := func(is Label) bool {
			return strings.EqualFold(is.Name, l.Name) && is.Color == madeColor && is.Description == "" && l.Color != madeColor && l.Color != ""
		}
		if !slices.ContainsFunc(on, made) {
			continue
		}
		r := request{op: "give the label " + l.Name + " of " + slug + " its colour", method: http.MethodPatch, path: repoPath(slug, "labels", l.Name)}
		r.body = map[string]string{"color": l.Color, "description": l.Description}
		if _, err := c.do(ctx, r, nil); err != nil {
			return err
		}
	}
	return nil
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
