package github

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// EventKind is what happened in a thread.
type EventKind string

// The kinds of events.
const (
	Commanded  EventKind = "command"   // in a comment, a review or the text of the thread, or by a label that asks for something
	Unlabelled EventKind = "unlabeled" // a label that asks for something was taken off
	Commented  EventKind = "comment"   // without a command
	Reviewed   EventKind = "review"
	Edited     EventKind = "edited" // title or text
	Closed     EventKind = "closed"
	Reopened   EventKind = "reopened"
	Merged     EventKind = "merged"
	Assigned   EventKind = "assigned" // to the account of the token
)

// Event is something that happened in a thread.
type Event struct {
	ID      string // of its own: the same event read again has the same
	Kind    EventKind
	At      time.Time // by GitHub's clock
	By      []Actor   // who is to answer for it: all of them have to be believed
	Own     bool      // the account of the token did it: backburner, or a person who shares it
	Command Command
	Label   string // that was put on or taken off
	Text    string // of a comment, a review, the thread
	Review  *Review
	On      Target // where a receipt goes
}

// Target is what can get a reaction.
type Target struct {
	Slug   string
	Number int // of the thread
	Kind   TargetKind
	ID     ID // of the comment
}

// TargetKind is what in a thread gets a reaction.
type TargetKind string

// The kinds of targets.
const (
	OnThread        TargetKind = "thread"
	OnComment       TargetKind = "comment"
	OnReviewComment TargetKind = "review_comment"
)

// Labels are the names of the labels that ask for something. They are compared
// as GitHub does, without regard to case.
type Labels struct {
	Start, Approve, Review, Prepare, Merge, Hold string
}

// DefaultLabels are the names unless configured otherwise.
var DefaultLabels = Labels{
	Start: "backburner", Approve: "backburner:approve", Review: "backburner:review",
	Prepare: "backburner:prepare-for-merge", Merge: "backburner:merge", Hold: "backburner:hold",
}

func (l Labels) verb(label string) (Verb, bool) {
	for _, one := range []struct {
		name string
		verb Verb
	}{
		{l.Start, VerbStart}, {l.Approve, VerbApprove}, {l.Review, VerbReview}, {l.Prepare, VerbPrepare}, {l.Merge, VerbMerge}, {l.Hold, VerbHold},
	} {
		if one.name != "" && strings.EqualFold(one.name, label) {
			return one.verb, true
		}
	}
	return VerbUnknown, false
}

// Rules say what to look for in a thread.
type Rules struct {
	Prefix string // "/backburner"
	Labels Labels
	Viewer Viewer
	Since  time.Time // earlier events are known; by GitHub's clock
}

// Events is what happened in a thread since the time of the rules, oldest first.
// What backburner wrote itself is none: it is known by its marker, so that a person
// who shares the account is not overheard.
func Events(t Thread, r Rules) []Event {
	s := reading{t: t, r: r}
	s.text()
	for _, c := range t.Comments {
		s.written("gh:comment:"+c.ID.String(), c.Written, Target{Kind: OnComment, ID: c.ID}, Commented)
	}
	s.timeline()
	for _, review := range t.Reviews {
		s.review(review)
	}
	slices.SortStableFunc(s.events, func(x, y Event) int { return x.At.Compare(y.At) })
	return s.events
}

// reading collects the events of one thread.
type reading struct {
	t      Thread
	r      Rules
	events []Event
}

// add takes an event in, unless it is older than what is known.
func (s *reading) add(e Event) {
	if e.At.Before(s.r.Since) {
		return
	}
	if e.On.Kind == "" {
		e.On.Kind = OnThread
	}
	e.On.Slug, e.On.Number = s.t.Slug, s.t.Number
	s.events = append(s.events, e)
}

// text reads what the thread itself says.
func (s *reading) text() {
	t := s.t
	s.written("gh:text:"+t.ID.String(), t.Written, Target{Kind: OnThread}, "")
	at, by := t.lastChange()
	if !at.IsZero() && !(s.r.Viewer.Is(t.Author) && ours(t.Written, s.r.Viewer)) {
		s.add(Event{
			ID: "gh:edit:" + t.ID.String() + ":" + hash(t.Title+"\n"+t.Body), Kind: Edited, At: at, By: []Actor{by},
			Own: s.r.Viewer.Is(by), Text: t.Body,
		})
	}
}

