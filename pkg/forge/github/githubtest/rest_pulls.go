package githubtest

import (
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"
	"time"
)

func (c *call) listPulls() answer {
	var all []*issue
	for _, i := range c.repo.issues {
		if i.pull != nil && !i.gone && c.selects(i) {
			all = append(all, i)
		}
	}
	c.sort(all, "desc")
	var page []any
	for _, i := range all {
		page = append(page, i.pull.json(false))
	}
	return c.page(page)
}

// selects holds a pull request against the filters of a list. As on GitHub, a
// head without an owner filters nothing.
func (c *call) selects(i *issue) bool {
	p, head := i.pull, c.query.Get("head")
	if owner, branch, full := strings.Cut(head, ":"); full && (branch != p.head || !strings.EqualFold(owner, p.headOwner())) {
		return false
	}
	if base := c.query.Get("base"); base != "" && base != p.base {
		return false
	}
	return c.inState(i)
}

func (c *call) inState(i *issue) bool {
	state := c.query.Get("state")
	return state == "all" || state == "" && i.open() || state == i.state()
}

// sort orders a list by creation, or as asked.
func (c *call) sort(all []*issue, direction string) {
	if d := c.query.Get("direction"); d != "" {
		direction = d
	}
	at := func(i *issue) time.Time { return i.created }
	if c.query.Get("sort") == "updated" {
		at = func(i *issue) time.Time { return i.updated }
	}
	if direction == "desc" {
		slices.Reverse(all)
	}
	sort.SliceStable(all, func(a, b int) bool {
		if direction == "desc" {
			return at(all[a]).After(at(all[b]))
		}
		return at(all[a]).Before(at(all[b]))
	})
}

func (c *call) getPull() answer { return ok(c.issue.pull.json(true)) }

func (c *call) createPull() answer {
	from, branch := c.headOf(c.text("head"))
	refusePull := func(field, message string) answer {
		code := "invalid"
		if message != "" {
			code = "custom"
		}
		return invalid("PullRequest", field, code, message)
	}
	switch {
	case c.text("title") == "":
		return invalid("PullRequest", "title", "missing_field", "")
	case from == nil || from.git.branch(branch) == "":
		return refusePull("head", "")
	case c.repo.git.branch(c.text("base")) == "":
		return refusePull("base", "")
	case from == c.repo && !atLeast(c.repo.role(c.by), "write"):
		return refuse(http.StatusForbidden, "Resource not accessible by integration")
	}
	if twin := c.repo.pullOf(from, branch, c.text("base")); twin != nil {
		return refusePull("head", "A pull request already exists for "+from.owner+":"+branch+".")
	}
	draft, _ := c.body["draft"].(bool)
	spec := PullRequest{Title: c.text("title"), Body: c.text("body"), Head: branch, Base: c.text("base"), Draft: draft}
	if from == c.repo && c.repo.git.contains(c.repo.git.branch(spec.Base), from.git.branch(branch)) {
		return refusePull("head", "No commits between "+spec.Base+" and "+branch)
	}
	return created(c.repo.openPull(c.by, spec, from).pull.json(true))
}

// headOf is the repository and branch of "branch" or "owner:branch".
func (c *call) headOf(head string) (*repository, string) {
	owner, branch, full := strings.Cut(head, ":")
	if !full || strings.EqualFold(owner, c.repo.owner) {
		return c.repo, head[strings.Index(head, ":")+1:]
	}
	for _, r := range c.server.world.repos {
		if r.parent == c.repo && strings.EqualFold(r.owner, owner) {
			return r, branch
		}
	}
	return nil, branch
}

// pullOf is the open pull request of a head and base.
func (r *repository) pullOf(from *repository, head, base string) *issue {
	for _, i := range r.issues {
		if p := i.pull; p != nil && i.open() && !i.gone && p.headRepo == from && p.head == head && p.base == base {
			return i
		}
	}
	return nil
}

func (c *call) updatePull() answer {
	i := c.issue
	if i.author != c.by && !atLeast(c.repo.role(c.by), "write") {
		return c.refuseRole()
	}
	if base := c.text("base"); base != "" {
		if c.repo.git.branch(base) == "" {
			return invalid("PullRequest", "base", "invalid", "")
		}
		i.pull.base, i.pull.baseOID = base, c.repo.git.branch(base)
		i.touch()
	}
	if c.has("title") {
		i.setTitle(c.by, c.text("title"))
	}
	if c.has("body") && c.text("body") != i.body {
		i.setBody(c.by, c.text("body"))
	}
	if modify, there := c.body["maintainer_can_modify"].(bool); there {
		i.pull.modify = modify
	}
	switch c.text("state") {
	case "closed":
		i.close(c.by, "")
	case "open":
		if i.pull.merged() || i.pull.liveHead() == "" {
			return invalid("PullRequest", "state", "invalid", "state cannot be changed. The "+i.pull.head+" branch has been deleted.")
		}
		i.reopen(c.by)
	}
	return ok(i.pull.json(true))
}

func (c *call) listFiles() answer {
	var all []any
	for _, f := range c.issue.pull.comparison().changes {
		address := c.repo.page() + "/blob/" + c.issue.pull.headOID + "/" + url.PathEscape(f.path)
		m := map[string]any{
			"sha": c.issue.pull.headOID, "filename": f.path, "status": f.status, "additions": f.additions, "deletions": f.removed,
			"changes": f.additions + f.removed, "blob_url": address, "raw_url": address, "contents_url": address,
		}
		if f.patch != "" {
			m["patch"] = f.patch
		}
		all = append(all, m)
	}
	return c.page(all)
}

func (c *call) mergePull() answer {
	p, strategy := c.issue.pull, c.text("merge_method")
	if strategy == "" {
		strategy = "merge"
	}
	if _, known := strategies[strategy]; !known {
		return invalid("PullRequest", "merge_method", "invalid", "")
	}
	if sha := c.text("sha"); sha != "" && sha != p.headOID {
		return refuse(http.StatusConflict, "Head branch was modified. Review and try the merge again.")
	}
	if why := p.refusal(strategy, false); why != "" {
		return refuse(http.StatusMethodNotAllowed, why)
	}
	sha := p.merge(c.by, strategy, c.text("commit_title"), c.text("commit_message"))
	return ok(map[string]any{"sha": sha, "merged": true, "message": "Pull Request successfully merged"})
}
