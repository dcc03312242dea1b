package github

import (
	"context"
	"errors"
	"net/http"
	"strings"
)

// Wish is a merge that a person asked for.
type Wish struct {
	Slug     string
	Number   int
	Node     string
	Head     string // the commit that is to land, and no other
	Strategy string // merge, squash, rebase
	Title    string // of the commit; "": as GitHub makes it
	Message  string
	Queued   bool // it was left to GitHub before: what is no longer in its queue was taken out
}

// Outcome is what is known of a merge.
type Outcome string

// The outcomes.
const (
	Landed     Outcome = "landed"
	NotLanded  Outcome = "not_landed"
	CannotTell Outcome = "could_not_tell" // look again before doing anything
	LandsLater Outcome = "lands_later"    // not landed, but GitHub has it in its queue, or merges it when it may
)

// Landing is the answer to a wish.
type Landing struct {
	Outcome Outcome
	Commit  string // that it landed as
	Detail  string // why not, and what to do
}

// Land merges a pull request if its head is what was tested. It looks first, so
// that what landed meanwhile, by us or by people, is told as landed; and what
// GitHub is to merge later is left to it. An error means that nothing was sent.
func (c *Client) Land(ctx context.Context, w Wish) (Landing, error) {
	now, err := c.look(ctx, w)
	if err != nil {
		return Landing{Outcome: NotLanded}, err
	}
	if l, decided := standing(now, w); decided {
		return l, nil
	}
	commit, err := c.merge(ctx, w)
	var e *Error
	switch {
	case err == nil:
		return Landing{Outcome: Landed, Commit: commit}, nil
	case !errors.As(err, &e):
		return Landing{Outcome: CannotTell, Detail: err.Error()}, nil
	case e.Sent:
		return c.afterwards(ctx, w, e), nil
	case e.Kind == KindConflict && strings.Contains(strings.ToLower(e.Message), "merge queue"):
		return c.enqueue(ctx, w)
	case e.Kind == KindConflict || e.Kind == KindInvalid || e.Kind == KindScope:
		return Landing{Outcome: NotLanded, Detail: e.What()}, nil
	}
	return Landing{Outcome: NotLanded}, err
}

func (c *Client) look(ctx context.Context, w Wish) (Open, error) {
	all, err := c.Open(ctx, []string{w.Node})
	if err != nil {
		return Open{}, err
	}
	if all[0].Err != nil {
		return Open{}, all[0].Err
	}
	if all[0].Gone || all[0].Pull == nil {
		return Open{}, &Error{Op: "merge " + threadName(w.Slug, w.Number), Kind: KindNotFound, Message: "the pull request is not there any more"}
	}
	return all[0], nil
}

// standing is the answer that needs no merge.
func standing(now Open, w Wish) (Landing, bool) {
	switch p := now.Pull; {
	case now.State == StateMerged:
		return Landing{Outcome: Landed, Commit: p.MergeOID}, true
	case now.State == StateClosed:
		return Landing{Outcome: NotLanded, Detail: "the pull request is closed; reopen it first"}, true
	case p.HeadOID != w.Head:
		return Landing{Outcome: NotLanded, Detail: "its head moved to " + p.HeadOID + ", which was not tested"}, true
	case p.Queued:
		return Landing{Outcome: LandsLater, Detail: "it is in the merge queue"}, true
	case p.Auto:
		return Landing{Outcome: LandsLater, Detail: "GitHub merges it when it may be merged"}, true
	case w.Queued:
		return Landing{Outcome: NotLanded, Detail: "GitHub took it out of the merge queue; the pull request says why"}, true
	case p.Decision == "CHANGES_REQUESTED":
		return Landing{Outcome: NotLanded, Detail: "a review asks for changes; have it dismissed or approved first"}, true
	case p.Checks == "FAILURE" || p.Checks == "ERROR":
		return Landing{Outcome: NotLanded, Detail: "its checks are red"}, true
	case p.Checks == "PENDING":
		return Landing{Outcome: CannotTell, Detail: "its checks are still running; it is merged when they are green"}, true
	case p.Draft:
		return Landing{Outcome: NotLanded, Detail: "it is a draft; mark it ready for review first"}, true
	}
	return Landing{}, false
}

func (c *Client) merge(ctx context.Context, w Wish) (commit string, err error) {
	body := map[string]string{"sha": w.Head, "merge_method": w.Strategy}
	if w.Title != "" {
		body["commit_title"] = w.Title
	}
	if w.Message != "" {
		body["commit_message"] = w.Message
	}
	var got struct{ SHA string }
	op := "merge " + threadName(w.Slug, w.Number)
	_, err = c.do(ctx, request{op: op, method: http.MethodPut, path: pullPath(w.Slug, w.Number, "merge"), body: body}, &got)
	return got.SHA, err
}

// afterwards looks at what became of a merge whose answer was lost. That it is
// not merged now does not say that it will not be: the request may still be on
// its way.
func (c *Client) afterwards(ctx context.Context, w Wish, lost *Error) Landing {
	now, err := c.look(ctx, w)
	if err == nil && now.State == StateMerged {
		return Landing{Outcome: Landed, Commit: now.Pull.MergeOID}
	}
	if err == nil {
		if l, decided := standing(now, w); decided {
			return l
		}
	}
	return Landing{Outcome: CannotTell, Detail: lost.What()}
}

// enqueue puts a pull request into the merge queue.
func (c *Client) enqueue(ctx context.Context, w Wish) (Landing, error) {
	q := query{op: "queue " + threadName(w.Slug, w.Number), text: enqueueMutation, write: true, vars: map[string]any{"id": w.Node, "head": w.Head}}
	_, err := c.ask(ctx, q, &struct{}{})
	var e *Error
	switch {
	case err == nil:
		return Landing{Outcome: LandsLater, Detail: "GitHub merges it when it may be merged"}, nil
	case errors.As(err, &e) && e.Sent:
		return c.afterwards(ctx, w, e), nil
	case errors.As(err, &e) && e.Status == http.StatusOK:
		return Landing{Outcome: NotLanded, Detail: e.What()}, nil
	}
	return Landing{Outcome: NotLanded}, err
}

const enqueueMutation = `mutation($id:ID!,$head:GitObjectID!){enqueuePullRequest(input:{pullRequestId:$id,expectedHeadOid:$head}){mergeQueueEntry{id}}}`
