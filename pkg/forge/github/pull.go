package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Proposal is a pull request that is to be, once.
type Proposal struct {
	Slug    string
	Key     string // its identity, such as the workstream's id
	Branch  string // of the same repository
	Head    string // commit that the branch is at
	Base    string
	Title   string
	Body    string // Markdown; what is an agent's in it went through Outgoing
	Pointer string // where the whole is when the body is too long
	Closes  []int  // issues that its merge closes
	Draft   bool
	Again   bool // what was closed for this very commit is opened again
}

// Proposed is a pull request that is there.
type Proposed struct {
	Number   int
	Node     string
	ID       ID
	URL      string
	State    State
	Draft    bool
	Head     string // commit
	Base     string // branch
	MergeOID string // the commit that it landed as
	Title    string
	Body     string
	Ours     bool // backburner wrote its text, and so may change it
}

type restPull struct {
	restComment
	Node     string    `json:"node_id"`
	Number   int       `json:"number"`
	Title    string    `json:"title"`
	State    string    `json:"state"`
	Draft    bool      `json:"draft"`
	MergedAt time.Time `json:"merged_at"`
	MergeOID string    `json:"merge_commit_sha"`
	Head     restRef   `json:"head"`
	Base     restRef   `json:"base"`
}

type restRef struct {
	Ref  string    `json:"ref"`
	SHA  string    `json:"sha"`
	Repo *restRepo `json:"repo"` // nil when it is gone
}

type restRepo struct {
	ID ID `json:"id"`
}

// fromFork reports whether the branch is of another repository than the base: the
// owner of that has forks of it, maybe, and everybody may make a branch of any name.
func (r restPull) fromFork() bool {
	return r.Head.Repo == nil || r.Base.Repo == nil || r.Head.Repo.ID != r.Base.Repo.ID
}

func (r restPull) proposed(v Viewer, key string) Proposed {
	p := Proposed{
		Number: r.Number, Node: r.Node, ID: r.ID, URL: r.HTMLURL, State: State(strings.ToUpper(r.State)), Draft: r.Draft, Head: r.Head.SHA,
		Base: r.Base.Ref, Title: r.Title, Body: r.Body, Ours: v.Is(r.by()) && marks(r.Body, key),
	}
	if !r.MergedAt.IsZero() {
		p.State, p.MergeOID = StateMerged, r.MergeOID
	}
	return p
}

// Propose opens a pull request for a branch, unless there is one: an open one is
// adopted, whoever opened it, and one that is over for this very commit stays
// over, unless it is asked for again. The caller sees from State and Ours what it got.
func (c *Client) Propose(ctx context.Context, p Proposal) (Proposed, error) {
	found, err := c.FindPull(ctx, p)
	if found.State == StateClosed && p.Again && err == nil {
		return c.reopen(ctx, p, found)
	}
	if err != nil || found.Number != 0 {
		return found, err
	}
	made, err := c.open(ctx, p)
	switch {
	case isKind(err, KindInvalid) && strings.Contains(err.Error(), "already exists"): // somebody was quicker
		if found, looked := c.FindPull(ctx, p); found.Number != 0 || looked != nil {
			return found, looked
		}
		return made, err
	case isKind(err, KindInvalid) && p.Draft && strings.Contains(strings.ToLower(err.Error()), "draft"):
		p.Draft = false // not every plan of GitHub's has drafts
		return c.open(ctx, p)
	}
	return made, err
}

// reopen opens a pull request again, or another one where GitHub refuses that.
func (c *Client) reopen(ctx context.Context, p Proposal, there Proposed) (Proposed, error) {
	r := request{
		op: "reopen " + threadName(p.Slug, there.Number), method: http.MethodPatch, path: pullPath(p.Slug, there.Number), body: map[string]string{"state": "open"},
	}
	_, err := c.do(ctx, r, &restPull{})
	if isKind(err, KindInvalid) {
		return c.open(ctx, p)
	}
	there.State = StateOpen
	return there, err
}

