package githubtest

import (
	"fmt"
	"strings"
)

// addTo puts what a pull request has more into its form as an issue.
func (p *pull) addTo(m map[string]any) {
	m["draft"] = p.draft
	m["pull_request"] = map[string]any{
		"url": p.api(""), "html_url": p.issue.page(), "diff_url": p.issue.page() + ".diff", "patch_url": p.issue.page() + ".patch",
		"merged_at": stampOrNil(p.mergedAt),
	}
}

func (p *pull) api(below string) string {
	return p.issue.repo.api("/pulls/%d%s", p.issue.number, below)
}

// json is a pull request in a list, or whole.
func (p *pull) json(whole bool) map[string]any {
	i := p.issue
	m := i.json()
	for _, of := range []string{
		"repository_url", "labels_url", "events_url", "timeline_url", "state_reason", "reactions", "performed_via_github_app", "pull_request", "closed_by", "comments",
	} {
		delete(m, of)
	}
	links := map[string]any{}
	for part, address := range map[string]string{
		"self": p.api(""), "html": i.page(), "issue": i.api(""), "comments": i.api("/comments"), "commits": p.api("/commits"),
		"review_comments": p.api("/comments"), "review_comment": i.repo.api("/pulls/comments{/number}"), "statuses": i.repo.api("/statuses/%s", p.headOID),
	} {
		links[part] = map[string]any{"href": address}
		if part != "self" && part != "html" {
			m[part+"_url"] = address
		}
	}
	for key, value := range map[string]any{
		"url": p.api(""), "diff_url": i.page() + ".diff", "patch_url": i.page() + ".patch", "_links": links, "draft": p.draft,
		"merged_at": stampOrNil(p.mergedAt), "merge_commit_sha": orNil(p.mergeOID), "auto_merge": p.auto.json(),
		"head": p.side(p.headRepo, p.head, p.headOID), "base": p.side(i.repo, p.base, p.baseOID), "requested_reviewers": []any{}, "requested_teams": []any{},
	} {
		m[key] = value
	}
	if whole {
		p.addWhole(m)
	}
	return m
}

// addWhole adds what only a single pull request shows.
func (p *pull) addWhole(m map[string]any) {
	m["merged"], m["merged_by"] = p.merged(), orGhost(p.mergedBy)
	m["mergeable"], m["mergeable_state"] = nil, strings.ToLower(p.mergeState())
	if p.issue.open() && p.unknown == 0 {
		m["mergeable"] = p.conflictFree()
	}
	p.unknown = max(0, p.unknown-1)
	remarks, additions, deletions := 0, 0, 0
	for _, r := range p.reviews {
		remarks += len(r.comments)
	}
	c := p.comparison()
	for _, f := range c.changes {
		additions, deletions = additions+f.additions, deletions+f.removed
	}
	m["comments"], m["review_comments"], m["maintainer_can_modify"] = len(p.issue.comments), remarks, p.modify
	m["commits"], m["additions"], m["deletions"], m["changed_files"] = c.commits, additions, deletions, len(c.changes)
}

// side is head or base; the repository of a deleted fork is null.
func (p *pull) side(r *repository, branch, oid string) map[string]any {
	if r == nil {
		return map[string]any{"label": "unknown:" + branch, "ref": branch, "sha": oid, "repo": nil, "user": nil}
	}
	return map[string]any{"label": r.owner + ":" + branch, "ref": branch, "sha": oid, "repo": r.json(nil), "user": r.world.user(r.owner).json()}
}

func (a *autoMerge) json() any {
	if a == nil {
		return nil
	}
	return map[string]any{"enabled_by": a.by.json(), "merge_method": a.strategy, "commit_title": "", "commit_message": ""}
}

func (r *review) json() map[string]any {
	i := r.pull.issue
	page := fmt.Sprintf("%s#pullrequestreview-%d", i.page(), r.id)
	return map[string]any{
		"id": r.id, "node_id": r.node, "user": orGhost(r.author), "body": r.body, "state": r.state, "html_url": page,
		"pull_request_url": r.pull.api(""), "commit_id": r.commit, "submitted_at": stamp(r.submitted), "author_association": i.repo.association(r.author),
		"_links": map[string]any{"html": map[string]any{"href": page}, "pull_request": map[string]any{"href": r.pull.api("")}},
	}
}

func (m *remark) json() map[string]any {
	p := m.thread.pull
	page, api := fmt.Sprintf("%s#discussion_r%d", p.issue.page(), m.id), p.issue.repo.api("/pulls/comments/%d", m.id)
	said := map[string]any{
		"id": m.id, "node_id": m.node, "url": api, "html_url": page, "pull_request_url": p.api(""), "pull_request_review_id": m.review.id,
		"diff_hunk": m.hunk, "path": m.path, "commit_id": p.headOID, "original_commit_id": m.review.commit, "user": orGhost(m.author), "body": m.body,
		"created_at": stamp(m.created), "updated_at": stamp(m.updated), "author_association": p.issue.repo.association(m.author),
		"line": nil, "original_line": m.originalLine, "side": "RIGHT", "subject_type": "line", "reactions": rollup(api, m.reactions),
		"_links": map[string]any{"self": map[string]any{"href": api}, "html": map[string]any{"href": page}, "pull_request": map[string]any{"href": p.api("")}},
	}
	if m.line > 0 {
		said["line"] = m.line
	}
	if m.replyTo != nil {
		said["in_reply_to_id"] = m.replyTo.id
	}
	return said
}
