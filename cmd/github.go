package cmd

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"

	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/forge/github"
	"github.com/backburner-cli/backburner/pkg/git"
	"github.com/backburner-cli/backburner/pkg/pass"
)

// onGitHub reports whether a repository of the configuration is there.
func onGitHub(cfg *config.Config) bool {
	for _, r := range cfg.Repositories {
		if r.Slug != "" {
			return true
		}
	}
	return false
}

// hub is GitHub for a pass; nil when no repository is there.
func hub(cfg *config.Config) pass.Hub {
	if !onGitHub(cfg) {
		return nil
	}
	l := cfg.GitHub.Labels
	return github.NewHub(githubOptions(cfg), github.Words{
		Prefix:   cfg.GitHub.CommandPrefix,
		Labels:   github.Labels{Start: l.Add, Approve: l.Approve, Review: l.Review, Prepare: l.Prepare, Merge: l.Merge, Hold: l.Hold},
		Assignee: cfg.GitHub.Assignee, Users: cfg.GitHub.TrustedUsers, Bots: cfg.GitHub.TrustedBots,
		Near: config.Nearest,
	})
}

func githubOptions(cfg *config.Config) github.Options {
	return github.Options{
		APIURL: cfg.GitHub.APIURL, Agent: "backburner/" + version(), Reserve: cfg.GitHub.RateReserve, Spacing: cfg.GitHub.WriteInterval,
		Folders: localFolders(),
	}
}

// localFolders are those whose paths are not shown to others.
func localFolders() map[string]string {
	shown := make(map[string]string)
	note := func(path string, err error, as string) {
		if err != nil {
			return
		}
		shown[path] = as
		if real, err := filepath.EvalSymlinks(path); err == nil {
			shown[real] = as
		}
	}
	home, err := os.UserHomeDir()
	note(home, err, "~")
	here, err := os.Getwd()
	note(here, err, ".")
	return shown
}

// cloneURL is where a repository on GitHub is cloned from and pushed to.
func cloneURL(cfg *config.Config, slug string) string {
	template := cfg.GitHub.CloneURL
	if template == "" {
		template = "https://" + github.Host(cfg.GitHub.APIURL) + "/{slug}.git"
	}
	return strings.ReplaceAll(template, "{slug}", slug)
}

// gitOptions give the token to the git processes that talk to GitHub over HTTPS,
// and to no others.
func gitOptions(cfg *config.Config) git.Options {
	if !onGitHub(cfg) {
		return git.Options{}
	}
	return git.Options{NetworkConfig: func() []git.Setting {
		host, token := github.Host(cfg.GitHub.APIURL), github.Token(cfg.GitHub.APIURL)
		if token == "" {
			return nil // what the user configured for git counts
		}
		basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))
		return []git.Setting{{Key: "http.https://" + host + "/.extraHeader", Value: "Authorization: Basic " + basic}}
	}}
}