func (c *Client) open(ctx context.Context, p Proposal) (Proposed, error) {
	viewer, err := c.Viewer(ctx)
	if err != nil {
		return Proposed{}, err
	}
	var made restPull
	_, err = c.do(ctx, request{
		op: "open a pull request for " + p.Branch + " in " + p.Slug, method: http.MethodPost, path: repoPath(p.Slug, "pulls"),
		body: map[string]any{"title": titled(p.Title), "head": p.Branch, "base": p.Base, "body": seal(titled(p.Title), c.pullText(p, 0), p.Key), "draft": p.Draft},
	}, &made)
	if err != nil {
		return Proposed{}, err
	}
	return made.proposed(viewer, p.Key), nil
}

// titled is a title that fits. Much of it is somebody else's.
func titled(title string) string { return prefix(OutgoingTitle(title), maxTitle) }

// maxSeal is the room that the seal and the marker of a pull request's text need, in characters.
const maxSeal = 1000

// pullText is what backburner says in a pull request; taken is the room that people
// take, in characters.
func (c *Client) pullText(p Proposal, taken int) string {
	body := p.Body
	closes := "" // first, where no cut takes it away
	for _, issue := range p.Closes {
		closes += fmt.Sprintf("Closes #%d\n", issue)
	}
	if closes != "" {
		body = closes + "\n" + body
	}
	return Cut(c.public(strings.TrimRight(body, "\n")), p.Pointer, max(0, maxBody-maxSeal-taken))
}

// FindPull finds the pull request of a branch: an open one, else the newest that
// is over for the very commit; Number is 0 when there is none.
func (c *Client) FindPull(ctx context.Context, p Proposal) (found Proposed, err error) {
	viewer, err := c.Viewer(ctx)
	if err != nil {
		return found, err
	}
	owner, _, _ := strings.Cut(p.Slug, "/")
	q := url.Values{"head": {owner + ":" + p.Branch}, "state": {"all"}, "base": {p.Base}, "per_page": {"100"}}
	r := request{op: "look for a pull request for " + p.Branch + " in " + p.Slug, path: repoPath(p.Slug, "pulls") + "?" + q.Encode()}
	err = pages(ctx, c, r, func(page []restPull) bool {
		for _, one := range page {
			if one.Head.Ref != p.Branch || one.fromFork() {
				continue // GitHub leaves a filter out that it does not understand, and that is by owner
			}
			got := one.proposed(viewer, p.Key)
			if got.State == StateOpen {
				found = got
				return false
			}
			if found.Number == 0 && got.Head == p.Head && p.Head != "" {
				found = got
			}
		}
		return true
	})
	return found, err
}

// Revise brings title and text of a pull request that backburner opened up to
// date. What people changed of them stays.
func (c *Client) Revise(ctx context.Context, p Proposal, there Proposed) (Proposed, error) {
	s, _ := unseal(there.Body)
	title, body := revised(there, titled(p.Title), c.pullText(p, length(s.before)+length(s.after)))
	if !there.Ours || there.Title == title && there.Body == body {
		return there, nil
	}
	var made restPull
	op := "change the text of " + threadName(p.Slug, there.Number)
	_, err := c.do(ctx, request{op: op, method: http.MethodPatch, path: pullPath(p.Slug, there.Number), body: map[string]string{"title": title, "body": body}}, &made)
	if err == nil {
		there.Title, there.Body = title, body
	}
	return there, err
}

// SetDraft makes a pull request a draft, or ready for review; a second time
// changes nothing. It is known by its node id, name is for people.
func (c *Client) SetDraft(ctx context.Context, name, node string, draft bool) error {
	q := query{op: "make " + name + " ready for review", text: readyMutation, vars: map[string]any{"id": node}, write: true}
	if draft {
		q.op, q.text = "make "+name+" a draft", draftMutation
	}
	_, err := c.ask(ctx, q, &struct{}{})
	return err
}

const (
	readyMutation = `mutation($id:ID!){markPullRequestReadyForReview(input:{pullRequestId:$id}){pullRequest{isDraft}}}`
	draftMutation = `mutation($id:ID!){convertPullRequestToDraft(input:{pullRequestId:$id}){pullRequest{isDraft}}}`
)

func pullPath(slug string, number int, parts ...string) string {
	return repoPath(slug, append([]string{"pulls", strconv.Itoa(number)}, parts...)...)
}
