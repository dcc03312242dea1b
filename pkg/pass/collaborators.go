package pass

import (
	"context"
	"io"
	"time"

	"github.com/backburner-cli/backburner/pkg/budget"
	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/gate"
	"github.com/backburner-cli/backburner/pkg/git"
	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/work"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// Store keeps the board on disk.
type Store interface {
	Save(*work.Workstream) error
	SaveRepository(*work.Repository) error
	SaveAgents(*work.AgentStates) error
	SaveLedger(*work.Ledger) error

	Requests() ([]*work.Request, []store.Quarantined, error)
	RequestNames() ([]string, error)
	Submit(*work.Request) error
	SaveRequest(*work.Request) error
	SettleRequest(*work.Request) error

	NewExecutionDir(id string) (string, error)
	ExecutionDir(id string) string
	SaveExecution(*work.Execution) error
	Execution(id string) (*work.Execution, error)

	Folder(workstream string) string
	Memory(workstream string) (string, error)
	AppendMemory(workstream, text string, limit int) error

	Archive(*work.Workstream) error
	Unarchive(id string) (*work.Workstream, error)
	Workstream(id string) (w *work.Workstream, archived bool, err error)
	AppendTick(work.Tick) error
	Expire(now time.Time, p store.RetentionPolicy) (removed int, err error)
	ExpireDue(now time.Time) bool
	Known(workstream string) bool
}

// Workspaces are the stores and workspaces of the repositories.
type Workspaces interface {
	Sync(ctx context.Context, r workspace.Repository, branches ...string) (workspace.Base, error)
	Prepare(ctx context.Context, r workspace.Repository, w workspace.Workspace) (workspace.Prepared, error)
	PreparePull(ctx context.Context, r workspace.Repository, w workspace.Workspace, number int) (workspace.Prepared, error)
	Checkpoint(ctx context.Context, r workspace.Repository, w workspace.Workspace, message string) (workspace.Checkpoint, error)
	Verify(ctx context.Context, r workspace.Repository, w workspace.Workspace) (workspace.State, error)
	Restore(ctx context.Context, r workspace.Repository, w workspace.Workspace, task string) (workspace.Restored, error)
	Mainline(ctx context.Context, r workspace.Repository, ours, base string) (workspace.Mainline, error)
	PutFile(ctx context.Context, r workspace.Repository, w workspace.Workspace, path string, content []byte, message string) (workspace.Checkpoint, error)
	MergeMainline(ctx context.Context, r workspace.Repository, w workspace.Workspace, message string) (workspace.Checkpoint, error)
	Forward(ctx context.Context, r workspace.Repository, branch, sha string) (workspace.Published, error)
	Publish(ctx context.Context, r workspace.Repository, branch, sha, old string) (workspace.Published, error)
	Diff(ctx context.Context, r workspace.Repository, base, head string, limit int64) (workspace.Review, error)
	Outgoing(ctx context.Context, r workspace.Repository, head string, known []string, look io.Writer) (large []string, err error)
	Flatten(ctx context.Context, r workspace.Repository, head string, known []string, message string, look io.Writer) (flat string, large []string, err error)
	Log(ctx context.Context, r workspace.Repository, base, head string, limit int) ([]git.LogEntry, error)
	MergeBase(ctx context.Context, r workspace.Repository, a, b string) (string, error)
	Merge(ctx context.Context, r workspace.Repository, m workspace.MergeRequest) (workspace.Merged, error)
	ReturnSalvage(ctx context.Context, r workspace.Repository, w workspace.Workspace, s workspace.Salvage, message string) (workspace.Checkpoint, error)
	Remove(ctx context.Context, r workspace.Repository, id string) error
	CleanLeftovers(ctx context.Context, keep time.Duration) (workspace.Leftovers, error)
	ExpireSalvages(ctx context.Context, before time.Time, known func(workspace string) bool, dry bool) ([]string, error)
	Anew() []string
	Path(id string) string
}

// Gates run commands that must pass.
type Gates interface {
	Run(ctx context.Context, c gate.Call) gate.Outcome
	End(ctx context.Context, dir string) error // of a dead tick
}

// Forge is where people talk about the work.
type Forge interface {
	Specs(ctx context.Context, repository string, known map[string]work.SpecFile) ([]forge.Spec, []forge.Problem, error)
	Tell(ctx context.Context, folder string, n work.Notice) error
	Comment(ctx context.Context, folder string, e forge.Entry) error
	Thread(folder string, limit int) (string, error)
	WritePlan(ctx context.Context, folder, text string) error
	WriteBundle(ctx context.Context, folder string, b forge.Bundle) error
}

// Observer watches a pass as it goes, for live progress.
type Observer interface {
	Started(execution, what string, at time.Time)
	Finished(work.Execution)
}

// Repository is one managed repository and what its configuration says.
type Repository struct {
	workspace.Repository
	Slug     string                   // on the hub: owner/name; "" when it is not there
	Remote   func(slug string) string // where git finds it there
	Taken    error                    // another repository has its name on the hub: nothing is fetched or pushed
	Specs    string                   // folder of spec files; "" when it has none
	Policy   work.Policy
	Strategy string               // of merges: merge, squash, rebase
	Parts    bool                 // the increments of a plan become issues of their own on the hub
	Gates    map[string]gate.Gate // those configured, by name
}

// Repositories are the managed ones by id.
type Repositories map[string]Repository

// Budget is what may be spent, and when agents may start.
type Budget struct {
	Caps    budget.Caps
	Windows []budget.Window
}
