package githubtest

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"
)

func (c *call) listReviews() answer {
	var all []any
	for _, r := range c.issue.pull.reviews {
		all = append(all, r.json())
	}
	return c.page(all)
}

// verdicts are the events of a review, and the state that each leads to.
var verdicts = map[string]string{"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}

func (c *call) createReview() answer {
	p, event := c.issue.pull, c.text("event")
	commit := c.text("commit_id")
	if commit == "" {
		commit = p.headOID
	}
	remarks, wrong := c.remarks()
	switch {
	case verdicts[event] == "":
		c.server.violate("%s %s: a review without a verdict, or with %q, is not served", c.route.method, c.route.path, event)
		return unprocessable("event is invalid")
	case event == "APPROVE" && c.issue.author == c.by:
		return unprocessable("Can not approve your own pull request")
	case event == "REQUEST_CHANGES" && c.issue.author == c.by:
		return unprocessable("Can not request changes on your own pull request")
	case event != "APPROVE" && strings.TrimSpace(c.text("body")) == "" && len(remarks) == 0:
		return unprocessable("Review Can not be blank")
	case !c.repo.git.has(commit):
		return unprocessable("The commit is not part of the pull request")
	case wrong != "":
		return unprocessable(wrong)
	}
	return ok(p.submit(c.by, verdicts[event], c.text("body"), commit, remarks).json())
}

// unprocessable is the refusal of reviews: words without fields.
func unprocessable(words string) answer {
	a := refuse(http.StatusUnprocessableEntity, "Unprocessable Entity")
	a.body.(map[string]any)["errors"] = []any{words}
	return a
}

// remarks are the comments of a review that is sent, and what is wrong with them.
func (c *call) remarks() (all []Remark, wrong string) {
	list, _ := c.body["comments"].([]any)
	for _, v := range list {
		sent, _ := v.(map[string]any)
		if unknown := extra(sent, "path", "line", "side", "body"); unknown != "" {
			c.server.violate("%s %s: the field comments.%s is not served", c.route.method, c.route.path, unknown)
		}
		m := Remark{}
		m.Path, _ = sent["path"].(string)
		m.Body, _ = sent["body"].(string)
		line, _ := sent["line"].(float64)
		m.Line = int(line)
		if _, shown := c.issue.pull.hunk(m.Path, m.Line); !shown || sent["side"] == "LEFT" {
			return nil, "Pull request review thread line must be part of the diff and Pull request review thread diff hunk can't be blank"
		}
		if utf8.RuneCountInString(m.Body) > longest {
			return nil, fmt.Sprintf("Body is too long (maximum is %d characters)", longest)
		}
		all = append(all, m)
	}
	return all, ""
}

func (c *call) listRemarks() answer {
	var all []any
	for _, r := range c.issue.pull.reviews {
		for _, m := range r.comments {
			if !m.updated.Before(c.since()) {
				all = append(all, m.json())
			}
		}
	}
	return c.page(all)
}

func (c *call) replyToRemark() answer {
	m := c.repo.remark(c.id("comment_id"))
	if m == nil || m.thread.pull != c.issue.pull {
		return notFound()
	}
	return created(c.issue.pull.reply(c.by, m, c.text("body")).json())
}

func (c *call) reactToRemark() answer {
	m := c.repo.remark(c.id("comment_id"))
	if m == nil {
		return notFound()
	}
	return c.react(&m.reactions)
}
