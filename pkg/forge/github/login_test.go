package github_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/forge/github"
)

// asked notes where a request would go, and with which token.
type asked struct{ url, token string }

func (a *asked) RoundTrip(r *http.Request) (*http.Response, error) {
	a.url, a.token = r.URL.String(), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	return nil, http.ErrHandlerTimeout
}

func TestLogin(t *testing.T) {
	const perm = "/repos/acme/shop/issues/1/labels"
	for _, tc := range []struct {
		name, api string
		env       []string
		url       string
		token     string
		refused   string // part of the error
	}{
		{"github.com", "", []string{"GH_TOKEN=a", "GITHUB_TOKEN=b"}, "https://api.github.com" + perm, "a", ""},
		{"a workflow", "", []string{"GITHUB_TOKEN=b"}, "https://api.github.com" + perm, "b", ""},
		{"an Enterprise Server", "", []string{"GH_HOST=git.acme.example", "GH_TOKEN=a", "GH_ENTERPRISE_TOKEN=e"}, "https://git.acme.example/api/v3" + perm, "e", ""},
		{"its token is another", "", []string{"GH_HOST=git.acme.example", "GH_TOKEN=a"}, "", "", "set GH_ENTERPRISE_TOKEN"},
		{"configured", "https://git.acme.example/api/v3/", []string{"GH_ENTERPRISE_TOKEN=e", "GH_TOKEN=a"}, "https://git.acme.example/api/v3" + perm, "e", ""},
		{"configured, with what is there", "http://127.0.0.1:8080", []string{"GH_TOKEN=a"}, "http://127.0.0.1:8080" + perm, "a", ""},
		{"configured as it is by default", "https://api.github.com", []string{"GITHUB_TOKEN=b", "GH_ENTERPRISE_TOKEN=e"}, "https://api.github.com" + perm, "b", ""},
		{"in the clear", "http://git.acme.example/api/v3", []string{"GH_TOKEN=a"}, "", "", "in the clear"},
		{"no address", "git.acme.example", []string{"GH_TOKEN=a"}, "", "", "is no web address"},
		{"with a password", "https://x:y@git.acme.example", []string{"GH_TOKEN=a"}, "", "", "more than a host"},
		{"no token", "", nil, "", "", "gh auth login"},
		{"gh's login", "", []string{"LOGIN=1"}, "https://api.github.com" + perm, "from-gh", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_HOST"} {
				t.Setenv(name, "")
			}
			t.Setenv("GH_CONFIG_DIR", dir)
			t.Setenv("PATH", dir)
			for _, pair := range tc.env {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, value)
				if name == "LOGIN" { // in the keyring: gh is asked
					script := "#!/bin/sh\n[ \"$1 $2\" = 'auth token' ] && echo from-gh\n"
					if err := os.WriteFile(filepath.Join(dir, "gh"), []byte(script), 0o755); err != nil {
						t.Fatal(err)
					}
				}
			}
			seen := new(asked)
			c := github.New(github.Options{APIURL: tc.api, Base: seen, Sleep: newClock().Sleep})
			err := c.AddLabels(context.Background(), "acme/shop", 1, github.Label{Name: "x"})
			if err == nil || !strings.Contains(err.Error(), tc.refused) {
				t.Errorf("got %v, want %q in it", err, tc.refused)
			}
			if seen.url != tc.url || seen.token != tc.token {
				t.Errorf("asked %s with %q, want %s with %q", seen.url, seen.token, tc.url, tc.token)
			}
		})
	}
}
