package github_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge/github"
)

// clock is the time of a test: sleeping is what makes it pass.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

func newClock() *clock { return &clock{now: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(_ context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.slept = append(c.slept, d)
	return nil
}

// reply is one answer of a stub; status 0 cuts the connection after the request
// was read.
type reply struct {
	status  int
	body    string
	headers map[string]string
}

// stub is a server that gives one answer after the other, the last one for ever.
type stub struct {
	*httptest.Server
	clock   *clock
	replies []reply
	mu      sync.Mutex
	got     []*http.Request
}

// requests are what came in so far.
func (s *stub) requests() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

func newStub(t *testing.T, replies ...reply) *stub {
	s := &stub{clock: newClock(), replies: replies}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		s.mu.Lock()
		s.got = append(s.got, r)
		a := s.replies[min(len(s.got), len(s.replies))-1]
		s.mu.Unlock()
		if a.status == 0 {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Date", s.clock.Now().Format(http.TimeFormat))
		for k, v := range a.headers {
			w.Header().Set(k, v)
		}
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *stub) client(change ...func(*github.Options)) *github.Client {
	o := github.Options{APIURL: s.URL, Token: "secret", Now: s.clock.Now, Sleep: s.clock.Sleep, Spacing: time.Second}
	for _, f := range change {
		f(&o)
	}
	return github.New(o)
}

// read and write are the smallest requests of either kind.
func read(c *github.Client) error {
	_, err := c.Role(context.Background(), "acme/shop", "ann")
	return err
}

func write(c *github.Client) error {
	return c.React(context.Background(), github.Target{Slug: "acme/shop", Number: 1, Kind: github.OnThread}, github.Seen)
}

func asError(t *testing.T, err error) *github.Error {
	t.Helper()
	var e *github.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an error of GitHub's", err)
	}
	return e
}

const role = `{"permission":"write","user":{"type":"User"}}`

func good(headers map[string]string) reply { return reply{200, role, headers} }

func TestRequestsAreDressed(t *testing.T) {
	s := newStub(t, good(nil))
	c := s.client(func(o *github.Options) { o.APIURL += "/api/v3"; o.Agent = "backburner/1.0" })
	if err := read(c); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Probe(context.Background(), []string{"acme/shop"}); err == nil {
		t.Error("an answer that is none passed")
	}
	if got := []string{s.requests()[0].URL.Path, s.requests()[1].URL.Path}; !reflect.DeepEqual(got, []string{"/api/v3/repos/acme/shop/collaborators/ann/permission", "/api/graphql"}) {
		t.Errorf("asked %q", got)
	}
	for _, r := range s.requests() {
		for name, want := range map[string]string{"Authorization": "Bearer secret", "User-Agent": "backburner/1.0", "X-GitHub-Api-Version": "2022-11-28", "Accept": "application/vnd.github+json"} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
}

func TestNamesStayNames(t *testing.T) {
	s := newStub(t, reply{204, "", nil})
	if err := s.client().RemoveLabel(context.Background(), "acme/shop", 1, "a/../b?x=1 c"); err != nil {
		t.Fatal(err)
	}
	if got := s.requests()[0].RequestURI; got != "/repos/acme/shop/issues/1/labels/a%2F..%2Fb%3Fx=1%20c" {
		t.Errorf("asked %s", got)
	}
}

// Reads are repeated while there is no answer, with pauses; writes are not, and
// say that they may have been done.
func TestRepeats(t *testing.T) {
	for _, tc := range []struct {
		name    string
		bad     reply
		reads   int // requests
		kind    github.Kind
		sent    bool
		perhaps bool // a second one is not sent, since it may have been done
	}{
		{"502", reply{502, "<html>", map[string]string{"Content-Type": "text/html"}}, 3, github.KindUnavailable, true, true},
		{"503", reply{503, `{"message":"down"}`, nil}, 3, github.KindUnavailable, true, true},
		{"504", reply{504, "", nil}, 3, github.KindUnavailable, true, true},
		{"cut", reply{}, 3, github.KindUnavailable, true, true},
		{"half an answer", reply{200, `{"perm`, map[string]string{"Content-Length": "400"}}, 3, github.KindUnavailable, true, true},
		{"a page", reply{200, "<html>log in</html>", map[string]string{"Content-Type": "text/html"}}, 3, github.KindUnavailable, true, true},
		{"500", reply{500, `{"message":"oops"}`, nil}, 1, github.KindUnavailable, true, true},
		{"401", reply{401, `{"message":"Bad credentials"}`, nil}, 1, github.KindAuth, false, false},
		{"422", reply{422, `{"message":"Validation Failed"}`, nil}, 1, github.KindInvalid, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStub(t, tc.bad)
			if e := asError(t, read(s.client())); e.Kind != tc.kind || e.Sent || len(s.requests()) != tc.reads {
				t.Errorf("a read: %d requests, %+v", len(s.requests()), e)
			}
			if tc.reads > 1 && !reflect.DeepEqual(s.clock.slept, []time.Duration{500 * time.Millisecond, time.Second}) {
				t.Errorf("pauses were %v", s.clock.slept)
			}
			s = newStub(t, tc.bad)
			if e := asError(t, write(s.client())); e.Kind != tc.kind || e.Sent != tc.sent || len(s.requests()) != 1 {
				t.Errorf("a write: %d requests, %+v", len(s.requests()), e)
			}
			s = newStub(t, tc.bad, good(nil))
			if err := read(s.client()); (err == nil) != (tc.reads > 1) {
				t.Errorf("a read that succeeds the second time: %v", err)
			}
		})
	}
}

func TestNothingThere(t *testing.T) {
	s := newStub(t, good(nil))
	s.Close()
	if e := asError(t, write(s.client())); e.Kind != github.KindUnavailable || e.Sent {
		t.Errorf("a write that never left: %+v", e)
	}
}

func TestWritesAreSpaced(t *testing.T) {
	s := newStub(t, good(nil))
	c := s.client()
	for range 3 {
		if err := errors.Join(write(c), read(c)); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(s.clock.slept, []time.Duration{time.Second, time.Second}) {
		t.Errorf("waited %v between three writes", s.clock.slept)
	}
}

func TestTags(t *testing.T) {
	s := newStub(t, good(map[string]string{"ETag": `W/"1"`}), reply{304, "", nil}, reply{200, `{"permission":"read"}`, map[string]string{"ETag": `W/"2"`}}, reply{304, "", nil})
	ask := func(c *github.Client) string {
		t.Helper()
		r, err := c.Role(context.Background(), "acme/shop", "ann")
		if err != nil {
			t.Fatal(err)
		}
		return r.Permission
	}
	c := s.client()
	got := []string{ask(c), ask(c)}
	next := s.client(func(o *github.Options) { o.Tags = c.Tags() })
	got = append(got, ask(next), ask(next))
	if !reflect.DeepEqual(got, []string{"write", "write", "read", "read"}) {
		t.Errorf("read %q", got)
	}
	for i, want := range []string{"", `W/"1"`, `W/"1"`, `W/"2"`} {
		if sent := s.requests()[i].Header.Get("If-None-Match"); sent != want {
			t.Errorf("request %d asked whether %s holds, want %s", i, sent, want)
		}
	}
	if u := c.Usage(); u.Requests != 2 || u.Free != 1 || u.Writes != 0 {
		t.Errorf("counted %+v", u)
	}
}

// A redirect leads the token nowhere else, and turns no write into a read.
func TestRedirects(t *testing.T) {
	elsewhere := newStub(t, good(nil))
	s := newStub(t, reply{301, `{"message":"Moved Permanently"}`, map[string]string{"Location": elsewhere.URL + "/repositories/7"}})
	for _, do := range []func(*github.Client) error{read, write} {
		if e := asError(t, do(s.client())); e.Kind != github.KindMoved || e.Place != elsewhere.URL+"/repositories/7" {
			t.Errorf("got %+v", e)
		}
	}
	if len(elsewhere.requests()) > 0 {
		t.Error("a redirect was followed")
	}
}

func TestPages(t *testing.T) {
	s := newStub(t)
	page := func(next string, ids ...int) reply {
		var list []string
		for _, id := range ids {
			list = append(list, fmt.Sprintf(`{"id":%d,"body":"x\n\n<!-- backburner:v1 key=%d -->","user":{"login":"ann","type":"User"}}`, id, id))
		}
		return reply{200, "[" + strings.Join(list, ",") + "]", map[string]string{"Link": next}}
	}
	s.replies = []reply{
		{200, `{"data":{"viewer":{"login":"ann","databaseId":1}}}`, nil},
		page(`<https://evil.example/repositories/7/issues/1/comments?per_page=100&page=2>; rel="next", <https://evil.example/x?page=3>; rel="last"`, 1, 2),
		page(`<https://evil.example/x?page=1>; rel="prev"`, 3),
	}
	got, err := s.client().Upsert(context.Background(), github.Post{Slug: "acme/shop", Number: 1, Key: "3", Body: "x"})
	if err != nil || got.ID != 3 {
		t.Errorf("found %v, %v", got, err)
	}
	if got := s.requests()[2].RequestURI; got != "/repos/acme/shop/issues/1/comments?per_page=100&page=2" {
		t.Errorf("the second page is %s", got)
	}
}

// Who does not answer is not waited for again and again.
func TestNoAnswer(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	c := github.New(github.Options{APIURL: s.URL, Token: "secret", Patience: 20 * time.Millisecond, Sleep: newClock().Sleep})
	for i, want := range []string{"no answer in time", "no answer in time", "is asked no more by this tick"} {
		if e := asError(t, write(c)); e.Kind != github.KindUnavailable || !strings.Contains(e.Error(), want) || e.Sent != (i < 2) || e.Advice == "" {
			t.Errorf("request %d: %+v", i, e)
		}
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("GitHub was asked %d times", n)
	}
}
