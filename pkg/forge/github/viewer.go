package github

import (
	"context"
	"encoding/json"
	"strings"
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
