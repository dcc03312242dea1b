package github

import (
	"context"
	"net/http"
	"strings"
)

// CommitStatus is what backburner says of a commit, beside the checks.
type CommitStatus struct {
	State       string `json:"state"`   // success, failure, error, pending
	Context     string `json:"context"` // by which it replaces an earlier one
	Description string `json:"description"`
	TargetURL   string `json:"target_url,omitempty"`
}

// SetStatus puts a status on a commit; it replaces an earlier one of the context.
func (c *Client) SetStatus(ctx context.Context, slug, sha string, s CommitStatus) error {
	s.Description = prefix(s.Description, maxDescription)
	op := "set the status of " + sha[:min(len(sha), 12)] + " in " + slug
	_, err := c.do(ctx, request{op: op, method: http.MethodPost, path: repoPath(slug, "statuses", sha), body: s}, nil)
	return err
}

// Checks is what is known of a commit from elsewhere.
type Checks struct {
	Red     []string // names
	Pending []string
	Green   int
}

// Checks reads the statuses and check runs of a commit; those of the context
// left out are backburner's own.
func (c *Client) Checks(ctx context.Context, slug, sha, own string) (Checks, error) {
	var got Checks
	var statuses struct{ Statuses []CommitStatus }
	op := "read the checks of " + sha[:min(len(sha), 12)] + " in " + slug
	if _, err := c.do(ctx, request{op: op, path: repoPath(slug, "commits", sha, "status") + "?per_page=100"}, &statuses); err != nil {
		return got, err
	}
	for _, s := range statuses.Statuses {
		if !strings.EqualFold(s.Context, own) {
			got.count(s.Context, s.State)
		}
	}
	var runs struct {
		Runs []struct{ Name, Status, Conclusion string } `json:"check_runs"`
	}
	if _, err := c.do(ctx, request{op: op, path: repoPath(slug, "commits", sha, "check-runs") + "?per_page=100"}, &runs); err != nil {
		return got, err
	}
	for _, r := range runs.Runs {
		if r.Status != "completed" {
			r.Conclusion = "pending"
		}
		got.count(r.Name, r.Conclusion)
	}
	return got, nil
}

func (c *Checks) count(name, state string) {
	switch state {
	case "success", "neutral", "skipped":
		c.Green++
	case "pending", "":
		c.Pending = append(c.Pending, name)
	default:
		c.Red = append(c.Red, name)
	}
}
