package github

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

// Opinion is a review that is to be on a pull request, once.
type Opinion struct {
	Slug    string
	Number  int
	Key     string // its identity, such as the execution's id
	Commit  string // that was looked at
	Pointer string // where the whole is when the body is too long
	Review  work.Review
}

// maxRemarks is how many comments one review has; the rest is said in its text.
const maxRemarks = 50

type restReview struct {
	restComment
	State string `json:"state"`
}

type remark struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Side string `json:"side"`
	Body string `json:"body"`
}

// Publish brings a review to a pull request, with its comments on the lines that
// they are about; what is about a line that the pull request does not show is
// said in the text. Nobody can ask himself for changes: then it is a comment that says so.
func (c *Client) Publish(ctx context.Context, o Opinion) (Posted, error) {
	found, err := c.findReview(ctx, o)
	if err != nil || found.ID != 0 {
		return found, err
	}
	lines, err := c.commentable(ctx, o.Slug, o.Number)
	if err != nil {
		return Posted{}, err
	}
	event := eventOf(o.Review.Verdict)
	if o.Review.Verdict == "approve" {
		o.Review.Body = verdictWords(o.Review.Verdict) + "\n\n" + o.Review.Body
	}
	there, err := c.post(ctx, o, event, lines)
	if isKind(err, KindInvalid) && event != "COMMENT" && strings.Contains(err.Error(), "own pull request") {
		event = "COMMENT"
		o.Review.Body = verdictWords(o.Review.Verdict) + "\n\n" + o.Review.Body
		there, err = c.post(ctx, o, event, lines)
	}
	if isKind(err, KindInvalid) && len(o.Review.Comments) > 0 { // the lines moved meanwhile
		there, err = c.post(ctx, o, event, nil)
	}
	return there, err
}

// eventOf is what a verdict becomes. An agent approves nothing: it would count as the approval of somebody with write access.
func eventOf(verdict string) string {
	if verdict == "request_changes" {
		return "REQUEST_CHANGES"
	}
	return "COMMENT"
}

func verdictWords(verdict string) string {
	if verdict == "approve" {
		return "**No objections.** This is an agent's view and approves nothing."
	}
	return "**Changes are needed.**"
}

func (c *Client) findReview(ctx context.Context, o Opinion) (found Posted, err error) {
	viewer, err := c.Viewer(ctx)
	if err != nil {
		return found, err
	}
	r := request{op: "look for a review of " + threadName(o.Slug, o.Number), path: pullPath(o.Slug, o.Number, "reviews") + "?per_page=100"}
	err = pages(ctx, c, r, func(page []restReview) bool {
		for _, one := range page {
			if viewer.Is(one.by()) && one.State != "PENDING" && marks(one.Body, o.Key) {
				found = Posted{ID: one.ID, URL: one.HTMLURL, Hash: hash(one.Body)}
				return false
			}
		}
		return true
	})
	return found, err
}

func (c *Client) post(ctx context.Context, o Opinion, event string, lines map[string]map[int]bool) (Posted, error) {
	remarks, rest := placed(o.Review.Comments, lines)
	for i := range remarks {
		remarks[i].Body = c.body(Outgoing(remarks[i].Body), o.Pointer, fmt.Sprintf("%s:%d", o.Key, i))
	}
	body := c.body(Outgoing(forge.Quoted(o.Review.Body)+rest), o.Pointer, o.Key) // together: what is code is seen by what stands before it
	var made restReview
	_, err := c.do(ctx, request{
		op: "review " + threadName(o.Slug, o.Number), method: http.MethodPost, path: pullPath(o.Slug, o.Number, "reviews"),
		body: map[string]any{"commit_id": o.Commit, "event": event, "body": body, "comments": remarks},
	}, &made)
	if err != nil {
		return Posted{}, err
	}
	return Posted{ID: made.ID, URL: made.HTMLURL, Hash: hash(body)}, nil
}

// placed divides comments into those on lines that the pull request shows, and
// the text that says the others, in which nothing is open at its end.
func placed(comments []work.ReviewComment, lines map[string]map[int]bool) (on []remark, rest string) {
	on = []remark{}
	var b strings.Builder
	for _, one := range comments {
		if lines[one.Path][one.Line] && len(on) < maxRemarks {
			on = append(on, remark{Path: one.Path, Line: one.Line, Side: "RIGHT", Body: one.Body})
			continue
		}
		place := work.Printable(strings.ReplaceAll(one.Path, "`", "'"))
		if one.Line > 0 {
			place = fmt.Sprintf("%s:%d", place, one.Line)
		}
		words, gap := forge.Quoted(one.Body), " "
		if strings.Contains(words, "\n") {
			gap = "\n\n" // a fence begins its line
		}
		fmt.Fprintf(&b, "\n\n`%s`:%s%s", place, gap, words)
	}
	return on, b.String()
}

// Reply answers a comment of a review, once.
func (c *Client) Reply(ctx context.Context, p Post, to ID) (Posted, error) {
	list := pullPath(p.Slug, p.Number, "comments")
	found, err := c.ours(ctx, "look for a reply on "+threadName(p.Slug, p.Number), list, p.Key)
	if err != nil || found.ID != 0 {
		return Posted{ID: found.ID, URL: found.HTMLURL, Hash: hash(found.Body)}, err
	}
	where := pullPath(p.Slug, p.Number, "comments", to.String(), "replies")
	return c.write(ctx, "reply on "+threadName(p.Slug, p.Number), where, list, c.comment(p))
}

// changedFile is a file of a pull request, and what of it changed.
type changedFile struct {
	Filename string `json:"filename"`
	Patch    string `json:"patch"` // "" when it is binary or too long
}

// commentable is by path the lines of the new side that a comment can be tied to.
func (c *Client) commentable(ctx context.Context, slug string, number int) (map[string]map[int]bool, error) {
	lines := make(map[string]map[int]bool)
	r := request{op: "read what " + threadName(slug, number) + " changes", path: pullPath(slug, number, "files") + "?per_page=100"}
	err := pages(ctx, c, r, func(page []changedFile) bool {
		for _, f := range page {
			lines[f.Filename] = newSide(f.Patch)
		}
		return true
	})
	return lines, err
}

var hunkHeader = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^@@ -[0-9]+(?:,[0-9]+)? \+([0-9]+)(?:,[0-9]+)? @@`) })

// newSide are the line numbers of the new side that a patch shows.
func newSide(patch string) map[int]bool {
	shown := make(map[int]bool)
	next := 0
	for line := range strings.Lines(patch) {
		if m := hunkHeader().FindStringSubmatch(line); m != nil {
			next, _ = strconv.Atoi(m[1]) // digits; what is too long for a number is no line
			continue
		}
		if next > 0 && (line[0] == '+' || line[0] == ' ') {
			shown[next] = true
			next++
		}
	}
	return shown
}
