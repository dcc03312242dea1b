package prompt

import (
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// Prioritize is the kind of the one question that belongs to no workstream: in which order the queue should be worked on.
const Prioritize work.TaskKind = "prioritize"

// Packet is everything an agent is told about its task. All of it is optional but Task.ID and Workstream.ID.
type Packet struct {
	Task       Task       `json:"task"`
	Workstream Workstream `json:"workstream"`
	Repository Repository `json:"repository"`

	Spec        Spec         `json:"spec"`
	Plan        *work.Plan   `json:"plan,omitempty"`
	Revision    int          `json:"plan_revision,omitempty"`
	PlanFile    string       `json:"plan_file,omitempty"` // that people may have changed the plan in, from the root of the repository
	Increment   *Increment   `json:"increment,omitempty"`
	Gate        *Gate        `json:"gate,omitempty"`
	Conflict    *Conflict    `json:"conflict,omitempty"`
	PullRequest *PullRequest `json:"pull_request,omitempty"`
	Reviews     []Remark     `json:"reviews,omitempty"` // to address
	Thread      []Remark     `json:"thread,omitempty"`  // oldest first
	Answers     []Answer     `json:"answers,omitempty"`
	Queue       []Queued     `json:"queue,omitempty"` // of a Prioritize

	Exclusions   []string `json:"exclusions,omitempty"`      // capabilities a person decided to do without
	Protected    []string `json:"protected_paths,omitempty"` // globs nobody may change
	Forbidden    []string `json:"forbidden_areas,omitempty"` // globs that other work in progress claims
	GateCommands []string `json:"gate_commands,omitempty"`   // what backburner will run on the result
	Memory       string   `json:"memory,omitempty"`          // of the workstream
	Instructions string   `json:"instructions,omitempty"`    // from the configuration: trusted

	// Contract is the JSON schema of the answer; Build sets it.
	Contract any `json:"output_contract,omitempty"`
}

// Task is what is asked.
type Task struct {
	ID      string        `json:"id"`
	Kind    work.TaskKind `json:"kind"`            // Build sets it
	Role    work.Role     `json:"role"`            // Build sets it
	Words   string        `json:"words,omitempty"` // what a person, or the last failure, had to say
	Attempt int           `json:"attempt,omitempty"`
}

// Workstream is whose task it is.
type Workstream struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Branch string `json:"branch,omitempty"`
}

// Repository is where the work is done.
type Repository struct {
	Name   string `json:"name"` // slug or path
	Base   string `json:"base"` // branch
	Commit string `json:"base_commit,omitempty"`
}

// Spec is the text the work is done from.
type Spec struct {
	Source string `json:"source,omitempty"`
	Body   string `json:"body,omitempty"`
	Hash   string `json:"hash,omitempty"`
}

// Increment is the step of the plan that is due.
type Increment struct {
	Number int `json:"number"` // from 1
	Of     int `json:"of"`
	work.Increment
}

// Gate is a red gate whose cause is to be removed.
type Gate struct {
	Name   string `json:"name"`
	Reason string `json:"reason,omitempty"`
	Log    string `json:"log,omitempty"` // its end is kept
}

// Conflict is a merge that git could not finish.
type Conflict struct {
	Ours  string   `json:"ours,omitempty"` // commit
	Base  string   `json:"base"`           // commit
	Files []string `json:"files,omitempty"`
}

// PullRequest is one that is reviewed or prepared.
type PullRequest struct {
	Number int    `json:"number,omitempty"`
	Title  string `json:"title,omitempty"`
	Author string `json:"author,omitempty"`
	Body   string `json:"body,omitempty"`
	Head   string `json:"head"` // commit
	Base   string `json:"base"` // commit it is compared with
}

// Remark is a comment of the thread, or of a review when it has a path.
type Remark struct {
	Author string    `json:"author"`
	At     time.Time `json:"at,omitzero"`
	Path   string    `json:"path,omitempty"`
	Line   int       `json:"line,omitempty"`
	Body   string    `json:"body"`
}

// Answer is what a person answered to a question of an agent.
type Answer struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
	By       string `json:"by,omitempty"`
}

