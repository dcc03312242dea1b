package githubtest

import (
	"fmt"
	"strings"
)

// Remark is a comment on a line of a pull request's head.
type Remark struct {
	Path string
	Line int
	Body string
}

// submit adds a review with its comments; each starts a thread.
func (p *pull) submit(by *user, state, body, commit string, remarks []Remark) *review {
	w := p.issue.repo.world
	r := &review{pull: p, author: by, state: state, body: body, commit: commit, submitted: w.time()}
	r.identity = w.identify("PRR", "PullRequestReview", r)
	p.reviews = append(p.reviews, r)
	for _, m := range remarks {
		t := &thread{pull: p}
		t.identity = w.identify("PRRT", "PullRequestReviewThread", t)
		p.threads = append(p.threads, t)
		hunk, _ := p.hunk(m.Path, m.Line)
		t.add(r, by, &remark{body: m.Body, path: m.Path, hunk: hunk, line: m.Line, originalLine: m.Line})
	}
	p.issue.touch()
	return r
}

func (t *thread) add(r *review, by *user, m *remark) *remark {
	m.review, m.thread, m.author = r, t, by
	m.identity = r.pull.issue.repo.world.identify("PRRC", "PullRequestReviewComment", m)
	t.remarks = append(t.remarks, m)
	r.comments = append(r.comments, m)
	return m
}

// reply answers in a thread; as on GitHub it is a review of its own.
func (p *pull) reply(by *user, to *remark, body string) *remark {
	w, first := p.issue.repo.world, to.thread.remarks[0]
	r := &review{pull: p, author: by, state: "COMMENTED", commit: p.headOID, submitted: w.time()}
	r.identity = w.identify("PRR", "PullRequestReview", r)
	p.reviews = append(p.reviews, r)
	m := to.thread.add(r, by, &remark{body: body, path: first.path, hunk: first.hunk, line: first.line, originalLine: first.originalLine, replyTo: first})
	if !p.issue.repo.rules.QuietReplies {
		p.issue.touch()
	}
	return m
}

// remark is a comment on a line of any pull request here.
func (r *repository) remark(id int64) *remark {
	for _, i := range r.issues {
		if i.pull == nil {
			continue
		}
		for _, review := range i.pull.reviews {
			for _, m := range review.comments {
				if m.id == id {
					return m
				}
			}
		}
	}
	return nil
}

// hunk is the part of the diff that ends with a line of the head; false when the
// diff does not show that line.
func (p *pull) hunk(path string, line int) (string, bool) {
	for _, f := range p.comparison().changes {
		if f.path != path {
			continue
		}
		hunk, at := "", 0
		for text := range strings.Lines(f.patch) {
			if strings.HasPrefix(text, "@@") {
				_, after, _ := strings.Cut(text, "+")
				_, _ = fmt.Sscanf(after, "%d", &at) // git's own form
				hunk, at = text, at-1
				continue
			}
			hunk += text
			if text[0] == '+' || text[0] == ' ' {
				at++
				if at == line {
					return strings.TrimSuffix(hunk, "\n"), true
				}
			}
		}
	}
	return "", false
}
