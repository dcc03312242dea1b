package github

import (
	"context"
	"fmt"
	"strings"
	"time"
)

const probeBatch = 50 // repositories that one request asks about

// Overlap is how far a reading goes back before the newest of the one before: an
// answer may lack what other machines of GitHub's already know. FirstLook is how
// far the first reading of a repository goes back.
const (
	Overlap   = 2 * time.Minute
	FirstLook = 7 * 24 * time.Hour
)

// Mark is how far one kind of thread of a repository was read. Only GitHub's own
// times are in it.
type Mark struct {
	Newest time.Time `json:"newest,omitzero"` // of all that was read
	Read   time.Time `json:"read,omitzero"`   // when
}

// Due reports whether there is something to read, newest being when a thread
// last moved. What was read when it was just moving is read once more.
func (m Mark) Due(newest time.Time) bool {
	if newest.IsZero() {
		return false
	}
	return newest.After(m.Newest) || m.Read.Sub(m.Newest) < Overlap
}

// Since is from when on to read, by GitHub's clock.
func (m Mark) Since(now time.Time) time.Time {
	if m.Newest.IsZero() {
		return now.Add(-FirstLook)
	}
	return m.Newest.Add(-Overlap)
}

// Probed is what a repository looks like from outside.
type Probed struct {
	Asked      string // slug
	Slug       string // as GitHub names it now: another one than was asked for when it was renamed
	Node       string
	ID         ID
	Archived   bool
	Permission string    // of the viewer: ADMIN, MAINTAIN, WRITE, TRIAGE, READ
	Issues     time.Time // when one last moved
	Pulls      time.Time
	Err        *Error // nothing else is known then
}

// Writable reports whether the viewer may push, comment and label.
func (p Probed) Writable() bool {
	switch p.Permission {
	case "ADMIN", "MAINTAIN", "WRITE":
		return !p.Archived
	}
	return false
}

type gqlProbe struct {
	Node       string         `json:"id"`
	ID         ID             `json:"databaseId"`
	Slug       string         `json:"nameWithOwner"`
	Archived   bool           `json:"isArchived"`
	Permission string         `json:"viewerPermission"`
	Issues     list[gqlMoved] `json:"issues"`
	Pulls      list[gqlMoved] `json:"pullRequests"`
}

type gqlMoved struct {
	UpdatedAt time.Time `json:"updatedAt"`
}

func (g gqlProbe) probed(asked string) Probed {
	p := Probed{Asked: asked, Slug: g.Slug, Node: g.Node, ID: g.ID, Archived: g.Archived, Permission: g.Permission}
	for _, m := range g.Issues.Nodes {
		p.Issues = m.UpdatedAt
	}
	for _, m := range g.Pulls.Nodes {
		p.Pulls = m.UpdatedAt
	}
	return p
}

// Probe looks at repositories by slug, in as few requests as can be. What is
// wrong with one of them is said there; the error is of all of them, and what
// was read before it is returned.
func (c *Client) Probe(ctx context.Context, slugs []string) ([]Probed, error) {
	var all []Probed
	for len(slugs) > 0 {
		batch := slugs[:min(len(slugs), probeBatch)]
		slugs = slugs[len(batch):]
		some, err := c.probe(ctx, batch)
		all = append(all, some...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

func (c *Client) probe(ctx context.Context, slugs []string) ([]Probed, error) {
	q := probeQuery(slugs)
	answer := make(map[string]*gqlProbe)
	var viewer Viewer
	parts, err := c.ask(ctx, q, &probeAnswer{viewer: &viewer, repositories: answer})
	if err != nil {
		return nil, err
	}
	if viewer.Login == "" {
		return nil, nothing(q.op)
	}
	c.setViewer(viewer)
	all := make([]Probed, 0, len(slugs))
	for i, slug := range slugs {
		alias := fmt.Sprintf("r%d", i)
		switch got := answer[alias]; {
		case got != nil:
			all = append(all, got.probed(slug))
		case parts[alias] != nil:
			parts[alias].Op = "look at " + slug
			all = append(all, Probed{Asked: slug, Err: parts[alias]})
		default:
			all = append(all, Probed{Asked: slug, Err: nothing("look at " + slug)})
		}
	}
	return all, nil
}

// probeQuery asks for each repository by an alias of its own. Names are
// variables: they are data.
func probeQuery(slugs []string) query {
	var names, fields strings.Builder
	vars := make(map[string]any)
	for i, slug := range slugs {
		owner, name, _ := strings.Cut(slug, "/")
		vars[fmt.Sprintf("o%d", i)], vars[fmt.Sprintf("n%d", i)] = owner, name
		fmt.Fprintf(&names, "$o%d:String!,$n%d:String!,", i, i)
		fmt.Fprintf(&fields, " r%d:repository(owner:$o%d,name:$n%d){...probed}\n", i, i, i)
	}
	return query{op: "look at the repositories", vars: vars, text: "query(" + strings.TrimSuffix(names.String(), ",") + "){viewer{login databaseId}\n" +
		fields.String() + `}
fragment probed on Repository{id databaseId nameWithOwner isArchived viewerPermission
 issues(first:1,orderBy:{field:UPDATED_AT,direction:DESC}){nodes{updatedAt}}
 pullRequests(first:1,orderBy:{field:UPDATED_AT,direction:DESC}){nodes{updatedAt}}}`}
}
