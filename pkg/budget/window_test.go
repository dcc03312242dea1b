package budget_test

import (
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/budget"
)

// hours are open from one hour of the day (inclusive) to another (exclusive).
type hours struct{ from, to int }

func (h hours) Open(t time.Time) bool { return t.Hour() >= h.from && t.Hour() < h.to }

func (h hours) Next(t time.Time) time.Time {
	for !h.Open(t) {
		t = t.Truncate(time.Hour).Add(time.Hour)
	}
	return t
}

// freeze is closed from a moment to another.
type freeze struct{ from, to time.Time }

func (f freeze) Open(t time.Time) bool { return t.Before(f.from) || !t.Before(f.to) }

func (f freeze) Next(t time.Time) time.Time {
	if f.Open(t) {
		return t
	}
	return f.to
}

type never struct{}

func (never) Open(time.Time) bool          { return false }
func (never) Next(time.Time) (t time.Time) { return }

func day(d, hour int) time.Time { return time.Date(2026, 3, d, hour, 0, 0, 0, time.UTC) }

func TestOpens(t *testing.T) {
	night := hours{20, 24}
	frozen := freeze{day(1, 0), day(4, 12)}
	tests := []struct {
		name    string
		at      time.Time
		windows []budget.Window
		want    time.Time
	}{
		{"no windows", day(1, 9), nil, day(1, 9)},
		{"an absent window is open", day(1, 9), []budget.Window{nil}, day(1, 9)},
		{"open now", day(1, 21), []budget.Window{night}, day(1, 21)},
		{"later today", day(1, 9), []budget.Window{night}, day(1, 20)},
		{"a freeze over several nights", day(1, 9), []budget.Window{night, frozen}, day(4, 20)},
		{"in either order", day(1, 9), []budget.Window{frozen, night}, day(4, 20)},
		{"never", day(1, 9), []budget.Window{never{}}, time.Time{}},
		{"never both", day(1, 9), []budget.Window{night, hours{3, 5}}, time.Time{}},
	}
	for _, tt := range tests {
		if got := budget.Opens(tt.at, tt.windows...); !got.Equal(tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestNextDay(t *testing.T) {
	santiago, err := time.LoadLocation("America/Santiago") // clocks go forward at midnight
	if err != nil {
		t.Skip("no time zone database")
	}
	tests := []struct{ at, want time.Time }{
		{day(1, 9), day(2, 0)},
		{day(1, 0), day(2, 0)},
		{day(31, 23), time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)},
		{time.Date(2026, 9, 5, 22, 0, 0, 0, santiago), time.Date(2026, 9, 6, 1, 0, 0, 0, santiago)},
	}
	for _, tt := range tests {
		got := budget.NextDay(tt.at)
		if !got.Equal(tt.want) {
			t.Errorf("after %v: %v, want %v", tt.at, got, tt.want)
		}
		if !got.After(tt.at) || got.Day() == tt.at.Day() {
			t.Errorf("after %v: %v is no later day", tt.at, got)
		}
	}
}
