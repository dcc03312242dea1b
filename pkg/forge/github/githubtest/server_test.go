package githubtest_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge/github/githubtest"
)

const comments = "/repos/acme/shop/issues/1/comments"

// shopWithIssue has one issue of ann's.
func shopWithIssue(t *testing.T) (*githubtest.Server, client, *githubtest.Repository) {
	t.Helper()
	hub, c := start(t)
	shop := hub.AddRepository("acme/shop")
	shop.OpenIssue("ann", "Sell tea", "")
	return hub, c, shop
}

func hello() map[string]any { return map[string]any{"body": "hello"} }

func TestTokens(t *testing.T) {
	for _, k := range []struct {
		name            string
		token           githubtest.Token
		get, post, user int
		message         string // of the refused comment
		header, value   string
	}{
		{"classic", githubtest.Token{}, 200, 201, 200, "", "X-OAuth-Scopes", "repo"},
		{"expired", githubtest.Token{Expired: true}, 401, 401, 401, "Bad credentials", "", ""},
		{"without the scope", githubtest.Token{Scopes: []string{"read:org"}}, 200, 403, 200, "Must have admin rights to Repository.", "X-Accepted-OAuth-Scopes", "public_repo, repo"},
		{
			"fine-grained that may only read", githubtest.Token{Kind: "fine-grained", Permissions: map[string]string{"issues": "read"}}, 200, 403, 200,
			"Resource not accessible by personal access token", "X-Accepted-GitHub-Permissions", "issues=write",
		},
		{"actions", githubtest.Token{Kind: "actions"}, 200, 201, 403, "", "X-OAuth-Scopes", ""},
		{
			"actions without the permission", githubtest.Token{Kind: "actions", Permissions: map[string]string{"contents": "write"}}, 200, 403, 403,
			"Resource not accessible by integration", "X-Accepted-GitHub-Permissions", "issues=write",
		},
		{
			"not authorised for the organisation", githubtest.Token{SSO: "https://github.com/orgs/acme/sso"}, 403, 403, 200,
			"Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization.",
			"X-GitHub-SSO", "required; url=https://github.com/orgs/acme/sso",
		},
	} {
		t.Run(k.name, func(t *testing.T) {
			hub, c, _ := shopWithIssue(t)
			k.token.Login = "backburner-bot"
			c.token = hub.IssueToken(k.token)
			c.want(k.get, "GET", comments, nil)
			c.want(k.user, "GET", "/user", nil)
			a := c.want(k.post, "POST", comments, hello())
			if k.message != "" {
				a.is(t, "message", k.message)
			}
			if got := a.header.Get(k.header); k.header != "" && got != k.value {
				t.Errorf("%s is %q, want %q", k.header, got, k.value)
			}
		})
	}
}

func TestActionsTokenSeesItself(t *testing.T) {
	hub, c, _ := shopWithIssue(t)
	c.token = hub.IssueToken(githubtest.Token{Kind: "actions"})
	c.graphql(`{ viewer { login } }`, nil).is(t, "data.viewer.login", "github-actions[bot]")
	c.want(201, "POST", comments, hello()).is(t, "user.type", "Bot")
	c.graphql(`{ repository(owner: "acme", name: "shop") { issue(number: 1) { comments(last: 1) { nodes { author { login __typename } } } } } }`, nil).
		is(t, "data.repository.issue.comments.nodes.0.author.login", "github-actions")
}

func TestWhoMayDoWhat(t *testing.T) {
	hub, c, shop := shopWithIssue(t)
	hub.AddUser("backburner-bot", "none")
	c.want(201, "POST", comments, hello())
	c.want(403, "POST", "/repos/acme/shop/issues/1/labels", map[string]any{"labels": []string{"x"}})
	c.want(403, "GET", "/repos/acme/shop/collaborators/ann/permission", nil).is(t, "message", "Must have push access to view collaborator permission.")
	shop.SetPrivate(true)
	c.want(404, "GET", comments, nil)
	c.graphql(`{ repository(owner: "acme", name: "shop") { id } }`, nil).is(t, "errors.0.type", "NOT_FOUND")
	shop.Permit("backburner-bot", "triage")
	c.want(200, "POST", "/repos/acme/shop/issues/1/labels", map[string]any{"labels": []string{"x"}})
	shop.SetArchived(true)
	c.want(403, "POST", comments, hello()).is(t, "message", "Repository was archived so is read-only.")
	c.want(200, "GET", comments, nil)
}

