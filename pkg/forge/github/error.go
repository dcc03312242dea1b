package github

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/api"
)

// Kind is what went wrong, as far as it decides what to do next.
type Kind string

// The kinds of errors.
const (
	KindAuth        Kind = "auth"         // no token, or one that is bad or expired
	KindScope       Kind = "scope"        // the token may not do this
	KindSSO         Kind = "sso"          // the organization wants the token authorized first
	KindNotFound    Kind = "not_found"    // not there, or the token cannot see it
	KindArchived    Kind = "archived"     // the repository can only be read
	KindRateLimited Kind = "rate_limited" // the hour's requests are used up, or what is left is kept in reserve
	KindSecondary   Kind = "secondary"    // too much at a time
	KindUnavailable Kind = "unavailable"  // no answer, or none that can be used
	KindInvalid     Kind = "invalid"      // GitHub does not want what was sent; the same again will not do
	KindConflict    Kind = "conflict"     // it moved meanwhile, or its state does not allow this
	KindMoved       Kind = "moved"        // renamed or transferred
)

// Error is what became of a request that did not do what it was to do.
type Error struct {
	Op      string // "comment on acme/shop#12"
	Kind    Kind
	Status  int       // of HTTP; 0 when there was no answer
	Message string    // in GitHub's words
	Until   time.Time // nothing should be asked before; zero when that does not matter
	Sent    bool      // a write that may have been done all the same: look before doing it again
	Advice  string    // what a person does next
	Place   string    // of a thing that moved: where it is now, as a URL of the API
	err     error
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	b.WriteString(e.What())
	if e.Sent {
		b.WriteString(", and it may have been done")
	}
	if !e.Until.IsZero() {
		b.WriteString(", until " + e.Until.UTC().Format("15:04:05 UTC"))
	}
	if e.Advice != "" {
		b.WriteString("; " + e.Advice)
	}
	return b.String()
}

// Reason is what is wrong and what a person does about it, whatever was asked for.
func (e *Error) Reason() string {
	bare := *e
	bare.Op, bare.Sent = "", false
	return bare.Error()
}

// Resumes is from when on GitHub may be asked again; zero when that does not matter.
func (e *Error) Resumes() time.Time { return e.Until }

// What is what is wrong, in GitHub's words.
func (e *Error) What() string {
	message := strings.TrimRight(strings.Join(strings.Fields(e.Message), " "), ".")
	switch {
	case e.Status == 0, e.Status == http.StatusOK && message != "": // the answers of GraphQL
		return message
	case message == "":
		return fmt.Sprintf("GitHub answered %d", e.Status)
	}
	return fmt.Sprintf("GitHub answered %d: %s", e.Status, message)
}

// Unwrap is the error below, if there is one: that of a context, say.
func (e *Error) Unwrap() error { return e.err }

// refusal is the error of an answer that is none of success. Limits are not its
// affair: the transport knows those first.
func refusal(op string, status int, h http.Header, message string) *Error {
	e := &Error{Op: op, Kind: kindOf(status, h, message), Status: status, Message: message}
	e.Advice = advice(e, h)
	if e.Kind == KindMoved {
		e.Place = h.Get("Location")
	}
	return e
}

func kindOf(status int, h http.Header, message string) Kind {
	says := func(words string) bool { return strings.Contains(strings.ToLower(message), words) }
	switch {
	case status == http.StatusUnauthorized:
		return KindAuth
	case status == http.StatusForbidden && strings.HasPrefix(h.Get("X-GitHub-SSO"), "required"), status == http.StatusForbidden && says("saml enforcement"):
		return KindSSO
	case status == http.StatusForbidden && says("archived"):
		return KindArchived
	case status == http.StatusForbidden && says("locked"):
		return KindConflict
	case status == http.StatusForbidden:
		return KindScope
	case status == http.StatusNotFound, status == http.StatusGone, status == http.StatusUnavailableForLegalReasons:
		return KindNotFound
	case status == http.StatusConflict, status == http.StatusMethodNotAllowed:
		return KindConflict
	case status >= 300 && status < 400:
		return KindMoved
	case status >= 500, status == http.StatusRequestTimeout:
		return KindUnavailable
	}
	return KindInvalid
}

