package githubtest_test

import (
	"fmt"
	"testing"
	"time"
)

func TestIssueWithCommentsAndLabels(t *testing.T) {
	hub, c := start(t)
	shop := hub.AddRepository("acme/shop")
	n := shop.OpenIssue("ann", "Sell tea", "All kinds.")
	shop.Label("ann", n, "backburner")
	shop.Comment("ann", n, "/backburner start")
	made := c.want(201, "POST", "/repos/acme/shop/issues/1/comments", map[string]any{"body": "On it."})
	made.is(t, "user.login", "backburner-bot")
	id := int64(made.at("id").(float64))
	c.want(200, "PATCH", fmt.Sprintf("/repos/acme/shop/issues/comments/%d", id), map[string]any{"body": "Done."})
	c.want(201, "POST", fmt.Sprintf("/repos/acme/shop/issues/comments/%d/reactions", id), map[string]any{"content": "eyes"})
	c.want(200, "POST", fmt.Sprintf("/repos/acme/shop/issues/comments/%d/reactions", id), map[string]any{"content": "eyes"})
	c.want(200, "POST", "/repos/acme/shop/issues/1/labels", map[string]any{"labels": []string{"busy"}})
	c.want(200, "DELETE", "/repos/acme/shop/issues/1/labels/backburner", nil)
	c.want(404, "DELETE", "/repos/acme/shop/issues/1/labels/backburner", nil)
	all := c.want(200, "GET", "/repos/acme/shop/issues/1/comments?per_page=1&page=2", nil)
	all.is(t, "0.body", "Done.")
	if all.header.Get("Link") == "" {
		t.Error("the second of two pages has no links")
	}
	issue := c.want(200, "GET", "/repos/acme/shop/issues/1", nil)
	issue.is(t, "labels.0.name", "busy")
	issue.is(t, "labels.1.name", nil)
}

func TestPermission(t *testing.T) {
	hub, c := start(t)
	shop := hub.AddRepository("acme/shop")
	hub.AddUser("bea", "none")
	hub.AddBot("robot[bot]", "none")
	shop.Permit("bea", "maintain")
	for login, want := range map[string][3]string{
		"BEA": {"maintain", "write", "User"}, "ann": {"write", "write", "User"}, "robot[bot]": {"read", "read", "Bot"}, "acme": {"admin", "admin", "User"},
	} {
		a := c.want(200, "GET", "/repos/acme/shop/collaborators/"+login+"/permission", nil)
		a.is(t, "role_name", want[0])
		a.is(t, "permission", want[1])
		a.is(t, "user.type", want[2])
	}
	c.want(404, "GET", "/repos/acme/shop/collaborators/nobody/permission", nil)
}

