package githubtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// exchange is one request and its answer, as they are checked, counted and logged.
type exchange struct {
	req    *http.Request
	raw    []byte
	token  *token
	route  *route // nil: GraphQL, or nothing that is served
	vars   map[string]string
	answer answer
	text   []byte // of the answer
	logged Request
	fault  *Fault
	delay  time.Duration
}

// ServeHTTP answers one request. All of it happens at once: no other request
// and no act of a person comes between.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		return // the client went away
	}
	x := &exchange{req: req, raw: raw}
	x.logged = Request{Method: req.Method, Path: req.URL.RequestURI(), At: time.Now()}
	s.safely(x)
	x.deliver(w)
}

// safely is an exchange under the lock. A fault of this server's own fails the
// test, and does not hold it up.
func (s *Server) safely(x *exchange) {
	defer s.lock()()
	defer func() {
		if fault := recover(); fault != nil {
			s.violate("%s: this server failed: %v\n%s", x.logged, fault, debug.Stack())
			x.answer, x.text = answer{status: http.StatusInternalServerError}, nil
		}
	}()
	s.exchange(x)
}

func (s *Server) exchange(x *exchange) {
	s.world.observe()
	x.fault = s.takeFault(x)
	if x.fault == nil || !x.fault.instead(s, x) {
		x.answer = s.answer(x)
	}
	s.encode(x)
	if x.fault != nil {
		x.fault.after(x)
		x.logged.Fault = x.fault.Kind
	}
	x.logged.Status = x.answer.status
	s.requests = append(s.requests, x.logged)
}

// answer is what GitHub says when nothing goes wrong on its side.
func (s *Server) answer(x *exchange) answer {
	s.checkHeaders(x)
	if a, stop := s.authorize(x); stop {
		return a
	}
	if x.req.URL.Path == "/graphql" {
		return s.graphql(x)
	}
	path := s.byName(x.req.URL.EscapedPath())
	x.route, x.vars = match(x.req.Method, path)
	if x.route == nil {
		s.violate("%s %s: not served", x.req.Method, path)
		return notFound()
	}
	free := x.route.path == "/rate_limit"
	if !free && !x.token.rest.charge(s.world.time(), 1) {
		return exhausted(&x.token.rest, x.token.user)
	}
	x.logged.Charged = !free
	c := &call{server: s, route: x.route, vars: x.vars, query: x.req.URL.Query(), path: path, token: x.token, by: x.token.user}
	before := len(s.violations)
	s.checkQuery(c)
	if err := c.readBody(x.raw); err != nil {
		return refuse(http.StatusBadRequest, "Problems parsing JSON")
	}
	s.checkRequest(x)
	if len(s.violations) > before {
		return invalid("Request", "", "invalid", s.violations[before])
	}
	return c.answer()
}

// byName turns the address that a redirect names, /repositories/ID, into the
// one that the routes know.
func (s *Server) byName(path string) string {
	rest, isID := strings.CutPrefix(path, "/repositories/")
	if !isID {
		return path
	}
	id, below, _ := strings.Cut(rest, "/")
	for _, r := range s.world.repos {
		if itoa(r.id) == id {
			return strings.TrimSuffix("/repos/"+r.slug()+"/"+below, "/")
		}
	}
	return path
}

const apiVersion = "2022-11-28"

// checkHeaders holds a request to what GitHub asks for, or recommends.
func (s *Server) checkHeaders(x *exchange) {
	h, where := x.req.Header, x.req.Method+" "+x.req.URL.Path
	if agent := h.Get("User-Agent"); agent == "" || strings.HasPrefix(agent, "Go-http-client") {
		s.violate("%s: the header User-Agent does not name the program: %q", where, agent)
	}
	if x.req.URL.Path != "/graphql" {
		if !strings.Contains(h.Get("Accept"), "application/vnd.github") {
			s.violate("%s: the header Accept is %q, not application/vnd.github+json", where, h.Get("Accept"))
		}
		if got := h.Get("X-GitHub-Api-Version"); got != apiVersion {
			s.violate("%s: the header X-GitHub-Api-Version is %q, not %s", where, got, apiVersion)
		}
	}
	if len(x.raw) > 0 {
		if kind, _, _ := mime.ParseMediaType(h.Get("Content-Type")); kind != "application/json" {
			s.violate("%s: the header Content-Type is %q, not application/json", where, h.Get("Content-Type"))
		}
	}
}

