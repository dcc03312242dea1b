package githubtest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/forge/github/githubtest"
)

// client speaks to the server as a careful program does.
type client struct {
	t     *testing.T
	hub   *githubtest.Server
	token string
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	text   string
	json   any
}

// start is a server with ann, who may write, and a token of backburner's.
func start(t *testing.T, opts ...githubtest.Options) (*githubtest.Server, client) {
	t.Helper()
	hub := githubtest.Start(t, opts...)
	hub.AddUser("backburner-bot", "write")
	hub.AddUser("ann", "write")
	return hub, client{t, hub, hub.IssueToken(githubtest.Token{Login: "backburner-bot"})}
}

func (c client) request(method, path string, body any, headers ...string) (*http.Response, error) {
	c.t.Helper()
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			c.t.Fatal(err)
		}
		sent = bytes.NewReader(text)
	}
	req, err := http.NewRequest(method, c.hub.URL()+path, sent)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	req.Header.Set("User-Agent", "githubtest")
	req.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return http.DefaultTransport.RoundTrip(req)
}

func (c client) do(method, path string, body any, headers ...string) answer {
	c.t.Helper()
	res, err := c.request(method, path, body, headers...)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	a := answer{status: res.StatusCode, header: res.Header, text: string(text)}
	_ = json.Unmarshal(text, &a.json)
	return a
}

func (c client) want(status int, method, path string, body any, headers ...string) answer {
	c.t.Helper()
	a := c.do(method, path, body, headers...)
	if a.status != status {
		c.t.Fatalf("%s %s: %d, want %d: %s", method, path, a.status, status, a.text)
	}
	return a
}

func (c client) graphql(document string, variables map[string]any) answer {
	c.t.Helper()
	return c.want(http.StatusOK, "POST", "/graphql", map[string]any{"query": document, "variables": variables})
}

// at is a value of the answer; the path is dotted, numbers index lists.
func (a answer) at(path string) any {
	v := a.json
	for _, key := range strings.Split(path, ".") {
		switch m := v.(type) {
		case map[string]any:
			v = m[key]
		case []any:
			n := 0
			for _, digit := range key {
				n = 10*n + int(digit-'0')
			}
			if n >= len(m) {
				return nil
			}
			v = m[n]
		default:
			return nil
		}
	}
	return v
}

func (a answer) is(t *testing.T, path string, want any) {
	t.Helper()
	if got := a.at(path); got != want {
		t.Errorf("%s is %v, want %v in %s", path, got, want, a.text)
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
