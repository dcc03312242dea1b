package githubtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pull is what makes an issue a pull request. Head and base are refs of real
// repositories; what they point to is read when it is asked for.
type pull struct {
	issue    *issue
	headRepo *repository // nil: the fork was deleted
	head     string      // branch
	base     string
	headOID  string // as last seen; stays after a merge, a close or a deleted branch
	baseOID  string
	draft    bool
	mergedAt time.Time
	mergedBy *user
	mergeOID string
	reviews  []*review
	threads  []*thread
	auto     *autoMerge
	queued   *queueEntry
	modify   bool // maintainers may push to the fork
	unknown  int  // answers for which mergeability is not known yet
}

// review is a submitted review. Its comments start threads or reply in them.
type review struct {
	identity
	pull       *pull
	author     *user
	editor     *user
	lastEdited time.Time
	state      string // APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED
	body       string
	commit     string
	submitted  time.Time
	comments   []*remark
}

// thread is a line's conversation.
type thread struct {
	identity
	pull     *pull
	resolved *user
	remarks  []*remark
}

// remark is a comment on a line.
type remark struct {
	identity
	review       *review
	thread       *thread
	author       *user
	body         string
	path, hunk   string
	line         int // 0: outdated
	originalLine int
	replyTo      *remark
	reactions    []*reaction
	lastEdited   time.Time
	editor       *user
}

type autoMerge struct {
	by       *user
	at       time.Time
	strategy string
}

type queueEntry struct {
	identity
	by *user
}

func (p *pull) merged() bool { return !p.mergedAt.IsZero() }

func (p *pull) cross() bool { return p.headRepo != p.issue.repo }

// openPull opens a pull request of branches that exist.
func (r *repository) openPull(by *user, spec PullRequest, from *repository) *issue {
	i := r.openIssue(by, spec.Title, spec.Body)
	delete(r.world.nodes, i.node)
	i.identity = r.world.identify("PR", "PullRequest", i)
	i.pull = &pull{issue: i, headRepo: from, head: spec.Head, base: spec.Base, draft: spec.Draft, modify: true}
	i.pull.headOID, i.pull.baseOID = from.git.branch(spec.Head), r.git.branch(spec.Base)
	i.pull.unknown = r.rules.LateMergeable
	i.pull.publish()
	return i
}

// publish gives git the head as refs/pull/N/head, as GitHub does.
func (p *pull) publish() {
	git, ref := p.issue.repo.git, "refs/pull/"+itoa(int64(p.issue.number))+"/head"
	if p.cross() {
		git.git("fetch", "-q", "--no-tags", p.headRepo.git.dir, "+refs/heads/"+p.head+":"+ref)
		return
	}
	// As git writes it; a process for each push would make tests slow.
	file := filepath.Join(git.dir, ref)
	must(os.MkdirAll(filepath.Dir(file), 0o755))
	must(os.WriteFile(file, []byte(p.headOID+"\n"), 0o644))
}

// observe sees what git pushed since: heads that moved, branches that went away,
// heads that reached their base.
func (w *world) observe() {
	for _, r := range w.repos {
		for _, i := range r.issues {
			if i.pull != nil && !i.gone && i.open() {
				i.pull.observe()
			}
		}
	}
}

func (p *pull) observe() {
	if head := p.liveHead(); head != p.headOID {
		if head == "" {
			p.issue.close(nil, "")
			p.issue.record("HeadRefDeletedEvent", nil)
			return
		}
		p.moved(head)
	}
	defer p.land()
	base := p.issue.repo.git.branch(p.base)
	if base == "" || base == p.baseOID {
		return
	}
	p.baseOID, p.unknown = base, p.issue.repo.rules.LateMergeable
	if p.issue.repo.git.contains(base, p.headOID) {
		p.markMerged(nil, base) // pushed by hand
	}
}

func (p *pull) liveHead() string {
	if p.headRepo == nil {
		return p.headOID
	}
	return p.headRepo.git.branch(p.head)
}

// moved notes a push to the head branch.
func (p *pull) moved(head string) {
	old := p.headOID
	p.headOID, p.unknown = head, p.issue.repo.rules.LateMergeable
	p.publish()
	p.issue.touch()
	if !p.issue.repo.git.contains(head, old) {
		e := p.issue.record("HeadRefForcePushedEvent", nil)
		e.before, e.after = old, head
	}
	for _, t := range p.threads {
		for _, m := range t.remarks {
			m.line = 0 // outdated
		}
	}
	p.auto, p.queued = nil, nil
}

func (p *pull) markMerged(by *user, commit string) {
	i := p.issue
	now := i.repo.world.time()
	p.mergedAt, p.mergedBy, p.mergeOID, p.queued, p.auto = now, by, commit, nil, nil
	i.closed, i.closedBy = now, by
	i.record("MergedEvent", by).commit = commit
	i.record("ClosedEvent", by)
	if p.base == i.repo.git.defaultBranch() {
		p.closeLinked(by)
	}
}

// closing are the words by which a pull request closes issues when it lands on
// the default branch.
var closing = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):? #(\d+)\b`)

func (p *pull) closeLinked(by *user) {
	for _, found := range closing.FindAllStringSubmatch(p.issue.body, -1) {
		number, err := strconv.Atoi(found[1])
		must(err)
		if linked := p.issue.repo.issue(number); linked != nil && !linked.gone && linked.pull == nil {
			linked.close(by, "completed")
		}
	}
}

// conflictFree reports whether the head merges into the base as they are now.
func (p *pull) conflictFree() bool { return p.comparison().clean }

func (p *pull) comparison() *comparison { return p.issue.repo.git.compare(p.baseOID, p.headOID) }

// blocked reports whether the rules keep the pull request from being merged.
func (p *pull) blocked() bool {
	return p.decision() != "" && p.decision() != "APPROVED" || p.unchecked() != "" || p.issue.repo.rules.Queue
}

// decision is the review decision; "" where reviews are not required, whatever
// reviewers said.
func (p *pull) decision() string {
	need := p.issue.repo.rules.Reviews
	if need == 0 {
		return ""
	}
	verdict := map[string]string{}
	for _, r := range p.reviews {
		if r.state != "COMMENTED" && atLeast(p.issue.repo.role(r.author), "write") {
			verdict[strings.ToLower(r.author.login)] = r.state
		}
	}
	approvals := 0
	for _, v := range verdict {
		switch v {
		case "CHANGES_REQUESTED":
			return v
		case "APPROVED":
			approvals++
		}
	}
	if approvals >= need {
		return "APPROVED"
	}
	return "REVIEW_REQUIRED"
}

// unchecked is the first required check that is not green on the head; "" when
// all are.
func (p *pull) unchecked() string {
	c := p.issue.repo.commits[p.headOID]
	for _, name := range p.issue.repo.rules.Checks {
		if c == nil || !c.green(name) {
			return name
		}
	}
	return ""
}

// mergeState is GitHub's summary of whether a merge would work.
func (p *pull) mergeState() string {
	switch {
	case !p.issue.open():
		return "UNKNOWN"
	case p.unknown > 0:
		return "UNKNOWN"
	case !p.conflictFree():
		return "DIRTY"
	case p.draft:
		return "DRAFT"
	case p.blocked():
		return "BLOCKED"
	}
	if c := p.issue.repo.commits[p.headOID]; c != nil && c.rollup() != "SUCCESS" && c.rollup() != "" {
		return "UNSTABLE"
	}
	return "CLEAN"
}

func (r *repository) allows(strategy string) bool {
	return len(r.rules.Strategies) == 0 || slices.Contains(r.rules.Strategies, strategy)
}
