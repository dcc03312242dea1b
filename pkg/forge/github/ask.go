package github

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

// consider makes of one event what it is for the pass: a request, something that was
// said, or nothing.
func (r *one) consider(ctx context.Context, t Thread, e Event) error {
	o, open := r.open[t.Number]
	if e.Kind == Edited && open {
		e.By = t.changed(o.Spec)
	}
	if open && (e.Kind == Closed || e.Kind == Merged) {
		r.ended(t, e, o.Workstream)
	}
	request := r.request(t, e)
	said := ""
	if open {
		said = e.said()
	}
	if request == nil && said == "" {
		return nil
	}
	verdict, err := r.judge(ctx, e.By)
	if err != nil {
		return err
	}
	if request != nil {
		if !verdict.Believed {
			request.Denied = verdict.Why
			if e.Kind == Reviewed {
				request.Receipt = "" // everybody may review
			}
		} else if err := r.sameText(ctx, t, e, request); err != nil {
			return err
		}
		r.news.Requests = append(r.news.Requests, request)
	}
	if verdict.Believed && said != "" {
		id := r.workstream(t)
		r.news.Said[id] = append(r.news.Said[id], forge.Entry{ID: requestID(e.ID), By: e.By[0].Login, Text: said, At: e.At})
	}
	return nil
}

// said is what an event has for the thread that agents read: a comment, and what
// somebody remarks who asks for no changes.
func (e Event) said() string {
	switch {
	case e.Kind == Commented:
		return e.Text
	case e.Kind == Reviewed && !asksForChanges(e) && e.Review.Verdict != "DISMISSED":
		return strings.TrimSpace(remarks(e.Review))
	}
	return ""
}

// ended notes who closed or merged the thread of open work.
func (r *one) ended(t Thread, e Event, workstream string) {
	seen := r.news.Sightings[workstream]
	if seen.Pull != nil && seen.Pull.Number == t.Number {
		seen.Pull.By = e.By[0].Login
	} else {
		seen.By = e.By[0].Login
	}
	r.news.Sightings[workstream] = seen
}

func (r *one) judge(ctx context.Context, by []Actor) (Verdict, error) {
	return r.h.client.Judge(ctx, r.m.Slug, &Trust{Users: r.h.words.Users, Bots: r.h.words.Bots, Roles: r.roles()}, by)
}

func (r *one) roles() map[string]Role {
	if r.m.Roles == nil {
		r.m.Roles = make(map[string]Role)
	}
	return r.m.Roles
}

// beginning are the commands that take the text as it is.
var beginning = []Verb{VerbStart, VerbPlan, VerbRetry}

func begins(e Event) bool {
	return e.Kind == Assigned || e.Kind == Reopened || e.Kind == Commanded && slices.Contains(beginning, e.Command.Verb)
}

// workstream is the id of the work on a thread. Issues and pull requests of a
// repository share their numbers.
func (r *one) workstream(t Thread) string {
	if o, ok := r.open[t.Number]; ok {
		return o.Workstream
	}
	if id, ours := r.proposed(t); ours {
		return id
	}
	return fmt.Sprintf("%s-%d", r.ask.Repository, t.Number)
}

// proposed is the work that backburner opened a pull request for.
func (r *one) proposed(t Thread) (workstream string, ours bool) {
	if t.Pull == nil || !r.viewer.Is(t.Author) {
		return "", false
	}
	workstream, ours = strings.CutSuffix(markerKey(t.Body), "/pull")
	return workstream, ours && work.BadID(workstream) == ""
}

// request is what an event asks for; nil when for nothing.
func (r *one) request(t Thread, e Event) *work.Request {
	q := &work.Request{
		Schema: work.Schema, ID: requestID(e.ID), Workstream: r.workstream(t), Repository: r.ask.Repository, At: r.h.client.Ours(e.At),
		Text: e.Command.Text, Question: e.Command.Question,
	}
	if len(e.By) > 0 {
		q.By = e.By[0].Login
	}
	o, open := r.open[t.Number]
	switch {
	case e.Kind == Commanded && e.Command.Verb == VerbStart && e.Label != "" && open && o.Kind != work.KindPullRequest:
		return nil // that it is worked on is what the label says
	case e.Kind == Commanded:
		return r.command(t, e, q)
	case e.Kind == Assigned && t.Pull == nil && sameLogin(r.h.words.Assignee, r.viewer.Login):
		return r.begin(t, q, work.VerbAdd)
	case e.Kind == Reopened && t.Pull == nil && !open && r.labelled(t):
		q.Receipt = e.On.text("")
		return r.begin(t, q, work.VerbAdd)
	case e.Kind == Reopened && t.Pull != nil && !open:
		if _, ours := r.proposed(t); !ours {
			return nil
		}
		r.begin(t, q, work.VerbRetry)
		q.Thread.State = "" // that is the issue's
	case e.Kind == Unlabelled && e.Command.Verb == VerbStart && open:
		q.Verb = work.VerbCancel
	case e.Kind == Unlabelled && e.Command.Verb == VerbHold && open && o.Held:
		q.Verb = work.VerbResume
	case e.Kind == Edited && open && o.Kind == work.KindIssue && t.Number == o.Thread.Number:
		r.begin(t, q, work.VerbEdit)
		if work.SpecHash(q.Title, q.Body) == o.Spec.Hash {
			return nil
		}
		q.Kind, q.Thread = "", nil
	case e.Kind == Reviewed && open && o.Kind != work.KindPullRequest && asksForChanges(e):
		q.Verb, q.Text = work.VerbAddress, reviewWords(e)
		for _, c := range e.Review.Comments {
			q.Replies = append(q.Replies, int64(c.ID))
		}
	case e.Kind == Reviewed && open && o.Planned != "" && e.Review.Verdict == "APPROVED":
		q.Verb, q.Text, q.Receipt = work.VerbApprove, "", e.On.text("")
		if e.Review.Commit != t.Pull.HeadOID {
			q.Refused = "the review is of an earlier commit; look at the plan as it is now, and approve that"
		}
	default:
		return nil
	}
	return q
}