// written makes events of a text: its commands, or else that it was said.
func (s *reading) written(id string, w Written, on Target, otherwise EventKind) {
	if w.Hidden || ours(w, s.r.Viewer) {
		return
	}
	e := Event{Kind: Commanded, At: w.At(), By: answerable(w), Own: s.r.Viewer.Is(w.Author), On: on}
	commands := Commands(w.Body, s.r.Prefix)
	for _, c := range commands {
		e.ID, e.Command = id+":"+c.Hash(), c
		s.add(e)
	}
	if len(commands) == 0 && otherwise != "" && strings.TrimSpace(w.Body) != "" {
		e.ID, e.Kind, e.Text = id+":"+hash(w.Body), otherwise, w.Body
		s.add(e)
	}
}

// answerable is who has to be believed for a text to be: who wrote it, and who
// changed it last, also when that account is gone.
func answerable(w Written) []Actor {
	if w.EditedAt.IsZero() || w.Editor == w.Author {
		return []Actor{w.Author}
	}
	return []Actor{w.Author, w.Editor}
}

// ours reports whether no person but some backburner wrote a text: what has the
// marker may have an agent's words in it, also when another account, of another
// installation or of an earlier token, is believed. An app is nobody's own account:
// what it wrote, backburner did.
func ours(w Written, v Viewer) bool {
	return hasMarker(w.Body) || v.Bot() && v.Is(w.Author)
}

func (s *reading) timeline() {
	last := make(map[string]string) // by label: the entry that says whether it is on
	for _, h := range s.t.Timeline {
		if h.Label != "" {
			last[strings.ToLower(h.Label)] = h.Node
		}
	}
	for _, h := range s.t.Timeline {
		e := Event{ID: "gh:event:" + h.Node, At: h.At, By: []Actor{h.By}, Own: s.r.Viewer.Is(h.By), Label: h.Label}
		verb, asks := s.r.Labels.verb(h.Label)
		counts := asks && last[strings.ToLower(h.Label)] == h.Node && !(e.Own && s.r.Viewer.Bot())
		switch h.Type {
		case "LabeledEvent":
			e.Kind, e.Command = Commanded, Command{Verb: verb, Line: h.Label}
		case "UnlabeledEvent":
			e.Kind, e.Command = Unlabelled, Command{Verb: verb, Line: h.Label}
		case "ClosedEvent":
			e.Kind, counts = Closed, s.t.State != StateMerged
		case "ReopenedEvent":
			e.Kind, counts = Reopened, true
		case "MergedEvent":
			e.Kind, counts = Merged, true
		case "AssignedEvent":
			e.Kind, counts = Assigned, sameLogin(h.Assignee, s.r.Viewer.Login)
		default:
			counts = false
		}
		if counts {
			s.add(e)
		}
	}
}

// review reads a review: its own words, what it says on lines, and that it was.
func (s *reading) review(r Review) {
	if r.Verdict == "PENDING" || r.Hidden || ours(r.Written, s.r.Viewer) {
		return
	}
	id := "gh:review:" + r.ID.String()
	before := len(s.events)
	s.written(id, r.Written, Target{Kind: OnThread}, "")
	kept := r
	kept.Comments = nil
	for _, c := range r.Comments {
		switch {
		case c.Hidden || s.resolved(c) || ours(c.Written, s.r.Viewer):
		case len(Commands(c.Body, s.r.Prefix)) > 0:
			s.written("gh:review_comment:"+c.ID.String(), c.Written, Target{Kind: OnReviewComment, ID: c.ID}, "")
		default:
			kept.Comments = append(kept.Comments, c)
		}
	}
	if len(s.events) > before && len(kept.Comments) == 0 && r.Verdict == "COMMENTED" || r.Verdict == "COMMENTED" && r.Body == "" && len(kept.Comments) == 0 {
		return // nothing was said but commands
	}
	by := answerable(r.Written)
	for _, c := range kept.Comments {
		for _, a := range answerable(c.Written) {
			if !slices.Contains(by, a) {
				by = append(by, a)
			}
		}
	}
	s.add(Event{ID: id, Kind: Reviewed, At: r.At(), By: by, Own: s.r.Viewer.Is(r.Author), Text: r.Body, Review: &kept})
}

// resolved reports whether the conversation of a comment is over.
func (s *reading) resolved(c ReviewComment) bool {
	first := c.ReplyTo
	if first == 0 {
		first = c.ID
	}
	if s.t.Pull == nil {
		return false
	}
	_, over := s.t.Pull.Resolved[first]
	return over
}

// Unseen are the events that were not dealt with before.
func Unseen(events []Event, seen map[string]time.Time) []Event {
	return slices.DeleteFunc(slices.Clone(events), func(e Event) bool {
		_, known := seen[e.ID]
		return known
	})
}

// Forget drops from what was seen what no reading since a time brings again.
func Forget(seen map[string]time.Time, since time.Time) {
	for id, at := range seen {
		if at.Before(since) {
			delete(seen, id)
		}
	}
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}
