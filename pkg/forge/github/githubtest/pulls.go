package githubtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// PullRequest says what to open.
type PullRequest struct {
	Title, Body string
	Head        string // branch
	From        string // slug of the fork; "": the repository itself
	Base        string // branch; "": the default branch
	Draft       bool
}

// Fork makes a fork of the repository under another slug, with its branches.
func (r *Repository) Fork(slug string) *Repository {
	defer r.server.lock()()
	f := r.server.world.addRepository(slug)
	f.parent = r.repo
	f.git.git("fetch", "-q", r.repo.git.dir, "+refs/heads/*:refs/heads/*")
	return &Repository{r.server, f}
}

// OpenPullRequest opens a pull request of branches that exist, and is its number.
func (r *Repository) OpenPullRequest(by string, spec PullRequest) int {
	defer r.server.lock()()
	from := r.repo
	if spec.From != "" {
		if from, _ = r.server.world.find(spec.From); from == nil {
			panic("githubtest: no repository " + spec.From)
		}
	}
	if spec.Base == "" {
		spec.Base = r.repo.git.defaultBranch()
	}
	if from.git.branch(spec.Head) == "" || r.repo.git.branch(spec.Base) == "" {
		panic(fmt.Sprintf("githubtest: no branch %s in %s, or %s in %s", spec.Head, from.slug(), spec.Base, r.repo.slug()))
	}
	return r.repo.openPull(r.user(by), spec, from).number
}

func (r *Repository) pull(number int) *pull {
	i := r.issue(number)
	if i.pull == nil {
		panic(fmt.Sprintf("githubtest: %s#%d is no pull request", r.repo.slug(), number))
	}
	r.server.world.observe()
	return i.pull
}

// Review reviews a pull request ("approved", "changes_requested", "commented")
// with comments on lines, and is the review's id.
func (r *Repository) Review(by string, number int, verdict, body string, remarks ...Remark) int64 {
	defer r.server.lock()()
	state := strings.ToUpper(verdict)
	if !slices.Contains(slices.Collect(maps.Values(verdicts)), state) {
		panic("githubtest: there is no verdict " + verdict)
	}
	p := r.pull(number)
	for _, m := range remarks {
		if _, shown := p.hunk(m.Path, m.Line); !shown {
			panic(fmt.Sprintf("githubtest: line %d of %s is not in the diff", m.Line, m.Path))
		}
	}
	return p.submit(r.user(by), state, body, p.headOID, remarks).id
}

// Reviews are the ids of a pull request's reviews, oldest first.
func (r *Repository) Reviews(number int) []int64 {
	defer r.server.lock()()
	var ids []int64
	for _, review := range r.pull(number).reviews {
		ids = append(ids, review.id)
	}
	return ids
}

// DismissReview takes the verdict out of a review.
func (r *Repository) DismissReview(number int, id int64) {
	defer r.server.lock()()
	for _, review := range r.pull(number).reviews {
		if review.id == id {
			review.state = "DISMISSED"
			r.issue(number).touch()
		}
	}
}

// EditReview changes the words of a review; the pull request's updatedAt stays.
func (r *Repository) EditReview(by string, number int, id int64, body string) {
	defer r.server.lock()()
	now := r.server.world.time()
	for _, review := range r.pull(number).reviews {
		if review.id == id {
			review.body, review.editor, review.lastEdited, review.updated = body, r.user(by), now, now
		}
	}
}

// Remarks are the ids of a pull request's comments on lines, oldest first.
func (r *Repository) Remarks(number int) []int64 {
	defer r.server.lock()()
	var ids []int64
	for _, review := range r.pull(number).reviews {
		for _, m := range review.comments {
			ids = append(ids, m.id)
		}
	}
	return ids
}

func (r *Repository) remark(id int64) *remark {
	m := r.repo.remark(id)
	if m == nil {
		panic(fmt.Sprintf("githubtest: no comment %d on a line in %s", id, r.repo.slug()))
	}
	return m
}

// Reply answers a comment on a line, and is the answer's id.
func (r *Repository) Reply(by string, id int64, body string) int64 {
	defer r.server.lock()()
	to := r.remark(id)
	return to.thread.pull.reply(r.user(by), to, body).id
}

// EditRemark changes a comment on a line; the pull request's updatedAt stays.
func (r *Repository) EditRemark(by string, id int64, body string) {
	defer r.server.lock()()
	m, now := r.remark(id), r.server.world.time()
	m.body, m.editor, m.lastEdited, m.updated = body, r.user(by), now, now
}

// Resolve resolves the thread of a comment on a line.
func (r *Repository) Resolve(by string, id int64) {
	defer r.server.lock()()
	r.remark(id).thread.resolved = r.user(by)
}

// SetDraft makes a pull request a draft, or ready.
func (r *Repository) SetDraft(by string, number int, draft bool) {
	defer r.server.lock()()
	r.pull(number).setDraft(r.user(by), draft)
}

// MergeLater has GitHub merge a pull request as soon as it may be merged.
func (r *Repository) MergeLater(by string, number int, strategy string) {
	defer r.server.lock()()
	p := r.pull(number)
	p.auto = &autoMerge{by: r.user(by), at: r.server.world.time(), strategy: strategy}
	p.issue.touch()
}

// Merge merges a pull request as a person does on its page, and is the commit.
func (r *Repository) Merge(by string, number int, strategy string) string {
	defer r.server.lock()()
	p := r.pull(number)
	if why := p.refusal(strategy, true); why != "" {
		panic("githubtest: " + why)
	}
	return p.merge(r.user(by), strategy, "", "")
}

// RunQueue lands what is in the merge queue and can be merged, and drops the rest.
func (r *Repository) RunQueue() {
	defer r.server.lock()()
	r.server.world.observe()
	for _, i := range r.repo.issues {
		if i.pull == nil || i.pull.queued == nil {
			continue
		}
		by := i.pull.queued.by
		i.pull.queued = nil
		if i.pull.refusal("merge", true) == "" {
			i.pull.merge(by, "merge", "", "")
		}
	}
}

// SetStatus sets a commit status ("success", "failure", "error", "pending").
func (r *Repository) SetStatus(by, sha, context, state string) {
	defer r.server.lock()()
	r.repo.commit(sha).addStatus(r.repo, r.user(by), state, context)
}

// Check starts a check run of a commit ("queued", "in_progress") or ends it with
// a conclusion ("success", "failure", ...).
func (r *Repository) Check(sha, name, outcome string) {
	defer r.server.lock()()
	r.repo.commit(sha).addRun(r.repo, name, outcome)
}

// DeleteFork deletes the repository that a pull request comes from.
func (r *Repository) DeleteFork(number int) {
	defer r.server.lock()()
	p := r.pull(number)
	p.headRepo.remove()
	p.headRepo = nil
}

// Commit is the commit that a branch, or a full id, stands for.
func (r *Repository) Commit(ref string) string {
	defer r.server.lock()()
	if oid := r.repo.git.branch(ref); oid != "" {
		return oid
	}
	if len(ref) != 40 || !r.repo.git.has(ref) {
		panic(fmt.Sprintf("githubtest: no branch or commit %s in %s", ref, r.repo.slug()))
	}
	return ref
}
