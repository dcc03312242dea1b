package github_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/backburner-cli/backburner/pkg/forge/github"
	"github.com/backburner-cli/backburner/pkg/forge/github/githubtest"
)

func TestStanding(t *testing.T) {
	h := newHub(t)
	s, err := h.client().Standing(ctx)
	must(t, err)
	if s.Viewer.Login != "crew" || !s.Classic || !slices.Equal(s.Scopes, []string{"repo"}) || s.Core.Limit != 5000 || s.GraphQL.Remaining >= 5000 || s.Core.Reset.IsZero() {
		t.Errorf("got %+v", s)
	}
	h.token = h.IssueToken(githubtest.Token{Kind: "actions"})
	s, err = h.client().Standing(ctx)
	must(t, err)
	if !s.Viewer.Bot() || s.Classic {
		t.Errorf("the token of a workflow is %+v", s)
	}
	h.ChangeToken(h.token, func(t *githubtest.Token) { t.Expired = true })
	if _, err = h.client().Standing(ctx); asError(t, err).Kind != github.KindAuth {
		t.Errorf("got %v", err)
	}
	h.token = h.IssueToken(githubtest.Token{Login: "crew", SSO: "https://github.com/orgs/acme/sso"})
	all, err := h.client().Probe(ctx, []string{"acme/shop"})
	must(t, err)
	if e := all[0].Err; e == nil || e.Kind != github.KindSSO {
		t.Errorf("got %v", e)
	}
}

// A client that is not used looks for nothing, and one without a token says so
// of each request.
func TestClientIsLazy(t *testing.T) {
	for _, name := range []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_HOST", "PATH"} {
		t.Setenv(name, "")
	}
	t.Setenv("GH_CONFIG_DIR", t.TempDir())
	c := github.New(github.Options{})
	if u := c.Usage(); u != (github.Usage{}) || len(c.Tags()) != 0 || c.Now().IsZero() {
		t.Errorf("unused, it counts %+v", u)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := c.AddLabels(ctx, "acme/shop", 1, github.Label{Name: "x"}); err == nil || !strings.HasPrefix(err.Error(), "label acme/shop#1: there is no token") {
				t.Errorf("got %v", err)
			}
			if _, _, err := c.Login(); err == nil || !strings.HasPrefix(err.Error(), "log in to GitHub: there is no token") {
				t.Errorf("got %v", err)
			}
		})
	}
	all.Wait()
}

// Requests of several goroutines go one after the other.
func TestOneRequestAtATime(t *testing.T) {
	h := newHub(t)
	n := h.shop.OpenIssue("ann", "Tea", "")
	c := h.client()
	var all sync.WaitGroup
	errs := make(chan error, 8)
	for i := range 8 {
		all.Go(func() {
			errs <- c.AddLabels(ctx, "acme/shop", n, github.Label{Name: string(rune('a' + i))})
			_, _ = c.Usage(), c.Tags()
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		must(t, errors.Join(err))
	}
	h.shows(n, map[string]int{"labels: a, b, c, d, e, f, g, h\n": 1})
	if got := c.Usage(); got.Writes != 8 || len(h.clock.slept) != 7 {
		t.Errorf("%+v, %d pauses", got, len(h.clock.slept))
	}
}
