package work

// Policy is what the configuration says about the work on one repository.
type Policy struct {
	ApprovePlans   bool            // a person approves every plan
	PlanAs         string          // where a plan is published: PlanAsComment, ...
	PlanPath       string          // of its file with PlanAsPull; {id} stands for the workstream's id
	Discovery      string          // off, auto, required
	Assess         bool            // an assessor looks between increments
	Gates          map[string]bool // those configured
	ProtectedPaths []string        // globs nobody but people may change
	ExclusiveAreas []string        // globs that one plan at a time may touch
	MaxDiffLines   int             // 0: no cap
	CheckBefore    map[Status]bool // phases before which the base is looked at
	AutoMerge      bool            // a base that moved is merged into the branch
	Limits         Limits
}

// Act is what a step asks the pass to do.
type Act string

// The acts.
const (
	Nothing    Act = ""        // wait; Step.Why says for what
	RunAgent   Act = "agent"   // dispatch Step.Task, or a new task of Step.Kind
	RunGate    Act = "gate"    // run Step.Gate on the workstream's commit
	FilePlan   Act = "plan"    // commit the plan as a file on the branch
	Publish    Act = "publish" // bring the branch to the repository
	PostReview Act = "review"  // put Workstream.Drafted on the pull request
	MoveOn     Act = "move"    // change the status to Step.To for Step.Reason
	Land       Act = "merge"   // a person asked for the merge
	NextPiece  Act = "advance" // the increment is built; begin the next one
)

// Step is what happens next to a workstream, and in words why, or why not.
type Step struct {
	Act     Act
	Task    *Task       // RunAgent: nil when it has to be made
	Kind    TaskKind    // RunAgent
	Context TaskContext // RunAgent, for a task to be made
	Gate    string      // RunGate
	To      Status      // MoveOn
	Reason  Reason      // MoveOn
	Why     string      // one clause for people, without a full stop
}

func wait(why string) Step { return Step{Why: why} }

func move(to Status, code, detail string) Step {
	return Step{Act: MoveOn, To: to, Reason: Reason{code, detail}, Why: "go on to " + string(to) + ": " + detail}
}
