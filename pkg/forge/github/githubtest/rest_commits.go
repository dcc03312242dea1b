package githubtest

import (
	"fmt"
	"slices"
	"strings"
)

func (c *call) getRef() answer {
	name := "refs/" + c.vars["ref"]
	oid := c.repo.git.ref(name)
	if oid == "" {
		return notFound()
	}
	return ok(map[string]any{
		"ref": name, "node_id": "REF_" + c.repo.node, "url": c.repo.api("/git/%s", name),
		"object": map[string]any{"type": "commit", "sha": oid, "url": c.repo.api("/git/commits/%s", oid)},
	})
}

// longestStatus is GitHub's limit for the description of a status.
const longestStatus = 140

func (c *call) createStatus() answer {
	sha, state := c.vars["sha"], c.text("state")
	switch {
	case len(sha) != 40 || !c.repo.git.has(sha):
		return invalid("Status", "sha", "custom", "No commit found for SHA: "+sha)
	case !slices.Contains([]string{"error", "failure", "pending", "success"}, state):
		return invalid("Status", "state", "custom", "state is not included in the list")
	case len([]rune(c.text("description"))) > longestStatus:
		return invalid("Status", "description", "custom", "description is too long (maximum is 140 characters)")
	}
	context := c.text("context")
	if context == "" {
		context = "default"
	}
	s := c.repo.commit(sha).addStatus(c.repo, c.by, state, context)
	s.description, s.target = c.text("description"), c.text("target_url")
	m := s.json(c.repo)
	m["creator"] = c.by.json()
	return created(m)
}

func (s *status) json(r *repository) map[string]any {
	return map[string]any{
		"id": s.id, "node_id": s.node, "url": r.api("/statuses/%s", s.commit.oid), "avatar_url": nil, "state": s.state, "context": s.context,
		"description": orNil(s.description), "target_url": orNil(s.target), "created_at": stamp(s.created), "updated_at": stamp(s.updated),
	}
}

// commitOf is the commit that a SHA or branch stands for; nil when there is none.
func (c *call) commitOf() *commit {
	ref := c.vars["ref"]
	oid := c.repo.git.branch(strings.TrimPrefix(ref, "heads/"))
	if oid == "" && len(ref) == 40 && c.repo.git.has(ref) {
		oid = ref
	}
	if oid == "" {
		return nil
	}
	return c.repo.commit(oid)
}

func (c *call) getStatus() answer {
	commit := c.commitOf()
	if commit == nil {
		return invalid("Status", "sha", "custom", "No commit found for SHA: "+c.vars["ref"])
	}
	all := []any{}
	for _, s := range commit.current() {
		all = append(all, s.json(c.repo))
	}
	page := c.page(all)
	page.body = map[string]any{
		"state": commit.combined(), "sha": commit.oid, "total_count": len(all), "statuses": page.body, "repository": c.repo.minimal(),
		"commit_url": c.repo.api("/commits/%s", commit.oid), "url": c.repo.api("/commits/%s/status", commit.oid),
	}
	return page
}

func (c *call) listCheckRuns() answer {
	commit := c.commitOf()
	if commit == nil {
		return invalid("CheckRun", "sha", "custom", "No commit found for SHA: "+c.vars["ref"])
	}
	all := []any{}
	for _, r := range commit.latestRuns(c.query.Get("filter") == "all") {
		if name := c.query.Get("check_name"); name != "" && name != r.name || c.query.Get("status") != "" && c.query.Get("status") != r.status {
			continue
		}
		all = append(all, r.json(c.repo))
	}
	page := c.page(all)
	page.body = map[string]any{"total_count": len(all), "check_runs": page.body}
	return page
}

func (r *checkRun) json(repo *repository) map[string]any {
	at := fmt.Sprintf("%s/runs/%d", repo.page(), r.id)
	m := map[string]any{
		"id": r.id, "node_id": r.node, "head_sha": r.commit.oid, "external_id": "", "url": repo.api("/check-runs/%d", r.id), "html_url": at, "details_url": at,
		"status": r.status, "conclusion": orNil(r.conclusion), "started_at": stamp(r.created), "completed_at": nil, "name": r.name,
		"output":      map[string]any{"title": nil, "summary": nil, "text": nil, "annotations_count": 0, "annotations_url": repo.api("/check-runs/%d/annotations", r.id)},
		"check_suite": map[string]any{"id": r.id}, "app": nil, "pull_requests": []any{},
	}
	if r.status == "completed" {
		m["completed_at"] = stamp(r.updated)
	}
	return m
}
