package githubtest

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// types are the GraphQL types and the fields that this GitHub serves; anything
// else is a violation.
var types = together(baseTypes, pullTypes, mutationTypes())

func together(tables ...map[string]map[string]field) map[string]map[string]field {
	all := map[string]map[string]field{}
	for _, t := range tables {
		maps.Copy(all, t)
	}
	return all
}

var baseTypes = map[string]map[string]field{
	"Query": {
		"viewer":     get(func(q *query) any { return object{"User", viewer{q.by}} }),
		"repository": ask((*query).repository, "owner", "name", "followRenames"),
		"node":       ask(func(q *query, _ *query, a arguments) any { return q.node(a.text("id")) }, "id"),
		"nodes":      ask((*query).byIDs, "ids"),
		"rateLimit":  get(func(q *query) any { return object{"RateLimit", q} }),
	},
	"RateLimit": {
		"cost":      get(func(q *query) any { return q.cost }),
		"limit":     get(func(q *query) any { return q.token.gql.limit }),
		"used":      get(func(q *query) any { return q.token.gql.used }),
		"remaining": get(func(q *query) any { return q.token.gql.remaining() }),
		"resetAt":   get(func(q *query) any { return stamp(q.token.gql.reset) }),
		"nodeCount": get(func(q *query) any { return q.nodes }),
	},
	"User":  actorFields,
	"Bot":   actorFields,
	"Label": {"id": nodeField, "name": get(func(l *label) any { return l.name }), "color": get(func(l *label) any { return l.color })},
	"PageInfo": {
		"hasNextPage":     get(func(c *connection) any { return c.more }),
		"hasPreviousPage": get(func(c *connection) any { return c.before }),
		"startCursor":     get(func(c *connection) any { start, _ := c.ends(); return start }),
		"endCursor":       get(func(c *connection) any { _, end := c.ends(); return end }),
	},

	"IssueConnection":                    connectionFields,
	"PullRequestConnection":              connectionFields,
	"LabelConnection":                    connectionFields,
	"IssueCommentConnection":             connectionFields,
	"IssueTimelineItemsConnection":       connectionFields,
	"PullRequestTimelineItemsConnection": connectionFields,
	"PullRequestReviewConnection":        connectionFields,
	"PullRequestReviewCommentConnection": connectionFields,
	"PullRequestReviewThreadConnection":  connectionFields,
	"PullRequestCommitConnection":        connectionFields,
	"UserConnection":                     connectionFields,

	"Repository": {
		"id":               nodeField,
		"databaseId":       databaseID,
		"name":             get(func(r *repository) any { return r.name }),
		"nameWithOwner":    get(func(r *repository) any { return r.slug() }),
		"isArchived":       get(func(r *repository) any { return r.archived }),
		"isPrivate":        get(func(r *repository) any { return r.private }),
		"viewerPermission": ask(func(q *query, r *repository, _ arguments) any { return strings.ToUpper(r.role(q.by)) }),
		"url":              get(func(r *repository) any { return r.page() }),
		"issues":           list("IssueConnection", (*query).issues, "orderBy", "filterBy", "states"),
		"pullRequests":     list("PullRequestConnection", (*query).pulls, "orderBy", "states"),
		"issue":            ask(func(q *query, r *repository, a arguments) any { return r.numbered(a, false) }, "number"),
		"pullRequest":      ask(func(q *query, r *repository, a arguments) any { return r.numbered(a, true) }, "number"),
	},
	"Issue": issueFields(nil, "IssueTimelineItemsConnection"),
	"IssueComment": {
		"id": nodeField, "databaseId": databaseID, "fullDatabaseId": fullDatabaseID, "createdAt": createdAt, "updatedAt": updatedAt,
		"author":       get(func(c *comment) any { return actor(c.author) }),
		"editor":       get(func(c *comment) any { return actor(c.editor) }),
		"lastEditedAt": get(func(c *comment) any { return stampOrNil(c.lastEdited) }),
		"body":         get(func(c *comment) any { return c.body }),
		"isMinimized":  get(func(c *comment) any { return c.minimized }),
		"url":          get(func(c *comment) any { return c.issue.page() + "#issuecomment-" + itoa(c.id) }),
		"issue":        get(func(c *comment) any { return object{"Issue", c.issue} }),
	},

	"LabeledEvent":   eventFields(map[string]field{"label": get(eventLabel)}),
	"UnlabeledEvent": eventFields(map[string]field{"label": get(eventLabel)}),
	"ClosedEvent":    eventFields(nil),
	"ReopenedEvent":  eventFields(nil),
	"AssignedEvent":  eventFields(map[string]field{"assignee": get(func(e *event) any { return actor(e.assignee) })}),
	"RenamedTitleEvent": eventFields(map[string]field{
		"previousTitle": get(func(e *event) any { return e.before }),
		"currentTitle":  get(func(e *event) any { return e.after }),
	}),
}