func TestWhatMovesUpdatedAt(t *testing.T) {
	hub, c := start(t)
	hub.Freeze(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	shop := hub.AddRepository("acme/shop")
	n := shop.OpenIssue("ann", "Sell tea", "")
	id := shop.Comment("ann", n, "hello")
	updated := func() string { return c.want(200, "GET", "/repos/acme/shop/issues/1", nil).at("updated_at").(string) }
	for _, step := range []struct {
		what  string
		act   func()
		moves bool
	}{
		{"editing a comment", func() { shop.EditComment("ann", id, "hello again") }, false},
		{"a reaction", func() { shop.React("ann", id, "eyes") }, false},
		{"deleting a comment", func() { shop.DeleteComment(id) }, false},
		{"a label", func() { shop.Label("ann", n, "backburner") }, true},
		{"the same label", func() { shop.Label("ann", n, "backburner") }, false},
		{"closing", func() { shop.Close("ann", n, "") }, true},
		{"reopening", func() { shop.Reopen("ann", n) }, true},
		{"a comment", func() { shop.Comment("ann", n, "bye") }, true},
		{"another title", func() { shop.EditIssue("ann", n, "Sell coffee", "") }, true},
	} {
		before := updated()
		hub.Advance(time.Minute)
		step.act()
		if moved := updated() != before; moved != step.moves {
			t.Errorf("%s moves updated_at: %v", step.what, moved)
		}
	}
}

func TestProbe(t *testing.T) {
	hub, c := start(t)
	shop := hub.AddRepository("acme/shop")
	shop.OpenIssue("ann", "Sell tea", "")
	a := c.graphql(`query { viewer { login databaseId }
		r0: repository(owner: "acme", name: "shop") { ...repo }
		r1: repository(owner: "acme", name: "gone") { ...repo }
		rateLimit { cost remaining resetAt } }
		fragment repo on Repository { id databaseId nameWithOwner isArchived viewerPermission
			issues(first: 1, orderBy: {field: UPDATED_AT, direction: DESC}) { nodes { updatedAt } }
			pullRequests(first: 1, orderBy: {field: UPDATED_AT, direction: DESC}) { nodes { updatedAt } } }`, nil)
	a.is(t, "data.viewer.login", "backburner-bot")
	a.is(t, "data.r0.nameWithOwner", "acme/shop")
	a.is(t, "data.r0.viewerPermission", "WRITE")
	a.is(t, "data.r1", nil)
	a.is(t, "errors.0.type", "NOT_FOUND")
	a.is(t, "errors.0.path.0", "r1")
	a.is(t, "data.rateLimit.cost", float64(1))
	a.is(t, "data.rateLimit.remaining", float64(4999))
}

func TestDetailsOfIssues(t *testing.T) {
	hub, c := start(t)
	hub.Freeze(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	shop := hub.AddRepository("acme/shop")
	hub.AddBot("robot[bot]", "read")
	for _, title := range []string{"one", "two", "three"} {
		shop.OpenIssue("ann", title, "")
		hub.Advance(time.Minute)
	}
	shop.Label("ann", 2, "backburner")
	shop.Comment("robot[bot]", 2, "beep")
	const document = `query($owner: String!, $name: String!, $since: DateTime, $after: String) { repository(owner: $owner, name: $name) {
		issues(first: 2, after: $after, filterBy: {since: $since}, orderBy: {field: UPDATED_AT, direction: ASC}) { pageInfo { hasNextPage endCursor }
			nodes { id fullDatabaseId databaseId number title state stateReason author { login __typename } labels(first: 50) { nodes { name } }
				comments(last: 50) { pageInfo { hasPreviousPage } nodes { id fullDatabaseId author { login __typename } body lastEditedAt isMinimized } }
				timelineItems(last: 50, itemTypes: [LABELED_EVENT, UNLABELED_EVENT]) { nodes { __typename
					... on LabeledEvent { id createdAt actor { login } label { name } } ... on UnlabeledEvent { id actor { login } } } } } } } }`
	vars := map[string]any{"owner": "acme", "name": "shop", "since": "2026-01-02T03:05:00Z", "after": nil}
	a := c.graphql(document, vars)
	a.is(t, "data.repository.issues.nodes.0.title", "three")
	a.is(t, "data.repository.issues.nodes.1.title", "two")
	a.is(t, "data.repository.issues.nodes.1.databaseId", nil)
	a.is(t, "data.repository.issues.nodes.1.comments.nodes.0.author.login", "robot")
	a.is(t, "data.repository.issues.nodes.1.comments.nodes.0.author.__typename", "Bot")
	a.is(t, "data.repository.issues.nodes.1.timelineItems.nodes.0.label.name", "backburner")
	a.is(t, "data.repository.issues.pageInfo.hasNextPage", false)
	vars["since"] = nil
	a = c.graphql(document, vars)
	a.is(t, "data.repository.issues.nodes.0.title", "one")
	a.is(t, "data.repository.issues.pageInfo.hasNextPage", true)
	vars["after"] = a.at("data.repository.issues.pageInfo.endCursor")
	c.graphql(document, vars).is(t, "data.repository.issues.nodes.0.title", "two")
}