// command is the request of a command or a label.
func (r *one) command(t Thread, e Event, q *work.Request) *work.Request {
	q.Receipt = e.On.text("")
	if e.Label != "" && !sameLogin(e.Label, r.h.words.Labels.Start) && !sameLogin(e.Label, r.h.words.Labels.Hold) {
		q.Receipt = e.On.text(e.Label)
	}
	o, open := r.open[t.Number]
	switch verb := e.Command.Verb; {
	case verb == verbTooMany:
		q.Verb, q.Refused = work.VerbHelp, fmt.Sprintf("There are %s in this comment, and of more than %d none is done. Say it in fewer.", e.Command.Line, maxCommands)
	case verb == VerbUnknown:
		q.Verb, q.Refused = work.VerbHelp, e.Command.unknown(r.h.words)
	case later[verb] != "":
		q.Verb, q.Refused = work.Verb(verb), later[verb]
	case e.Command.Text != "" && verbs[verb] == noWords:
		q.Verb, q.Refused = work.Verb(verb), fmt.Sprintf("it takes no words, and there are some after it; say `%s` alone when that is what is meant", verb)
		if verb == VerbStart {
			q.Verb = work.VerbAdd
		}
	case slices.Contains(ofWork, verb) && r.foreign(t):
		q.Refused = "this pull request is not backburner's; ask for work on an issue, or for a review of this"
		if q.Verb = work.Verb(verb); verb == VerbStart {
			q.Verb = work.VerbAdd
		}
	case verb == VerbStart:
		return r.begin(t, q, work.VerbAdd)
	case verb == VerbPlan && !open:
		return r.begin(t, q, work.VerbPlan)
	case verb == VerbRetry && t.Pull == nil && !open:
		return r.begin(t, q, work.VerbRetry)
	case verb == VerbReview && t.Pull != nil && (!open || o.Kind == work.KindPullRequest):
		return r.begin(t, q, work.VerbReview)
	default:
		q.Verb = work.Verb(verb)
	}
	return q
}

// ofWork are the commands that make no sense where there is only something to review.
var ofWork = []Verb{VerbStart, VerbPlan, VerbApprove, VerbMerge}

// foreign reports whether a thread is a pull request of somebody else's.
func (r *one) foreign(t Thread) bool {
	if o, open := r.open[t.Number]; open {
		return o.Kind == work.KindPullRequest
	}
	_, ours := r.proposed(t)
	return t.Pull != nil && !ours
}

// later are the commands that people may know of and that cannot be had yet.
var later = map[Verb]string{
	VerbPrepare: "this version prepares no pull requests for merging",
	VerbSkip:    "this version has no capabilities that could be skipped",
}

// begin completes a request for work that may not be there yet.
func (r *one) begin(t Thread, q *work.Request, verb work.Verb) *work.Request {
	q.Verb, q.Source = verb, t.URL
	q.Title, q.Body = t.spec()
	q.Kind, q.Thread = work.KindIssue, &work.Thread{Number: t.Number, Node: t.Node, URL: t.URL, Author: t.Author.Login, State: strings.ToLower(string(t.State))}
	if t.Pull != nil {
		q.Kind, q.Thread.Editor = work.KindPullRequest, t.changedBy()
		q.Thread.Pull = &work.Pull{
			Number: t.Number, Node: t.Node, URL: t.URL, State: strings.ToLower(string(t.State)), Draft: t.Pull.Draft, Head: t.Pull.HeadOID,
		}
	}
	return q
}

func (r *one) labelled(t Thread) bool {
	for _, name := range t.Labels {
		if strings.EqualFold(name, r.h.words.Labels.Start) {
			return true
		}
	}
	return false
}

// asksForChanges reports whether a review leaves something to do.
func asksForChanges(e Event) bool {
	switch e.Review.Verdict {
	case "CHANGES_REQUESTED":
		return true
	case "COMMENTED":
		return len(e.Review.Comments) > 0
	}
	return false
}

// reviewWords is a review as the builder reads it.
func reviewWords(e Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s reviewed the pull request. Address what the review asks for.\n%s", e.By[0].Login, remarks(e.Review))
	return work.Clip(b.String(), maxReviewWords)
}

// remarks are the words of a review, and what it says on lines.
func remarks(r *Review) string {
	var b strings.Builder
	if body := strings.TrimSpace(r.Body); body != "" {
		fmt.Fprintf(&b, "\n%s\n", body)
	}
	for _, c := range r.Comments {
		fmt.Fprintf(&b, "\n%s:%d: %s\n", work.Printable(c.Path), c.Line, strings.TrimSpace(c.Body))
	}
	return b.String()
}

const maxReviewWords = 64 << 10

// requestID is the identity of an event as a name that a file can have.
func requestID(event string) string {
	id := strings.ReplaceAll(event, ":", ".")
	if work.BadID(id) != "" {
		return "gh." + hash(event)
	}
	return id
}
