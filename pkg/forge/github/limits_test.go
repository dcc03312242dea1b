package github_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge/github"
)

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
					if err != nil || len(s.requests()) != 2 || !s.clock.now.Equal(noon.Add(tc.until)) {
						t.Errorf("%d requests, waited %v, %v", len(s.requests()), s.clock.slept, err)
					}
					return
				}
				e := asError(t, err)
				if e.Kind != tc.kind || !e.Until.Equal(noon.Add(tc.until)) || e.Sent || len(s.requests()) != 1 || len(s.clock.slept) > 0 {
					t.Errorf("%d requests, waited %v, %+v", len(s.requests()), s.clock.slept, e)
				}
				if err := do(c); err == nil || len(s.requests()) != 1 {
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
	if len(s.requests()) != 3 || e.Kind != github.KindSecondary || e.Until.IsZero() {
		t.Errorf("%d requests, %v", len(s.requests()), e)
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
	if _, err := c.Probe(context.Background(), []string{"acme/shop"}); err == nil || len(s.requests()) != 2 {
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
	if e := asError(t, read(c)); e.Kind != github.KindRateLimited || e.Until.IsZero() || len(s.requests()) != 2 || !strings.Contains(e.Error(), "500 of 5000") {
		t.Errorf("%d requests, %v", len(s.requests()), e)
	}
}

func TestNotBefore(t *testing.T) {
	s := newStub(t, good(nil))
	c := s.client(func(o *github.Options) { o.NotBefore = s.clock.now.Add(time.Minute) })
	if e := asError(t, read(c)); len(s.requests()) != 0 || !e.Until.Equal(s.clock.now.Add(time.Minute)) {
		t.Errorf("%d requests, %v", len(s.requests()), e)
	}
}