// authorize finds the token of a request.
func (s *Server) authorize(x *exchange) (answer, bool) {
	how, text, _ := strings.Cut(x.req.Header.Get("Authorization"), " ")
	if how == "" {
		return refuse(http.StatusUnauthorized, "Requires authentication"), true
	}
	if !strings.EqualFold(how, "bearer") && !strings.EqualFold(how, "token") {
		s.violate("%s %s: the header Authorization begins with %q", x.req.Method, x.req.URL.Path, how)
	}
	t := s.world.token(text)
	if t == nil || t.Expired {
		return refuse(http.StatusUnauthorized, "Bad credentials"), true
	}
	x.token = t
	return answer{}, false
}

func (s *Server) checkQuery(c *call) {
	for key := range c.query {
		if !slices.Contains(c.route.query, key) {
			s.violate("%s %s: the parameter %q is not served", c.route.method, c.route.path, key)
		}
	}
}

// encode turns an answer into bytes and headers, and an unchanged one into 304.
func (s *Server) encode(x *exchange) {
	a := &x.answer
	switch body := a.body.(type) {
	case nil:
	case string:
		x.text = []byte(body)
	default:
		text, err := json.Marshal(body)
		must(err)
		x.text = text
	}
	h := http.Header{}
	for key, values := range a.header {
		h[key] = values
	}
	a.header = h
	s.checkAnswer(x)
	if x.req.Method == http.MethodGet && a.status == http.StatusOK && x.logged.Charged {
		s.conditional(x)
	}
	s.addHeaders(x)
}

// conditional gives an answer its ETag. The same answer again is 304, and free.
func (s *Server) conditional(x *exchange) {
	a := &x.answer
	tag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(append([]byte(x.token.text+x.answer.header.Get("Link")), x.text...)))
	a.header.Set("ETag", tag)
	a.header.Set("Cache-Control", "private, max-age=60, s-maxage=60")
	if x.req.Header.Get("If-None-Match") != tag {
		return
	}
	a.status, x.text, a.body = http.StatusNotModified, nil, nil
	x.token.rest.used--
	x.logged.Charged = false
}

// addHeaders says who asked, what is left, and what the token may do.
func (s *Server) addHeaders(x *exchange) {
	h := x.answer.header
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("X-GitHub-Media-Type", "github.v3; format=json")
	h.Set("X-GitHub-Request-Id", fmt.Sprintf("TEST:%d", len(s.requests)+1))
	h.Set("Date", s.world.time().Format(http.TimeFormat))
	if x.token == nil {
		return
	}
	l, resource := &x.token.rest, "core"
	if x.req.URL.Path == "/graphql" {
		l, resource = &x.token.gql, "graphql"
	}
	l.roll(s.world.time())
	for key, n := range map[string]int64{
		"X-RateLimit-Limit": int64(l.limit), "X-RateLimit-Remaining": int64(l.remaining()),
		"X-RateLimit-Used": int64(l.used), "X-RateLimit-Reset": l.reset.Unix(),
	} {
		if h.Get(key) == "" {
			h.Set(key, itoa(n))
		}
	}
	h.Set("X-RateLimit-Resource", resource)
	if x.token.classic() {
		h.Set("X-OAuth-Scopes", strings.Join(x.token.Scopes, ", "))
		h.Set("X-Accepted-OAuth-Scopes", acceptedScopes(x.route))
	}
}

// acceptedScopes are the scopes of which a classic token needs one.
func acceptedScopes(r *route) string {
	switch {
	case r == nil || r.needs == "":
		return ""
	case r.method == http.MethodGet:
		return "repo"
	}
	return "public_repo, repo"
}

// exhausted is the answer to a token that has used up its hour.
func exhausted(l *window, u *user) answer {
	a := refuse(http.StatusForbidden, fmt.Sprintf("API rate limit exceeded for user ID %d.", u.id))
	return a.with("X-RateLimit-Remaining", "0").with("X-RateLimit-Reset", itoa(l.reset.Unix()))
}

// deliver writes the answer, as far as the fault lets it.
func (x *exchange) deliver(w http.ResponseWriter) {
	if x.fault != nil && x.fault.cuts() {
		panic(http.ErrAbortHandler) // the server's way to cut a connection
	}
	if x.delay > 0 {
		select {
		case <-time.After(x.delay):
		case <-x.req.Context().Done(): // the client did not wait
			return
		}
	}
	for key, values := range x.answer.header {
		w.Header()[http.CanonicalHeaderKey(key)] = values
	}
	w.WriteHeader(x.answer.status)
	_, _ = io.Copy(w, bytes.NewReader(x.text)) // a client that went away
}
