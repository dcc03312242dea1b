package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cli/go-gh/v2/pkg/api"
)

// Options say where GitHub is and how to deal with it. All may be left out.
type Options struct {
	APIURL    string            // root of the REST interface; GraphQL is at /graphql below it
	Host      string            // else that of GH_HOST, of gh's login, github.com
	Token     string            // else that of the environment, of gh's login
	Agent     string            // name and version of the program, for GitHub's logs
	Patience  time.Duration     // with one answer; half a minute when zero
	Reserve   int               // requests an hour that are left to others
	Spacing   time.Duration     // between two changes; GitHub asks for a second
	Folders   map[string]string // absolute paths of this machine, and what is shown for them
	Tags      map[string]Tag    // what Client.Tags returned at the end of the last tick
	NotBefore time.Time         // Until of the last error that had one
	Now       func() time.Time
	Sleep     func(context.Context, time.Duration) error
	Base      http.RoundTripper // what sends the requests
}

// Client talks to GitHub. It may be used by several goroutines; their requests
// go one after the other, as GitHub wants it. Nothing is read or connected
// before the first of them.
type Client struct {
	options Options
	folders folders
	once    sync.Once
	ready   atomic.Bool // connected, without an error
	err     error
	login   login
	wire    *transport
	rest    *api.RESTClient
	graph   *api.GraphQLClient
	mu      sync.Mutex
	viewer  Viewer
	written written
}

