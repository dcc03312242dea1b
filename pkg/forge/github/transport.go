package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

const (
	answerTimeout = 30 * time.Second // of one attempt; GitHub itself gives up after 10
	mostSilence   = 2                // requests in a row that got no answer: then none is made any more
	maxAnswer     = 64 << 20         // bytes
	apiVersion    = "2022-11-28"
)

// call is what the transport has to know of a request beside what is sent.
type call struct {
	op      string
	write   bool // changes something: sent once, and not sooner than a second after the last
	graphql bool
}

// resource is the limit that counts a request, by GitHub's name of it.
func (c call) resource() string {
	if c.graphql {
		return "graphql"
	}
	return "core"
}

type callKey struct{}

// transport is the one place through which every request goes, below go-gh. It
// adds the token, asks whether what is known still holds, keeps the limits, and
// repeats what may be repeated.
type transport struct {
	base  http.RoundTripper
	root  *url.URL // nil: as go-gh has it
	token string
	agent string
	now   func() time.Time
	sleep func(context.Context, time.Duration) error

	turn   chan struct{} // GitHub wants one request after the other
	tags   *tagStore
	limits *limits
	usage  Usage

	patience time.Duration // with one attempt
	silence  int           // requests in a row that got no answer
}

// Usage counts what a client did.
type Usage struct {
	Requests int           `json:"requests"`          // sent, repeats included
	Free     int           `json:"free,omitempty"`    // of these, answered with "not changed": no limit counts them
	Writes   int           `json:"writes,omitempty"`  // of these, to change something
	Repeats  int           `json:"repeats,omitempty"` // of these, after one that failed
	Waited   time.Duration `json:"waited_ns,omitempty"`
}

// answer is a response that was read to its end, or why there is none.
type answer struct {
	status int
	header http.Header
	body   []byte
	sent   bool // the request left, whatever came back
	err    error
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	c, _ := ctx.Value(callKey{}).(call)
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return nil, &Error{Op: c.op, Kind: KindUnavailable, Message: ctx.Err().Error(), err: ctx.Err()}
	}
	body, err := bodyOf(req)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		if err := t.admit(ctx, c); err != nil {
			return nil, err
		}
		began := t.now()
		a := t.send(req, body, c)
		t.limits.note(c, a, t.now())
		wait, again := t.limits.again(c, a, attempt, t.now())
		if !again || a.err != nil && t.now().Sub(began) > maxWait { // nobody waits that long twice
			return t.finish(req, c, a)
		}
		t.usage.Repeats++
		if err := t.wait(ctx, c, wait); err != nil {
			return nil, err
		}
	}
}

// admit lets a request through when the limits allow it now or very soon.
func (t *transport) admit(ctx context.Context, c call) error {
	if t.silence >= mostSilence {
		e := &Error{Op: c.op, Kind: KindUnavailable, Message: "GitHub did not answer the last requests, and is asked no more by this tick"}
		e.Advice = advice(e, nil)
		return e
	}
	wait, stop := t.limits.before(c, t.now())
	if stop != nil {
		stop.Op = c.op
		return stop
	}
	return t.wait(ctx, c, wait)
}

func (t *transport) wait(ctx context.Context, c call, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t.usage.Waited += d
	if err := t.sleep(ctx, d); err != nil {
		return &Error{Op: c.op, Kind: KindUnavailable, Message: err.Error(), err: err}
	}
	return nil
}

// send makes one attempt and reads the whole answer, so that one cut short is
// noticed here.
func (t *transport) send(req *http.Request, body []byte, c call) (a answer) {
	var sent atomic.Bool // what sends may go on for a moment when there is an answer, or none
	defer func() { a.sent = sent.Load() }()
	ctx, cancel := context.WithTimeout(req.Context(), t.patience)
	defer cancel()
	out := req.Clone(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }}))
	if body != nil {
		out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	out.GetBody = nil
	t.dress(out)
	key, tag := t.tags.find(out)
	if tag.ETag != "" {
		out.Header.Set("If-None-Match", tag.ETag)
	}
	t.usage.Requests++
	if c.write {
		t.usage.Writes++
		t.limits.lastWrite = t.now()
	}
	resp, err := t.base.RoundTrip(out)
	if err != nil {
		a.err = err
		return a
	}
	defer resp.Body.Close()
	a.status, a.header = resp.StatusCode, resp.Header
	a.body, a.err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case a.err == nil && len(a.body) > maxAnswer:
		a.err = fmt.Errorf("the answer is longer than %d MB", maxAnswer>>20)
	case a.err == nil && a.status == http.StatusNotModified:
		t.usage.Free++
		a = t.tags.recall(key, tag, a, t.now())
	case a.err == nil:
		a.err = unusable(a)
		t.tags.keep(key, a, t.now())
	}
	return a
}

// dress puts on a request what every one has. The token goes to one place only,
// which is why this is done here and not by go-gh, which knows a host by its
// bare name.
func (t *transport) dress(req *http.Request) {
	if t.root != nil {
		path := req.URL.EscapedPath()
		base := strings.TrimSuffix(t.root.EscapedPath(), "/")
		if path == "/graphql" && strings.HasSuffix(base, "/api/v3") { // an Enterprise Server has it beside the other interface
			base = strings.TrimSuffix(base, "/v3")
		}
		u, err := url.Parse(base + path)
		if err == nil {
			req.URL.Path, req.URL.RawPath = u.Path, u.RawPath
		}
		req.URL.Scheme, req.URL.Host, req.Host = t.root.Scheme, t.root.Host, t.root.Host
	}
	req.Header.Set("Authorization", "Bearer "+t.token)
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("X-GitHub-Api-Version", apiVersion)
	req.Header.Set("User-Agent", t.agent)
}

// finish turns the last answer into what go-gh wants to see.
func (t *transport) finish(req *http.Request, c call, a answer) (*http.Response, error) {
	if t.silence++; a.status != 0 {
		t.silence = 0
	}
	if stop := t.limits.refused(c, a, t.now()); stop != nil {
		stop.Op = c.op
		return nil, stop
	}
	if a.err != nil || a.status >= http.StatusInternalServerError {
		return nil, t.unavailable(c, a)
	}
	return &http.Response{
		Status: http.StatusText(a.status), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: req,
	}, nil
}

// unavailable is the error of no answer. A change that was sent may have
// happened all the same.
func (t *transport) unavailable(c call, a answer) *Error {
	e := &Error{Op: c.op, Kind: KindUnavailable, Status: a.status, Message: messageOf(a.body), Sent: c.write && (a.sent || a.status != 0), err: a.err}
	if a.err != nil {
		e.Message = plain(a.err)
	}
	e.Until, _ = retryAfter(a.header, t.now(), t.limits.skew)
	e.Advice = advice(e, nil)
	return e
}

// plain is a network error without the address, which the caller names better.
func plain(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection ended before the answer"
	}
	return err.Error()
}

// unusable says why the answer is none of GitHub's: a proxy's page, or half of one.
func unusable(a answer) error {
	if a.status < 200 || a.status > 299 || a.status == http.StatusNoContent {
		return nil
	}
	kind, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	if kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return fmt.Errorf("the answer is %s and not JSON", orElse(kind, "of no known type"))
	}
	if !json.Valid(a.body) {
		return errors.New("the answer is not whole")
	}
	return nil
}

func bodyOf(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	defer req.Body.Close()
	return io.ReadAll(req.Body)
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
