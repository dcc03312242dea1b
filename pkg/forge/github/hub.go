package github

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

// Words are what people ask with, and who is listened to.
type Words struct {
	Prefix   string // "/backburner"
	Labels   Labels
	Assignee string                                   // assigning an issue to this account asks for it; "" when it does not
	Users    []string                                 // believed beside people with write access
	Bots     []string                                 // apps that are believed
	Near     func(word string, known []string) string // the one that is meant, "" when none can be
}

// Hub is GitHub as a pass uses it: what people ask for there, once per tick for
// all repositories, and what is shown to them.
type Hub struct {
	options Options
	words   Words
	client  *Client
	names   sync.Map // by slug of the configuration: what the repository is called now
	taken   sync.Map // likewise: why the one of that name is another
}

// now is what a repository is called now. Nothing is done in one that only has its name.
func (h *Hub) now(slug string) (string, error) {
	if why, another := h.taken.Load(slug); another {
		return slug, why.(*Error)
	}
	if name, known := h.names.Load(slug); known {
		return name.(string), nil
	}
	return slug, nil
}

// NewHub is a hub. Nothing is asked of GitHub before its first call.
func NewHub(o Options, w Words) *Hub { return &Hub{options: o, words: w, client: New(o)} }

// Host is the name of the GitHub that is configured, apiURL being its interface
// where that was set.
func Host(apiURL string) string {
	l, _ := findHost(Options{APIURL: apiURL})
	return l.host
}

// Token is the token for it; "" when there is none.
func Token(apiURL string) string {
	l, _ := findLogin(Options{APIURL: apiURL})
	return l.token
}

// Bars reports whether the token, or who it belongs to, may not do what was asked
// for: with another one, the same request does.
func (e *Error) Bars() bool {
	return e.Kind == KindAuth || e.Kind == KindScope || e.Kind == KindSSO || e.Kind == KindArchived
}

// Passing reports whether the error goes away by itself.
func (e *Error) Passing() bool {
	return e.Kind == KindUnavailable || e.Kind == KindRateLimited || e.Kind == KindSecondary
}

// Usage is what was asked of GitHub so far.
func (h *Hub) Usage() Usage { return h.client.Usage() }

const pointer = "the whole text is in the files of the run; see `backburner logs`"

// pointerTo says where all is that was said of a workstream.
func pointerTo(id string) string {
	return "the whole text is where backburner runs; see `backburner status " + id + "`"
}

// Say puts a notice on the thread, once: as a comment, or as the answer to one of
// a review. A thread that is locked or gone is told nothing.
func (h *Hub) Say(ctx context.Context, slug string, w *work.Workstream, n work.Notice) error {
	slug, err := h.now(slug)
	if err != nil {
		return err
	}
	p := Post{
		Slug: slug, Number: w.Thread.Number, Key: w.ID + "/" + n.ID, Pointer: pointerTo(w.ID),
	}
	if n.Then != "" && w.Thread.Pull != nil {
		n.Then = strings.Replace(n.Then, "Look at `"+w.Branch+"`", fmt.Sprintf("Look at #%d", w.Thread.Pull.Number), 1)
	}
	p.End = forge.CommentCommands(Outgoing(n.Then), w.ID, h.words.Prefix)
	n.Then = ""
	p.Body = forge.CommentCommands(Outgoing(forge.RenderNotice(n, true)), w.ID, h.words.Prefix)
	if (n.Reply != 0 || n.OnPull) && w.Thread.Pull != nil {
		p.Number = w.Thread.Pull.Number
	}
	if n.Reply != 0 {
		_, err := h.client.Reply(ctx, p, ID(n.Reply))
		return unlessRefused(err)
	}
	_, err = h.client.Upsert(ctx, p)
	if err == nil && n.ID == work.PlanCode(w.Revision) {
		err = h.replacePlans(ctx, p, w)
	}
	return unlessRefused(err)
}

