package githubtest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// What is wrong has to be seen: each of these is broken on purpose.

// described is a server that holds everything against GitHub's descriptions, or
// a skipped test.
func described(t *testing.T) *Server {
	t.Helper()
	s := undescribed(t, os.Getenv(SchemasVariable))
	if why := s.Unchecked(); why != "" {
		t.Skip("GitHub's descriptions are not there: " + why)
	}
	return s
}

func undescribed(t *testing.T, dir string) *Server {
	t.Helper()
	s, err := New(Options{Dir: t.TempDir(), Schemas: dir})
	if err != nil {
		t.Fatal(err)
	}
	s.AddUser("ann", "write")
	s.AddRepository("acme/shop").OpenIssue("ann", "Sell tea", "")
	return s
}

// say sends a request as a client that does everything right but for what the test says.
func say(s *Server, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	for key, value := range map[string]string{
		"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": apiVersion, "User-Agent": "githubtest", "Content-Type": "application/json",
		"Authorization": "Bearer " + s.IssueToken(Token{Login: "ann"}),
	} {
		req.Header.Set(key, value)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	return w
}

func wantViolation(t *testing.T, s *Server, words string) {
	t.Helper()
	v := s.Violations()
	for _, text := range v {
		if strings.Contains(text, words) {
			return
		}
	}
	t.Errorf("no violation says %q: %q", words, v)
}

func TestRequestsThatAreNotServed(t *testing.T) {
	const comments, graphql = "/repos/acme/shop/issues/1/comments", "/graphql"
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		says                     string
		status                   int
	}{
		{"route", "GET", "/repos/acme/shop/stargazers", "", nil, "not served", 404},
		{"method", "PUT", comments, `{"body":"x"}`, nil, "not served", 404},
		{"parameter", "GET", comments + "?sort=created", "", nil, `parameter "sort"`, 422},
		{"field of a body", "POST", comments, `{"body":"x","extra":1}`, nil, `field "extra"`, 422},
		{"no user agent", "GET", comments, "", []string{"User-Agent", ""}, "User-Agent", 200},
		{"no accept", "GET", comments, "", []string{"Accept", "*/*"}, "Accept", 200},
		{"no version", "GET", comments, "", []string{"X-GitHub-Api-Version", ""}, "X-GitHub-Api-Version", 200},
		{"other content type", "POST", comments, `{"body":"x"}`, []string{"Content-Type", "text/plain"}, "Content-Type", 201},
		{"basic authorization", "GET", comments, "", []string{"Authorization", "Basic eA=="}, "Authorization", 401},
		{"graphql field", "POST", graphql, `{"query":"{viewer{login stars}}"}`, nil, "stars", 200},
		{"graphql argument", "POST", graphql, `{"query":"{repository(owner:\"acme\",name:\"shop\"){issues(first:1,labels:[\"x\"]){totalCount}}}"}`, nil, "argument labels", 200},
		{"graphql filter", "POST", graphql, `{"query":"{repository(owner:\"acme\",name:\"shop\"){issues(first:1,filterBy:{createdBy:\"ann\"}){totalCount}}}"}`, nil, "filterBy.createdBy", 200},
		{"graphql variable", "POST", graphql, `{"query":"{viewer{login}}","variables":{"x":1}}`, nil, "$x is not declared", 200},
		{"graphql missing variable", "POST", graphql, `{"query":"query($id:ID!){node(id:$id){id}}"}`, nil, "$id of type ID!", 200},
		{"graphql syntax", "POST", graphql, `{"query":"{viewer{login}"}`, nil, "graphql:", 200},
		{"graphql without bounds", "POST", graphql, `{"query":"{repository(owner:\"acme\",name:\"shop\"){issues{nodes{id}}}}"}`, nil, "You must provide a `first` or `last`", 200},
		{"graphql beyond bounds", "POST", graphql, `{"query":"{repository(owner:\"acme\",name:\"shop\"){issues(first:101){nodes{id}}}}"}`, nil, "exceeds the `first` limit of 100", 200},
		{
			"graphql for too many nodes", "POST", graphql,
			`{"query":"{repository(owner:\"acme\",name:\"shop\"){pullRequests(first:100){nodes{reviews(last:100){nodes{comments(last:100){totalCount}}}}}}}"}`, nil, "more than 500,000", 200,
		},
		{"graphql by GET", "GET", graphql, "", nil, "not served", 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := undescribed(t, "")
			s.schemas = &schemas{}
			if got := say(s, c.method, c.path, c.body, c.headers...); got.Code != c.status {
				t.Errorf("answers %d, want %d: %s", got.Code, c.status, got.Body)
			}
			wantViolation(t, s, c.says)
		})
	}
}

