package cmd

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/agent"
	"github.com/backburner-cli/backburner/pkg/budget"
	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/forge/local"
	"github.com/backburner-cli/backburner/pkg/gate"
	"github.com/backburner-cli/backburner/pkg/git"
	"github.com/backburner-cli/backburner/pkg/pass"
	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// openStore opens the state folder of the configuration.
func openStore(cfg *config.Config, readOnly bool, check func() error) (*store.Store, error) {
	if cfg.State.Backend != "dir" {
		return nil, usage("state.backend = %q is not there yet; use \"dir\"", cfg.State.Backend)
	}
	st, err := store.Open(cfg.State.Dir, store.Options{
		CreatedBy: "backburner " + version(), ReadOnly: readOnly, Check: check,
	})
	if err != nil || readOnly {
		return st, err
	}
	if run := ownRun(st); run != "" {
		return nil, usage("this is the run %s of an agent or a gate: it may look, but it cannot ask for work, answer or approve; "+
			"what it has to say belongs into its result", run)
	}
	return st, nil
}

// ownRun is the run of this very state that this program was started in; "" when
// a person started it. What a run does with other states is its own business: it
// may be testing a program that uses backburner.
func ownRun(st *store.Store) string {
	marker := os.Getenv(proc.Marker)
	for id := marker; ; {
		cut := strings.LastIndexByte(id, '.') // behind it: the folder's hash, the try, the step of a gate
		if cut < 0 {
			return ""
		}
		id = id[:cut]
		if strings.HasSuffix(marker, proc.Mark("", st.ExecutionDir(id))) {
			return id
		}
	}
}

// repositories turns the configured ones into those of a pass.
func repositories(cfg *config.Config) (pass.Repositories, error) {
	if err := unserved(cfg); err != nil {
		return nil, err
	}
	all := make(pass.Repositories, len(cfg.Repositories))
	for i := range cfg.Repositories {
		r := &cfg.Repositories[i]
		if glob := work.MatchAny(r.ProtectedPaths, strings.ReplaceAll(r.PlanPath, "{id}", "x")); glob != "" && r.PlanAs == work.PlanAsPull {
			return nil, usage("plan_path of %s is protected (%s), so that no plan could be published there: write another path", r.Name(), glob)
		}
		id, url := uniqueID(filepath.Base(r.Path), all), ""
		if r.Slug != "" {
			id, url = uniqueID(strings.ReplaceAll(r.Slug, "/", "-"), all), cloneURL(cfg, r.Slug)
		}
		all[id] = pass.Repository{
			Repository: workspace.Repository{ID: id, Path: r.Path, URL: url, Base: r.Base, Author: cfg.Git.Author, Sign: cfg.Git.Sign},
			Slug:       r.Slug,
			Remote:     func(slug string) string { return cloneURL(cfg, slug) },
			Policy:     policy(cfg, r),
			Strategy:   r.Merge,
			Parts:      r.SubIssues,
			Gates:      gates(cfg, r),
		}
	}
	return all, nil
}

// unserved are settings that this version knows and does nothing with. Taking
// them in silence would promise what is not kept.
func unserved(cfg *config.Config) error {
	var keys []string
	add := func(set bool, key string) {
		if set {
			keys = append(keys, key)
		}
	}
	add(len(cfg.MCP) > 0, "[mcp]")
	add(len(cfg.Capabilities) > 0, "[capability]")
	add(len(cfg.Notifiers) > 0, "[notify]")
	add(cfg.Tick.Prioritizer, "[tick] prioritizer")
	for _, r := range cfg.Repositories {
		add(r.WorkLog != "", "work_log of "+r.Name())
		add(len(r.Generated) > 0, "generated of "+r.Name())
	}
	if len(keys) == 0 {
		return nil
	}
	return usage("these settings are not served by this version yet, so take them out: %s", strings.Join(keys, ", "))
}

