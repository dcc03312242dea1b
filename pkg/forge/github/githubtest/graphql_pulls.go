package githubtest

import "strings"

// pullTypes are the GraphQL types about pull requests.
var pullTypes = map[string]map[string]field{
	"PullRequest": issueFields(map[string]field{
		"headRefName":         pullField(func(p *pull) any { return p.head }),
		"headRefOid":          pullField(func(p *pull) any { return p.headOID }),
		"baseRefName":         pullField(func(p *pull) any { return p.base }),
		"baseRefOid":          pullField(func(p *pull) any { return p.baseOID }),
		"isDraft":             pullField(func(p *pull) any { return p.draft }),
		"isCrossRepository":   pullField(func(p *pull) any { return p.cross() }),
		"maintainerCanModify": pullField(func(p *pull) any { return p.modify }),
		"merged":              pullField(func(p *pull) any { return p.merged() }),
		"mergedAt":            pullField(func(p *pull) any { return stampOrNil(p.mergedAt) }),
		"mergedBy":            pullField(func(p *pull) any { return actor(p.mergedBy) }),
		"mergeCommit":         ask(func(q *query, i *issue, _ arguments) any { return q.commit(i.repo, i.pull.mergeOID) }),
		"headRepository":      pullField(func(p *pull) any { return repositoryObject(p.headRepo) }),
		"reviewDecision":      pullField(func(p *pull) any { return orNil(p.decision()) }),
		"mergeStateStatus":    pullField(func(p *pull) any { return p.mergeState() }),
		"mergeable":           pullField(func(p *pull) any { return p.mergeable() }),
		"isInMergeQueue":      pullField(func(p *pull) any { return p.queued != nil }),
		"isMergeQueueEnabled": pullField(func(p *pull) any { return p.issue.repo.rules.Queue }),
		"autoMergeRequest":    pullField(func(p *pull) any { return p.auto.object() }),
		"mergeQueueEntry":     pullField(func(p *pull) any { return p.queued.object() }),
		"commits":             list("PullRequestCommitConnection", func(_ *query, i *issue, _ arguments) any { return i.pull.lastCommit() }),
		"reviews":             list("PullRequestReviewConnection", func(_ *query, i *issue, _ arguments) any { return objects("PullRequestReview", i.pull.reviews) }),
		"reviewThreads": list("PullRequestReviewThreadConnection", func(_ *query, i *issue, _ arguments) any {
			return objects("PullRequestReviewThread", i.pull.threads)
		}),
	}, "PullRequestTimelineItemsConnection"),

	"PullRequestReview": recordFields(map[string]field{
		"author":      get(func(r *review) any { return actor(r.author) }),
		"state":       get(func(r *review) any { return r.state }),
		"body":        get(func(r *review) any { return r.body }),
		"submittedAt": get(func(r *review) any { return stamp(r.submitted) }),
		"commit":      ask(func(q *query, r *review, _ arguments) any { return q.commit(r.pull.issue.repo, r.commit) }),
		"comments": list("PullRequestReviewCommentConnection", func(_ *query, r *review, _ arguments) any {
			return objects("PullRequestReviewComment", r.comments)
		}),
		"editor":       get(func(r *review) any { return actor(r.editor) }),
		"lastEditedAt": get(func(r *review) any { return stampOrNil(r.lastEdited) }),
		"url":          get(func(r *review) any { return r.pull.issue.page() + "#pullrequestreview-" + itoa(r.id) }),
	}),
	"PullRequestReviewComment": recordFields(map[string]field{
		"author":       get(func(m *remark) any { return actor(m.author) }),
		"editor":       get(func(m *remark) any { return actor(m.editor) }),
		"lastEditedAt": get(func(m *remark) any { return stampOrNil(m.lastEdited) }),
		"body":         get(func(m *remark) any { return m.body }),
		"path":         get(func(m *remark) any { return m.path }),
		"diffHunk":     get(func(m *remark) any { return m.hunk }),
		"line":         get(func(m *remark) any { return intOrNil(m.line) }),
		"originalLine": get(func(m *remark) any { return intOrNil(m.originalLine) }),
		"isMinimized":  get(func(*remark) any { return false }),
		"outdated":     get(func(m *remark) any { return m.line == 0 }),
		"replyTo":      get(func(m *remark) any { return m.replyTo.object() }),
		"url":          get(func(m *remark) any { return m.thread.pull.issue.page() + "#discussion_r" + itoa(m.id) }),
	}),
	"PullRequestReviewThread": map[string]field{
		"id":         nodeField,
		"isResolved": get(func(t *thread) any { return t.resolved != nil }),
		"isOutdated": get(func(t *thread) any { return t.remarks[0].line == 0 }),
		"resolvedBy": get(func(t *thread) any { return actor(t.resolved) }),
		"path":       get(func(t *thread) any { return t.remarks[0].path }),
		"line":       get(func(t *thread) any { return intOrNil(t.remarks[0].line) }),
		"comments":   list("PullRequestReviewCommentConnection", func(_ *query, t *thread, _ arguments) any { return objects("PullRequestReviewComment", t.remarks) }),
	},
	"PullRequestCommit": map[string]field{"id": nodeField, "commit": get(func(c *commit) any { return object{"Commit", c} })},
	"Commit": map[string]field{
		"id":                nodeField,
		"oid":               get(func(c *commit) any { return c.oid }),
		"statusCheckRollup": get(func(c *commit) any { return c.rollupObject() }),
	},
	"StatusCheckRollup": map[string]field{"id": nodeField, "state": get(func(c *commit) any { return c.rollup() })},
	"AutoMergeRequest": map[string]field{
		"enabledAt":   get(func(a *autoMerge) any { return stamp(a.at) }),
		"enabledBy":   get(func(a *autoMerge) any { return actor(a.by) }),
		"mergeMethod": get(func(a *autoMerge) any { return strings.ToUpper(a.strategy) }),
	},
	"MergeQueueEntry": map[string]field{"id": nodeField, "state": get(func(*queueEntry) any { return "QUEUED" })},

	"ReadyForReviewEvent":     eventFields(nil),
	"ConvertToDraftEvent":     eventFields(nil),
	"HeadRefDeletedEvent":     eventFields(nil),
	"HeadRefForcePushedEvent": eventFields(nil),
	"MergedEvent":             eventFields(nil),
}