func TestWhatIsGone(t *testing.T) {
	hub, c, shop := shopWithIssue(t)
	other := hub.AddRepository("acme/other")
	comment := shop.Comment("ann", 1, "hello")
	node := c.want(200, "GET", "/repos/acme/shop/issues/1", nil).at("node_id")
	ask := func() answer {
		return c.graphql(`query($ids: [ID!]!) { nodes(ids: $ids) { ... on Issue { number } } }`, map[string]any{"ids": []any{node}})
	}
	ask().is(t, "data.nodes.0.number", float64(1))
	shop.TransferIssue(1, other)
	ask().is(t, "errors.0.type", "NOT_FOUND")
	ask().is(t, "data.nodes.0", nil)
	c.want(404, "GET", "/repos/acme/shop/issues/comments/"+itoa(comment), nil)
	if to := c.want(301, "GET", "/repos/acme/shop/issues/1", nil).header.Get("Location"); !strings.HasSuffix(to, "/issues/1") {
		t.Errorf("a transferred issue leads to %s", to)
	}
	other.DeleteIssue(1)
	c.want(410, "GET", "/repos/acme/other/issues/1", nil).is(t, "message", "This issue was deleted")
	two := shop.OpenIssue("ann", "Sell coffee", "")
	hub.DeleteUser("ann")
	c.want(200, "GET", "/repos/acme/shop/issues/"+itoa(int64(two)), nil).is(t, "user.login", "ghost")
	c.graphql(`{ repository(owner: "acme", name: "shop") { issue(number: 2) { author { login } } } }`, nil).is(t, "data.repository.issue.author", nil)
	other.Delete()
	c.want(404, "GET", "/repos/acme/other", nil)
}

func TestRenamedRepository(t *testing.T) {
	hub, c, shop := shopWithIssue(t)
	shop.Rename("acme/store")
	c.graphql(`{ repository(owner: "acme", name: "shop") { nameWithOwner } }`, nil).is(t, "data.repository.nameWithOwner", "acme/store")
	moved := c.want(301, "GET", "/repos/acme/shop/issues/1/comments?per_page=5", nil)
	c.want(200, "GET", strings.TrimPrefix(moved.header.Get("Location"), hub.URL()), nil)
	again := c.want(307, "POST", comments, hello())
	c.want(201, "POST", strings.TrimPrefix(again.header.Get("Location"), hub.URL()), hello()).is(t, "issue_url", hub.URL()+"/repos/acme/store/issues/1")
	work := clone(t, shop)
	work.git("ls-remote", strings.Replace(hub.CloneURL(), "{slug}", "acme/shop", 1))
}

func TestNothingNewIsFree(t *testing.T) {
	_, c, shop := shopWithIssue(t)
	first := c.want(200, "GET", comments, nil)
	again := c.want(304, "GET", comments, nil, "If-None-Match", first.header.Get("ETag"))
	if again.text != "" || again.header.Get("X-RateLimit-Used") != "1" {
		t.Errorf("304 says %q and was charged: used %s", again.text, again.header.Get("X-RateLimit-Used"))
	}
	shop.Comment("ann", 1, "new")
	c.want(200, "GET", comments, nil, "If-None-Match", first.header.Get("ETag"))
}

