package work

import (
	"fmt"
	"time"
)

// Thread is where people talk about a workstream on a forge that has issues,
// and what was put there so far.
type Thread struct {
	Number int    `json:"number"` // of the issue, or of somebody's pull request
	Node   string `json:"node"`   // its id that survives renames and transfers
	URL    string `json:"url"`
	Author string `json:"author,omitempty"` // login of who opened it
	Editor string `json:"editor,omitempty"` // of somebody's pull request: who else changed its text last
	State  string `json:"state,omitempty"`  // of the issue when it was last seen: open, closed
	Gone   bool   `json:"gone,omitempty"`   // nothing can be said there any more
	Pull   *Pull  `json:"pull,omitempty"`

	StatusComment int64    `json:"status_comment,omitempty"` // its id
	StatusHash    string   `json:"status_hash,omitempty"`    // of the text it has
	Labels        []string `json:"labels,omitempty"`         // of its state, put there by backburner
	CommitStatus  string   `json:"commit_status,omitempty"`  // last one put on a commit: "<commit> <state>"
	DraftShown    string   `json:"draft_shown,omitempty"`    // last made of the pull request: draft, ready; people may change it
	ChecksOf      string   `json:"checks_of,omitempty"`      // commit whose red checks the builder was given
	Parts         []int    `json:"parts,omitempty"`          // issues of the plan's increments, in their order
	PartsOf       int      `json:"parts_of,omitempty"`       // revision of the plan that they are of
}

// Pull is the pull request of a workstream as it was last seen.
type Pull struct {
	Number   int    `json:"number"`
	Node     string `json:"node"`
	URL      string `json:"url"`
	State    string `json:"state"` // open, closed, merged
	Draft    bool   `json:"draft,omitempty"`
	Head     string `json:"head,omitempty"`
	Checks   string `json:"checks,omitempty"` // of the head: "", pending, success, failure
	Failing  string `json:"failing,omitempty"`
	Decision string `json:"decision,omitempty"` // "", approved, changes_requested, review_required
	Landed   string `json:"landed,omitempty"`   // commit it was merged as
	By       string `json:"by,omitempty"`       // who merged or closed it
}

// Shown takes over what was put on the forge meanwhile, as another copy has it.
func (t *Thread) Shown(s *Thread) {
	t.StatusComment, t.StatusHash, t.Labels, t.CommitStatus, t.DraftShown = s.StatusComment, s.StatusHash, s.Labels, s.CommitStatus, s.DraftShown
	t.Parts, t.PartsOf = s.Parts, s.PartsOf
	if t.Pull != nil && s.Pull != nil && t.Pull.Number == s.Pull.Number {
		t.Pull.Draft = s.Pull.Draft
	}
}

// Propose notes the pull request of the work; of another one nothing was shown yet.
func (t *Thread) Propose(p *Pull) {
	if t.Pull == nil || p == nil || t.Pull.Number != p.Number {
		t.DraftShown = ""
	}
	t.Pull = p
}

// reopen takes over that people opened again what was over.
func (t *Thread) reopen(now *Thread) {
	if t == nil || now == nil {
		return
	}
	t.State, t.Gone = orElse(now.State, t.State), false
	if t.Pull != nil && now.Pull != nil && t.Pull.Number == now.Pull.Number {
		t.Pull.State = now.Pull.State
	}
}

// The states of an issue or a pull request.
const (
	StateOpen   = "open"
	StateClosed = "closed"
	StateMerged = "merged"
)

// Sighting is a thread and its pull request as the forge has them now.
type Sighting struct {
	Gone  bool   // deleted, transferred, or no longer to be seen
	State string // of the issue or of somebody's pull request
	By    string // who closed it
	Pull  *Pull  // nil when there is none
}

// Observe notes what happened on the forge to an open workstream, and draws the
// consequence. What is seen a second time changes nothing.
func (w *Workstream) Observe(s Sighting, now time.Time) error {
	if w.Thread == nil || !w.Status.Open() {
		return nil
	}
	closed := s.State == StateClosed && w.Thread.State != StateClosed // else a person asked for work although it is
	pullClosed := s.Pull != nil && s.Pull.State == StateClosed && (w.Thread.Pull == nil || w.Thread.Pull.State != StateClosed)
	w.Thread.State, w.Thread.Gone = s.State, s.Gone
	if s.Pull != nil {
		w.Thread.Pull = s.Pull
	}
	switch pull := s.Pull; {
	case pull != nil && pull.State == StateMerged && w.LandsOnHub():
		return nil // what was asked for is done: land looks whether it is what was tested
	case pull != nil && pull.State == StateMerged && w.OnlyPlanned() && (w.Status == AwaitingApproval || w.Status == Building):
		return w.planMerged(pull, now)
	case pull != nil && pull.State == StateMerged:
		return w.landedOutside(pull, now)
	case pullClosed && w.Kind != KindPullRequest:
		return w.closedOutside("pull_request_closed", fmt.Sprintf("pull request #%d was closed", pull.Number), pull.By, now)
	case s.Gone:
		if pull != nil && pull.State == StateOpen {
			w.SayNotice(Notice{
				ID: "issue_gone", Event: "issue_gone", OnPull: true,
				Text: fmt.Sprintf("The issue that this is for, #%d, is no longer there, or no longer to be seen, so nothing more is done here. What is pushed stays.", w.Thread.Number),
			}, now)
		}
		return w.closedOutside("issue_gone", fmt.Sprintf("#%d is no longer there, or no longer to be seen", w.Thread.Number), "", now)
	case closed:
		return w.closedOutside("issue_closed", fmt.Sprintf("#%d was closed", w.Thread.Number), s.By, now)
	case pull != nil && pull.State == StateOpen && pull.Checks == "failure" && pull.Head == w.Head && w.Status == ReadyToMerge:
		return w.checksRed(pull, now)
	}
	return nil
}