// replacePlans takes out of the comments on earlier plans how to approve them.
func (h *Hub) replacePlans(ctx context.Context, p Post, w *work.Workstream) error {
	for revision := 1; revision < w.Revision; revision++ {
		p.Key, p.End, p.There = w.ID+"/"+work.PlanCode(revision), "", true
		p.Body = fmt.Sprintf("Plan %d was replaced by plan %d, which is below. What it was is in the history of this comment.", revision, w.Revision)
		if _, err := h.client.Upsert(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// unlessRefused leaves out what saying the same again does not mend, and nobody
// needs to hear of: the thread is gone, or its conversation is locked.
func unlessRefused(err error) error {
	if isKind(err, KindNotFound) || isKind(err, KindConflict) {
		return nil
	}
	return err
}

// ShowStatus edits the one comment that says how the work stands, or makes it.
func (h *Hub) ShowStatus(ctx context.Context, slug string, t work.Thread, id, text string) (comment int64, err error) {
	slug, err = h.now(slug)
	if err != nil {
		return 0, err
	}
	there, err := h.client.Upsert(ctx, Post{
		Slug: slug, Number: t.Number, Key: id + "/status", Pointer: pointerTo(id), ID: ID(t.StatusComment),
		Body: forge.CommentCommands(Outgoing(text), id, h.words.Prefix),
	})
	return int64(there.ID), unlessRefused(err)
}

// looks are those of the labels of statuses that want a person's eye.
var looks = map[string]Label{
	"ready_to_merge":    {Color: "0e8a16", Description: "tested and published: look at it, and merge"},
	"blocked":           {Color: "d93f0b", Description: "stopped: a comment says why, and what to do"},
	"failed":            {Color: "d93f0b", Description: "given up: a comment says why"},
	"awaiting_approval": {Color: "fbca04", Description: "waits for somebody to approve what is proposed"},
	"awaiting_input":    {Color: "fbca04", Description: "waits for somebody's answer"},
	"paused_budget":     {Color: "fbca04", Description: "paused: a budget is used up"},
}

// busy is the look of the others.
var busy = Label{Color: "1d76db", Description: "backburner has it"}

// SetLabels puts labels of statuses on a thread and takes others off. People find
// by them what waits for them.
func (h *Hub) SetLabels(ctx context.Context, slug string, number int, add, remove []string) error {
	slug, err := h.now(slug)
	if err != nil {
		return err
	}
	for _, status := range remove {
		if slices.Contains(add, status) {
			continue
		}
		if err := h.client.RemoveLabel(ctx, slug, number, h.statusLabel(status)); err != nil {
			return err
		}
	}
	var labels []Label
	for _, status := range add {
		label, known := looks[status]
		if !known {
			label = busy
		}
		label.Name = h.statusLabel(status)
		labels = append(labels, label)
	}
	return unlessRefused(h.client.AddLabels(ctx, slug, number, labels...))
}

func (h *Hub) statusLabel(status string) string {
	return h.words.Labels.Start + ": " + strings.ReplaceAll(status, "_", " ")
}

// Mark tells who asked what became of it: by a reaction, and in words where those
// are called for. A label that asked for something once is taken off.
func (h *Hub) Mark(ctx context.Context, slug string, r work.Receipt) error {
	slug, err := h.now(slug)
	if err != nil {
		return err
	}
	on, label, err := parseTarget(slug, r.Target)
	if err != nil {
		return nil // of an older version: nobody waits for it any more
	}
	reaction := Done
	switch r.Outcome {
	case work.Rejected:
		reaction = Refused
	case work.Deferred:
		reaction = Seen
	}
	if err := unlessRefused(h.client.React(ctx, on, reaction)); err != nil {
		return err
	}
	if r.Text != "" {
		body := forge.CommentCommands(Outgoing(r.Text), r.Workstream, h.words.Prefix)
		post := Post{Slug: slug, Number: on.Number, Key: "answer/" + r.Request, Body: body, Pointer: pointer}
		if _, err := h.client.Upsert(ctx, post); unlessRefused(err) != nil {
			return err
		}
	}
	if label == "" {
		return nil
	}
	return h.client.RemoveLabel(ctx, slug, on.Number, label)
}

// target is what Request.Receipt holds: "comment:7:123", or "label:7:name".
func (t Target) text(label string) string {
	if label != "" {
		return fmt.Sprintf("label:%d:%s", t.Number, label)
	}
	return fmt.Sprintf("%s:%d:%s", t.Kind, t.Number, t.ID)
}

func parseTarget(slug, text string) (on Target, label string, err error) {
	kind, rest, _ := strings.Cut(text, ":")
	number, last, _ := strings.Cut(rest, ":")
	on = Target{Slug: slug, Kind: TargetKind(kind)}
	if on.Number, err = strconv.Atoi(number); err != nil {
		return on, "", err
	}
	if kind == "label" {
		on.Kind = OnThread
		return on, last, nil
	}
	id, err := strconv.ParseInt(last, 10, 64)
	on.ID = ID(id)
	return on, "", err
}

const statusContext = "backburner/gates"

// SetCommitStatus says on a commit how its gates stand.
func (h *Hub) SetCommitStatus(ctx context.Context, slug, commit, state, text string) error {
	slug, err := h.now(slug)
	if err != nil {
		return err
	}
	return unlessRefused(h.client.SetStatus(ctx, slug, commit, CommitStatus{State: state, Context: statusContext, Description: text}))
}

// OpenPull opens the pull request of a branch, or brings the one that is there up
// to date.
func (h *Hub) OpenPull(ctx context.Context, slug, id string, p forge.PullRequest) (work.Pull, error) {
	slug, err := h.now(slug)
	if err != nil {
		return work.Pull{}, err
	}
	proposal := Proposal{
		Slug: slug, Key: id + "/pull", Branch: p.Branch, Head: p.Head, Base: p.Base, Title: OutgoingTitle(p.Title), Body: Outgoing(p.Body),
		Pointer: pointerTo(id), Closes: p.Closes, Draft: p.Draft, Again: p.Again,
	}
	there, err := h.client.Propose(ctx, proposal)
	if err != nil {
		return work.Pull{}, err
	}
	if there, err = h.client.Revise(ctx, proposal, there); err != nil {
		return work.Pull{}, err
	}
	return work.Pull{
		Number: there.Number, Node: there.Node, URL: there.URL, State: strings.ToLower(string(there.State)), Draft: there.Draft,
		Head: there.Head, Landed: there.MergeOID,
	}, nil
}

// Raise opens an issue for a part of the work of another.
func (h *Hub) Raise(ctx context.Context, slug string, p forge.Part) (number int, err error) {
	if slug, err = h.now(slug); err != nil {
		return 0, err
	}
	there, err := h.client.Raise(ctx, Draft{
		Slug: slug, Key: p.Key, Title: OutgoingTitle(p.Title), Body: Outgoing(p.Body), Pointer: pointer, Parent: p.Parent,
	})
	return there.Number, err
}

// SetDraft makes a pull request a draft, or ready for review.
func (h *Hub) SetDraft(ctx context.Context, slug string, p work.Pull, draft bool) error {
	slug, err := h.now(slug)
	if err != nil {
		return err
	}
	return unlessRefused(h.client.SetDraft(ctx, threadName(slug, p.Number), p.Node, draft))
}

// Review puts a review on a pull request, once.
func (h *Hub) Review(ctx context.Context, slug string, r forge.PostedReview) error {
	slug, err := h.now(slug)
	if err != nil {
		return err
	}
	_, err = h.client.Publish(ctx, Opinion{Slug: slug, Number: r.Pull, Key: r.ID, Commit: r.Commit, Pointer: pointer, Review: r.Review})
	return err
}

// Merge merges a pull request that has the head which was tested.
func (h *Hub) Merge(ctx context.Context, slug string, m forge.MergeAsk) forge.MergeAnswer {
	slug, err := h.now(slug)
	if err != nil {
		return forge.MergeAnswer{Outcome: forge.NotLanded, Detail: err.Error()}
	}
	landing, err := h.client.Land(ctx, Wish{
		Slug: slug, Number: m.Pull.Number, Node: m.Pull.Node, Head: m.Head, Strategy: m.Strategy,
		Title: OutgoingTitle(m.Title), Message: m.Message, Queued: m.Queued,
	})
	var ours *Error
	switch {
	case errors.As(err, &ours) && ours.Passing():
		return forge.MergeAnswer{Outcome: forge.Unknown, Detail: err.Error()}
	case err != nil:
		return forge.MergeAnswer{Outcome: forge.NotLanded, Detail: err.Error()}
	}
	answer := forge.MergeAnswer{Commit: landing.Commit, Detail: landing.Detail, Queued: landing.Outcome == LandsLater}
	switch landing.Outcome {
	case Landed:
		answer.Outcome = forge.Landed
	case NotLanded:
		answer.Outcome = forge.NotLanded
	default:
		answer.Outcome = forge.Unknown
	}
	return answer
}
