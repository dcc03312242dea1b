package proc

import (
	"slices"
	"testing"
	"time"
)

func TestLimits(t *testing.T) {
	type look struct {
		at      time.Duration
		largest int64
		total   int64
		cpu     time.Duration
		want    Reason
	}
	tests := map[string]struct {
		job   Job
		looks []look
	}{
		"none": {Job{}, []look{{at: 1000 * time.Hour, largest: 1 << 60, total: 1 << 60}}},
		"timeout": {Job{Timeout: time.Minute}, []look{
			{at: 59 * time.Second}, {at: time.Minute, want: ReasonTimeout},
		}},
		"output": {Job{MaxOutput: 100}, []look{
			{at: 1, largest: 100, total: 200}, {at: 2, largest: 101, total: 101, want: ReasonOutputLimit},
		}},
		"output goes before time": {Job{MaxOutput: 100, Timeout: time.Second}, []look{
			{at: time.Second, largest: 101, total: 101, want: ReasonOutputLimit},
		}},
		"idle": {Job{Idle: 10 * time.Second}, []look{
			{at: 9 * time.Second}, {at: 10 * time.Second, want: ReasonIdle},
		}},
		"output is life": {Job{Idle: 10 * time.Second}, []look{
			{at: 9 * time.Second, total: 1}, {at: 18 * time.Second, total: 1}, {at: 19 * time.Second, total: 1, want: ReasonIdle},
		}},
		"a file cut by the job is life": {Job{Idle: 10 * time.Second}, []look{
			{at: 1 * time.Second, total: 5}, {at: 9 * time.Second, total: 0}, {at: 18 * time.Second, total: 0},
		}},
		"work is life": {Job{Idle: 10 * time.Second}, []look{
			{at: 9 * time.Second, cpu: time.Second}, {at: 18 * time.Second, cpu: time.Second},
			{at: 19 * time.Second, cpu: time.Second, want: ReasonIdle},
		}},
		"a spinner is not": {Job{Idle: 10 * time.Second}, []look{
			{at: 5 * time.Second, cpu: 100 * time.Millisecond}, {at: 10 * time.Second, cpu: 199 * time.Millisecond, want: ReasonIdle},
		}},
		"starved work is life": {Job{Idle: 10 * time.Second}, []look{
			{at: 5 * time.Second, cpu: 100 * time.Millisecond}, {at: 9 * time.Second, cpu: 200 * time.Millisecond},
			{at: 18 * time.Second, cpu: 399 * time.Millisecond}, {at: 19 * time.Second, cpu: 399 * time.Millisecond, want: ReasonIdle},
		}},
		"less time than before": {Job{Idle: 10 * time.Second}, []look{
			{at: 5 * time.Second, cpu: time.Second}, {at: 14 * time.Second}, {at: 15 * time.Second, want: ReasonIdle},
		}},
	}
	start := time.Unix(1_000_000, 0)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLimits(test.job, start)
			for _, look := range test.looks {
				seen := sizes{total: look.total, largest: look.largest}
				got := l.judge(start.Add(look.at), seen, func() time.Duration { return look.cpu })
				if got != look.want {
					t.Errorf("after %v: %q, want %q", look.at, got, look.want)
				}
			}
		})
	}
}

func TestLimitsWait(t *testing.T) {
	tests := map[string]struct {
		job     Job
		largest int64
		after   time.Duration
		want    time.Duration
	}{
		"no limits":      {Job{}, 0, 0, time.Hour},
		"deadline":       {Job{Timeout: time.Minute}, 0, 50 * time.Second, 10 * time.Second},
		"past":           {Job{Timeout: time.Minute}, 0, time.Hour, time.Millisecond},
		"idle":           {Job{Idle: 10 * time.Minute}, 0, 0, time.Minute},
		"short idle":     {Job{Idle: time.Millisecond}, 0, 0, shortestWait},
		"much room":      {Job{MaxOutput: 1 << 40}, 0, 0, longestWait},
		"some room":      {Job{MaxOutput: 100_000_000}, 0, 0, 100 * time.Millisecond},
		"little room":    {Job{MaxOutput: 100_000_000}, 99_000_000, 0, shortestWait},
		"no room":        {Job{MaxOutput: 100}, 200, 0, shortestWait},
		"the least wins": {Job{MaxOutput: 1 << 40, Idle: time.Minute, Timeout: time.Second}, 0, 0, longestWait},
	}
	start := time.Unix(1_000_000, 0)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLimits(test.job, start)
			if got := l.wait(start.Add(test.after), sizes{largest: test.largest}); got != test.want {
				t.Errorf("wait = %v, want %v", got, test.want)
			}
		})
	}
}

// Whoever waits for a cancelled job has less than five seconds, even when the supervisor has to be ended first.
func TestBudgetOfCancel(t *testing.T) {
	if total := politeLimit + 2*quickForce; total > 4900*time.Millisecond {
		t.Errorf("%v", total)
	}
	if quickGrace+quickForce >= politeLimit {
		t.Error("the supervisor is ended before it could do its work")
	}
}

func TestDescendants(t *testing.T) {
	table := []process{
		{pid: 30, parent: 20, session: 20}, // a grandchild, listed before its parent
		{pid: 10, parent: 1, session: 10},
		{pid: 20, parent: 10, session: 20},
		{pid: 40, parent: 1, session: 10}, // an orphan in the session of the root
		{pid: 41, parent: 40, session: 41},
		{pid: 50, parent: 1, session: 50},
		{pid: 1, parent: 0, session: 1},
		{pid: 60, parent: 50, session: 50},
	}
	tests := map[string]struct {
		roots []int
		want  []int
	}{
		"tree and session": {[]int{10}, []int{20, 30, 40, 41}},
		"several":          {[]int{20, 50}, []int{30, 60}},
		"leaf":             {[]int{60}, nil},
		"none":             {nil, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []int
			for _, p := range descendants(table, test.roots...) {
				got = append(got, p.pid)
			}
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// Two executions of one name, in two states, are two jobs.
func TestMark(t *testing.T) {
	one := Mark("fix.0001", "/srv/a/executions/fix.0001")
	if !validExecution(one) || one != Mark("fix.0001", "/srv/a/executions/../executions/fix.0001") {
		t.Errorf("%q", one)
	}
	if other := Mark("fix.0001", "/srv/b/executions/fix.0001"); other == one {
		t.Errorf("both are %q", one)
	}
}
