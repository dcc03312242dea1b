package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

func (c *call) getIssue() answer { return ok(c.issue.json()) }

func (c *call) listComments() answer {
	var all []any
	for _, m := range c.issue.comments {
		if !m.updated.Before(c.since()) {
			all = append(all, m.json())
		}
	}
	return c.page(all)
}

func (c *call) createComment() answer {
	if strings.TrimSpace(c.text("body")) == "" {
		return invalid("IssueComment", "data", "unprocessable", "Body cannot be blank")
	}
	return created(c.issue.addComment(c.by, c.text("body")).json())
}

func (c *call) getComment() answer {
	m := c.repo.comment(c.id("comment_id"))
	if m == nil {
		return notFound()
	}
	return ok(m.json())
}

// updateComment is for the author and those who may write.
func (c *call) updateComment() answer {
	m := c.repo.comment(c.id("comment_id"))
	switch {
	case m == nil:
		return notFound()
	case m.author != c.by && !atLeast(c.repo.role(c.by), "write"):
		return c.refuseRole()
	case strings.TrimSpace(c.text("body")) == "":
		return invalid("IssueComment", "data", "unprocessable", "Body cannot be blank")
	}
	m.edit(c.by, c.text("body"))
	return ok(m.json())
}

func (c *call) reactToComment() answer {
	m := c.repo.comment(c.id("comment_id"))
	if m == nil {
		return notFound()
	}
	return c.react(&m.reactions)
}

func (c *call) reactToIssue() answer { return c.react(&c.issue.reactions) }

var reactions = []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}

func (c *call) react(list *[]*reaction) answer {
	if !slices.Contains(reactions, c.text("content")) {
		return invalid("Reaction", "content", "invalid", "")
	}
	r, added := c.server.world.react(list, c.by, c.text("content"))
	if added {
		return created(r.json())
	}
	return ok(r.json())
}

func (c *call) addLabels() answer {
	names, _ := c.body["labels"].([]any)
	if len(names) == 0 {
		return invalid("Label", "labels", "missing_field", "")
	}
	for _, n := range names {
		name, isText := n.(string)
		if !isText || name == "" || len(name) > longestLabel {
			return invalid("Label", "name", "invalid", "")
		}
	}
	for _, n := range names {
		c.issue.addLabel(c.by, n.(string))
	}
	return ok(labelsJSON(c.issue.labels))
}

// longestLabel is GitHub's limit for a label's name.
const longestLabel = 50

func (c *call) removeLabel() answer {
	if !c.issue.removeLabel(c.by, c.vars["name"]) {
		return refuse(http.StatusNotFound, "Label does not exist")
	}
	return ok(labelsJSON(c.issue.labels))
}

func (c *call) createLabel() answer {
	name, color := c.text("name"), c.text("color")
	switch {
	case name == "":
		return invalid("Label", "name", "missing_field", "")
	case len(name) > longestLabel:
		return invalid("Label", "name", "invalid", "")
	case c.repo.label(name) != nil:
		return invalid("Label", "name", "already_exists", "")
	case color != "" && !isColor(color):
		return invalid("Label", "color", "invalid", "")
	case len([]rune(c.text("description"))) > 100:
		return invalid("Label", "description", "invalid", "description is too long (maximum is 100 characters)")
	}
	return created(c.repo.addLabel(name, color, c.text("description")).json())
}

func (c *call) updateLabel() answer {
	l := c.repo.label(c.vars["name"])
	switch {
	case l == nil:
		return notFound()
	case c.has("color") && !isColor(c.text("color")):
		return invalid("Label", "color", "invalid", "")
	}
	if c.has("color") {
		l.color = c.text("color")
	}
	if c.has("description") {
		l.description = c.text("description")
	}
	return ok(l.json())
}

