package github

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cli/go-gh/v2/pkg/api"
)

func TestRefusal(t *testing.T) {
	for _, tc := range []struct {
		name    string
		status  int
		headers []string
		message string
		kind    Kind
		advice  string
	}{
		{"bad token", 401, nil, "Bad credentials", KindAuth, "gh auth login"},
		{"fine-grained token", 403, []string{"X-Accepted-GitHub-Permissions", "issues=write; pull_requests=write"}, "Resource not accessible by personal access token", KindScope, "give the token the permission issues: write"},
		{"token of a workflow", 403, []string{"X-Accepted-GitHub-Permissions", "contents=write"}, "Resource not accessible by integration", KindScope, "add to the workflow, under permissions: contents: write"},
		{"token of a workflow, with another spelling", 403, []string{"X-Accepted-GitHub-Permissions", "pull_requests=write"}, "Resource not accessible by integration", KindScope, "under permissions: pull-requests: write"},
		{"token of a workflow, to GraphQL", 403, nil, "Resource not accessible by integration", KindScope, "under permissions: contents, issues, pull-requests"},
		{"scope of a classic token", 403, []string{"X-OAuth-Scopes", "read:org", "X-Accepted-OAuth-Scopes", "public_repo, repo"}, "Must have admin rights", KindScope, "gh auth refresh --scopes repo"},
		{"scope held, access not", 403, []string{"X-OAuth-Scopes", "repo", "X-Accepted-OAuth-Scopes", "repo"}, "Must have push access", KindScope, "needs write access"},
		{"single sign-on", 403, []string{"X-GitHub-SSO", "required; url=https://github.com/orgs/acme/sso?x=1"}, "Resource protected by organization SAML enforcement.", KindSSO, "https://github.com/orgs/acme/sso?x=1"},
		{"archived", 403, nil, "Repository was archived so is read-only.", KindArchived, "unarchive"},
		{"locked", 403, nil, "Unable to create comment because issue is locked.", KindConflict, "unlock"},
		{"not there", 404, nil, "Not Found", KindNotFound, "check the name"},
		{"deleted", 410, nil, "This issue was deleted", KindNotFound, "check the name"},
		{"head moved", 409, nil, "Head branch was modified. Review and try the merge again.", KindConflict, ""},
		{"not mergeable", 405, nil, "Pull Request is not mergeable", KindConflict, ""},
		{"renamed", 301, []string{"Location", "https://api.github.com/repositories/7"}, "Moved Permanently", KindMoved, "renamed or transferred"},
		{"invalid", 422, nil, "Validation Failed\nbody is too long", KindInvalid, ""},
		{"down", 500, nil, "", KindUnavailable, "next tick"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := http.Header{}
			for i := 0; i < len(tc.headers); i += 2 {
				h.Set(tc.headers[i], tc.headers[i+1])
			}
			e := refusal("comment on acme/shop#1", tc.status, h, tc.message)
			if e.Kind != tc.kind || !strings.Contains(e.Advice, tc.advice) || tc.advice == "" && e.Advice != "" {
				t.Errorf("got %s, advice %q", e.Kind, e.Advice)
			}
			if text := e.Error(); !strings.HasPrefix(text, "comment on acme/shop#1: GitHub answered") || strings.Contains(text, "\n") {
				t.Errorf("it reads %q", text)
			}
			if tc.kind == KindMoved && e.Place != h.Get("Location") {
				t.Errorf("it is at %q", e.Place)
			}
		})
	}
}

func TestRefusalOfGraphQL(t *testing.T) {
	for _, tc := range []struct {
		item api.GraphQLErrorItem
		want Kind
	}{
		{api.GraphQLErrorItem{Type: "NOT_FOUND"}, KindNotFound},
		{api.GraphQLErrorItem{Type: "FORBIDDEN"}, KindScope},
		{api.GraphQLErrorItem{Type: "FORBIDDEN", Extensions: map[string]any{"saml_failure": true}}, KindSSO},
		{api.GraphQLErrorItem{Type: "INSUFFICIENT_SCOPES"}, KindScope},
		{api.GraphQLErrorItem{Message: "Something went wrong while executing your query."}, KindUnavailable},
		{api.GraphQLErrorItem{Type: "UNPROCESSABLE", Message: "Pull request is in clean status"}, KindConflict},
		{api.GraphQLErrorItem{Message: "Field 'x' doesn't exist"}, KindInvalid},
	} {
		if got := refusalOf("x", tc.item).Kind; got != tc.want {
			t.Errorf("%+v is %s, want %s", tc.item, got, tc.want)
		}
	}
}