func TestLimits(t *testing.T) {
	hub, c, _ := shopWithIssue(t)
	hub.Freeze(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	hub.SpendTo(c.token, 1, 1)
	c.want(200, "GET", comments, nil)
	a := c.want(403, "GET", comments, nil)
	if a.header.Get("X-RateLimit-Remaining") != "0" || a.header.Get("X-RateLimit-Reset") != "1767326645" {
		t.Errorf("headers %v", a.header)
	}
	c.want(200, "GET", "/rate_limit", nil).is(t, "resources.core.remaining", float64(0))
	c.graphql(`{ rateLimit { remaining } }`, nil).is(t, "data.rateLimit.remaining", float64(0))
	c.graphql(`{ viewer { login } }`, nil).is(t, "errors.0.type", "RATE_LIMITED")
	hub.Advance(time.Hour)
	c.want(200, "GET", comments, nil)
}

func TestPoints(t *testing.T) {
	_, c, _ := shopWithIssue(t)
	// 1 connection of issues, and 100 times two connections in them: 201 requests, 2 points.
	c.graphql(`{ rateLimit { cost nodeCount } repository(owner: "acme", name: "shop") { issues(first: 100) { nodes { comments(last: 50) { totalCount } labels(first: 5) { totalCount } } } } }`, nil).
		is(t, "data.rateLimit.cost", float64(2))
	c.graphql(`{ repository(owner: "acme", name: "shop") { issues(states: [OPEN]) { totalCount } } }`, nil).is(t, "data.repository.issues.totalCount", float64(1))
}

func TestFaultsInPlaceOfAnAnswer(t *testing.T) {
	for kind, want := range map[string]struct {
		status int
		says   string
		header string
	}{
		"401": {401, "Bad credentials", ""}, "404": {404, "Not Found", ""}, "422": {422, "Validation Failed", ""}, "502": {502, "Server Error", ""},
		"secondary": {403, "secondary rate limit", "Retry-After"}, "429-secondary": {429, "secondary rate limit", "Retry-After"},
		"secondary-bare": {403, "secondary rate limit", ""}, "primary": {403, "API rate limit exceeded", "X-RateLimit-Reset"},
		"html": {502, "<!DOCTYPE html>", ""}, "empty": {200, "", ""},
	} {
		t.Run(kind, func(t *testing.T) {
			hub, c, shop := shopWithIssue(t)
			hub.Fail(githubtest.Fault{Route: "POST /repos/*/issues/*/comments", Kind: kind})
			c.want(200, "GET", comments, nil)
			a := c.want(want.status, "POST", comments, hello())
			if !strings.Contains(a.text, want.says) || want.header != "" && a.header.Get(want.header) == "" {
				t.Errorf("answers %q with %v", a.text, a.header)
			}
			if len(shop.Comments(1)) != 0 {
				t.Error("the comment was made")
			}
			if kind != "primary" {
				c.want(201, "POST", comments, hello())
			}
		})
	}
}

func TestFaultsOnTheWay(t *testing.T) {
	for kind, made := range map[string]int{"cut": 0, "lost": 1} {
		t.Run(kind, func(t *testing.T) {
			hub, c, shop := shopWithIssue(t)
			hub.Fail(githubtest.Fault{Route: "*", Kind: kind})
			_, err := c.request("POST", comments, hello())
			if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the connection ends with %v", err)
			}
			if got := len(shop.Comments(1)); got != made {
				t.Errorf("%d comments, want %d", got, made)
			}
		})
	}
	t.Run("truncated", func(t *testing.T) {
		hub, c, shop := shopWithIssue(t)
		hub.Fail(githubtest.Fault{Route: "*", Kind: "truncated"})
		if a := c.want(201, "POST", comments, hello()); a.json != nil || a.text == "" || len(shop.Comments(1)) != 1 {
			t.Errorf("answers %q", a.text)
		}
	})
	t.Run("slow", func(t *testing.T) {
		hub, c, _ := shopWithIssue(t)
		hub.Fail(githubtest.Fault{Route: "*", Kind: "slow:50ms"})
		began := time.Now()
		c.want(200, "GET", comments, nil)
		if d := time.Since(began); d < 50*time.Millisecond {
			t.Errorf("answered after %v", d)
		}
	})
	t.Run("stale", func(t *testing.T) {
		hub, c, shop := shopWithIssue(t)
		tag := c.want(200, "GET", comments, nil).header.Get("ETag")
		shop.Comment("ann", 1, "new")
		hub.Fail(githubtest.Fault{Route: "GET *", Kind: "stale"})
		c.want(304, "GET", comments, nil, "If-None-Match", tag)
		c.want(200, "GET", comments, nil, "If-None-Match", tag)
	})
}

func TestFaultsOfGraphQL(t *testing.T) {
	hub, c, _ := shopWithIssue(t)
	hub.AddRepository("acme/other")
	const document = `{ a: repository(owner: "acme", name: "other") { id nameWithOwner } b: repository(owner: "acme", name: "shop") { id nameWithOwner } }`
	hub.Fail(githubtest.Fault{Route: "graphql", Kind: "partial:acme/shop"})
	a := c.graphql(document, nil)
	a.is(t, "data.a.nameWithOwner", "acme/other")
	a.is(t, "data.b", nil)
	a.is(t, "errors.0.path.0", "b")
	hub.Fail(githubtest.Fault{Route: "graphql", Kind: "timeout", Match: "nameWithOwner", Skip: 1})
	c.graphql(`{ viewer { login } }`, nil).is(t, "errors", nil)
	c.graphql(document, nil).is(t, "errors", nil)
	c.graphql(document, nil).is(t, "data", nil)
	hub.Fail(githubtest.Fault{Route: "graphql", Kind: "primary"})
	c.graphql(document, nil).is(t, "errors.0.type", "RATE_LIMITED")
}

