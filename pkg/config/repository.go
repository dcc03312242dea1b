package config

// Repository is one managed repository: on GitHub (Slug) or local (Path).
type Repository struct {
	Slug           string            `toml:"slug" example:"\"acme/shop\"" check:"slug" doc:"\"owner/name\" on GitHub; leave out for a local repository"`
	Path           string            `toml:"path" example:"\".\"" check:"path" doc:"a local repository instead of a slug"`
	Base           string            `toml:"base" default:"main" check:"branch" doc:"branch that work starts from and goes back to"`
	PlanApproval   string            `toml:"plan_approval" default:"required" enum:"required,auto" doc:"whether a person approves each plan"`
	PlanAs         string            `toml:"plan_as" default:"comment" enum:"comment,pull_request,file" doc:"how a plan is published"`
	PlanPath       string            `toml:"plan_path" default:"docs/plans/{id}.md" check:"id_path" doc:"file of the plan in its branch, with plan_as = \"pull_request\"; it lands with the work"`
	SubIssues      bool              `toml:"sub_issues" default:"false" doc:"on GitHub, the increments of a plan become sub-issues of its issue"`
	Discovery      string            `toml:"discovery" default:"off" enum:"off,auto,required" doc:"propose a direction before planning; \"required\" waits for approval"`
	Merge          string            `toml:"merge" default:"squash" enum:"merge,squash,rebase" doc:"strategy of merge"`
	WorkLog        string            `toml:"work_log" example:"\"docs/work/{id}.md\"" check:"id_path" doc:"file kept in the branch with one entry per step"`
	MaxDiffLines   int               `toml:"max_diff_lines" default:"4000" min:"0" max:"10000000" doc:"changed lines above which work is not published; 0: no limit"`
	ProtectedPaths []string          `toml:"protected_paths" default:".github/workflows/**,CODEOWNERS" check:"glob" doc:"changes here are not published"`
	ExclusiveAreas []string          `toml:"exclusive_areas" example:"[\"db/migrations/**\"]" check:"glob" doc:"only one plan at a time may touch each of these"`
	Generated      []Generated       `toml:"generated" example:"[{ paths = [\"go.sum\"], run = [\"go\", \"mod\", \"tidy\"] }]" doc:"files made by a command, which is run again instead of merging them"`
	Gates          map[string]string `toml:"gates" example:"{ full = \"full-web\" }" doc:"gates of this repository that are not the common ones: purpose -> gate"`
}

// Generated are files that a command makes from others.
type Generated struct {
	Paths []string `toml:"paths" example:"[\"go.sum\"]" check:"glob" required:"true" doc:"the generated files"`
	Run   []string `toml:"run" example:"[\"go\", \"mod\", \"tidy\"]" check:"argv" required:"true" doc:"command and arguments that make them"`
}

// Name is what people know the repository by: its slug, else its path.
func (r *Repository) Name() string {
	if r.Slug != "" {
		return r.Slug
	}
	return r.Path
}

// WithRepository is c with the local repository at path, with all defaults, when
// none is configured; else it is c. The caller sets Base to the branch it found.
func (c *Config) WithRepository(path string) *Config {
	if len(c.Repositories) > 0 {
		return c
	}
	added := *c
	repo := newWithDefaults[Repository]()
	repo.Path = path
	added.Repositories = []Repository{repo}
	return &added
}
