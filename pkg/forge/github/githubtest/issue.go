package githubtest

import (
	"slices"
	"strings"
	"time"
)

// issue is an issue, or a pull request when pull is set.
type issue struct {
	identity
	repo       *repository
	number     int
	title      string
	body       string
	author     *user
	editor     *user
	lastEdited time.Time
	closed     time.Time
	closedBy   *user
	reason     string // completed, not_planned, duplicate, reopened
	labels     []*label
	assignees  []*user
	comments   []*comment
	events     []*event
	reactions  []*reaction
	parent     *issue
	subs       []*issue
	pull       *pull
	gone       bool
}

// comment is one of the conversation; those of reviews are in [review].
type comment struct {
	identity
	issue      *issue
	author     *user
	editor     *user
	lastEdited time.Time
	body       string
	minimized  bool
	reactions  []*reaction
}

// event is one item of a timeline, by its GraphQL type.
type event struct {
	identity
	kind     string
	actor    *user
	assignee *user
	label    *label
	before   string
	after    string
	commit   string
}

type reaction struct {
	identity
	user    *user
	content string
}

func (r *repository) openIssue(by *user, title, body string) *issue {
	r.numbers++
	i := &issue{repo: r, number: r.numbers, title: title, body: body, author: by}
	i.identity = r.world.identify("I", "Issue", i)
	r.issues = append(r.issues, i)
	return i
}

func (i *issue) open() bool { return i.closed.IsZero() }

// touch moves updatedAt.
func (i *issue) touch() { i.updated = i.repo.world.time() }

// record adds to the timeline, which moves updatedAt.
func (i *issue) record(kind string, actor *user) *event {
	e := &event{kind: kind, actor: actor}
	e.identity = i.repo.world.identify("EV", kind, e)
	i.events = append(i.events, e)
	i.touch()
	return e
}

// addLabel puts a label on, and makes it when the repository has none of that
// name. Putting on what is there changes nothing.
func (i *issue) addLabel(by *user, name string) {
	l := i.repo.label(name)
	if l == nil {
		l = i.repo.addLabel(name, "", "")
	}
	if slices.Contains(i.labels, l) {
		return
	}
	i.labels = append(i.labels, l)
	i.record("LabeledEvent", by).label = l
}

func (i *issue) removeLabel(by *user, name string) bool {
	at := slices.IndexFunc(i.labels, func(l *label) bool { return strings.EqualFold(l.name, name) })
	if at < 0 {
		return false
	}
	l := i.labels[at]
	i.labels = slices.Delete(slices.Clone(i.labels), at, at+1)
	i.record("UnlabeledEvent", by).label = l
	return true
}

func (i *issue) addComment(by *user, body string) *comment {
	c := &comment{issue: i, author: by, body: body}
	c.identity = i.repo.world.identify("IC", "IssueComment", c)
	i.comments = append(i.comments, c)
	i.touch()
	return c
}

// edit changes a comment; the issue's updatedAt stays.
func (c *comment) edit(by *user, body string) {
	now := c.issue.repo.world.time()
	c.body, c.editor, c.lastEdited, c.updated = body, by, now, now
}

// remove deletes a comment; the issue's updatedAt stays.
func (c *comment) remove() {
	c.issue.comments = slices.DeleteFunc(c.issue.comments, func(o *comment) bool { return o == c })
	delete(c.issue.repo.world.nodes, c.node)
}

func (i *issue) setTitle(by *user, title string) {
	if title == i.title {
		return
	}
	e := i.record("RenamedTitleEvent", by)
	e.before, e.after = i.title, title
	i.title = title
}

func (i *issue) setBody(by *user, body string) {
	i.body, i.editor, i.lastEdited = body, by, i.repo.world.time()
	i.touch()
}

func (i *issue) close(by *user, reason string) {
	if !i.open() {
		return
	}
	if reason == "" && i.pull == nil {
		reason = "completed"
	}
	i.closed, i.closedBy, i.reason = i.repo.world.time(), by, reason
	i.record("ClosedEvent", by)
}

func (i *issue) reopen(by *user) {
	if i.open() || i.pull != nil && i.pull.merged() {
		return
	}
	i.closed, i.closedBy, i.reason = time.Time{}, nil, "reopened"
	if i.pull != nil {
		i.reason = ""
	}
	i.record("ReopenedEvent", by)
}

func (i *issue) assign(by, to *user) {
	if slices.Contains(i.assignees, to) {
		return
	}
	i.assignees = append(i.assignees, to)
	i.record("AssignedEvent", by).assignee = to
}

// react adds a reaction; the same one of the same user is found, not added.
func (w *world) react(list *[]*reaction, by *user, content string) (r *reaction, added bool) {
	for _, r := range *list {
		if r.user == by && r.content == content {
			return r, false
		}
	}
	r = &reaction{user: by, content: content}
	r.identity = w.identify("REA", "Reaction", r)
	*list = append(*list, r)
	return r, true
}

// remove deletes an issue with what belongs to it: its number stays taken.
func (i *issue) remove() {
	i.gone = true
	delete(i.repo.world.nodes, i.node)
	for _, c := range i.comments {
		delete(i.repo.world.nodes, c.node)
	}
}

// move transfers an issue: a new record with a new number and node id there; the
// old one is gone from here and leads there.
func (i *issue) move(to *repository) *issue {
	i.remove()
	n := to.openIssue(i.author, i.title, i.body)
	for _, c := range i.comments {
		copied := *c
		copied.issue = n
		copied.identity = to.world.identify("IC", "IssueComment", &copied)
		n.comments = append(n.comments, &copied)
	}
	if i.repo.moved == nil {
		i.repo.moved = map[int]*issue{}
	}
	i.repo.moved[i.number] = n
	return n
}