func TestFaultsAreCounted(t *testing.T) {
	hub, c, _ := shopWithIssue(t)
	hub.Fail(githubtest.Fault{Route: "GET *", Kind: "502", Times: 2})
	hub.Fail(githubtest.Fault{Route: "GET *", Kind: "404", Times: -1})
	for _, status := range []int{502, 502, 404, 404, 404} {
		c.want(status, "GET", comments, nil)
	}
	if n := hub.Heal(); n != 1 {
		t.Errorf("%d faults were left, want 1", n)
	}
	c.want(200, "GET", comments, nil)
}

func TestStopAndStart(t *testing.T) {
	hub, c, _ := shopWithIssue(t)
	c.want(201, "POST", comments, hello())
	hub.Stop()
	if _, err := c.request("GET", comments, nil); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a stopped server: %v", err)
	}
	if err := hub.Start(); err != nil {
		t.Fatal(err)
	}
	c.want(200, "GET", comments, nil).is(t, "0.body", "hello")
}

func TestLog(t *testing.T) {
	hub, c, _ := shopWithIssue(t)
	tag := c.want(200, "GET", comments, nil).header.Get("ETag")
	hub.Log()
	hub.Fail(githubtest.Fault{Route: "DELETE *", Kind: "502"})
	c.want(304, "GET", comments, nil, "If-None-Match", tag)
	c.want(201, "POST", comments, hello())
	c.graphql(`query Who { viewer { login } rateLimit { cost } }`, nil)
	c.want(502, "DELETE", "/repos/acme/shop/issues/1/labels/x", nil)
	var got []string
	for _, r := range hub.Log() {
		got = append(got, r.String())
	}
	want := []string{
		"GET " + comments + " 304 free", "POST " + comments + " 201 charged", "POST /graphql 200 points=1 query Who{viewer rateLimit}",
		"DELETE /repos/acme/shop/issues/1/labels/x 502 free fault=502",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the log is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTooLong(t *testing.T) {
	_, c, _ := shopWithIssue(t)
	c.want(201, "POST", comments, map[string]any{"body": strings.Repeat("ä", 65536)})
	a := c.want(http.StatusUnprocessableEntity, "POST", comments, map[string]any{"body": strings.Repeat("x", 65537)})
	a.is(t, "errors.0.message", "Body is too long (maximum is 65536 characters)")
}

func TestSubIssues(t *testing.T) {
	hub, c, shop := shopWithIssue(t)
	other := hub.AddRepository("acme/other")
	part := shop.OpenIssue("ann", "Green tea", "")
	other.OpenIssue("ann", "Black tea", "")
	id := c.want(200, "GET", "/repos/acme/shop/issues/"+itoa(int64(part)), nil).at("id")
	c.want(201, "POST", "/repos/acme/shop/issues/1/sub_issues", map[string]any{"sub_issue_id": id}).is(t, "sub_issues_summary.total", float64(1))
	c.want(422, "POST", "/repos/acme/shop/issues/1/sub_issues", map[string]any{"sub_issue_id": id})
	c.want(200, "GET", "/repos/acme/shop/issues/1/sub_issues", nil).is(t, "0.title", "Green tea")
	made := c.want(201, "POST", "/repos/acme/shop/issues", map[string]any{"title": "White tea", "labels": []string{"tea"}})
	made.is(t, "labels.0.name", "tea")
	c.want(200, "GET", "/repos/acme/shop/issues?labels=tea&state=open", nil).is(t, "0.title", "White tea")
	c.want(201, "POST", "/repos/acme/shop/labels", map[string]any{"name": "coffee", "color": "6f4e37"})
	c.want(422, "POST", "/repos/acme/shop/labels", map[string]any{"name": "Coffee"}).is(t, "errors.0.code", "already_exists")
	c.want(200, "GET", "/repos/acme/shop/labels/coffee", nil).is(t, "color", "6f4e37")
	c.want(404, "GET", "/repos/acme/shop/labels/cocoa", nil)
}
