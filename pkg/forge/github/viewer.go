package github

import (
	"context"
	"encoding/json"
	"strings"
	"time"
)

// probeAnswer is an answer whose fields are known only when asked.
type probeAnswer struct {
	viewer       *Viewer
	repositories map[string]*gqlProbe
}

func (a *probeAnswer) UnmarshalJSON(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	for name, value := range fields {
		var err error
		switch {
		case name == "viewer":
			err = json.Unmarshal(value, a.viewer)
		case strings.HasPrefix(name, "r"):
			var p *gqlProbe
			if err = json.Unmarshal(value, &p); p != nil {
				a.repositories[name] = p
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) setViewer(v Viewer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v.Login != "" {
		c.viewer = v
	}
}

// Viewer is the account that the token belongs to, as a probe found it, or as
// GitHub says now.
func (c *Client) Viewer(ctx context.Context) (Viewer, error) {
	c.mu.Lock()
	v := c.viewer
	c.mu.Unlock()
	if v.Login != "" {
		return v, nil
	}
	var got struct{ Viewer Viewer }
	q := query{op: "ask whose token it is", text: `query{viewer{login databaseId}}`}
	if _, err := c.ask(ctx, q, &got); err != nil {
		return Viewer{}, err
	}
	if got.Viewer.Login == "" {
		return Viewer{}, nothing(q.op)
	}
	c.setViewer(got.Viewer)
	return got.Viewer, nil
}

// Standing is what the token is and may do, for people to check.
type Standing struct {
	Host    string
	Viewer  Viewer
	Scopes  []string // of a classic token; others do not say what they may do
	Classic bool
	Core    Window
	GraphQL Window
}

// Window is what is left of the requests of an hour.
type Window struct {
	Limit, Remaining int
	Reset            time.Time
}

type restWindow struct {
	Limit, Remaining int
	Reset            int64
}

func (w restWindow) window() Window {
	return Window{Limit: w.Limit, Remaining: w.Remaining, Reset: time.Unix(w.Reset, 0).UTC()}
}

// Standing asks whose the token is, and what is left of its requests.
func (c *Client) Standing(ctx context.Context) (Standing, error) {
	viewer, err := c.Viewer(ctx)
	if err != nil {
		return Standing{}, err
	}
	var got struct {
		Resources struct{ Core, GraphQL restWindow }
	}
	h, err := c.do(ctx, request{op: "ask for the limits", path: path("rate_limit")}, &got)
	if err != nil {
		return Standing{}, err
	}
	_, classic := h["X-Oauth-Scopes"]
	return Standing{
		Host: c.login.host, Viewer: viewer, Scopes: scopes(h.Get("X-OAuth-Scopes")), Classic: classic,
		Core: got.Resources.Core.window(), GraphQL: got.Resources.GraphQL.window(),
	}, nil
}