func advice(e *Error, h http.Header) string {
	switch e.Kind {
	case KindAuth:
		return "set GH_TOKEN to a token that is valid, or run: gh auth login"
	case KindScope:
		return scopeAdvice(e.Message, h)
	case KindSSO:
		if _, url, ok := strings.Cut(h.Get("X-GitHub-SSO"), "url="); ok {
			return "authorize the token for the organization at " + url
		}
		return "authorize the token for the organization: https://github.com/settings/tokens, Configure SSO"
	case KindNotFound:
		return "check the name, and that the token may see the repository"
	case KindArchived:
		return "unarchive the repository, or take it out of the configuration"
	case KindUnavailable:
		return "the next tick tries again; see https://www.githubstatus.com"
	case KindMoved:
		return "it was renamed or transferred; the next tick finds it by its new name"
	case KindConflict:
		if strings.Contains(strings.ToLower(e.Message), "locked") {
			return "unlock the conversation"
		}
	}
	return ""
}

// WorkflowPermissions are those that the token of a workflow needs, as they are
// written there.
const WorkflowPermissions = "contents, issues, pull-requests and statuses: write, and checks: read"

// scopeAdvice names what the token lacks: a permission of a fine-grained token
// or of an app, which GitHub states, or a scope of a classic one.
func scopeAdvice(message string, h http.Header) string {
	needs, _, _ := strings.Cut(h.Get("X-Accepted-GitHub-Permissions"), ";") // alternatives are separated by semicolons
	needs = strings.ReplaceAll(needs, "=", ": ")
	switch {
	case strings.Contains(message, "by integration"):
		return "add to the workflow, under permissions: " + orElse(strings.ReplaceAll(needs, "_", "-"), WorkflowPermissions)
	case needs != "":
		return "give the token the permission " + needs
	}
	held := scopes(h.Get("X-OAuth-Scopes"))
	accepted := scopes(h.Get("X-Accepted-OAuth-Scopes"))
	for _, s := range accepted {
		for _, has := range held {
			if s == has {
				return "the account that the token belongs to needs write access to the repository"
			}
		}
	}
	if len(accepted) > 0 {
		return "give the token the scope " + strings.Join(accepted, " or ") + ": gh auth refresh --scopes " + accepted[len(accepted)-1]
	}
	return "give the token, and the account that it belongs to, write access to the repository"
}

func scopes(header string) []string {
	return strings.FieldsFunc(header, func(r rune) bool { return r == ',' || r == ' ' })
}

// refusalOf is the error of one problem in an answer of GraphQL.
func refusalOf(op string, item api.GraphQLErrorItem) *Error {
	e := &Error{Op: op, Status: http.StatusOK, Message: item.Message}
	_, saml := item.Extensions["saml_failure"]
	switch {
	case saml || strings.Contains(strings.ToLower(item.Message), "saml enforcement"):
		e.Kind = KindSSO
	case item.Type == "NOT_FOUND":
		e.Kind = KindNotFound
	case item.Type == "FORBIDDEN" || item.Type == "INSUFFICIENT_SCOPES":
		e.Kind = KindScope
	case item.Type == "RATE_LIMITED" || item.Type == "RATE_LIMIT":
		e.Kind = KindRateLimited
	case item.Type == "SERVICE_UNAVAILABLE" || item.Type == "INTERNAL" || strings.HasPrefix(item.Message, "Something went wrong"):
		e.Kind = KindUnavailable
	case item.Type == "UNPROCESSABLE" || item.Type == "STALE_DATA":
		e.Kind = KindConflict
	default:
		e.Kind = KindInvalid
	}
	e.Advice = advice(e, nil)
	return e
}