func isColor(s string) bool {
	return len(s) == 6 && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

func (c *call) getLabel() answer {
	l := c.repo.label(c.vars["name"])
	if l == nil {
		return notFound()
	}
	return ok(l.json())
}

func (c *call) getRepository() answer { return ok(c.repo.json(c.by)) }

// getPermission is what a user may do; the old permission knows four words only.
func (c *call) getPermission() answer {
	u := c.server.world.user(c.vars["username"])
	if u == nil {
		return refuse(http.StatusNotFound, fmt.Sprintf("%s is not a user", c.vars["username"]))
	}
	role := c.repo.role(u)
	old := map[string]string{"triage": "read", "maintain": "write"}
	permission := role
	if o := old[role]; o != "" {
		permission = o
	}
	who := u.json()
	who["role_name"] = role
	who["permissions"] = permissionsJSON(role)
	return ok(map[string]any{"permission": permission, "role_name": role, "user": who})
}

func (c *call) getViewer() answer {
	u := c.by.json()
	for _, field := range []string{"name", "company", "blog", "location", "email", "hireable", "bio"} {
		u[field] = nil
	}
	for _, field := range []string{"public_repos", "public_gists", "followers", "following"} {
		u[field] = 0
	}
	u["created_at"], u["updated_at"], u["user_view_type"] = stamp(c.by.created), stamp(c.by.updated), "public"
	return ok(u)
}

func (c *call) getRateLimit() answer {
	show := func(l *window) map[string]any {
		l.roll(c.server.world.time())
		return map[string]any{"limit": l.limit, "used": l.used, "remaining": l.remaining(), "reset": l.reset.Unix()}
	}
	core := show(&c.token.rest)
	other := map[string]any{"limit": 30, "used": 0, "remaining": 30, "reset": c.token.rest.reset.Unix()}
	return ok(map[string]any{"resources": map[string]any{"core": core, "graphql": show(&c.token.gql), "search": other}, "rate": core})
}

func (c *call) listIssues() answer {
	var all []*issue
	for _, i := range c.repo.issues {
		if !i.gone && c.inState(i) && !i.updated.Before(c.since()) && c.labelled(i) && c.createdBy(i) {
			all = append(all, i)
		}
	}
	c.sort(all, "desc")
	var page []any
	for _, i := range all {
		page = append(page, i.json())
	}
	return c.page(page)
}

// createdBy reports whether an issue was opened by whom the filter names.
func (c *call) createdBy(i *issue) bool {
	name := c.query.Get("creator")
	return name == "" || strings.EqualFold(name, i.author.login)
}

// labelled reports whether an issue has all labels that the filter names.
func (c *call) labelled(i *issue) bool {
	names := c.query.Get("labels")
	if names == "" {
		return true
	}
	for name := range strings.SplitSeq(names, ",") {
		if !slices.ContainsFunc(i.labels, func(l *label) bool { return strings.EqualFold(l.name, name) }) {
			return false
		}
	}
	return true
}

// createIssue takes labels only from those who may put them on; for others
// GitHub drops them without a word.
func (c *call) createIssue() answer {
	if c.text("title") == "" {
		return invalid("Issue", "title", "missing_field", "")
	}
	i := c.repo.openIssue(c.by, c.text("title"), c.text("body"))
	names, _ := c.body["labels"].([]any)
	for _, n := range names {
		if name, isText := n.(string); isText && atLeast(c.repo.role(c.by), "triage") {
			i.addLabel(c.by, name)
		}
	}
	return created(i.json())
}

func (c *call) listSubIssues() answer {
	var all []any
	for _, s := range c.issue.subs {
		all = append(all, s.json())
	}
	return c.page(all)
}

func (c *call) addSubIssue() answer {
	id, _ := c.body["sub_issue_id"].(float64)
	replace, _ := c.body["replace_parent"].(bool)
	var sub *issue
	for _, r := range c.server.world.repos {
		for _, i := range r.issues {
			if i.id == int64(id) && i.pull == nil && !i.gone {
				sub = i
			}
		}
	}
	switch {
	case sub == nil:
		return refuse(http.StatusNotFound, "The provided sub-issue does not exist")
	case sub.parent == c.issue:
		return invalid("SubIssue", "sub_issue_id", "custom", "Issue may not contain duplicate sub-issues")
	case sub.parent != nil && !replace:
		return invalid("SubIssue", "sub_issue_id", "custom", "Sub issue may only have one parent")
	case sub == c.issue:
		return invalid("SubIssue", "sub_issue_id", "custom", "An issue cannot be its own sub-issue")
	}
	c.issue.adopt(sub)
	return created(c.issue.json())
}
