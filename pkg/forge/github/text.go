package github

import (
	"context"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// spec is the text to work from.
func (t Thread) spec() (title, body string) {
	title, body = work.Clip(work.Printable(t.Title), 300), strings.ReplaceAll(t.Body, "\r\n", "\n")
	if strings.TrimSpace(body) == "" {
		body = title
	}
	return title, body
}

// changed are those who made of the text that is worked from the one that is there
// now: whoever retitles an issue does not answer for what others wrote below.
func (t Thread) changed(from work.Spec) (by []Actor) {
	title, body := t.spec()
	if body != from.Body && !t.EditedAt.IsZero() {
		by = append(by, t.Editor)
	}
	if work.SpecHash(title, from.Body) != from.Hash {
		if h, renamed := t.renamed(); renamed {
			by = append(by, h.By)
		}
	}
	return by
}

// changedBy is who changed the title or the text last; "" when that is the author.
func (t Thread) changedBy() string {
	at, by := t.lastChange()
	if at.IsZero() || by == t.Author {
		return ""
	}
	return orElse(by.Login, "an account that is gone")
}

// lastChange is when the title or the text was changed last, zero when neither was.
func (t Thread) lastChange() (at time.Time, by Actor) {
	if h, renamed := t.renamed(); renamed && h.At.After(t.EditedAt) {
		return h.At, h.By
	}
	return t.EditedAt, t.Editor
}

// renamed is when the title was changed last, if it was.
func (t Thread) renamed() (last Happening, ok bool) {
	for _, h := range t.Timeline {
		if h.Type == "RenamedTitleEvent" && !h.At.Before(last.At) {
			last, ok = h, true
		}
	}
	return last, ok
}

// sameText refuses to begin with a text that somebody who is not believed changed
// since it was asked for.
func (r *one) sameText(ctx context.Context, t Thread, e Event, q *work.Request) error {
	var by []Actor
	if !t.EditedAt.IsZero() && !t.EditedAt.Before(e.At) { // seconds are told: who was first in one, is not
		by = append(by, t.Editor)
	}
	if h, renamed := t.renamed(); renamed && !h.At.Before(e.At) {
		by = append(by, h.By)
	}
	if !begins(e) || len(by) == 0 {
		return nil
	}
	verdict, err := r.judge(ctx, by)
	if err == nil && !verdict.Believed {
		q.Refused = "the text was changed after that was asked, and " + verdict.Why + "; look at it, and ask again"
	}
	return err
}