// Queued is a workstream that waits to be started.
type Queued struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Priority int    `json:"priority"`
	Summary  string `json:"summary,omitempty"`
}

// The most bytes of what can be long.
const (
	maxSpec     = 96 << 10
	maxLog      = 32 << 10
	maxRemark   = 8 << 10
	maxRemarks  = 40 // the newest
	maxMemory   = 16 << 10
	maxShort    = 2 << 10
	maxList     = 500
	maxQueue    = 200
	maxPlanText = 64 << 10
)

var objectID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`) })

// check refuses what the prompt would put into a command line for the agent, unless it is a git object id.
func (p Packet) check() error {
	ids := map[string]string{"repository.base_commit": p.Repository.Commit}
	if p.Conflict != nil {
		ids["conflict.base"], ids["conflict.ours"] = p.Conflict.Base, p.Conflict.Ours
	}
	if p.PullRequest != nil {
		ids["pull_request.base"], ids["pull_request.head"] = p.PullRequest.Base, p.PullRequest.Head
	}
	for field, id := range ids {
		if id != "" && !objectID().MatchString(id) {
			return fmt.Errorf("packet of %s: %s: %.80q is not a git object id", p.Task.ID, field, id)
		}
	}
	return nil
}

// cleaned is the packet with every text from outside cleaned and cut. Nothing of p is changed.
func (p Packet) cleaned() Packet {
	p.Task.Words = head(Clean(p.Task.Words), maxRemark)
	p.Workstream.Title = short(p.Workstream.Title)
	p.Spec.Body = head(Clean(p.Spec.Body), maxSpec)
	p.Spec.Source = short(p.Spec.Source)
	p.Memory = tail(Clean(tail(p.Memory, 2*maxMemory)), maxMemory)
	p.Thread = remarks(p.Thread)
	p.Reviews = remarks(p.Reviews)
	if p.Gate != nil {
		g := *p.Gate
		g.Log, g.Reason = tail(Clean(tail(g.Log, 2*maxLog)), maxLog), short(g.Reason)
		p.Gate = &g
	}
	if p.PullRequest != nil {
		pr := *p.PullRequest
		pr.Title, pr.Author, pr.Body = short(pr.Title), short(pr.Author), head(Clean(pr.Body), maxSpec)
		p.PullRequest = &pr
	}
	if p.Conflict != nil {
		c := *p.Conflict
		c.Files = lines(c.Files)
		p.Conflict = &c
	}
	if p.Increment != nil {
		inc := *p.Increment
		inc.Title, inc.Files, inc.AcceptanceCriteria = short(inc.Title), lines(inc.Files), lines(inc.AcceptanceCriteria)
		p.Increment = &inc
	}
	answers := make([]Answer, 0, len(p.Answers))
	for _, a := range p.Answers {
		answers = append(answers, Answer{Question: head(Clean(a.Question), maxRemark), Answer: head(Clean(a.Answer), maxRemark), By: short(a.By)})
	}
	p.Answers = answers
	queue := make([]Queued, 0, len(p.Queue))
	for _, q := range p.Queue[:min(len(p.Queue), maxQueue)] {
		q.Title, q.Summary = short(q.Title), short(q.Summary)
		queue = append(queue, q)
	}
	p.Queue = queue
	p.Exclusions, p.Protected, p.Forbidden, p.GateCommands = lines(p.Exclusions), lines(p.Protected), lines(p.Forbidden), lines(p.GateCommands)
	return p
}

// remarks are the newest of a thread, each cleaned and cut.
func remarks(all []Remark) []Remark {
	all = all[max(0, len(all)-maxRemarks):]
	out := make([]Remark, 0, len(all))
	for _, r := range all {
		r.Author, r.Path, r.Body = short(r.Author), short(r.Path), head(Clean(r.Body), maxRemark)
		out = append(out, r)
	}
	return out
}

func lines(list []string) []string {
	out := make([]string, 0, len(list))
	for _, s := range list[:min(len(list), maxList)] {
		out = append(out, short(s))
	}
	return out
}

// short is a text for one line.
func short(s string) string { return work.Clip(work.Printable(Clean(s)), maxShort) }
