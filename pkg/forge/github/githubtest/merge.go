package githubtest

import (
	"fmt"
	"os"
	"slices"
)

// strategies and what GitHub says when a repository does not allow one.
var strategies = map[string]string{
	"merge":  "Merge commits are not allowed on this repository.",
	"squash": "Squash merges are not allowed on this repository.",
	"rebase": "Rebase merges are not allowed on this repository.",
}

// refusal is why a pull request cannot be merged now, in GitHub's words; "" when it can.
func (p *pull) refusal(strategy string, throughQueue bool) string {
	rules := p.issue.repo.rules
	switch {
	case !p.issue.open(), p.headOID == "", p.baseOID == "":
		return "Pull Request is not mergeable"
	case p.draft:
		return "Pull Request is still a draft"
	case !p.conflictFree():
		return "Pull Request is not mergeable"
	case !p.issue.repo.allows(strategy):
		return strategies[strategy]
	case rules.Queue && !throughQueue:
		return "Changes must be made through the merge queue"
	case p.decision() == "CHANGES_REQUESTED":
		return "Changes were requested by a reviewer with write access."
	case p.decision() == "REVIEW_REQUIRED":
		return fmt.Sprintf("At least %d approving review is required by reviewers with write access.", rules.Reviews)
	}
	if missing := p.unchecked(); missing != "" {
		return fmt.Sprintf("Required status check %q is expected.", missing)
	}
	return ""
}

// merge lands a pull request that nothing keeps from it. title and message are
// those of the commit; "" are GitHub's own.
func (p *pull) merge(by *user, strategy, title, message string) string {
	i := p.issue
	git := i.repo.git
	tree, _ := git.mergeTree(p.baseOID, p.headOID)
	var landed string
	switch strategy {
	case "merge":
		if title == "" {
			title, message = fmt.Sprintf("Merge pull request #%d from %s/%s", i.number, p.headOwner(), p.head), i.title
		}
		landed = git.commitTree(i.repo.world.time(), tree, title, message, author{by.login, by.login + "@users.noreply.github.com", ""}, p.baseOID, p.headOID)
	case "squash":
		if title == "" {
			title = fmt.Sprintf("%s (#%d)", i.title, i.number)
		}
		landed = git.commitTree(i.repo.world.time(), tree, title, message, author{i.author.login, i.author.login + "@users.noreply.github.com", ""}, p.baseOID)
	case "rebase":
		landed = p.rebase()
	}
	git.git("update-ref", "refs/heads/"+p.base, landed, p.baseOID)
	p.baseOID = landed
	p.markMerged(by, landed)
	return landed
}

func (p *pull) headOwner() string {
	if p.headRepo == nil {
		return "unknown repository"
	}
	return p.headRepo.owner
}

// rebase puts the commits of the head on the base, one by one. It takes a
// checkout: git merges without one for whole branches only.
func (p *pull) rebase() string {
	git := p.issue.repo.git
	folder, err := os.MkdirTemp("", "githubtest-rebase-")
	must(err)
	defer func() {
		git.git("worktree", "remove", "--force", folder)
	}()
	git.git("worktree", "add", "-q", "--detach", folder, p.baseOID)
	date := []string{fmt.Sprintf("GIT_COMMITTER_DATE=%d +0000", p.issue.repo.world.time().Unix())}
	out, exit := (&bare{dir: folder}).run(date, "", []string{"cherry-pick", "--allow-empty", p.baseOID + ".." + p.headOID})
	if exit != 0 {
		panic("githubtest: git cherry-pick: " + out)
	}
	return (&bare{dir: folder}).git("rev-parse", "HEAD")
}

// land does what was asked for in advance: auto-merge, as soon as nothing is in its way.
func (p *pull) land() {
	if p.auto != nil && p.issue.open() && p.refusal(p.auto.strategy, false) == "" {
		p.merge(p.auto.by, p.auto.strategy, "", "")
	}
}

// adopt makes an issue part of this one.
func (i *issue) adopt(sub *issue) {
	if old := sub.parent; old != nil {
		old.subs = slices.DeleteFunc(old.subs, func(o *issue) bool { return o == sub })
	}
	sub.parent = i
	i.subs = append(i.subs, sub)
	i.touch()
	sub.touch()
}
