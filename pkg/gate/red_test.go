package gate

import (
	"testing"

	"github.com/backburner-cli/backburner/pkg/work"
)

// When a tick is interrupted while a group runs, a step that has failed by
// itself is still what the gate says.
func TestWhichStepDecides(t *testing.T) {
	tests := []struct {
		reasons []string
		want    string
	}{
		{nil, ""},
		{[]string{"", ""}, ""},
		{[]string{"", StepFailed}, StepFailed},
		{[]string{Timeout, StepFailed}, Timeout},
		{[]string{Interrupted, StepFailed}, StepFailed},
		{[]string{NotRun, Interrupted}, NotRun},
		{[]string{"", Interrupted}, Interrupted},
	}
	for _, tt := range tests {
		var done []result
		for _, reason := range tt.reasons {
			done = append(done, result{StepResult: work.StepResult{Reason: reason}})
		}
		got := ""
		if bad := firstRed(done); bad != nil {
			got = bad.Reason
		}
		if got != tt.want {
			t.Errorf("of %q decides %q, want %q", tt.reasons, got, tt.want)
		}
	}
}