// planMerged takes a plan that people merged as approved. What is built from it
// gets a pull request of its own.
func (w *Workstream) planMerged(p *Pull, now time.Time) error {
	w.Thread.Propose(nil)
	if w.Status == Building {
		return nil
	}
	w.Approval = &Approval{By: p.By, At: now.UTC(), Revision: w.Revision, SpecHash: w.Spec.Hash}
	return w.Move(Building, Reason{"approved", w.proposed() + " was merged" + by(p.By)}, now)
}

// landedOutside notes that people merged the pull request. What was merged
// before it was ready is over all the same.
func (w *Workstream) landedOutside(p *Pull, now time.Time) error {
	detail := fmt.Sprintf("pull request #%d was merged%s", p.Number, by(p.By))
	if w.Status == ReadyToMerge {
		w.Intents = nil
		return w.Move(Merged, Reason{"landed", detail}, now)
	}
	return w.closedOutside("pull_request_merged", fmt.Sprintf("pull request #%d was merged before it was ready", p.Number), p.By, now)
}

func (w *Workstream) closedOutside(code, detail, who string, now time.Time) error {
	w.drop(code, now)
	w.Intents = nil
	return w.Move(Closed, Reason{code, detail + by(who)}, now)
}

// checksRed hands the failing checks of the pull request to the builder.
func (w *Workstream) checksRed(p *Pull, now time.Time) error {
	detail := "the checks of the pull request are red"
	if p.Failing != "" {
		detail += ": " + p.Failing
	}
	if w.Thread.ChecksOf == p.Head { // nothing was changed for them
		n := Notice{ID: "checks:" + p.Head, Event: "checks_red", Text: "After a look at it by the " + AddressReview.Who() + ", " + detail + "."}
		if t := w.Last(AddressReview); t != nil && t.Answer != "" {
			n.Text += "\n\n" + t.Answer
		}
		n.Then = "Run them again, or say in a review what to change."
		w.SayNotice(n, now)
		return nil
	}
	w.Thread.ChecksOf = p.Head
	w.AddTask(AddressReview, TaskContext{Words: "On the pull request, " + detail + ". Find out why, and mend it."}, now)
	w.Rounds.Review++
	return w.Move(Building, Reason{"checks_failed", detail}, now)
}

// address has what a review asks for done.
func (w *Workstream) address(r *Request, now time.Time) (Applying, error) {
	switch {
	case !w.Status.Open() || w.Kind == KindPullRequest:
		return reject("terminal_status", "it is "+string(w.Status)), nil
	case w.Published == "":
		return reject("nothing_published", "nothing of it is published yet"), nil
	case r.Text == "":
		return reject("invalid", "the review says nothing"), nil
	case w.OnlyPlanned() && (w.Status == AwaitingApproval || w.Status == Building || w.Status == Blocked):
		return w.rejectPlan(r, now) // also when somebody else approved it before
	}
	why := "a review" + by(r.By) + " asks for changes"
	if r.Verb == VerbRetry {
		why = "changes are asked for" + by(r.By)
	}
	w.AddTask(AddressReview, TaskContext{Words: r.Text, Request: r.ID, By: r.By}, now).Replies = r.Replies
	w.Rounds.Review++
	w.notMerged("", why, now)
	if w.Status != ReadyToMerge {
		return applied("will be addressed"), nil
	}
	return applied("will be addressed"), w.Move(Building, Reason{"changes_requested", why}, now)
}

// reviewRounds stops work whose reviews do not come to an end.
func (w *Workstream) reviewRounds(l Limits) Step {
	if t := w.due(Building); t == nil || t.Kind != AddressReview || w.Rounds.Review <= l.ReviewRounds {
		return Step{}
	}
	return move(Blocked, "attempts_exhausted:"+string(AddressReview),
		fmt.Sprintf("reviews or red checks sent it back %d times; more rounds are for a person to allow", w.Rounds.Review))
}

const maxAnswer = 2 << 10 // bytes of an answer to a review

// answerReviews tells reviewers what became of what they asked for: on each line that
// they remarked on, and on the pull request where there is more to say, or none.
func (w *Workstream) answerReviews(now time.Time) {
	for _, t := range w.Tasks {
		if t.Kind != AddressReview || t.Status != TaskCompleted || t.Context.Request == "" {
			continue
		}
		outcome := "Nothing was changed."
		if w.worked(t) {
			outcome = fmt.Sprintf("Addressed in %.12s.", w.Published)
		}
		whole := outcome
		if t.Answer != "" {
			whole += "\n\n" + t.Answer
		}
		text := whole
		if len(t.Replies) > 1 {
			text = outcome + " What became of each remark is said in a comment on the pull request."
		}
		for _, comment := range t.Replies {
			w.reply(Notice{ID: fmt.Sprintf("reply:%d:%s", comment, t.ID), Text: text, Reply: comment}, now)
		}
		if len(t.Replies) != 1 {
			w.reply(Notice{ID: "reply:" + t.ID, Text: "The review" + by(t.Context.By) + ": " + whole, OnPull: true}, now)
		}
	}
}

// reply queues an answer on the pull request, once.
func (w *Workstream) reply(n Notice, now time.Time) {
	n.Event = "reply"
	w.SayNotice(n, now)
}
