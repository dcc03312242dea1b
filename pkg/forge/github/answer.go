package github

import "time"

// What follows is the shape of GraphQL's answers, and how they become threads.

type list[T any] struct {
	TotalCount int      `json:"totalCount"`
	Nodes      []T      `json:"nodes"`
	PageInfo   pageInfo `json:"pageInfo"`
}

type pageInfo struct {
	HasPreviousPage bool   `json:"hasPreviousPage"`
	StartCursor     string `json:"startCursor"`
	HasNextPage     bool   `json:"hasNextPage"`
	EndCursor       string `json:"endCursor"`
}

type named1 struct {
	Name string `json:"name"`
}

type oid struct {
	OID string `json:"oid"`
}

type gqlComment struct {
	Written
	Node string `json:"id"`
	ID   ID     `json:"fullDatabaseId"`
}

type gqlHappening struct {
	Type      string    `json:"__typename"`
	Node      string    `json:"id"`
	CreatedAt time.Time `json:"createdAt"`
	Actor     Actor     `json:"actor"`
	Label     named1    `json:"label"`
	Assignee  Actor     `json:"assignee"`
}

type gqlReviewComment struct {
	Written
	Node         string `json:"id"`
	ID           ID     `json:"fullDatabaseId"`
	Path         string `json:"path"`
	Line         int    `json:"line"`
	OriginalLine int    `json:"originalLine"`
	Hunk         string `json:"diffHunk"`
	ReplyTo      struct {
		ID ID `json:"fullDatabaseId"`
	} `json:"replyTo"`
}

type gqlReview struct {
	Written
	Node        string                 `json:"id"`
	ID          ID                     `json:"fullDatabaseId"`
	State       string                 `json:"state"`
	SubmittedAt time.Time              `json:"submittedAt"`
	Commit      oid                    `json:"commit"`
	Comments    list[gqlReviewComment] `json:"comments"`
}

type gqlConversation struct {
	IsResolved bool                   `json:"isResolved"`
	Comments   list[gqlReviewComment] `json:"comments"`
}

type gqlThread struct {
	Written
	Type        string             `json:"__typename"`
	Node        string             `json:"id"`
	ID          ID                 `json:"fullDatabaseId"`
	Number      int                `json:"number"`
	Title       string             `json:"title"`
	URL         string             `json:"url"`
	State       State              `json:"state"` // of an issue
	StateReason string             `json:"stateReason"`
	UpdatedAt   time.Time          `json:"updatedAt"`
	Repository  gqlSlug            `json:"repository"`
	Labels      list[named1]       `json:"labels"`
	Comments    list[gqlComment]   `json:"comments"`
	Timeline    list[gqlHappening] `json:"timelineItems"`
	gqlPull
}

type gqlSlug struct {
	NameWithOwner string `json:"nameWithOwner"`
}

type gqlPull struct {
	PullState           State                 `json:"pullState"`
	HeadRefName         string                `json:"headRefName"`
	HeadRefOID          string                `json:"headRefOid"`
	HeadRepository      gqlSlug               `json:"headRepository"`
	BaseRefName         string                `json:"baseRefName"`
	BaseRefOID          string                `json:"baseRefOid"`
	IsDraft             bool                  `json:"isDraft"`
	IsCrossRepository   bool                  `json:"isCrossRepository"`
	MaintainerCanModify bool                  `json:"maintainerCanModify"`
	MergedAt            time.Time             `json:"mergedAt"`
	MergeCommit         oid                   `json:"mergeCommit"`
	Reviews             list[gqlReview]       `json:"reviews"`
	ReviewThreads       list[gqlConversation] `json:"reviewThreads"`
}

func (g gqlThread) thread() Thread {
	t := Thread{
		Written: g.Written, Node: g.Node, ID: g.ID, Slug: g.Repository.NameWithOwner, Number: g.Number, Title: g.Title, URL: g.URL,
		State: g.State, Reason: g.StateReason, UpdatedAt: g.UpdatedAt,
	}
	for _, l := range g.Labels.Nodes {
		t.Labels = append(t.Labels, l.Name)
	}
	for _, c := range g.Comments.Nodes {
		t.Comments = append(t.Comments, Comment(c))
	}
	for _, h := range g.Timeline.Nodes {
		if h.Node != "" { // what the token may not see is empty
			t.Timeline = append(t.Timeline, Happening{Node: h.Node, Type: h.Type, At: h.CreatedAt, By: h.Actor, Label: h.Label.Name, Assignee: h.Assignee.Login})
		}
	}
	if g.Type == "PullRequest" {
		t.State, t.Pull = g.PullState, g.pull()
		for _, r := range g.Reviews.Nodes {
			t.Reviews = append(t.Reviews, r.review())
		}
	}
	return t
}

func (g gqlPull) pull() *Pull {
	p := &Pull{
		Head: g.HeadRefName, HeadOID: g.HeadRefOID, HeadRepo: g.HeadRepository.NameWithOwner, Base: g.BaseRefName, BaseOID: g.BaseRefOID,
		Draft: g.IsDraft, Fork: g.IsCrossRepository, Modifiable: g.MaintainerCanModify, MergedAt: g.MergedAt, MergeOID: g.MergeCommit.OID,
		Resolved: make(map[ID]struct{}),
	}
	for _, c := range g.ReviewThreads.Nodes {
		if c.IsResolved && len(c.Comments.Nodes) > 0 {
			p.Resolved[c.Comments.Nodes[0].ID] = struct{}{}
		}
	}
	return p
}

func (g gqlReview) review() Review {
	r := Review{Written: g.Written, Node: g.Node, ID: g.ID, Verdict: g.State, Commit: g.Commit.OID}
	if !g.SubmittedAt.IsZero() {
		r.CreatedAt = g.SubmittedAt // until then nobody else saw it
	}
	for _, c := range g.Comments.Nodes {
		line := c.Line
		if line == 0 {
			line = c.OriginalLine
		}
		r.Comments = append(r.Comments, ReviewComment{
			Written: c.Written, Node: c.Node, ID: c.ID, Path: c.Path, Line: line, Hunk: c.Hunk, ReplyTo: c.ReplyTo.ID,
		})
	}
	return r
}
