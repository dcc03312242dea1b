package githubtest

import (
	"fmt"
	"net/url"
	"strings"
)

// The records as REST shows them. Fields that GitHub's description does not
// require and backburner does not read are left out.

func (u *user) json() map[string]any {
	if u == nil {
		return nil
	}
	kind := "User"
	if u.bot {
		kind = "Bot"
	}
	at := "https://api.github.com/users/" + strings.NewReplacer("[", "%5B", "]", "%5D").Replace(u.login)
	m := map[string]any{
		"login": u.login, "id": u.id, "node_id": u.node, "type": kind, "site_admin": false, "gravatar_id": "",
		"avatar_url": fmt.Sprintf("https://avatars.githubusercontent.com/u/%d?v=4", u.id),
		"html_url":   "https://github.com/" + strings.NewReplacer("[", "%5B", "]", "%5D").Replace(u.login), "url": at,
		"following_url": at + "/following{/other_user}", "gists_url": at + "/gists{/gist_id}",
		"starred_url": at + "/starred{/owner}{/repo}", "events_url": at + "/events{/privacy}",
		"subscriptions_url": at + "/subscriptions", "organizations_url": at + "/orgs",
	}
	for _, part := range []string{"followers", "repos", "received_events"} {
		m[part+"_url"] = at + "/" + part
	}
	return m
}

// orGhost shows a user, or the ghost in the place of one who deleted the account.
func orGhost(u *user) any {
	switch {
	case u == nil:
		return nil
	case u.gone:
		return (&user{identity: identity{id: 10137, node: "MDQ6VXNlcjEwMTM3"}, login: "ghost"}).json()
	}
	return u.json()
}

func (l *label) json() map[string]any {
	return map[string]any{
		"id": l.id, "node_id": l.node, "url": l.repo.api("/labels/%s", url.PathEscape(l.name)), "name": l.name,
		"color": l.color, "description": orNil(l.description), "default": false,
	}
}

func labelsJSON(labels []*label) []any {
	all := []any{}
	for _, l := range labels {
		all = append(all, l.json())
	}
	return all
}

func (r *reaction) json() map[string]any {
	return map[string]any{"id": r.id, "node_id": r.node, "user": orGhost(r.user), "content": r.content, "created_at": stamp(r.created)}
}

// rollup counts reactions.
func rollup(url string, list []*reaction) map[string]any {
	m := map[string]any{"url": url + "/reactions", "total_count": len(list)}
	for _, content := range reactions {
		m[content] = 0
	}
	for _, r := range list {
		m[r.content] = m[r.content].(int) + 1
	}
	return m
}

func (c *comment) json() map[string]any {
	r := c.issue.repo
	return map[string]any{
		"id": c.id, "node_id": c.node, "url": r.api("/issues/comments/%d", c.id), "issue_url": c.issue.api(""),
		"html_url": fmt.Sprintf("%s#issuecomment-%d", c.issue.page(), c.id), "body": c.body, "user": orGhost(c.author),
		"created_at": stamp(c.created), "updated_at": stamp(c.updated), "author_association": r.association(c.author),
		"reactions": rollup(r.api("/issues/comments/%d", c.id), c.reactions), "performed_via_github_app": nil,
	}
}

// api is an address in the REST interface below the repository.
func (r *repository) api(format string, args ...any) string {
	return r.world.url + "/repos/" + r.slug() + fmt.Sprintf(format, args...)
}

// page is the address of the repository for people.
func (r *repository) page() string { return "https://github.com/" + r.slug() }

// page is the address of the issue or pull request for people.
func (i *issue) page() string {
	part := "issues"
	if i.pull != nil {
		part = "pull"
	}
	return fmt.Sprintf("%s/%s/%d", i.repo.page(), part, i.number)
}

func (i *issue) api(below string) string { return i.repo.api("/issues/%d%s", i.number, below) }

func (i *issue) state() string {
	if i.open() {
		return "open"
	}
	return "closed"
}

func (i *issue) json() map[string]any {
	assignees := []any{}
	for _, u := range i.assignees {
		assignees = append(assignees, u.json())
	}
	m := map[string]any{
		"id": i.id, "node_id": i.node, "url": i.api(""), "repository_url": i.repo.api(""), "labels_url": i.api("/labels{/name}"),
		"comments_url": i.api("/comments"), "events_url": i.api("/events"), "html_url": i.page(), "timeline_url": i.api("/timeline"),
		"number": i.number, "state": i.state(), "state_reason": orNil(i.reason), "title": i.title, "body": orNil(i.body),
		"user": orGhost(i.author), "labels": labelsJSON(i.labels), "assignee": nil, "assignees": assignees, "milestone": nil,
		"locked": false, "active_lock_reason": nil, "comments": len(i.comments), "closed_at": stampOrNil(i.closed),
		"closed_by": orGhost(i.closedBy), "created_at": stamp(i.created), "updated_at": stamp(i.updated),
		"author_association": i.repo.association(i.author), "reactions": rollup(i.api(""), i.reactions), "performed_via_github_app": nil,
	}
	if len(assignees) > 0 {
		m["assignee"] = assignees[0]
	}
	if i.pull != nil {
		i.pull.addTo(m)
		return m
	}
	done := 0
	for _, s := range i.subs {
		if !s.open() {
			done++
		}
	}
	percent := 0
	if len(i.subs) > 0 {
		percent = 100 * done / len(i.subs)
	}
	m["sub_issues_summary"] = map[string]any{"total": len(i.subs), "completed": done, "percent_completed": percent}
	return m
}

func permissionsJSON(role string) map[string]any {
	return map[string]any{
		"pull": atLeast(role, "read"), "triage": atLeast(role, "triage"), "push": atLeast(role, "write"),
		"maintain": atLeast(role, "maintain"), "admin": atLeast(role, "admin"),
	}
}
