package work_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/work"
)

// answers are results by a name for what is in them.
func answers(status string) map[string]*work.Result {
	return map[string]*work.Result{
		"bare":         {Status: status},
		"said":         {Status: status, Summary: "so it is"},
		"asked":        {Status: status, Questions: []string{"Which?"}},
		"plan":         {Status: status, Plan: plan(1)},
		"bad plan":     {Status: status, Plan: &work.Plan{Summary: "x"}},
		"asking plan":  {Status: status, Plan: &work.Plan{Questions: []string{"Which?"}}},
		"review":       {Status: status, Review: &work.Review{Verdict: "comment", Body: "fine"}},
		"odd review":   {Status: status, Review: &work.Review{Verdict: "LGTM"}},
		"assessment":   {Status: status, Assessment: &work.Assessment{Reason: "done"}},
		"blank asking": {Status: status, Questions: []string{" ", ""}},
	}
}

// accepts lists which answers are fine for a kind of task, when they are done
// or say that nothing had to change.
var accepts = map[work.TaskKind][]string{
	work.MakePlan:      {"plan", "asking plan"},
	work.BreakDownPlan: {"plan", "asking plan"},
	work.Assess:        {"assessment"},
	work.ReviewPR:      {"review"},
}

func TestWhichResultsAreAccepted(t *testing.T) {
	for _, kind := range taskKinds {
		for _, status := range []string{work.ResultDone, work.ResultNoChange, work.ResultNeedsInput, work.ResultBlocked, "", "Done", "ok"} {
			for name, r := range answers(status) {
				var fine bool
				switch status {
				case work.ResultDone, work.ResultNoChange:
					fine = accepts[kind] == nil || slices.Contains(accepts[kind], name)
				case work.ResultNeedsInput:
					fine = name == "asked" || name == "asking plan"
				case work.ResultBlocked:
					fine = name == "said"
				}
				if got := r.Problems(kind); fine != (len(got) == 0) {
					t.Errorf("%s, %s, %s: %q", kind, status, name, got)
				}
			}
		}
	}
}

func TestResultProblemsSayWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		kind   work.TaskKind
		result work.Result
		want   []string
	}{
		{work.Implement, work.Result{}, []string{"status: missing; one of done, needs_input, blocked, no_change"}},
		{work.Implement, work.Result{Status: "ok\x1b"}, []string{`status: "ok\x1b"; one of done, needs_input, blocked, no_change`}},
		{work.Implement, work.Result{Status: work.ResultNeedsInput}, []string{"questions: needs_input without a question"}},
		{work.Implement, work.Result{Status: work.ResultBlocked, Summary: " "}, []string{"summary: blocked without a reason"}},
		{work.MakePlan, work.Result{Status: work.ResultDone}, []string{"plan: missing"}},
		{work.MakePlan, work.Result{Status: work.ResultDone, Plan: &work.Plan{Summary: "x", Files: work.PlanFiles{Create: []string{"a"}}}},
			[]string{"plan: acceptance_criteria: missing"}},
		{work.Assess, work.Result{Status: work.ResultDone}, []string{"assessment: missing"}},
		{work.ReviewPR, work.Result{Status: work.ResultDone}, []string{"review: missing"}},
		{work.ReviewPR, work.Result{Status: work.ResultDone, Review: &work.Review{Verdict: "lgtm"}},
			[]string{`review: verdict "lgtm"; one of approve, comment, request_changes`}},
	} {
		if got := c.result.Problems(c.kind); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.kind, got, c.want)
		}
	}
	long := work.Result{Status: strings.Repeat("x", 1<<20)}
	if got := long.Problems(work.Implement); len(got) != 1 || len(got[0]) > 200 {
		t.Errorf("a status of a megabyte is repeated in full")
	}
}

func TestEveryVerdictOfAReview(t *testing.T) {
	for _, v := range []string{"approve", "comment", "request_changes"} {
		r := work.Result{Status: work.ResultDone, Review: &work.Review{Verdict: v}}
		if got := r.Problems(work.ReviewPR); got != nil {
			t.Errorf("%s: %q", v, got)
		}
	}
}

func TestAllQuestions(t *testing.T) {
	r := work.Result{Questions: []string{" a ", "", "b"}, Plan: &work.Plan{Questions: []string{"c", "\n"}}}
	if got := r.AllQuestions(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("questions %q", got)
	}
	if !slices.Equal(r.Questions, []string{" a ", "", "b"}) {
		t.Errorf("asking for them changed them: %q", r.Questions)
	}
	r = work.Result{Questions: slices.Repeat([]string{"x"}, 100)}
	if got := len(r.AllQuestions()); got != 20 {
		t.Errorf("%d questions are put to people", got)
	}
	if got := (&work.Result{}).AllQuestions(); len(got) != 0 {
		t.Errorf("questions of nothing: %q", got)
	}
}