// uniqueID makes an id of a repository from its folder's name.
func uniqueID(name string, taken pass.Repositories) string {
	id := strings.Map(func(r rune) rune {
		if work.BadID("x"+string(r)+"x") != "" {
			return '-'
		}
		return r
	}, name)
	if id = strings.Trim(id, "-."); id == "" {
		id = "repository"
	}
	for n := 2; ; n++ {
		if _, there := taken[id]; !there {
			return id
		}
		id = fmt.Sprintf("%s-%d", strings.TrimSuffix(id, fmt.Sprintf("-%d", n-1)), n)
	}
}

func policy(cfg *config.Config, r *config.Repository) work.Policy {
	p := work.Policy{
		ApprovePlans: r.PlanApproval == "required", PlanAs: r.PlanAs, PlanPath: r.PlanPath, Discovery: r.Discovery, Assess: len(cfg.Roles.Assessor) > 0,
		Gates: make(map[string]bool), ProtectedPaths: r.ProtectedPaths, ExclusiveAreas: r.ExclusiveAreas, MaxDiffLines: r.MaxDiffLines,
		CheckBefore: make(map[work.Status]bool), AutoMerge: cfg.Mainline.AutoMerge,
		Limits: work.Limits{
			Attempts: cfg.Retry.Attempts, GateRetries: cfg.Retry.GateRetries, RepairRounds: cfg.Retry.RepairRounds,
			EscalateAfter: cfg.Retry.EscalateAfter, ReviewRounds: cfg.Retry.ReviewRounds, ConflictRounds: cfg.Retry.ConflictRounds,
		},
	}
	for name := range gates(cfg, r) {
		p.Gates[name] = true
	}
	for _, phase := range cfg.Mainline.CheckBefore {
		p.CheckBefore[work.Status(phase)] = true
	}
	return p
}

// gates are the gates that a repository has commands for.
func gates(cfg *config.Config, r *config.Repository) map[string]gate.Gate {
	found := make(map[string]gate.Gate)
	for _, name := range []string{work.GateFast, work.GateFull} {
		configured, ok := cfg.Gate(r, name)
		if !ok {
			continue
		}
		g := gate.Gate{Name: name, Timeout: configured.Timeout}
		for i, group := range configured.Order() {
			for _, s := range group {
				g.Steps = append(g.Steps, gate.Step{
					Name: s.Name, Run: s.Run, Timeout: s.Timeout, Retries: s.Retries, RetryCodes: s.RetryCodes,
					Dir: s.Dir, Env: s.Env, Group: groupName(i, group),
				})
				if s.Coverage != nil {
					g.Coverage = append(g.Coverage, gate.Coverage{File: s.Coverage.File, Format: s.Coverage.Format, Minimum: s.Coverage.Minimum})
				}
			}
		}
		found[name] = g
	}
	return found
}

// groupName marks the steps that run at once; a step alone needs no mark.
func groupName(i int, group []config.Step) string {
	if len(group) < 2 {
		return ""
	}
	return fmt.Sprintf("group %d", i+1)
}

// crew makes the agents and who may do what.
func crew(cfg *config.Config, self []string) (*agent.Pool, error) {
	var agents []*agent.Agent
	for _, name := range cfg.AgentNames() {
		a := cfg.Agents[name]
		c := agent.Config{
			Name: name, Preset: orName(a.Preset, name), Model: a.Model, Command: a.Command, Args: a.Args, Wrap: a.Wrap, Env: a.Env,
			Slots: a.Slots, MaxTurns: a.MaxTurns, Timeout: a.Timeout, Idle: a.IdleTimeout, MaxOutput: int64(a.MaxOutputMB) << 20,
		}
		if a.Price != nil {
			c.Price = &agent.Price{Input: a.Price.Input, CacheRead: a.Price.CacheRead, Output: a.Price.Output}
		}
		made, err := agent.New(c, self)
		if err != nil {
			return nil, err
		}
		agents = append(agents, made)
	}
	roles := make(map[work.Role][]string)
	for _, role := range work.Roles {
		roles[role] = cfg.AgentsFor(string(role))
	}
	pool, err := agent.NewPool(agents, roles)
	if err != nil {
		return nil, err
	}
	for _, a := range agents {
		if err := a.Missing(); err != nil {
			pool.Without(a.Name(), err.Error())
		}
	}
	return pool, nil
}

