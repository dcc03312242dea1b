package github

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	maxWait     = 10 * time.Second // of one request, for a limit to pass
	maxWaits    = 30 * time.Second // of a client, in sum
	attempts    = 3                // of a read that gets no answer
	backOff     = 500 * time.Millisecond
	unknownWait = time.Minute // what GitHub asks for where it states no time
)

// limits is what GitHub allows, as far as its answers said. It decides only;
// the transport waits.
type limits struct {
	reserve   int       // requests an hour that are left to others
	notBefore time.Time // nothing at all is asked before
	windows   map[string]window
	lastWrite time.Time
	waits     time.Duration // for limits, so far
	spacing   time.Duration // between two changes
	skew      time.Duration // GitHub's clock less ours
	heard     bool          // whether skew is known
}

// window is the hour that GitHub counts requests in.
type window struct {
	limit, remaining int
	reset            time.Time // by our clock
}

// before says how long a request has to wait, or why it must not be made.
func (l *limits) before(c call, now time.Time) (time.Duration, *Error) {
	if now.Before(l.notBefore) {
		return 0, &Error{Kind: KindSecondary, Message: "GitHub asked to wait", Until: l.notBefore, Advice: "the pass goes on without GitHub until then"}
	}
	w, known := l.windows[c.resource()]
	if keep := min(l.reserve, w.limit/2); known && w.remaining <= keep && now.Before(w.reset) {
		return 0, &Error{
			Kind: KindRateLimited, Until: w.reset, Advice: "the pass goes on without GitHub until then",
			Message: strconv.Itoa(w.remaining) + " of " + strconv.Itoa(w.limit) + " requests are left in this hour, which are kept in reserve",
		}
	}
	if c.write && !l.lastWrite.IsZero() {
		return l.lastWrite.Add(l.spacing).Sub(now), nil
	}
	return 0, nil
}

// note remembers what an answer says about clock and limits.
func (l *limits) note(c call, a answer, now time.Time) {
	if date, err := http.ParseTime(a.header.Get("Date")); err == nil {
		l.skew, l.heard = date.Sub(now), true
	}
	remaining, err := strconv.Atoi(a.header.Get("X-RateLimit-Remaining"))
	if err != nil {
		return
	}
	if name := a.header.Get("X-RateLimit-Resource"); name != "" && name != c.resource() {
		return // search, say, which has a limit of its own
	}
	w := window{remaining: remaining, reset: l.resetOf(a, now)}
	w.limit, _ = strconv.Atoi(a.header.Get("X-RateLimit-Limit"))
	l.windows[c.resource()] = w
}

// resetOf is when the hour ends: GitHub's clock, told by ours.
func (l *limits) resetOf(a answer, now time.Time) time.Time {
	seconds, err := strconv.ParseInt(a.header.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil {
		return now.Add(unknownWait)
	}
	return time.Unix(seconds, 0).Add(-l.skew).UTC()
}

// limited says whether an answer is a refusal because of a limit, of what kind,
// and until when.
func (l *limits) limited(c call, a answer, now time.Time) (Kind, time.Time) {
	kind, says := Kind(""), strings.ToLower(string(a.body[:min(len(a.body), 4096)]))
	switch refused := a.status == http.StatusForbidden || a.status == http.StatusTooManyRequests; {
	case a.err != nil:
		return "", time.Time{}
	case c.graphql && a.status == http.StatusOK:
		if !graphqlLimited(a.body) {
			return "", time.Time{}
		}
		kind = KindRateLimited
	case !refused:
		return "", time.Time{}
	case strings.Contains(says, "secondary rate limit"), strings.Contains(says, "abuse detection"), strings.Contains(says, "temporarily blocked"):
		kind = KindSecondary
	case a.header.Get("X-RateLimit-Remaining") == "0":
		kind = KindRateLimited
	case a.header.Get("Retry-After") != "", a.status == http.StatusTooManyRequests:
		kind = KindSecondary
	default:
		return "", time.Time{}
	}
	if until, ok := retryAfter(a.header, now, l.skew); ok {
		return kind, until
	}
	if kind == KindRateLimited {
		return kind, l.resetOf(a, now)
	}
	return kind, now.Add(unknownWait)
}

// retryAfter is the time in the header of this name, in seconds or as a date.
func retryAfter(h http.Header, now time.Time, skew time.Duration) (time.Time, bool) {
	value := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil && seconds >= 0 {
		return now.Add(time.Duration(seconds) * time.Second), true
	}
	if date, err := http.ParseTime(value); err == nil {
		return date.Add(-skew).UTC(), true
	}
	return time.Time{}, false
}

// graphqlLimited reports whether an answer of success says that the limit is
// reached, as GraphQL does.
func graphqlLimited(body []byte) bool {
	if !bytes.Contains(body, []byte(`"RATE_LIMIT`)) {
		return false
	}
	var got struct {
		Errors []struct{ Type string }
	}
	if json.Unmarshal(body, &got) != nil {
		return false
	}
	for _, e := range got.Errors {
		if e.Type == "RATE_LIMITED" || e.Type == "RATE_LIMIT" {
			return true
		}
	}
	return false
}

// again decides whether a request is repeated, and after what time. What a limit
// refused was not done, so that goes for writes too; else only reads are.
func (l *limits) again(c call, a answer, attempt int, now time.Time) (time.Duration, bool) {
	if attempt >= attempts {
		return 0, false
	}
	if kind, until := l.limited(c, a, now); kind != "" {
		return l.afford(until.Sub(now))
	}
	if c.write || !broken(a) {
		return 0, false
	}
	if until, ok := retryAfter(a.header, now, l.skew); ok {
		return l.afford(until.Sub(now))
	}
	return backOff << (attempt - 1), true
}

// afford says whether a limit is worth waiting for.
func (l *limits) afford(wait time.Duration) (time.Duration, bool) {
	wait = max(wait, 0)
	if wait > maxWait || l.waits+wait > maxWaits {
		return 0, false
	}
	l.waits += wait
	return wait, true
}

// broken reports whether there is no answer to speak of, and the next may be one.
func broken(a answer) bool {
	switch a.status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return a.err != nil
}

// refused is the error of an answer that a limit forbids; nothing is asked any
// more until it has passed.
func (l *limits) refused(c call, a answer, now time.Time) *Error {
	kind, until := l.limited(c, a, now)
	switch kind {
	case "":
		return nil
	case KindSecondary:
		l.notBefore = until
	default:
		l.windows[c.resource()] = window{limit: l.windows[c.resource()].limit, reset: until}
	}
	return &Error{Kind: kind, Status: a.status, Message: messageOf(a.body), Until: until, Advice: "the pass goes on without GitHub until then"}
}

func messageOf(body []byte) string {
	var got struct {
		Message string
		Errors  []struct{ Message string }
	}
	_ = json.Unmarshal(body, &got) // what cannot be read says nothing
	if got.Message == "" && len(got.Errors) > 0 {
		return got.Errors[0].Message
	}
	return got.Message
}
