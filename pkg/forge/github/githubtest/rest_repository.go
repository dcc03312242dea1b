package githubtest

// listed is the part of a repository's addresses that all of its forms have.
var listed = map[string]string{
	"archive": "/{archive_format}{/ref}", "assignees": "/assignees{/user}", "branches": "/branches{/branch}",
	"collaborators": "/collaborators{/collaborator}", "comments": "/comments{/number}", "commits": "/commits{/sha}",
	"compare": "/compare/{base}...{head}", "contents": "/contents/{+path}", "contributors": "/contributors",
	"deployments": "/deployments", "downloads": "/downloads", "events": "/events", "forks": "/forks", "hooks": "/hooks",
	"issue_comment": "/issues/comments{/number}", "issue_events": "/issues/events{/number}", "issues": "/issues{/number}",
	"keys": "/keys{/key_id}", "labels": "/labels{/name}", "languages": "/languages", "merges": "/merges",
	"milestones": "/milestones{/number}", "notifications": "/notifications{?since,all,participating}", "pulls": "/pulls{/number}",
	"releases": "/releases{/id}", "stargazers": "/stargazers", "statuses": "/statuses/{sha}", "subscribers": "/subscribers",
	"subscription": "/subscription", "tags": "/tags", "teams": "/teams", "blobs": "/git/blobs{/sha}",
	"git_commits": "/git/commits{/sha}", "git_refs": "/git/refs{/sha}", "git_tags": "/git/tags{/sha}", "trees": "/git/trees{/sha}",
}

// minimal is a repository inside of other answers.
func (r *repository) minimal() map[string]any {
	m := map[string]any{
		"id": r.id, "node_id": r.node, "name": r.name, "full_name": r.slug(), "owner": r.world.user(r.owner).json(),
		"private": r.private, "html_url": r.page(), "description": nil, "fork": r.parent != nil, "url": r.api(""),
	}
	for part, path := range listed {
		m[part+"_url"] = r.api("") + path
	}
	return m
}

// json is a repository as GET /repos/{owner}/{repo} shows it to a user; by is
// nil inside of other answers.
func (r *repository) json(by *user) map[string]any {
	m := r.minimal()
	open := 0
	for _, i := range r.issues {
		if i.open() && !i.gone {
			open++
		}
	}
	for key, value := range map[string]any{
		"git_url": "git://github.com/" + r.slug() + ".git", "ssh_url": "git@github.com:" + r.slug() + ".git",
		"clone_url": "file://" + r.git.dir, "svn_url": r.page(), "mirror_url": nil, "homepage": nil, "language": nil, "size": 0,
		"default_branch": r.git.defaultBranch(), "has_issues": true, "has_projects": true, "has_wiki": true, "has_pages": false,
		"has_discussions": false, "has_downloads": true, "archived": r.archived, "disabled": false, "visibility": map[bool]string{true: "private", false: "public"}[r.private],
		"pushed_at": stamp(r.updated), "created_at": stamp(r.created), "updated_at": stamp(r.updated), "license": nil,
		"forks": 0, "forks_count": 0, "watchers": 0, "watchers_count": 0, "stargazers_count": 0,
		"open_issues": open, "open_issues_count": open,
	} {
		m[key] = value
	}
	if by != nil {
		m["subscribers_count"], m["network_count"] = 0, 0
		m["allow_auto_merge"] = r.rules.AutoMerge
		m["allow_merge_commit"], m["allow_squash_merge"], m["allow_rebase_merge"] = r.allows("merge"), r.allows("squash"), r.allows("rebase")
		m["permissions"] = permissionsJSON(r.role(by))
	}
	return m
}
