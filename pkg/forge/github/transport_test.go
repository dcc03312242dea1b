package github_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"sync"
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
	got     []*http.Request
}

func newStub(t *testing.T, replies ...reply) *stub {
	s := &stub{clock: newClock(), replies: replies}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		s.got = append(s.got, r)
		a := s.replies[min(len(s.got), len(s.replies))-1]
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
	return c.AddLabels(context.Background(), "acme/shop", 1, "backburner")
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
	if got := []string{s.got[0].URL.Path, s.got[1].URL.Path}; !reflect.DeepEqual(got, []string{"/api/v3/repos/acme/shop/collaborators/ann/permission", "/api/graphql"}) {
		t.Errorf("asked %q", got)
	}
	for _, r := range s.got {
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
	if got := s.got[0].RequestURI; got != "/repos/acme/shop/issues/1/labels/a%2F..%2Fb%3Fx=1%20c" {
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
			if e := asError(t, read(s.client())); e.Kind != tc.kind || e.Sent || len(s.got) != tc.reads {
				t.Errorf("a read: %d requests, %+v", len(s.got), e)
			}
			if tc.reads > 1 && !reflect.DeepEqual(s.clock.slept, []time.Duration{500 * time.Millisecond, time.Second}) {
				t.Errorf("pauses were %v", s.clock.slept)
			}
			s = newStub(t, tc.bad)
			if e := asError(t, write(s.client())); e.Kind != tc.kind || e.Sent != tc.sent || len(s.got) != 1 {
				t.Errorf("a write: %d requests, %+v", len(s.got), e)
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

func limit(status int, headers ...string) reply {
	h := map[string]string{}
	for i := 0; i < len(headers); i += 2 {
		h[headers[i]] = headers[i+1]
	}
	return reply{status, `{"message":"API rate limit exceeded"}`, h}
}

// What a limit refuses was not done: it is repeated where that takes some
// seconds only, and else is an error that says until when.
func TestLimits(t *testing.T) {
	noon := newClock().now
	reset := func(after time.Duration) string { return strconv.FormatInt(noon.Add(after).Unix(), 10) }
	for _, tc := range []struct {
		name  string
		bad   reply
		kind  github.Kind // "": it passes
		until time.Duration
	}{
		{"a short wait", limit(403, "Retry-After", "7"), "", 7 * time.Second},
		{"a short wait, 429", limit(429, "Retry-After", "7"), "", 7 * time.Second},
		{"a date", limit(429, "Retry-After", noon.Add(5*time.Second).Format(http.TimeFormat)), "", 5 * time.Second},
		{"a long wait", limit(403, "Retry-After", "60"), github.KindSecondary, time.Minute},
		{"reset soon", limit(403, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", reset(4*time.Second)), "", 4 * time.Second},
		{"reset late", limit(403, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", reset(40*time.Minute)), github.KindRateLimited, 40 * time.Minute},
		{"secondary without a time", reply{403, `{"message":"You have exceeded a secondary rate limit."}`, nil}, github.KindSecondary, time.Minute},
		{"429 without a time", limit(429), github.KindSecondary, time.Minute},
	} {
		for name, do := range map[string]func(*github.Client) error{"read": read, "write": write} {
			t.Run(tc.name+", "+name, func(t *testing.T) {
				s := newStub(t, tc.bad, reply{200, role, nil})
				c := s.client()
				err := do(c)
				if tc.kind == "" {
					if err != nil || len(s.got) != 2 || !s.clock.now.Equal(noon.Add(tc.until)) {
						t.Errorf("%d requests, waited %v, %v", len(s.got), s.clock.slept, err)
					}
					return
				}
				e := asError(t, err)
				if e.Kind != tc.kind || !e.Until.Equal(noon.Add(tc.until)) || e.Sent || len(s.got) != 1 || len(s.clock.slept) > 0 {
					t.Errorf("%d requests, waited %v, %+v", len(s.got), s.clock.slept, e)
				}
				if err := do(c); err == nil || len(s.got) != 1 {
					t.Errorf("asked again before the time: %v", err)
				}
				s.clock.now = e.Until
				if err := do(c); err != nil {
					t.Errorf("after the time: %v", err)
				}
			})
		}
	}
}

func TestShortWaitsEnd(t *testing.T) {
	s := newStub(t, limit(429, "Retry-After", "9"))
	e := asError(t, read(s.client()))
	if len(s.got) != 3 || e.Kind != github.KindSecondary || e.Until.IsZero() {
		t.Errorf("%d requests, %v", len(s.got), e)
	}
}

// The clock of this machine may be wrong; a time of GitHub's counts by GitHub's.
func TestLimitByAnotherClock(t *testing.T) {
	s := newStub(t)
	ahead := s.clock.now.Add(3 * time.Hour)
	s.replies = []reply{limit(403, "Date", ahead.Format(http.TimeFormat), "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", strconv.FormatInt(ahead.Add(10*time.Minute).Unix(), 10))}
	c := s.client()
	if e := asError(t, read(c)); !e.Until.Equal(s.clock.now.Add(10 * time.Minute)) {
		t.Errorf("until %v by a clock that shows %v", e.Until, s.clock.now)
	}
	if !c.Now().Equal(ahead) {
		t.Errorf("GitHub's time is %v, want %v", c.Now(), ahead)
	}
}

func TestLimitOfGraphQL(t *testing.T) {
	noon := newClock().now
	h := map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Resource": "graphql", "X-RateLimit-Reset": strconv.FormatInt(noon.Add(time.Hour).Unix(), 10)}
	s := newStub(t, reply{200, `{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}`, h}, good(nil))
	c := s.client()
	_, err := c.Probe(context.Background(), []string{"acme/shop"})
	if e := asError(t, err); e.Kind != github.KindRateLimited || !e.Until.Equal(noon.Add(time.Hour)) {
		t.Errorf("got %+v", e)
	}
	if err := read(c); err != nil {
		t.Errorf("the limit of one interface stops the other: %v", err)
	}
	if _, err := c.Probe(context.Background(), []string{"acme/shop"}); err == nil || len(s.got) != 2 {
		t.Error("asked again before the time")
	}
}

func TestReserve(t *testing.T) {
	s := newStub(t)
	reset := strconv.FormatInt(s.clock.now.Add(time.Hour).Unix(), 10)
	s.replies = []reply{
		good(map[string]string{"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "501", "X-RateLimit-Reset": reset}),
		good(map[string]string{"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "500", "X-RateLimit-Reset": reset}),
	}
	c := s.client(func(o *github.Options) { o.Reserve = 500 })
	if err := errors.Join(read(c), read(c)); err != nil {
		t.Fatal(err)
	}
	if e := asError(t, read(c)); e.Kind != github.KindRateLimited || e.Until.IsZero() || len(s.got) != 2 || !strings.Contains(e.Error(), "500 of 5000") {
		t.Errorf("%d requests, %v", len(s.got), e)
	}
}

func TestNotBefore(t *testing.T) {
	s := newStub(t, good(nil))
	c := s.client(func(o *github.Options) { o.NotBefore = s.clock.now.Add(time.Minute) })
	if e := asError(t, read(c)); len(s.got) != 0 || !e.Until.Equal(s.clock.now.Add(time.Minute)) {
		t.Errorf("%d requests, %v", len(s.got), e)
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
		if sent := s.got[i].Header.Get("If-None-Match"); sent != want {
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
	if len(elsewhere.got) > 0 {
		t.Error("a redirect was followed")
	}
}

func TestPages(t *testing.T) {
	s := newStub(t)
	page := func(next string, ids ...int) reply {
		var list []string
		for _, id := range ids {
			list = append(list, fmt.Sprintf(`{"id":%d,"body":"x","user":{"login":"ann","type":"User"}}`, id))
		}
		return reply{200, "[" + strings.Join(list, ",") + "]", map[string]string{"Link": next}}
	}
	s.replies = []reply{
		page(`<https://evil.example/repositories/7/issues/1/comments?per_page=100&page=2>; rel="next", <https://evil.example/x?page=3>; rel="last"`, 1, 2),
		page(`<https://evil.example/x?page=1>; rel="prev"`, 3),
	}
	all, err := s.client().Comments(context.Background(), "acme/shop", 1)
	if err != nil || len(all) != 3 || all[2].ID != 3 {
		t.Errorf("read %v, %v", all, err)
	}
	if got := s.got[1].RequestURI; got != "/repos/acme/shop/issues/1/comments?per_page=100&page=2" {
		t.Errorf("the second page is %s", got)
	}
}