// New is a client. What is wrong with the options, and that there is no token,
// is said by its first request.
func New(o Options) *Client {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Patience == 0 {
		o.Patience = answerTimeout
	}
	if o.Agent == "" {
		o.Agent = "backburner"
	}
	return &Client{options: o, folders: newFolders(o.Folders)}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// connect finds token and host, once.
func (c *Client) connect() error {
	c.once.Do(func() {
		if c.login, c.err = findLogin(c.options); c.err != nil {
			return
		}
		at, o := c.login, c.options
		c.wire = &transport{
			base: at.base, root: at.root, token: at.token, agent: o.Agent, now: o.Now, sleep: o.Sleep, turn: make(chan struct{}, 1), patience: o.Patience,
			tags: newTagStore(o.Tags), limits: &limits{reserve: o.Reserve, spacing: o.Spacing, notBefore: o.NotBefore, windows: make(map[string]window)},
		}
		host := at.host
		if at.root != nil {
			host = "github.com" // whose paths begin at the root; the transport knows better where that is
		}
		clientOptions := func() api.ClientOptions { // each gets its own: go-gh writes into them
			return api.ClientOptions{
				Host: host, AuthToken: at.token, Transport: c.wire,
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			}
		}
		if c.rest, c.err = api.NewRESTClient(clientOptions()); c.err == nil {
			c.graph, c.err = api.NewGraphQLClient(clientOptions())
		}
		c.ready.Store(c.err == nil)
	})
	return c.err
}

// locked looks at the transport while no request is under way, if there was one.
func (c *Client) locked(look func(*transport)) {
	if c.ready.Load() {
		c.wire.turn <- struct{}{}
		look(c.wire)
		<-c.wire.turn
	}
}

// Login is the host that is talked to, and the token: git wants both as well.
func (c *Client) Login() (host, token string, err error) {
	if err := c.connect(); err != nil {
		return "", "", named("log in to GitHub", err)
	}
	return c.login.host, c.login.token, nil
}

// Usage is what was asked of GitHub so far.
func (c *Client) Usage() (u Usage) {
	c.locked(func(t *transport) { u = t.usage })
	return u
}

// Tags is what to give to the client of the next tick, so that reading again
// what did not change is free.
func (c *Client) Tags() (tags map[string]Tag) {
	c.locked(func(t *transport) { tags = t.tags.snapshot(t.now()) })
	return tags
}

// Now is the time by GitHub's clock, as of its last answer; ours before the first.
func (c *Client) Now() time.Time {
	now := c.options.Now()
	c.locked(func(t *transport) { now = t.now().Add(t.limits.skew) })
	return now.UTC().Truncate(time.Second)
}

// mostDrift is how far two clocks may be apart and be thought the same.
const mostDrift = 10 * time.Second

// Ours is a time of GitHub's clock as ours had it.
func (c *Client) Ours(t time.Time) time.Time {
	c.locked(func(w *transport) {
		if w.limits.skew.Abs() > mostDrift {
			t = t.Add(-w.limits.skew)
		}
	})
	return t.UTC()
}

// request is one call of the REST interface.
type request struct {
	op     string
	method string // GET when empty
	path   string // below the root, escaped; see path
	body   any
}

// do makes a request and decodes the answer into out, unless that is nil.
func (c *Client) do(ctx context.Context, r request, out any) (http.Header, error) {
	if err := c.connect(); err != nil {
		return nil, named(r.op, err)
	}
	method, write := r.method, true
	if method == "" || method == http.MethodGet {
		method, write = http.MethodGet, false
	}
	var body io.Reader
	if r.body != nil {
		data, err := json.Marshal(r.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	ctx = context.WithValue(ctx, callKey{}, call{op: r.op, write: write})
	resp, err := c.rest.RequestWithContext(ctx, method, r.path, body)
	if err != nil {
		return nil, named(r.op, err)
	}
	defer resp.Body.Close()
	if out == nil || resp.StatusCode == http.StatusNoContent {
		return resp.Header, nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return nil, &Error{Op: r.op, Kind: KindUnavailable, Status: resp.StatusCode, Message: "the answer cannot be read: " + err.Error(), Sent: write, err: err}
	}
	return resp.Header, nil
}

// named is an error of a request in our words.
func named(op string, err error) *Error {
	var ours *Error
	if errors.As(err, &ours) {
		if ours.Op == "" {
			copied := *ours // that of connect is everybody's
			copied.Op = op
			return &copied
		}
		return ours
	}
	var refused *api.HTTPError
	if errors.As(err, &refused) {
		return refusal(op, refused.StatusCode, refused.Headers, refused.Message)
	}
	e := &Error{Op: op, Kind: KindUnavailable, Message: err.Error(), err: err}
	e.Advice = advice(e, nil)
	return e
}

// query is one call of the GraphQL interface.
type query struct {
	op    string
	text  string
	vars  map[string]any
	write bool
}

// ask makes a query and decodes the answer into out. An answer that has only
// some of what was asked for is one: what is wrong with the rest is by the first
// two steps of its path, "r3" or "nodes.7".
func (c *Client) ask(ctx context.Context, q query, out any) (map[string]*Error, error) {
	if err := c.connect(); err != nil {
		return nil, named(q.op, err)
	}
	ctx = context.WithValue(ctx, callKey{}, call{op: q.op, write: q.write, graphql: true})
	err := c.graph.DoWithContext(ctx, q.text, q.vars, out)
	var partly *api.GraphQLError
	switch {
	case err == nil:
		return nil, nil
	case !errors.As(err, &partly):
		return nil, unread(q, err)
	}
	parts := make(map[string]*Error)
	for _, item := range partly.Errors {
		e := refusalOf(q.op, item)
		at := whereIn(item.Path)
		if at == "" || q.write {
			e.Sent = q.write && e.Kind == KindUnavailable
			return nil, e
		}
		parts[at] = e
	}
	return parts, nil
}

// unread is the error of a query without an answer, or with one that cannot be
// decoded: then it was done, as far as anybody knows.
func unread(q query, err error) *Error {
	e := named(q.op, err)
	if e.Status == 0 && !errors.As(err, new(*Error)) {
		e.Sent = q.write
	}
	return e
}

// nothing is the error of an answer without what was asked for: GitHub says of
// what is not there that it is not.
func nothing(op string) *Error {
	e := &Error{Op: op, Kind: KindUnavailable, Message: "the answer has nothing of what was asked for"}
	e.Advice = advice(e, nil)
	return e
}

// whereIn is the part of an answer that a problem is about; "" is all of it.
func whereIn(path []any) string {
	if len(path) == 0 {
		return ""
	}
	first, _ := path[0].(string)
	if index, ok := path[min(1, len(path)-1)].(float64); ok {
		return first + "." + jsonNumber(index)
	}
	return first
}

func jsonNumber(n float64) string {
	data, _ := json.Marshal(n) // of a number that was read from JSON
	return string(data)
}

// path is a path of the REST interface; its parts are data, and so escaped.
func path(parts ...string) string {
	escaped := make([]string, len(parts))
	for i, p := range parts {
		escaped[i] = url.PathEscape(p)
	}
	return strings.Join(escaped, "/")
}
