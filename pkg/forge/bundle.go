package forge

import "github.com/backburner-cli/backburner/pkg/work"

// Bundle is what a person needs to judge a finished piece of work without a
// forge that shows it.
type Bundle struct {
	Workstream string
	Title      string
	Branch     string
	Base       string // commit the difference is against
	Head       string // commit to judge
	Diff       []byte // a patch from Base to Head
	Log        []byte // of the commits, for people
	Plan       *work.Plan
	Revision   int // of the plan
	Gates      []work.Evidence
	Summary    string // what the agents say was done, Markdown
	Next       string // the exact command that merges it; "" when there is none
}
