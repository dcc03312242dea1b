package githubtest

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Fault is something that goes wrong on GitHub's side, or on the way.
type Fault struct {
	// Route is method and path with * for anything: "POST /repos/*/issues/*/comments".
	// "graphql" is every GraphQL request, "*" every request.
	Route string
	// Kind is one of
	//   a status                 "401", "403", "404", "409", "410", "422", "429", "500", "502", "503", "504"
	//   secondary                403 of the secondary limit with Retry-After; "429-secondary" the same as 429,
	//   secondary-bare           without Retry-After
	//   primary                  403 with nothing left until the limit resets; GraphQL: 200 with RATE_LIMITED
	//   cut, lost                the connection ends before, or after, the effect
	//   truncated, html, empty   half of the JSON (after the effect), a page instead of JSON, 200 without a body
	//   stale                    304 to a request with If-None-Match although the answer is another
	//   slow, slow:DURATION      the answer comes late (default one second)
	//   partial, partial:OWNER/NAME  GraphQL: the first (or that) repository is null, with an error
	//   timeout                  GraphQL: "Something went wrong while executing your query"
	Kind string
	// Match is a text that the body of the request must contain; "": any.
	Match string
	// Skip lets so many requests through before.
	Skip int
	// Times is how often it happens; 0 is once, below 0 always.
	Times int
	// Each has it happen once to every request that differs from the others.
	Each bool
	// Then is done when the effect has happened, before the answer is given.
	Then func()

	done bool            // in the request at hand
	hit  map[string]bool // requests that it happened to
}

var faultKind = regexp.MustCompile(`^(4\d\d|5\d\d|secondary|secondary-bare|429-secondary|primary|cut|lost|truncated|html|empty|stale|slow(:.+)?|partial(:.+)?|timeout)$`)

// Fail plans a fault. Faults are tried in the order of their planning.
func (s *Server) Fail(f Fault) {
	defer s.lock()()
	if !faultKind.MatchString(f.Kind) {
		panic("githubtest: there is no fault " + f.Kind)
	}
	if f.Each {
		f.Times, f.hit = -1, map[string]bool{}
	}
	if f.Times == 0 {
		f.Times = 1
	}
	s.faults = append(s.faults, &f)
}

// Heal takes back all faults that did not happen yet, and is how many there were.
func (s *Server) Heal() int {
	defer s.lock()()
	n := 0
	for _, f := range s.faults {
		if f.Times != 0 {
			n++
		}
	}
	s.faults = nil
	return n
}

func (s *Server) takeFault(x *exchange) *Fault {
	for _, f := range s.faults {
		if f.Times == 0 || !f.concerns(x) {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		f.Times--
		f.done = false
		if f.Each {
			f.hit[x.identity()] = true
		}
		return f
	}
	return nil
}

func (f *Fault) concerns(x *exchange) bool {
	if !strings.Contains(string(x.raw), f.Match) || f.hit[x.identity()] {
		return false
	}
	switch f.Route {
	case "*":
		return true
	case "graphql":
		return x.req.URL.Path == "/graphql"
	}
	pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(f.Route), `\*`, ".*") + "$"
	return regexp.MustCompile(pattern).MatchString(x.req.Method + " " + x.req.URL.Path)
}

// identity is what two requests have in common that are the same.
func (x *exchange) identity() string {
	return x.req.Method + " " + x.req.URL.RequestURI() + " " + string(x.raw)
}

func (f *Fault) name() string  { name, _, _ := strings.Cut(f.Kind, ":"); return name }
func (f *Fault) value() string { _, value, _ := strings.Cut(f.Kind, ":"); return value }

// instead answers in place of GitHub; false when the request takes its way.
func (f *Fault) instead(s *Server, x *exchange) bool {
	switch f.name() {
	case "secondary", "429-secondary", "secondary-bare":
		x.answer = f.secondary()
	case "primary":
		x.answer = f.primary(s, x)
	case "cut":
		x.answer = answer{}
	case "html":
		x.answer = answer{status: http.StatusBadGateway, body: "<!DOCTYPE html>\n<html><head><title>Unicorn! &middot; GitHub</title></head><body><p>We had issues producing the response to your request.</p></body></html>\n"}
	case "empty":
		x.answer = answer{status: http.StatusOK}
	case "timeout":
		x.answer = answer{status: http.StatusOK, body: map[string]any{"data": nil, "errors": []any{map[string]any{
			"message": "Something went wrong while executing your query. This may be the result of a timeout, or it could be a GitHub bug. Please include `TEST:1` when reporting this issue.",
		}}}}
	default:
		status, err := strconv.Atoi(f.Kind)
		if err != nil {
			return false
		}
		x.answer = refuse(status, faultWords[status])
		if status >= http.StatusInternalServerError {
			x.answer.body = map[string]any{"message": faultWords[status]}
		}
	}
	return true
}

var faultWords = map[int]string{
	401: "Bad credentials", 403: "Resource not accessible by personal access token", 404: "Not Found", 409: "Conflict", 410: "Gone",
	422: "Validation Failed", 429: "Too many requests", 500: "Server Error", 502: "Server Error", 503: "Service unavailable",
	504: "We couldn't respond to your request in time. Sorry about that. Please try resubmitting your request and contact us if the problem persists.",
}

func (f *Fault) secondary() answer {
	status := http.StatusForbidden
	if f.Kind == "429-secondary" {
		status = http.StatusTooManyRequests
	}
	a := refuse(status, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.")
	if f.Kind != "secondary-bare" {
		a = a.with("Retry-After", "60")
	}
	return a
}

// primary uses up what the token has left.
func (f *Fault) primary(s *Server, x *exchange) answer {
	a, stop := s.authorize(x)
	if stop {
		return a
	}
	l := &x.token.rest
	if x.req.URL.Path == "/graphql" {
		l = &x.token.gql
	}
	l.roll(s.world.time())
	l.used = l.limit
	if l == &x.token.gql {
		return limited(x.token.user)
	}
	return exhausted(l, x.token.user)
}

// after spoils an answer whose effect has happened.
func (f *Fault) after(x *exchange) {
	if f.Then != nil {
		f.Then()
	}
	switch f.name() {
	case "truncated":
		x.text = x.text[:len(x.text)/2]
	case "stale":
		if x.req.Header.Get("If-None-Match") != "" {
			x.answer.status, x.text = http.StatusNotModified, nil
		}
	case "slow":
		d := time.Second
		if v := f.value(); v != "" {
			var err error
			d, err = time.ParseDuration(v)
			must(err)
		}
		x.delay = d
	}
}

// hits reports whether a GraphQL request fails at a repository: at the one that
// is named, else at the first.
func (f *Fault) hits(slug string) bool {
	if f == nil || f.name() != "partial" || f.done || f.value() != "" && !strings.EqualFold(f.value(), slug) {
		return false
	}
	f.done = true
	return true
}

func (f *Fault) cuts() bool { return f.Kind == "cut" || f.Kind == "lost" }
