package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/agent"
	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/gate"
	"github.com/backburner-cli/backburner/pkg/git"
	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

// The checks of what is installed and configured.

func checkGit(ctx context.Context, _ *config.Config) []finding {
	v, err := git.New(git.Options{}).Version(ctx)
	switch {
	case err != nil:
		return []finding{{"git", fail, err.Error(), fmt.Sprintf("install git %s or newer, and have it in PATH", git.Oldest)}}
	case v.Before(git.Oldest):
		return []finding{{"git", fail, v.String() + " is too old", fmt.Sprintf("install git %s or newer", git.Oldest)}}
	}
	return []finding{{"git", fine, v.String(), ""}}
}

// checkPath shows where programs are looked for, which is why most are missing.
func checkPath(context.Context, *config.Config) []finding {
	if os.Getenv("PATH") == "" {
		return []finding{{"PATH", fail, "empty: no program can be found", "set it, for cron in the crontab"}}
	}
	return []finding{{"PATH", fine, os.Getenv("PATH"), ""}}
}

// checkConfig reads the configuration; it is nil when there are problems.
func checkConfig(c *cli.Context) (*config.Config, []finding) {
	cfg, err := loadConfig(c)
	var found []finding
	var all *config.Errors
	switch {
	case errors.As(err, &all):
		for _, p := range all.Problems {
			found = append(found, finding{"configuration", fail, p.String(), "correct it; backburner config keys lists what there is"})
		}
	case err != nil:
		found = append(found, finding{"configuration", fail, err.Error(), "go to a repository, or write a configuration with backburner init"})
	case cfg.File() == "":
		return cfg, []finding{{"configuration", warn, "no file; all is default", "backburner init writes one"}}
	default:
		return cfg, []finding{{"configuration", fine, cfg.File(), ""}}
	}
	return nil, found
}

func checkRepositories(ctx context.Context, cfg *config.Config) []finding {
	if _, err := repositories(cfg); err != nil {
		return []finding{{"repository", fail, err.Error(), "correct [[repository]] in " + cfg.File()}}
	}
	var found []finding
	for i := range cfg.Repositories {
		if r := &cfg.Repositories[i]; r.Slug != "" {
			found = append(found, remoteRepository(ctx, cfg, r))
		} else {
			found = append(found, oneRepository(r))
		}
	}
	return found
}

// remoteRepository asks the repository itself, by git, as a tick would.
func remoteRepository(ctx context.Context, cfg *config.Config, r *config.Repository) finding {
	base := git.Heads + r.Base
	refs, err := git.New(gitOptions(cfg)).Foreign(os.TempDir()).RemoteRefs(ctx, cloneURL(cfg, r.Slug), base)
	switch {
	case err != nil:
		return finding{"repository", fail, r.Slug + ": " + err.Error(), "see what github says below, and check clone_url in [github]"}
	case refs[base] == "":
		return finding{"repository", fail, fmt.Sprintf("%s has no branch %q, which work would start from", r.Slug, r.Base), "set base in [[repository]]"}
	}
	return finding{"repository", fine, fmt.Sprintf("%s, base %s at %.12s", r.Slug, r.Base, refs[base]), ""}
}

func oneRepository(r *config.Repository) finding {
	_, common, err := git.Locate(r.Path)
	if err != nil {
		return finding{"repository", fail, err.Error(), "run git init there, or correct path in [[repository]]"}
	}
	id, err := git.ReadRef(os.DirFS(common), git.Heads+r.Base)
	if err != nil {
		return finding{"repository", fail, r.Path + ": " + err.Error(), "git -C " + shellWord(r.Path) + " fsck says more"}
	}
	if id == "" {
		return finding{"repository", fail, fmt.Sprintf("%s has no branch %q, which work would start from", r.Path, r.Base),
			"make a first commit on it, or set base in [[repository]]"}
	}
	if exists(filepath.Join(common, "shallow")) {
		return finding{"repository", fail, r.Path + " is a shallow clone, without the history that branches are compared by",
			"git -C " + shellWord(r.Path) + " fetch --unshallow; in GitHub Actions: fetch-depth: 0"}
	}
	return finding{"repository", fine, fmt.Sprintf("%s, base %s at %.12s", r.Path, r.Base, id), ""}
}

