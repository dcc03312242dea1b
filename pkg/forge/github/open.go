package github

import (
	"context"
	"fmt"
	"time"
)

const openBatch = 100

// Open is where a thread stands that is of interest whether it moved or not.
type Open struct {
	Node      string
	Err       *Error // it may not be looked at, and nothing else is known; gone it is not
	Gone      bool   // deleted, transferred, or no longer visible
	Slug      string
	Number    int
	Title     string
	URL       string
	State     State
	Reason    string
	UpdatedAt time.Time
	Said      string    // what of comments and reviews shows that something was said, edited or deleted
	Pull      *OpenPull // nil: it is an issue
}

// OpenPull is where a pull request stands.
type OpenPull struct {
	Head, HeadOID string
	Base, BaseOID string
	Draft         bool
	MergeOID      string // the commit that it landed as
	Decision      string // of the reviews: APPROVED, CHANGES_REQUESTED, REVIEW_REQUIRED, or ""
	Mergeable     string // CLEAN, DIRTY, BLOCKED, BEHIND, UNSTABLE, HAS_HOOKS, DRAFT, UNKNOWN
	Queued        bool   // in the merge queue
	Auto          bool   // to be merged by GitHub when it may be
	Checks        string // of the head: SUCCESS, FAILURE, PENDING, ERROR, EXPECTED, or "" for none
}

type gqlOpen struct {
	gqlThread
	Comments         list[gqlMoved] `json:"comments"`
	Reviews          list[gqlMoved] `json:"reviews"`
	ReviewDecision   string         `json:"reviewDecision"`
	MergeStateStatus string         `json:"mergeStateStatus"`
	IsInMergeQueue   bool           `json:"isInMergeQueue"`
	AutoMergeRequest *struct{}      `json:"autoMergeRequest"`
	Commits          list[gqlCheck] `json:"commits"`
}

type gqlCheck struct {
	Commit struct {
		OID    string
		Rollup struct{ State string } `json:"statusCheckRollup"`
	}
}

// Open reads where threads stand, by their node ids and in their order, a
// hundred with each request.
func (c *Client) Open(ctx context.Context, nodes []string) ([]Open, error) {
	var all []Open
	for len(nodes) > 0 {
		batch := nodes[:min(len(nodes), openBatch)]
		nodes = nodes[len(batch):]
		var got struct{ Nodes []*gqlOpen }
		q := query{op: "look at open threads", text: openQuery, vars: map[string]any{"ids": batch}}
		parts, err := c.ask(ctx, q, &got)
		if err == nil && len(got.Nodes) != len(batch) {
			err = nothing(q.op)
		}
		if err != nil {
			return all, err
		}
		for i, node := range batch {
			switch e := parts[fmt.Sprintf("nodes.%d", i)]; {
			case got.Nodes[i] != nil && got.Nodes[i].Number > 0:
				all = append(all, got.Nodes[i].open(node))
			case e != nil && e.Kind != KindNotFound:
				all = append(all, Open{Node: node, Err: e})
			default:
				all = append(all, Open{Node: node, Gone: true})
			}
		}
	}
	return all, nil
}

func (g *gqlOpen) open(node string) Open {
	o := Open{
		Node: node, Slug: g.Repository.NameWithOwner, Number: g.Number, Title: g.Title, URL: g.URL, State: g.State, Reason: g.StateReason,
		UpdatedAt: g.UpdatedAt, Said: fmt.Sprintf("%d+%d", g.Comments.TotalCount, g.Reviews.TotalCount),
	}
	for _, c := range append(g.Comments.Nodes, g.Reviews.Nodes...) {
		o.Said += c.UpdatedAt.UTC().Format(" 2006-01-02T15:04:05Z")
	}
	if g.Type != "PullRequest" {
		return o
	}
	o.State = g.PullState
	o.Pull = &OpenPull{
		Head: g.HeadRefName, HeadOID: g.HeadRefOID, Base: g.BaseRefName, BaseOID: g.BaseRefOID, Draft: g.IsDraft, MergeOID: g.MergeCommit.OID,
		Decision: g.ReviewDecision, Mergeable: g.MergeStateStatus, Queued: g.IsInMergeQueue, Auto: g.AutoMergeRequest != nil,
	}
	for _, n := range g.Commits.Nodes {
		if n.Commit.OID == g.HeadRefOID { // else the checks are of another commit
			o.Pull.Checks = n.Commit.Rollup.State
		}
	}
	return o
}
