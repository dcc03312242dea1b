package githubtest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// repository is the root field of that name; names that were given up lead to
// the repository that had them.
func (q *query) repository(_ *query, a arguments) any {
	slug := a.text("owner") + "/" + a.text("name")
	r, _ := q.server.world.find(slug)
	if q.fault.hits(slug) {
		return &gqlError{"", "Something went wrong while executing your query."}
	}
	if r == nil || !q.sees(r) {
		return &gqlError{"NOT_FOUND", fmt.Sprintf("Could not resolve to a Repository with the name '%s'.", slug)}
	}
	if q.token.SSO != "" {
		return &gqlError{"FORBIDDEN", "Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization."}
	}
	return object{"Repository", r}
}

// sees reports whether user and token may read a repository.
func (q *query) sees(r *repository) bool {
	return r.role(q.by) != "none" && q.token.may("issues=read", r)
}

// node is any record by its node id.
func (q *query) node(id string) any {
	o, there := q.server.world.nodes[id]
	if !there || !q.visible(o) {
		return &gqlError{"NOT_FOUND", fmt.Sprintf("Could not resolve to a node with the global id of '%s'", id)}
	}
	return o
}

func (q *query) visible(o object) bool {
	switch v := o.value.(type) {
	case *issue:
		return q.sees(v.repo) && slices.Contains(q.server.world.repos, v.repo)
	case *comment:
		return q.sees(v.issue.repo)
	case *repository:
		return q.sees(v)
	}
	return true
}

func (q *query) byIDs(_ *query, a arguments) any {
	ids := a.texts("ids")
	if len(ids) > 100 {
		q.server.violate("graphql: asks for %d nodes by id, more than 100", len(ids))
		return &gqlError{"ARGUMENT_LIMIT", fmt.Sprintf("You may not provide more than 100 node ids; you provided %d.", len(ids))}
	}
	all := []any{}
	for _, id := range ids {
		all = append(all, q.node(id))
	}
	return all
}

func (q *query) issues(r *repository, a arguments) any {
	return q.threads(r, a, "Issue", a.object("filterBy").text("since"))
}

func (q *query) pulls(r *repository, a arguments) any {
	return q.threads(r, a, "PullRequest", "")
}

// threads are a repository's issues or pull requests, in the order asked for.
func (q *query) threads(r *repository, a arguments, kind, since string) any {
	from, err := time.Parse(time.RFC3339, since)
	if since != "" && err != nil {
		return q.refuse("since is no time: %q", since)
	}
	if unknown := extra(a.object("filterBy"), "since"); unknown != "" {
		return q.refuse("filterBy.%s is not served", unknown)
	}
	var found []*issue
	for _, i := range r.issues {
		if i.gone || (i.pull != nil) != (kind == "PullRequest") || i.updated.Before(from) {
			continue
		}
		if states := a.texts("states"); len(states) > 0 && !slices.Contains(states, i.graphState()) {
			continue
		}
		found = append(found, i)
	}
	return objects(kind, order(found, a.object("orderBy")))
}

// extra is a field of an input that is not among those known.
func extra(a arguments, known ...string) string {
	for _, name := range sortedKeys(a) {
		if !slices.Contains(known, name) {
			return name
		}
	}
	return ""
}

// order puts records in the order that was asked for; none leaves them as they are.
func order[T recorded](all []T, by arguments) []T {
	if len(by) == 0 {
		return all
	}
	at := func(r T) time.Time {
		created, updated := r.times()
		if by.text("field") == "UPDATED_AT" {
			return updated
		}
		return created
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(x, y T) int {
		if by.text("direction") == "DESC" {
			x, y = y, x
		}
		return at(x).Compare(at(y))
	})
	return all
}

func (r *repository) numbered(a arguments, wantPull bool) any {
	i, kind := r.issue(a.int("number")), "Issue"
	if wantPull {
		kind = "PullRequest"
	}
	if i == nil || i.gone || (i.pull != nil) != wantPull {
		return &gqlError{"NOT_FOUND", fmt.Sprintf("Could not resolve to an issue or pull request with the number of %d.", a.int("number"))}
	}
	return object{kind, i}
}

// graphState is OPEN, CLOSED or MERGED.
func (i *issue) graphState() string {
	if i.pull != nil && i.pull.merged() {
		return "MERGED"
	}
	return strings.ToUpper(i.state())
}

// timeline are the events of an issue; their types are named LABELED_EVENT where
// an item's type is LabeledEvent.
func (q *query) timeline(i *issue, a arguments) any {
	from, _ := time.Parse(time.RFC3339, a.text("since"))
	wanted := a.texts("itemTypes")
	all := []object{}
	for _, e := range i.events {
		if !e.created.Before(from) && (len(wanted) == 0 || slices.Contains(wanted, constant(e.kind))) {
			all = append(all, object{e.kind, e})
		}
	}
	return all
}

// constant turns LabeledEvent into LABELED_EVENT.
func constant(kind string) string {
	var b strings.Builder
	for n, r := range kind {
		if n > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToUpper(b.String())
}
