package work

import (
	"testing"
	"time"
)

func TestTroubles(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	lasting, passing := Trouble{Text: "no token"}, Trouble{Text: "502", Passing: true}
	limited := Trouble{Text: "limit", Passing: true, Until: start.Add(10 * time.Minute)}
	r := &Repository{}
	for i, step := range []struct {
		t     Trouble
		after time.Duration
		tell  bool
	}{
		{lasting, 0, true},
		{lasting, time.Minute, false},
		{Trouble{Text: "another"}, time.Minute, true},
		{Trouble{Text: "no token", Writing: true}, time.Minute, true},
		{passing, 0, false},
		{limited, time.Minute, false},
		{Trouble{Text: "left alone", Passing: true, Until: limited.Until}, 5 * time.Minute, false},
		{passing, 59 * time.Minute, false},
		{passing, 60 * time.Minute, true},
		{limited, 61 * time.Minute, false},
	} {
		if got := r.Meet(step.t, start.Add(step.after)); got != step.tell {
			t.Errorf("step %d: told is %v", i, got)
		}
		if i == 6 && (r.Untouched() != limited.Until || r.Troubles[3].Text != "limit") {
			t.Errorf("after %d: %+v", i, r.Troubles)
		}
	}
	if len(r.Troubles) != 4 {
		t.Errorf("got %+v", r.Troubles)
	}
}
