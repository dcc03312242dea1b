package githubtest

import (
	"slices"
	"strings"
)

// repository is one repository; issues and pull requests share its numbers.
type repository struct {
	identity
	world       *world
	owner, name string
	formerly    []string
	private     bool
	archived    bool
	roles       map[string]string // login in lower case to role
	labels      []*label
	issues      []*issue
	numbers     int
	commits     map[string]*commit
	rules       Rules
	git         *bare
	parent      *repository // of a fork
	moved       map[int]*issue
}

// label is one label of a repository.
type label struct {
	identity
	repo        *repository
	name        string
	color       string
	description string
}

// Rules are what a repository asks of a merge.
type Rules struct {
	Reviews    int      // approving reviews
	Checks     []string // contexts of statuses or names of check runs that must be green
	Queue      bool     // merges only through a merge queue
	AutoMerge  bool     // auto-merge may be turned on
	Strategies []string // allowed; none: all of merge, squash, rebase
	// QuietReplies: replies to review comments do not move a pull request's
	// updatedAt. On GitHub they mostly do, but not always.
	QuietReplies bool
	// LateMergeable is how often a pull request's mergeability is still unknown
	// after its head or base moved.
	LateMergeable int
}

func (w *world) addRepository(slug string) *repository {
	owner, name, ok := strings.Cut(slug, "/")
	if !ok {
		panic("githubtest: a repository is owner/name, not " + slug)
	}
	r := &repository{world: w, owner: owner, name: name, roles: map[string]string{}, commits: map[string]*commit{}}
	r.identity = w.identify("R", "Repository", r)
	r.git = openBare(w.dir, slug)
	if w.user(owner) == nil {
		w.addUser(owner, false, "none")
	}
	r.roles[strings.ToLower(owner)] = "admin"
	w.repos = append(w.repos, r)
	return r
}

func (r *repository) slug() string { return r.owner + "/" + r.name }

// role is what a user may do here; whoever can see a public repository may read it.
func (r *repository) role(u *user) string {
	role, ok := r.roles[strings.ToLower(u.login)]
	if !ok {
		role = u.role
	}
	if role == "none" && !r.private {
		return "read"
	}
	return role
}

func (r *repository) association(u *user) string {
	switch {
	case u == nil:
		return "NONE"
	case strings.EqualFold(u.login, r.owner):
		return "OWNER"
	case atLeast(r.role(u), "triage"):
		return "COLLABORATOR"
	}
	return "NONE"
}

// issue is the issue or pull request of that number, nil when there is none.
func (r *repository) issue(number int) *issue {
	for _, i := range r.issues {
		if i.number == number {
			return i
		}
	}
	return nil
}

func (r *repository) label(name string) *label {
	for _, l := range r.labels {
		if strings.EqualFold(l.name, name) {
			return l
		}
	}
	return nil
}

func (r *repository) addLabel(name, color, description string) *label {
	if color == "" {
		color = "ededed"
	}
	l := &label{repo: r, name: name, color: color, description: description}
	l.identity = r.world.identify("LA", "Label", l)
	r.labels = append(r.labels, l)
	return l
}

// comment is a comment of the conversation of any issue here.
func (r *repository) comment(id int64) *comment {
	for _, i := range r.issues {
		for _, c := range i.comments {
			if c.id == id && !i.gone {
				return c
			}
		}
	}
	return nil
}

// rename moves a repository to another name or owner; the old name leads to it
// until another repository takes it.
func (r *repository) rename(slug string) {
	r.formerly = append(r.formerly, r.slug())
	r.owner, r.name, _ = strings.Cut(slug, "/")
	if r.world.user(r.owner) == nil {
		r.world.addUser(r.owner, false, "none")
	}
	r.git.link(r.world.dir, slug)
	r.updated = r.world.time()
}

// remove deletes a repository with all that is in it.
func (r *repository) remove() {
	r.world.repos = slices.DeleteFunc(r.world.repos, func(o *repository) bool { return o == r })
	delete(r.world.nodes, r.node)
	for _, i := range r.issues {
		delete(r.world.nodes, i.node)
	}
}
