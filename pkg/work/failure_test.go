package work_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

var taskKinds = []work.TaskKind{work.AnalyzeIssue, work.MakePlan, work.BreakDownPlan, work.Implement, work.Assess, work.Verify,
	work.ReviewPR, work.AddressReview, work.Respond, work.Reconcile, work.PreparePR}

// verdicts are what becomes of a task after a failure, for three attempts: by
// class, and by the attempts used up before. %s is the kind of task.
var verdicts = map[work.Class][3]work.Verdict{
	work.ClassInterrupted: same(work.Verdict{Again: true}),
	work.ClassQuota:       same(work.Verdict{Again: true, Park: true}),
	work.ClassMCP:         same(work.Verdict{Again: true, Hold: "mcp"}),
	work.ClassAuth:        same(work.Verdict{Again: true, Park: true}),
	work.ClassTransient:   untilExhausted,
	work.ClassTimeout:     untilExhausted,
	work.ClassStalled:     untilExhausted,
	work.ClassKilled:      untilExhausted,
	work.ClassOrdinary:    untilExhausted,

	work.ClassOutputInvalid:    same(work.Verdict{Charged: true, Stop: "output_invalid"}),
	work.ClassNoWork:           same(work.Verdict{Charged: true, Stop: "no_progress"}),
	work.ClassPermissionDenied: same(exhausted),
	work.ClassPreDispatch:      same(exhausted),
	work.ClassHandover:         same(exhausted),
	work.ClassGate:             same(exhausted),
}

var (
	exhausted      = work.Verdict{Charged: true, Stop: "attempts_exhausted:%s"}
	untilExhausted = [3]work.Verdict{
		{Again: true, Charged: true, Hold: "backoff", Wait: time.Minute},
		{Again: true, Charged: true, Hold: "backoff", Wait: 2 * time.Minute},
		exhausted,
	}
)

func same(v work.Verdict) [3]work.Verdict { return [3]work.Verdict{v, v, v} }

func TestJudgeEveryFailure(t *testing.T) {
	if len(verdicts) != len(work.Classes) {
		t.Fatalf("%d classes in the test, %d in the code", len(verdicts), len(work.Classes))
	}
	for _, kind := range taskKinds {
		for _, class := range work.Classes {
			for attempts, want := range verdicts[class] {
				if want.Stop == exhausted.Stop {
					want.Stop = fmt.Sprintf(want.Stop, kind)
				}
				got := work.Judge(kind, class, attempts, work.Limits{Attempts: 3})
				if got != want {
					t.Errorf("%s, %s after %d attempts: %+v, want %+v", kind, class, attempts, got, want)
				}
			}
		}
	}
}

func TestOneAttemptIsNoSecond(t *testing.T) {
	for _, l := range []work.Limits{{Attempts: 0}, {Attempts: 1}} {
		v := work.Judge(work.Implement, work.ClassOrdinary, 0, l)
		if v.Again || v.Stop != "attempts_exhausted:implement" {
			t.Errorf("%d attempts: %+v", l.Attempts, v)
		}
	}
}

func TestClassesAreDistinct(t *testing.T) {
	sorted := slices.Sorted(slices.Values(work.Classes))
	if len(slices.Compact(sorted)) != len(work.Classes) {
		t.Error("a class is listed twice")
	}
}

func TestBackoffDoublesUpToAnHour(t *testing.T) {
	for attempts, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60} {
		if got := work.Backoff(attempts); got != want*time.Minute {
			t.Errorf("after %d attempts: %s, want %s", attempts, got, want*time.Minute)
		}
	}
	if got := work.Backoff(1 << 40); got != time.Hour {
		t.Errorf("after very many attempts: %s", got)
	}
}

func TestJitterIsSteadyAndWithinAFifth(t *testing.T) {
	lowest, highest := time.Hour, time.Duration(0)
	for i := range 2000 {
		seed := fmt.Sprintf("login-t%d", i)
		got := work.Jitter(time.Hour, seed)
		if got != work.Jitter(time.Hour, seed) {
			t.Fatalf("%s: not always the same", seed)
		}
		if got < 48*time.Minute || got > 72*time.Minute {
			t.Fatalf("%s: %s", seed, got)
		}
		lowest, highest = min(lowest, got), max(highest, got)
	}
	if lowest > 50*time.Minute || highest < 70*time.Minute {
		t.Errorf("it only spreads over %s to %s", lowest, highest)
	}
	if got := work.Jitter(0, "x"); got != 0 {
		t.Errorf("no wait became %s", got)
	}
}