func orName(preset, name string) string {
	if preset == "" {
		return name
	}
	return preset
}

// self is how backburner starts itself.
func self() ([]string, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return []string{path}, nil
}

// collaborators builds what a pass works with; done gives back what it holds.
func collaborators(cfg *config.Config, st *store.Store, log *slog.Logger) (with pass.Collaborators, done func() error, err error) {
	me, err := self()
	if err != nil {
		return with, nil, err
	}
	agents, err := crew(cfg, me)
	if err != nil {
		return with, nil, &codeError{exitUsage, err}
	}
	trees, err := ownWorkspaces(cfg, st)
	if err != nil {
		return with, nil, err
	}
	return pass.Collaborators{
		Store:      st,
		Workspaces: trees,
		Agents:     agents,
		Gates:      gate.New(me, proc.Environment(os.Environ(), nil), wrapper(cfg)),
		Forge:      local.Forge{SpecsDir: cfg.Forge.SpecsDir},
		Hub:        hub(cfg),
		Log:        log,
		Now:        time.Now,
	}, trees.Close, nil
}

// workspaces are the stores and workspaces below the configured root, for looking.
func workspaces(cfg *config.Config) *workspace.Manager {
	return workspace.New(cfg.Workspace.Root, git.New(gitOptions(cfg)), time.Now)
}

// ownWorkspaces are those of a state, for whoever changes them.
func ownWorkspaces(cfg *config.Config, st *store.Store) (*workspace.Manager, error) {
	state, err := filepath.EvalSymlinks(cfg.State.Dir)
	if err != nil {
		return nil, err
	}
	return workspaces(cfg).OwnedBy(workspace.Owner{State: state, Made: st.Made()}), nil
}

// wrapper is what gates are run under, since they run the work's own code: the
// same as the agent that is preferred for building.
func wrapper(cfg *config.Config) []string {
	for _, name := range cfg.AgentsFor(string(work.Builder)) {
		return cfg.Agents[name].Wrap
	}
	return nil
}

// settings are the caps of one tick.
func settings(cfg *config.Config, tick string, started time.Time) pass.Settings {
	b := cfg.Budget
	return pass.Settings{
		Tick: tick, MaxActive: cfg.Tick.MaxActive, MaxAgents: cfg.Tick.MaxAgents, MaxGates: cfg.Tick.MaxGates,
		Queue: cfg.Tick.Queue, BranchPrefix: "backburner/", Deadline: started.Add(cfg.Tick.Deadline),
		Budget: pass.Budget{
			Caps: budget.Caps{
				Task:         budget.Cap{USD: b.TaskUSD, Tokens: int64(b.TaskTokens), Sessions: b.TaskSessions, Time: b.TaskTime},
				Workstream:   budget.Cap{USD: b.WorkstreamUSD, Tokens: int64(b.WorkstreamTokens), Sessions: b.WorkstreamSessions, Time: b.WorkstreamTime},
				Tick:         budget.Cap{USD: b.TickUSD, Tokens: int64(b.TickTokens), Sessions: b.TickSessions, Time: b.TickTime},
				Day:          budget.Cap{USD: b.DayUSD, Tokens: int64(b.DayTokens), Sessions: b.DaySessions, Time: b.DayTime},
				AlertPercent: b.AlertPercent,
			},
			Windows: windows(b),
		},
		Retention: retention(cfg),
	}
}

func retention(cfg *config.Config) store.RetentionPolicy {
	r := cfg.Retention
	return store.RetentionPolicy{
		Executions: days(r.ExecutionsDays), ExecutionBytes: int64(r.ExecutionsMB) << 20,
		Archive: days(r.ArchiveDays), Requests: days(r.ExecutionsDays), Ticks: days(r.ArchiveDays),
	}
}

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

// windows are the working hours without the freezes.
func windows(b config.Budget) []budget.Window {
	all := []budget.Window{b.Hours}
	for _, f := range b.Freeze {
		all = append(all, f)
	}
	return all
}
