package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/agent"
	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/git"
)

// loadConfig reads the configuration from file, environment and flags. Without
// any it is that of the git repository one stands in.
func loadConfig(c *cli.Context) (*config.Config, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	sources := config.Sources{Path: c.String("config"), Dir: dir, Env: os.Environ(), Flags: overrides(c, dir)}
	if sources.Path == "" {
		dir = outOfWorkspace(dir)
		sources.Dir = dir
	}
	cfg, err := config.Load(sources)
	if err != nil {
		return nil, misconfigured(err)
	}
	if cfg.Base() == dir { // no file of the project: the top level counts, wherever one stands
		if top := topLevel(dir); top != "" && top != dir {
			sources.Dir = top
			if cfg, err = config.Load(sources); err != nil {
				return nil, misconfigured(err)
			}
		}
	}
	return complete(cfg)
}

// outOfWorkspace is dir, or, when that lies in one of backburner's workspaces, the
// folder that those belong to: a workspace has the committed configuration and
// specs, and work begun from there would be work on a copy.
func outOfWorkspace(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		parent := filepath.Dir(at)
		if parent == at {
			return dir
		}
		root := filepath.Dir(parent)
		if filepath.Base(parent) == "workspaces" && exists(filepath.Join(root, "stores")) && exists(filepath.Join(root, "pools")) {
			return outOfWorkspace(filepath.Dir(root))
		}
	}
}

// misconfigured puts the problems of a configuration on lines of their own,
// each of which begins with its place: for a flag, with its name.
func misconfigured(err error) error {
	var all *config.Errors
	if errors.As(err, &all) {
		for i, p := range all.Problems {
			for flag, key := range flagKeys {
				if p.File == "flag" && p.Key == key {
					all.Problems[i].File, all.Problems[i].Key = "--"+flag, ""
				}
			}
		}
		err = fmt.Errorf("the configuration cannot be used:\n%w", err)
	}
	return &codeError{exitUsage, err}
}

// complete adds what can be found: the repository one stands in, and agents
// that are installed.
func complete(cfg *config.Config) (*config.Config, error) {
	if len(cfg.Repositories) == 0 {
		top := topLevel(cfg.Base())
		if top == "" {
			return nil, usage("%s is not in a git repository, and no configuration file was found: run backburner in a repository, or name one with --config", cfg.Base())
		}
		cfg = cfg.WithRepository(top)
		cfg.Repositories[0].Base = guessBase(top)
	}
	return cfg.WithAgents(agent.Installed(os.Getenv("PATH"))...), nil
}

// topLevel is the working tree that dir lies in; "" when there is none.
func topLevel(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// guessBase is main or master where there is one, else the branch checked out.
func guessBase(top string) string {
	dir, common, err := git.Locate(top)
	if err != nil {
		return "main"
	}
	for _, name := range []string{"main", "master"} {
		if id, err := git.ReadRef(os.DirFS(common), git.Heads+name); err == nil && id != "" {
			return name
		}
	}
	if branch, _, err := git.HeadBranch(os.DirFS(dir)); err == nil && branch != "" {
		return strings.TrimPrefix(branch, git.Heads)
	}
	return "main"
}