func TestAFaultOfTheServerItself(t *testing.T) {
	s := undescribed(t, "")
	s.world.repos[0].git = nil
	if got := say(s, "GET", "/repos/acme/shop", ""); got.Code != http.StatusInternalServerError {
		t.Errorf("answers %d", got.Code)
	}
	wantViolation(t, s, "GET /repos/acme/shop 0 charged: this server failed: runtime error")
	if got := say(s, "GET", "/repos/acme/shop/issues/1", ""); got.Code != http.StatusOK {
		t.Errorf("the next request is answered with %d", got.Code)
	}
}

func TestWhatGitHubDoesNotTake(t *testing.T) {
	for _, c := range []struct{ name, method, path, body, says string }{
		{"graphql field", "POST", "/graphql", `{"query":"{viewer{loginn}}"}`, `Cannot query field "loginn" on type "User"`},
		{"graphql type of a variable", "POST", "/graphql", `{"query":"query($n:Int!){repository(owner:\"acme\",name:$n){id}}","variables":{"n":1}}`, `of type "Int!" used in position expecting type "String!"`},
		{"graphql enum", "POST", "/graphql", `{"query":"{repository(owner:\"acme\",name:\"shop\"){issues(first:1,orderBy:{field:UPDATED,direction:DESC}){totalCount}}}"}`, "UPDATED"},
		{"type of a field", "POST", "/repos/acme/shop/issues/1/comments", `{"body":1}`, "body"},
		{"missing field", "POST", "/repos/acme/shop/issues/1/comments", `{}`, `missing properties: ["body"]`},
		{"value of a field", "POST", "/repos/acme/shop/issues/1/reactions", `{"content":"clap"}`, "enum"},
		{"type of a parameter", "GET", "/repos/acme/shop/issues/1/comments?page=two", "", "parameter page"},
		{"a body where there is none", "GET", "/repos/acme/shop/issues/1", "{}", "GitHub takes no body"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := described(t)
			say(s, c.method, c.path, c.body)
			wantViolation(t, s, c.says)
		})
	}
}

func TestAnswersThatGitHubDoesNotGive(t *testing.T) {
	const path = inIssue + "/comments"
	whole := func(s *Server) map[string]any {
		return s.world.repos[0].issues[0].addComment(s.world.user("ann"), "x").json()
	}
	for _, c := range []struct {
		name  string
		spoil func(map[string]any)
		says  string
	}{
		{"a missing field", func(m map[string]any) { delete(m, "user") }, "user"},
		{"a misspelt field", func(m map[string]any) { m["bodyy"] = "" }, "bodyy"},
		{"a null", func(m map[string]any) { m["html_url"] = nil }, "null"},
		{"another type", func(m map[string]any) { m["id"] = "1" }, "integer"},
		{"within another object", func(m map[string]any) { m["user"].(map[string]any)["login"] = 1 }, "login"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := described(t)
			body := whole(s)
			r, _ := match("POST", "/repos/acme/shop/issues/1/comments")
			x := &exchange{req: httptest.NewRequest("POST", "/", http.NoBody), route: r, answer: created(body)}
			s.encode(x)
			if v := s.Violations(); len(v) > 0 {
				t.Fatalf("the answer is wrong before it is spoilt: %q", v)
			}
			c.spoil(body)
			s.encode(x)
			wantViolation(t, s, path+" answer 201")
			wantViolation(t, s, c.says)
		})
	}
}

func TestGraphQLAnswersThatGitHubDoesNotGive(t *testing.T) {
	for _, c := range []struct {
		kind, field string
		value       any
		says        string
	}{
		{"User", "login", nil, "answers User.login with null"},
		{"User", "login", 1, "int 1"},
		{"User", "loginn", "x", "does not have"},
		{"Issue", "state", "MERGED", "string MERGED"},
		{"Issue", "createdAt", "yesterday", "yesterday"},
		{"Issue", "number", int64(3_000_000_000), "3000000000"},
		{"Issue", "author", object{"Label", &label{}}, "a Label"},
		{"Issue", "labels", []object{}, "a list"},
		{"IssueConnection", "nodes", []object{{"Label", &label{}}}, "a Label"},
	} {
		t.Run(c.kind+"."+c.field, func(t *testing.T) {
			s := described(t)
			(&query{server: s}).checkField(c.kind, c.field, c.value)
			wantViolation(t, s, c.says)
		})
	}
}
