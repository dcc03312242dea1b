package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/forge/github"
)

// The checks of GitHub: who one is there, what is left of the limits, and what
// may be done in each repository.

const onHub = "github"

func checkGitHub(ctx context.Context, cfg *config.Config) []finding {
	if !onGitHub(cfg) {
		return nil
	}
	client := github.New(githubOptions(cfg))
	standing, err := client.Standing(ctx)
	if err != nil {
		return []finding{wrongOnGitHub("", err)}
	}
	found := []finding{loggedIn(standing), limitsLeft(standing, cfg.GitHub.RateReserve)}
	var slugs []string
	for _, r := range cfg.Repositories {
		if r.Slug != "" {
			slugs = append(slugs, r.Slug)
		}
	}
	probed, err := client.Probe(ctx, slugs)
	for _, p := range probed {
		found = append(found, access(p, standing))
	}
	if err != nil {
		found = append(found, wrongOnGitHub("", err))
	}
	return append(found, metOnGitHub(cfg)...)
}

// wrongOnGitHub is an error of GitHub's as a finding; what passes by itself is a
// warning.
func wrongOnGitHub(about string, err error) finding {
	f := finding{onHub, fail, about + err.Error(), "see https://www.githubstatus.com, and try again"}
	var ours *github.Error
	if errors.As(err, &ours) {
		f.Detail = about + ours.What()
		if ours.Advice != "" {
			f.Fix = ours.Advice
		}
		if ours.Passing() {
			f.Status = warn
		}
	}
	return f
}

// loggedIn says whose token it is, and what it may do as far as GitHub says.
func loggedIn(s github.Standing) finding {
	text := fmt.Sprintf("logged in to %s as %s", s.Host, s.Viewer.Login)
	switch {
	case s.Viewer.Bot():
		return finding{onHub, fine, text + "; the token of a workflow needs the permissions " + github.WorkflowPermissions, ""}
	case !s.Classic:
		return finding{onHub, fine, text + " with a fine-grained token, of which GitHub does not say what it may do", ""}
	case slices.Contains(s.Scopes, "repo"):
		return finding{onHub, fine, text + " with the scopes " + strings.Join(s.Scopes, ", "), ""}
	case slices.Contains(s.Scopes, "public_repo"):
		return finding{onHub, warn, text + " with the scope public_repo, which is enough for public repositories only", "for private ones: gh auth refresh --scopes repo"}
	}
	return finding{onHub, fail, text + " with a token that has not the scope repo", "give it the scope: gh auth refresh --scopes repo"}
}

// limitsLeft says how many requests there are until the hour is over.
func limitsLeft(s github.Standing, reserve int) finding {
	text := fmt.Sprintf("%d of %d requests and %d of %d points are left until %s", s.Core.Remaining, s.Core.Limit,
		s.GraphQL.Remaining, s.GraphQL.Limit, s.Core.Reset.Format("15:04 UTC"))
	for _, w := range []github.Window{s.Core, s.GraphQL} {
		if w.Remaining <= min(reserve, w.Limit/2) {
			return finding{onHub, warn, fmt.Sprintf("%s, of which %d are kept for others", text, reserve),
				"wait until then, or lower [github] rate_reserve; something else may be using the token"}
		}
	}
	return finding{onHub, fine, text, ""}
}

// access says what may be done in a repository.
func access(p github.Probed, s github.Standing) finding {
	moved := p.Slug != "" && !strings.EqualFold(p.Slug, p.Asked)
	switch {
	case p.Err != nil:
		return wrongOnGitHub(p.Asked+": ", p.Err)
	case p.Archived:
		return finding{onHub, fail, p.Asked + " is archived, so that it can only be read", "unarchive the repository, or take it out of the configuration"}
	case !p.Writable() && !s.Viewer.Bot():
		return finding{onHub, fail, s.Viewer.Login + " may not write to " + p.Asked, "give the account write access, or use the token of another one"}
	case moved:
		return finding{onHub, warn, p.Asked + " is called " + p.Slug + " now", "change its slug in the configuration"}
	case s.Viewer.Bot():
		return finding{onHub, fine, p.Asked + " can be seen", ""}
	}
	return finding{onHub, fine, fmt.Sprintf("%s may write to %s", s.Viewer.Login, p.Asked), ""}
}

// metOnGitHub is what the last tick could not do there.
func metOnGitHub(cfg *config.Config) (found []finding) {
	st, err := openStore(cfg, true, nil)
	if err != nil {
		return nil // the check of the state says why
	}
	board, _, err := st.Load(context.Background())
	if err != nil {
		return nil
	}
	for _, r := range board.Repositories {
		for _, t := range r.Troubles {
			text, fix, _ := strings.Cut(t.Text, "; ")
			if t.Writing && !t.Passing {
				found = append(found, finding{onHub, fail, r.ID + ", in the last tick: " + text, fix})
			}
		}
	}
	slices.SortFunc(found, func(x, y finding) int { return strings.Compare(x.Detail, y.Detail) })
	return found
}