// interfaces are the abstract types by which a fragment may ask.
var interfaces = map[string][]string{
	"User":         {"Actor", "Node"},
	"Bot":          {"Actor", "Node"},
	"Issue":        {"Node", "Comment", "Labelable", "Closable"},
	"PullRequest":  {"Node", "Comment", "Labelable", "Closable"},
	"IssueComment": {"Node", "Comment"},
	"Repository":   {"Node"},

	"PullRequestReview":        {"Node", "Comment"},
	"PullRequestReviewComment": {"Node", "Comment"},
}

// is reports whether a fragment with that condition concerns a type.
func is(kind, condition string) bool {
	return condition == "" || condition == kind || slices.Contains(interfaces[kind], condition) || condition == "Node" && strings.HasSuffix(kind, "Event")
}

var connectionFields = map[string]field{
	"nodes":      get(func(c *connection) any { return c.nodes }),
	"totalCount": get(func(c *connection) any { return c.total }),
	"pageInfo":   get(func(c *connection) any { return object{"PageInfo", c} }),
}

// recorded is what every record with an identity can tell.
type recorded interface {
	nodeID() string
	database() int64
	times() (created, updated time.Time)
}

func (i identity) database() int64               { return i.id }
func (i identity) times() (time.Time, time.Time) { return i.created, i.updated }

var (
	nodeField = get(func(r recorded) any { return r.nodeID() })
	createdAt = get(func(r recorded) any { created, _ := r.times(); return stamp(created) })
	updatedAt = get(func(r recorded) any { _, updated := r.times(); return stamp(updated) })

	fullDatabaseID = get(func(r recorded) any { return itoa(r.database()) })
	// databaseID has 32 bits: a greater id is null.
	databaseID = get(func(r recorded) any {
		if r.database() > math.MaxInt32 {
			return nil
		}
		return r.database()
	})
)

// named is a user as others see it, or as the viewer.
type named interface {
	recorded
	name() string
}

// viewer is who asks: an Actions token sees itself with the "[bot]" that GraphQL
// leaves out elsewhere.
type viewer struct{ *user }

func (v viewer) name() string { return v.login }
func (u *user) name() string {
	if u.bot {
		return strings.TrimSuffix(u.login, "[bot]")
	}
	return u.login
}

var actorFields = map[string]field{
	"id":         nodeField,
	"databaseId": databaseID,
	"login":      get(func(u named) any { return u.name() }),
}

// actor is a user, or null for one who deleted the account.
func actor(u *user) any {
	switch {
	case u == nil || u.gone:
		return nil
	case u.bot:
		return object{"Bot", u}
	}
	return object{"User", u}
}

func eventLabel(e *event) any { return object{"Label", e.label} }

func eventFields(more map[string]field) map[string]field {
	fields := map[string]field{"id": nodeField, "createdAt": createdAt, "actor": get(func(e *event) any { return actor(e.actor) })}
	for name, f := range more {
		fields[name] = f
	}
	return fields
}

// issueFields are those of issues and pull requests alike, and more.
func issueFields(more map[string]field, timeline string) map[string]field {
	fields := map[string]field{
		"id": nodeField, "databaseId": databaseID, "fullDatabaseId": fullDatabaseID, "createdAt": createdAt, "updatedAt": updatedAt,
		"number":       get(func(i *issue) any { return i.number }),
		"title":        get(func(i *issue) any { return i.title }),
		"body":         get(func(i *issue) any { return i.body }),
		"author":       get(func(i *issue) any { return actor(i.author) }),
		"editor":       get(func(i *issue) any { return actor(i.editor) }),
		"lastEditedAt": get(func(i *issue) any { return stampOrNil(i.lastEdited) }),
		"closed":       get(func(i *issue) any { return !i.open() }),
		"closedAt":     get(func(i *issue) any { return stampOrNil(i.closed) }),
		"state":        get(func(i *issue) any { return i.graphState() }),
		"url":          get(func(i *issue) any { return i.page() }),
		"repository":   get(func(i *issue) any { return object{"Repository", i.repo} }),
		"labels":       list("LabelConnection", func(_ *query, i *issue, _ arguments) any { return objects("Label", i.labels) }),
		"assignees":    list("UserConnection", func(_ *query, i *issue, _ arguments) any { return objects("User", i.assignees) }),
		"comments": list("IssueCommentConnection", func(_ *query, i *issue, a arguments) any {
			return objects("IssueComment", order(i.comments, a.object("orderBy")))
		}, "orderBy"),
		"timelineItems": list(timeline, (*query).timeline, "itemTypes", "since"),
	}
	if more == nil {
		fields["stateReason"] = get(func(i *issue) any { return orNil(strings.ToUpper(i.reason)) })
	}
	for name, f := range more {
		fields[name] = f
	}
	return fields
}
