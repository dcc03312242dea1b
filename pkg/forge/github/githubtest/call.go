package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// call is one request to the REST interface on its way to its answer.
type call struct {
	server *Server
	route  *route
	vars   map[string]string
	query  url.Values
	path   string
	body   map[string]any
	token  *token
	by     *user
	repo   *repository
	issue  *issue
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// answer does what the route says, after what GitHub checks before.
func (c *call) answer() answer {
	if c.token.Kind == "actions" && c.route.path == "/user" {
		return refuse(http.StatusForbidden, "Resource not accessible by integration")
	}
	if c.vars["repo"] != "" {
		if a, stop := c.enter(); stop {
			return a
		}
	}
	if a, stop := c.checkBody(); stop {
		return a
	}
	return c.route.do(c)
}

// enter finds the repository and holds token and user against what the route needs.
func (c *call) enter() (answer, bool) {
	r, renamed := c.server.world.find(c.vars["owner"] + "/" + c.vars["repo"])
	if r == nil || r.role(c.by) == "none" {
		return notFound(), true
	}
	c.repo = r
	if renamed {
		return c.movedTo(fmt.Sprintf("%s/repositories/%d%s", c.server.world.url, r.id, c.below())), true
	}
	if c.token.SSO != "" {
		return refuse(http.StatusForbidden, "Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization.").
			with("X-GitHub-SSO", "required; url="+c.token.SSO), true
	}
	if !c.token.may(c.route.needs, r) {
		return c.refuseToken(), true
	}
	writes := c.route.method != http.MethodGet
	if writes && r.archived {
		return refuse(http.StatusForbidden, "Repository was archived so is read-only."), true
	}
	if !atLeast(r.role(c.by), c.route.role) {
		return c.refuseRole(), true
	}
	return c.enterIssue()
}

// below is the rest of the path behind the repository's name.
func (c *call) below() string {
	at := 0
	for range 4 { // "/repos", "/owner", "/name", the rest
		next := slices.Index([]byte(c.path[at:]), '/')
		if next < 0 {
			return ""
		}
		at += next + 1
	}
	return "/" + c.path[at:]
}

func (c *call) movedTo(address string) answer {
	status, message := http.StatusMovedPermanently, "Moved Permanently"
	if c.route.method != http.MethodGet {
		status, message = http.StatusTemporaryRedirect, "Temporary Redirect"
	}
	a := refuse(status, message).with("Location", address)
	a.body.(map[string]any)["url"] = address
	return a
}

// refuseToken is for a token that is too weak; a private repository is not even
// admitted to exist.
func (c *call) refuseToken() answer {
	switch {
	case c.token.classic() && c.repo.private:
		return notFound()
	case c.token.classic():
		return refuse(http.StatusForbidden, "Must have admin rights to Repository.")
	}
	return refuse(http.StatusForbidden, c.token.inaccessible()).with("X-Accepted-GitHub-Permissions", c.route.needs)
}

func (c *call) refuseRole() answer {
	if c.vars["username"] != "" {
		return refuse(http.StatusForbidden, "Must have push access to view collaborator permission.")
	}
	return refuse(http.StatusForbidden, "Must have admin rights to Repository.")
}

// enterIssue finds the issue or pull request that the path names.
func (c *call) enterIssue() (answer, bool) {
	text, isPull := c.vars["pull_number"], true
	if text == "" {
		text, isPull = c.vars["issue_number"], false
	}
	if text == "" {
		return answer{}, false
	}
	number, err := strconv.Atoi(text)
	if err != nil {
		return notFound(), true
	}
	if to := c.repo.moved[number]; to != nil {
		return c.movedTo(fmt.Sprintf("%s/repositories/%d/issues/%d", c.server.world.url, to.repo.id, to.number)), true
	}
	i := c.repo.issue(number)
	switch {
	case i != nil && i.gone:
		return refuse(http.StatusGone, "This issue was deleted"), true
	case i == nil, isPull && i.pull == nil:
		return notFound(), true
	}
	c.issue = i
	return answer{}, false
}

// longest is GitHub's limit for the body of an issue, comment or review.
const longest = 65536

// checkBody refuses what is too long, whatever it belongs to.
func (c *call) checkBody() (answer, bool) {
	for _, field := range []string{"body", "title"} {
		limit := map[string]int{"body": longest, "title": 256}[field]
		if utf8.RuneCountInString(c.text(field)) > limit {
			return invalid("IssueComment", "data", "unprocessable", fmt.Sprintf("%s is too long (maximum is %d characters)", map[string]string{"body": "Body", "title": "title"}[field], limit)), true
		}
	}
	return answer{}, false
}

// text is a field of the body; "" when it is not there or no text.
func (c *call) text(field string) string {
	s, _ := c.body[field].(string)
	return s
}

func (c *call) has(field string) bool {
	_, ok := c.body[field]
	return ok
}

// id is a number in the path.
func (c *call) id(name string) int64 {
	n, _ := strconv.ParseInt(c.vars[name], 10, 64)
	return n
}

// readBody parses the body and notes fields that the route does not serve.
func (c *call) readBody(raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, &c.body); err != nil {
		return err
	}
	for field := range c.body {
		if !slices.Contains(c.route.body, field) {
			c.server.violate("%s %s: the field %q of the body is not served", c.route.method, c.route.path, field)
		}
	}
	return nil
}

// since is the parameter of that name; no time when there is none.
func (c *call) since() time.Time {
	t, _ := time.Parse(time.RFC3339, c.query.Get("since"))
	return t
}

// page answers with one page of a list, and links to the others.
func (c *call) page(all []any) answer {
	size, number := 30, 1
	if n, err := strconv.Atoi(c.query.Get("per_page")); err == nil && n > 0 {
		size = min(n, 100)
	}
	if n, err := strconv.Atoi(c.query.Get("page")); err == nil && n > 0 {
		number = n
	}
	last := max(1, (len(all)+size-1)/size)
	from := min((number-1)*size, len(all))
	a := ok(slices.Clone(all[from:min(from+size, len(all))]))
	if all == nil || from == len(all) {
		a.body = []any{}
	}
	if links := c.links(number, last); links != "" {
		a = a.with("Link", links)
	}
	return a
}

// links is the Link header of a page; "" when everything is on one.
func (c *call) links(number, last int) string {
	var text string
	add := func(page int, rel string) {
		q := url.Values{}
		for key, values := range c.query {
			q[key] = values
		}
		q.Set("page", strconv.Itoa(page))
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("<%s/repositories/%d%s?%s>; rel=%q", c.server.world.url, c.repo.id, c.below(), q.Encode(), rel)
	}
	if number > 1 {
		add(number-1, "prev")
		add(1, "first")
	}
	if number < last {
		add(number+1, "next")
		add(last, "last")
	}
	return text
}
