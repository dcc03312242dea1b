package github

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Post is a comment that is to be on a thread, once.
type Post struct {
	Slug    string
	Number  int
	Key     string // its identity on the thread, such as the id of a notice
	Body    string // Markdown; what is an agent's in it went through Outgoing
	End     string // last in it, where no cut takes it away
	Pointer string // where the whole is when the body is too long: "see the execution's log"
	ID      ID     // of the comment, where it is known to be there
	There   bool   // it is only changed, and not made when it is not there
	Hash    string // Posted.Hash of the last time: the same text is not sent again
}

// Posted is a comment that is there.
type Posted struct {
	ID   ID
	URL  string
	Hash string // of its text
}

type restComment struct {
	ID      ID     `json:"id"`
	Body    string `json:"body"`
	HTMLURL string `json:"html_url"`
	User    struct {
		Login string `json:"login"`
		Type  string `json:"type"`
	} `json:"user"`
}

func (c restComment) by() Actor { return Actor{Login: c.User.Login, Type: c.User.Type} }

// Upsert brings a comment to a thread, or changes the one that is there. One that
// an earlier call made, though the answer to it was lost, is found by its marker.
func (c *Client) Upsert(ctx context.Context, p Post) (Posted, error) {
	body := c.comment(p)
	if p.ID != 0 && p.Hash == hash(body) {
		return Posted{ID: p.ID, Hash: p.Hash}, nil
	}
	where := threadPath(p.Slug, p.Number, "comments")
	if p.ID != 0 {
		there, err := c.edit(ctx, p, p.ID, body)
		if !isKind(err, KindNotFound) {
			return there, err
		}
		c.written.forget(where)
	}
	found, err := c.ours(ctx, "look for a comment on "+threadName(p.Slug, p.Number), where, p.Key)
	switch {
	case err != nil:
		return Posted{}, err
	case found.ID != 0 && found.Body == body:
		return Posted{ID: found.ID, URL: found.HTMLURL, Hash: hash(body)}, nil
	case found.ID != 0:
		return c.edit(ctx, p, found.ID, body)
	}
	if p.There {
		return Posted{}, nil
	}
	return c.write(ctx, "comment on "+threadName(p.Slug, p.Number), where, where, body)
}

// write posts a comment; list is where it is found then.
func (c *Client) write(ctx context.Context, op, where, list, body string) (Posted, error) {
	var made restComment
	if _, err := c.do(ctx, request{op: op, method: http.MethodPost, path: where, body: textOf(body)}, &made); err != nil {
		c.written.forget(list) // it may be there
		return Posted{}, err
	}
	made.Body = body
	c.written.add(list, made)
	return Posted{ID: made.ID, URL: made.HTMLURL, Hash: hash(body)}, nil
}

func (c *Client) edit(ctx context.Context, p Post, id ID, body string) (Posted, error) {
	var made restComment
	op := "edit a comment on " + threadName(p.Slug, p.Number)
	_, err := c.do(ctx, request{op: op, method: http.MethodPatch, path: repoPath(p.Slug, "issues", "comments", id.String()), body: textOf(body)}, &made)
	if err != nil {
		return Posted{}, err
	}
	return Posted{ID: id, URL: made.HTMLURL, Hash: hash(body)}, nil
}

// ours is the comment of a key in a list; the zero one when there is none. A list
// is read once: nobody else writes in our name meanwhile.
func (c *Client) ours(ctx context.Context, op, where, key string) (found restComment, err error) {
	viewer, err := c.Viewer(ctx)
	if err != nil {
		return found, err
	}
	list, known := c.written.list(where)
	if !known {
		err = pages(ctx, c, request{op: op, path: where + "?per_page=100"}, func(page []restComment) bool {
			for _, one := range page {
				if viewer.Is(one.by()) {
					list = append(list, one)
				}
			}
			return true
		})
		if err != nil {
			return found, err
		}
		c.written.add(where, list...)
	}
	for _, one := range list {
		if marks(one.Body, key) {
			return one, nil
		}
	}
	return found, nil
}

// written is what a client knows to be written by itself, by the path of the list.
type written struct {
	mu    sync.Mutex
	lists map[string][]restComment
}

func (w *written) list(where string) ([]restComment, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list, known := w.lists[where]
	return slices.Clone(list), known
}

func (w *written) add(where string, more ...restComment) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lists == nil {
		w.lists = make(map[string][]restComment)
	}
	w.lists[where] = append(w.lists[where], more...)
}

func (w *written) forget(where string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.lists, where)
}

// comment is a post as it is sent.
func (c *Client) comment(p Post) string {
	if p.End == "" {
		return c.body(p.Body, p.Pointer, p.Key)
	}
	end := "\n\n" + c.public(p.End)
	return c.body(Cut(c.public(p.Body), p.Pointer, maxBody-length(end)-maxSeal)+end, p.Pointer, p.Key)
}

// body is a text as it is sent: short enough, with our marker, and without our token.
func (c *Client) body(text, pointer, key string) string {
	text = c.public(strings.TrimRight(text, "\n"))
	if key == "" {
		return Cut(text, pointer, maxBody)
	}
	end := "\n\n" + marker(key)
	return Cut(text, pointer, maxBody-len(end)) + end
}

// public is a text without what is this machine's own: the token, and where its
// folders are.
func (c *Client) public(text string) string {
	text = c.folders.shorten(text)
	if c.connect() != nil {
		return text
	}
	return strings.ReplaceAll(text, c.wire.token, "[redacted: a GitHub token]")
}

// pages reads a list page by page until each says that it has enough. The
// address of the next page is GitHub's; only its query is taken from there.
func pages[T any](ctx context.Context, c *Client, r request, each func([]T) bool) error {
	for {
		var page []T
		h, err := c.do(ctx, r, &page)
		if err != nil {
			return err
		}
		next := nextQuery(h.Get("Link"))
		if !each(page) || next == "" {
			return nil
		}
		r.path, _, _ = strings.Cut(r.path, "?")
		r.path += "?" + next
	}
}

// nextQuery is the query of the next page in a Link header; "" after the last.
func nextQuery(link string) string {
	for part := range strings.SplitSeq(link, ",") {
		target, rel, _ := strings.Cut(part, ";")
		if !strings.Contains(rel, `rel="next"`) {
			continue
		}
		target = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(target), "<"), ">")
		_, q, _ := strings.Cut(target, "?")
		return q
	}
	return ""
}

func textOf(body string) map[string]string { return map[string]string{"body": body} }

func threadName(slug string, number int) string { return slug + "#" + strconv.Itoa(number) }

// threadPath is a path below an issue; a pull request is one as well.
func threadPath(slug string, number int, parts ...string) string {
	return repoPath(slug, append([]string{"issues", strconv.Itoa(number)}, parts...)...)
}

func isKind(err error, k Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == k
}
