package work

import (
	"fmt"
	"strings"
)

// Result is the contract of every agent: what it answers, whatever CLI it is.
type Result struct {
	Status        string      `json:"status" jsonschema:"done, needs_input, blocked or no_change"`
	Summary       string      `json:"summary,omitempty" jsonschema:"what was done or found, for people"`
	Questions     []string    `json:"questions,omitempty" jsonschema:"with needs_input: what only a person can decide"`
	CommitMessage string      `json:"commit_message,omitempty" jsonschema:"for what was left uncommitted"`
	Plan          *Plan       `json:"plan,omitempty"`
	Review        *Review     `json:"review,omitempty"`
	Assessment    *Assessment `json:"assessment,omitempty"`
	Order         []string    `json:"order,omitempty"`
	Memory        string      `json:"memory,omitempty" jsonschema:"what later tasks of this work should know: decisions, commands that work, pitfalls"`
	SessionID     string      `json:"session_id,omitempty"`
	Usage         Usage       `json:"usage,omitzero"`
}

// Review is a reviewer's answer.
type Review struct {
	Verdict  string          `json:"verdict"` // approve, comment, request_changes
	Body     string          `json:"body"`
	Comments []ReviewComment `json:"comments,omitempty"`
}

// ReviewComment is tied to a line of the new side.
type ReviewComment struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Body string `json:"body"`
}

// Assessment says whether building goes on.
type Assessment struct {
	Continue bool   `json:"continue"`
	Reason   string `json:"reason"`
}

// The statuses of a result.
const (
	ResultDone       = "done"
	ResultNeedsInput = "needs_input"
	ResultBlocked    = "blocked"
	ResultNoChange   = "no_change"
)

const maxQuestions = 20

// Problems is everything that is wrong with a result for a kind of task; none
// when it can be accepted.
func (r *Result) Problems(kind TaskKind) []string {
	var out []string
	switch r.Status {
	case ResultDone, ResultNoChange:
	case ResultNeedsInput:
		if !anyText(r.AllQuestions()) {
			out = append(out, "questions: needs_input without a question")
		}
		return out
	case ResultBlocked:
		if strings.TrimSpace(r.Summary) == "" {
			out = append(out, "summary: blocked without a reason")
		}
		return out
	case "":
		return []string{"status: missing; one of done, needs_input, blocked, no_change"}
	default:
		return []string{fmt.Sprintf("status: %.40q; one of done, needs_input, blocked, no_change", r.Status)}
	}
	switch kind {
	case MakePlan, BreakDownPlan:
		out = append(out, r.Plan.Problems()...)
	case Assess:
		if r.Assessment == nil {
			out = append(out, "assessment: missing")
		}
	case ReviewPR:
		out = append(out, r.Review.problems()...)
	}
	return out
}

// AllQuestions are the result's own and its plan's, blank ones left out.
func (r *Result) AllQuestions() []string {
	all := append([]string{}, r.Questions...)
	if r.Plan != nil {
		all = append(all, r.Plan.Questions...)
	}
	kept := all[:0]
	for _, q := range all {
		if q = strings.TrimSpace(q); q != "" && len(kept) < maxQuestions {
			kept = append(kept, q)
		}
	}
	return kept
}

func (r *Review) problems() []string {
	if r == nil {
		return []string{"review: missing"}
	}
	switch r.Verdict {
	case "approve", "comment", "request_changes":
		return nil
	}
	return []string{fmt.Sprintf("review: verdict %.40q; one of approve, comment, request_changes", r.Verdict)}
}
