package githubtest

// OpenIssue opens an issue and is its number.
func (r *Repository) OpenIssue(by, title, body string) int {
	defer r.server.lock()()
	return r.repo.openIssue(r.user(by), title, body).number
}

// EditIssue changes title and body of an issue or pull request.
func (r *Repository) EditIssue(by string, number int, title, body string) {
	defer r.server.lock()()
	i := r.issue(number)
	i.setTitle(r.user(by), title)
	if body != i.body {
		i.setBody(r.user(by), body)
	}
}

// Label puts a label on an issue or pull request.
func (r *Repository) Label(by string, number int, name string) {
	defer r.server.lock()()
	r.issue(number).addLabel(r.user(by), name)
}

// Unlabel takes a label off.
func (r *Repository) Unlabel(by string, number int, name string) {
	defer r.server.lock()()
	if !r.issue(number).removeLabel(r.user(by), name) {
		panic("githubtest: there is no label " + name + " to take off")
	}
}

// Assign assigns an issue or pull request to a user.
func (r *Repository) Assign(by string, number int, to string) {
	defer r.server.lock()()
	r.issue(number).assign(r.user(by), r.user(to))
}

// Close closes an issue ("", "completed", "not_planned", "duplicate") or pull request ("").
func (r *Repository) Close(by string, number int, reason string) {
	defer r.server.lock()()
	r.issue(number).close(r.user(by), reason)
}

// Reopen opens it again.
func (r *Repository) Reopen(by string, number int) {
	defer r.server.lock()()
	r.issue(number).reopen(r.user(by))
}

// DeleteIssue deletes an issue, as an administrator can.
func (r *Repository) DeleteIssue(number int) {
	defer r.server.lock()()
	r.issue(number).remove()
}

// TransferIssue moves an issue to another repository and is its number there.
func (r *Repository) TransferIssue(number int, to *Repository) int {
	defer r.server.lock()()
	return r.issue(number).move(to.repo).number
}

// Comment comments on an issue or pull request and is the comment's id.
func (r *Repository) Comment(by string, number int, body string) int64 {
	defer r.server.lock()()
	return r.issue(number).addComment(r.user(by), body).id
}

// EditComment changes a comment of the conversation.
func (r *Repository) EditComment(by string, id int64, body string) {
	defer r.server.lock()()
	r.comment(id).edit(r.user(by), body)
}

// DeleteComment deletes a comment of the conversation.
func (r *Repository) DeleteComment(id int64) {
	defer r.server.lock()()
	r.comment(id).remove()
}

// MinimizeComment hides a comment of the conversation.
func (r *Repository) MinimizeComment(id int64) {
	defer r.server.lock()()
	r.comment(id).minimized = true
}

// React adds a reaction to a comment of the conversation.
func (r *Repository) React(by string, id int64, content string) {
	defer r.server.lock()()
	r.server.world.react(&r.comment(id).reactions, r.user(by), content)
}

// AddSubIssue makes one issue part of another.
func (r *Repository) AddSubIssue(number, sub int) {
	defer r.server.lock()()
	r.issue(number).adopt(r.issue(sub))
}

// Comments are the ids of the comments of a conversation, oldest first.
func (r *Repository) Comments(number int) []int64 {
	defer r.server.lock()()
	var ids []int64
	for _, c := range r.issue(number).comments {
		ids = append(ids, c.id)
	}
	return ids
}
