package githubtest

import "strings"

// mutationTypes are the mutations and their payloads.
func mutationTypes() map[string]map[string]field {
	mutations := map[string]field{
		"markPullRequestReadyForReview": mutation("MarkPullRequestReadyForReviewPayload", (*query).markReady),
		"convertPullRequestToDraft":     mutation("ConvertPullRequestToDraftPayload", (*query).convertToDraft),
		"enablePullRequestAutoMerge":    mutation("EnablePullRequestAutoMergePayload", (*query).enableAutoMerge, "mergeMethod", "expectedHeadOid"),
		"disablePullRequestAutoMerge":   mutation("DisablePullRequestAutoMergePayload", (*query).disableAutoMerge),
		"enqueuePullRequest":            mutation("EnqueuePullRequestPayload", (*query).enqueue, "expectedHeadOid"),
	}
	all := map[string]map[string]field{"Mutation": mutations}
	for _, f := range mutations {
		all[f.kind] = map[string]field{"pullRequest": get(func(p *pull) any { return object{"PullRequest", p.issue} })}
	}
	all["EnqueuePullRequestPayload"] = map[string]field{"mergeQueueEntry": get(func(p *pull) any { return p.queued.object() })}
	return all
}

// mutation finds the pull request, holds user and token against it, and does the
// rest; why not is the error.
func mutation(payload string, do func(*query, *pull, arguments) *gqlError, inputs ...string) field {
	run := func(q *query, _ any, a arguments) any {
		input := a.object("input")
		if unknown := extra(input, append(inputs, "pullRequestId", "clientMutationId")...); unknown != "" {
			return q.refuse("input.%s is not served", unknown)
		}
		p, err := q.pullRequest(input.text("pullRequestId"))
		if err != nil {
			return err
		}
		if oid := input.text("expectedHeadOid"); oid != "" && oid != p.headOID {
			return unprocessableQL("Head branch was modified. Review and try again.")
		}
		if err := do(q, p, input); err != nil {
			return err
		}
		return object{payload, p}
	}
	return field{args: []string{"input"}, get: run, kind: payload}
}

func unprocessableQL(message string) *gqlError { return &gqlError{"UNPROCESSABLE", message} }

// pullRequest is the one of a node id, when user and token may change it.
func (q *query) pullRequest(id string) (*pull, *gqlError) {
	o, there := q.node(id).(object)
	i, isIssue := o.value.(*issue)
	switch {
	case !there, !isIssue, i.pull == nil:
		return nil, &gqlError{"NOT_FOUND", "Could not resolve to a node with the global id of '" + id + "'"}
	case !q.token.may("pull_requests=write", i.repo):
		return nil, &gqlError{"FORBIDDEN", q.token.inaccessible()}
	case i.repo.archived:
		return nil, unprocessableQL("Repository was archived so is read-only.")
	case i.author != q.by && !atLeast(i.repo.role(q.by), "write"):
		return nil, &gqlError{"FORBIDDEN", q.by.login + " does not have the correct permissions to execute this mutation"}
	}
	return i.pull, nil
}

func (q *query) markReady(p *pull, _ arguments) *gqlError {
	p.setDraft(q.by, false)
	return nil
}

func (q *query) convertToDraft(p *pull, _ arguments) *gqlError {
	p.setDraft(q.by, true)
	return nil
}

func (p *pull) setDraft(by *user, draft bool) {
	if p.draft == draft {
		return
	}
	p.draft = draft
	kind := "ReadyForReviewEvent"
	if draft {
		kind = "ConvertToDraftEvent"
	}
	p.issue.record(kind, by)
}

func (q *query) enableAutoMerge(p *pull, input arguments) *gqlError {
	strategy := strings.ToLower(input.text("mergeMethod"))
	if strategy == "" {
		strategy = "merge"
	}
	switch {
	case !p.issue.repo.rules.AutoMerge:
		return unprocessableQL("Auto merge is not allowed for this repository")
	case !p.issue.repo.allows(strategy):
		return unprocessableQL(strategies[strategy])
	case !p.issue.open():
		return unprocessableQL("Pull request is closed")
	case p.refusal(strategy, false) == "":
		return unprocessableQL("Pull request is in clean status")
	}
	p.auto = &autoMerge{by: q.by, at: q.server.world.time(), strategy: strategy}
	p.issue.touch()
	return nil
}

func (q *query) disableAutoMerge(p *pull, _ arguments) *gqlError {
	if p.auto == nil {
		return unprocessableQL("Pull request does not have auto merge enabled")
	}
	p.auto = nil
	return nil
}

func (q *query) enqueue(p *pull, _ arguments) *gqlError {
	switch {
	case !p.issue.repo.rules.Queue:
		return unprocessableQL("Merge queue is not enabled for this repository")
	case p.queued != nil:
		return unprocessableQL("Pull request is already in the queue")
	}
	if why := p.refusal("merge", true); why != "" {
		return unprocessableQL(why)
	}
	p.queued = &queueEntry{by: q.by}
	p.queued.identity = q.server.world.identify("MQE", "MergeQueueEntry", p.queued)
	p.issue.touch()
	return nil
}