// checkAgents asks each agent for its version, all at once, and looks whether
// those that answer can take every role.
func checkAgents(ctx context.Context, cfg *config.Config) []finding {
	me, err := self()
	if err != nil {
		return []finding{{"agents", fail, err.Error(), "start backburner by its path"}}
	}
	pool, err := crew(cfg, me)
	if err != nil {
		return []finding{{"agents", fail, err.Error(), "correct [agent] and [roles] in " + cfg.File()}}
	}
	names := cfg.AgentNames()
	if len(names) == 0 {
		return []finding{{"agents", fail, "none is configured, and none that is known was found in PATH",
			"install one (" + strings.Join(agent.Presets(), ", ") + "), or name a program of yours: preset = \"custom\""}}
	}
	found := make([]finding, len(names))
	var probes sync.WaitGroup
	for i, name := range names {
		probes.Go(func() { found[i] = probe(ctx, pool.Agent(name), cfg.Agents[name].Wrap) })
	}
	probes.Wait()
	works := make(map[string]bool)
	for i, name := range names {
		works[name] = found[i].Status == fine
	}
	return append(found, checkRoles(pool, works)...)
}

func probe(ctx context.Context, a *agent.Agent, wrap []string) finding {
	version, err := a.Probe(ctx)
	var start *proc.StartError
	switch {
	case errors.As(err, &start) && errors.Is(err, proc.ErrNotFound) && len(wrap) > 0:
		return finding{"agent " + a.Name(), fail, start.Name + ": not found in PATH", "install it, or correct wrap in [agent." + a.Name() + "]"}
	case errors.As(err, &start) && errors.Is(err, proc.ErrNotFound):
		return finding{"agent " + a.Name(), fail, start.Name + ": not found in PATH",
			fmt.Sprintf("install it, or set command = [\"/path/to/%s\"] in [agent.%s]", filepath.Base(start.Name), a.Name())}
	case err != nil:
		return finding{"agent " + a.Name(), fail, err.Error(), "run it by hand as it is configured, until it answers"}
	case version == "":
		version = "is there; it has no way to say its version"
	}
	return finding{"agent " + a.Name(), fine, version, ""}
}

// optional are the roles without which work goes on; without the others it stops.
var optional = []work.Role{work.Reviewer, work.Assessor, work.Prioritizer}

// checkRoles finds the roles that no agent can take.
func checkRoles(pool *agent.Pool, works map[string]bool) []finding {
	var needed, wanted []string
	for _, role := range work.Roles {
		switch {
		case slices.ContainsFunc(pool.Names(role), func(name string) bool { return works[name] }):
		case slices.Contains(optional, role):
			wanted = append(wanted, string(role))
		default:
			needed = append(needed, string(role))
		}
	}
	const fix = "mend an agent above, or name another in [roles]"
	var found []finding
	if len(needed) > 0 {
		found = append(found, finding{"roles", fail, "nobody can be " + strings.Join(needed, ", ") + ": work stops there", fix})
	}
	if len(wanted) > 0 {
		found = append(found, finding{"roles", warn, "nobody can be " + strings.Join(wanted, ", "), fix})
	}
	if len(found) == 0 {
		found = []finding{{"roles", fine, "each can be taken", ""}}
	}
	return found
}

// checkGates looks whether there are gates, and whether their programs are.
func checkGates(_ context.Context, cfg *config.Config) []finding {
	var found []finding
	for i := range cfg.Repositories {
		all := gates(cfg, &cfg.Repositories[i])
		for _, name := range []string{work.GateFast, work.GateFull} {
			found = append(found, checkGate(name, all[name], cfg.Repositories[i].Name()))
		}
	}
	return found
}

func checkGate(name string, g gate.Gate, repository string) finding {
	if len(g.Steps) == 0 {
		return finding{"gate " + name, warn, "there is none for " + repository + ": what agents build is not tested", "set steps in [gate." + name + "]"}
	}
	var missing []string
	for _, s := range g.Steps {
		program := s.Run[0]
		if strings.Contains(program, "/") || slices.Contains(missing, program) {
			continue // a path is one in the work, which may make it
		}
		if _, err := proc.LookPath(program, os.Getenv("PATH")); err != nil {
			missing = append(missing, program)
		}
	}
	if len(missing) > 0 {
		return finding{"gate " + name, fail, strings.Join(missing, ", ") + ": not found in PATH", "install it, or correct the step in [gate." + name + "]"}
	}
	return finding{"gate " + name, fine, fmt.Sprintf("%d step(s) for %s", len(g.Steps), repository), ""}
}
