package github

import (
	"context"
	"time"
)

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