func pullField(f func(*pull) any) field { return get(func(i *issue) any { return f(i.pull) }) }

// recordFields are those that every record with a database id has, and more.
func recordFields(fields map[string]field) map[string]field {
	for name, f := range map[string]field{
		"id": nodeField, "databaseId": databaseID, "fullDatabaseId": fullDatabaseID, "createdAt": createdAt, "updatedAt": updatedAt,
	} {
		fields[name] = f
	}
	return fields
}

func intOrNil(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

// commit is one as GraphQL shows it: to tokens that may read the contents.
func (q *query) commit(r *repository, oid string) any {
	switch {
	case oid == "":
		return nil
	case !q.token.may("contents=read", r):
		return &gqlError{"FORBIDDEN", q.token.inaccessible()}
	}
	return object{"Commit", r.commit(oid)}
}

func repositoryObject(r *repository) any {
	if r == nil {
		return nil
	}
	return object{"Repository", r}
}

func (a *autoMerge) object() any {
	if a == nil {
		return nil
	}
	return object{"AutoMergeRequest", a}
}

func (e *queueEntry) object() any {
	if e == nil {
		return nil
	}
	return object{"MergeQueueEntry", e}
}

func (m *remark) object() any {
	if m == nil {
		return nil
	}
	return object{"PullRequestReviewComment", m}
}

func (c *commit) rollupObject() any {
	if c.rollup() == "" {
		return nil
	}
	return object{"StatusCheckRollup", c}
}

// lastCommit is the list of commits as far as backburner asks for it: last: 1.
func (p *pull) lastCommit() []object {
	return []object{{"PullRequestCommit", p.issue.repo.commit(p.headOID)}}
}

// mergeable is MERGEABLE, CONFLICTING or UNKNOWN; to be asked for is what makes
// GitHub find out.
func (p *pull) mergeable() string {
	if p.unknown > 0 {
		p.unknown--
		return "UNKNOWN"
	}
	switch {
	case !p.issue.open():
		return "UNKNOWN"
	case p.conflictFree():
		return "MERGEABLE"
	}
	return "CONFLICTING"
}
