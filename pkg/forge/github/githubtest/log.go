package githubtest

import (
	"fmt"
	"slices"
	"time"
)

// Request is one request that came in, and how it was answered.
type Request struct {
	At           time.Time // by the clock of this machine
	Method, Path string
	Document     string // of GraphQL: its operation and first fields
	Status       int
	Charged      bool // against the limit of requests
	Points       int  // against that of GraphQL
	Fault        string
}

// String is a line for people: "POST /repos/acme/shop/issues/1/comments 201 charged".
func (r Request) String() string {
	text := fmt.Sprintf("%s %s %d", r.Method, r.Path, r.Status)
	switch {
	case r.Points > 0:
		text += fmt.Sprintf(" points=%d %s", r.Points, r.Document)
	case r.Charged:
		text += " charged"
	default:
		text += " free"
	}
	if r.Fault != "" {
		text += " fault=" + r.Fault
	}
	return text
}

// Requests are all that came in since the start.
func (s *Server) Requests() []Request {
	defer s.lock()()
	return slices.Clone(s.requests)
}

// Log is what came in since the last call of Log.
func (s *Server) Log() []Request {
	defer s.lock()()
	since := slices.Clone(s.requests[s.shown:])
	s.shown = len(s.requests)
	return since
}
