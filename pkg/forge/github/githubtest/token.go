package githubtest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Token is a credential. The zero value of every field but Login is a classic
// token with the scope "repo" that works.
type Token struct {
	Login string // whose it is; for an Actions token github-actions[bot] acts
	// Kind is "classic" (default; has scopes), "fine-grained" or "actions" (have
	// permissions).
	Kind        string
	Scopes      []string          // of a classic token; nil: repo
	Permissions map[string]string // "issues": "write"; nil: write for all
	Expired     bool
	SSO         string // address where it has to be authorised; "": no need
}

// token is one that was handed out, with what it has used.
type token struct {
	Token
	text string
	user *user
	rest window
	gql  window
}

// window is one rate limit.
type window struct {
	limit, used int
	reset       time.Time
}

// hourly is GitHub's limit for a person's token, in requests and in points.
const hourly = 5000

func (w *world) issueToken(t Token) *token {
	prefix := map[string]string{"": "ghp_", "classic": "ghp_", "fine-grained": "github_pat_", "actions": "ghs_"}[t.Kind]
	if prefix == "" {
		panic("githubtest: there is no kind of token " + t.Kind)
	}
	if t.Kind == "actions" {
		t.Login = "github-actions[bot]"
	}
	if t.Scopes == nil && prefix == "ghp_" {
		t.Scopes = []string{"repo"}
	}
	u := w.user(t.Login)
	if u == nil {
		panic("githubtest: no user " + t.Login)
	}
	w.lastID++
	given := &token{Token: t, text: fmt.Sprintf("%sTEST%032d", prefix, w.lastID), user: u, rest: window{limit: hourly}, gql: window{limit: hourly}}
	w.tokens = append(w.tokens, given)
	return given
}

func (w *world) token(text string) *token {
	for _, t := range w.tokens {
		if t.text == text {
			return t
		}
	}
	return nil
}

func (t *token) classic() bool { return t.Kind == "" || t.Kind == "classic" }

// may reports whether the token itself allows what "issues=write" names; what
// its user may do is another question.
func (t *token) may(need string, r *repository) bool {
	name, level, _ := strings.Cut(need, "=")
	if t.classic() {
		reading := level == "read" && !r.private
		return reading || slices.Contains(t.Scopes, "repo") || !r.private && slices.Contains(t.Scopes, "public_repo")
	}
	if t.Permissions == nil || name == "metadata" {
		return true
	}
	has := t.Permissions[name]
	return has == "write" || has == level || level == "read" && !r.private
}

// inaccessible is what GitHub says when the token lacks a permission.
func (t *token) inaccessible() string {
	if t.Kind == "actions" {
		return "Resource not accessible by integration"
	}
	return "Resource not accessible by personal access token"
}

// charge counts against a window; false when nothing is left.
func (l *window) charge(now time.Time, cost int) bool {
	l.roll(now)
	if l.used+cost > l.limit {
		return false
	}
	l.used += cost
	return true
}

// roll starts a new hour.
func (l *window) roll(now time.Time) {
	if !now.Before(l.reset) {
		l.used, l.reset = 0, now.Add(time.Hour)
	}
}

func (l *window) remaining() int { return max(0, l.limit-l.used) }
