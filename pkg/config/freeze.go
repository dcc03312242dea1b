package config

import (
	"fmt"
	"strings"
	"time"
)

// Freeze is a span of whole days on which no agent starts.
type Freeze struct {
	text        string
	first, last string // 2006-01-02, both included
	zone        *time.Location
}

// UnmarshalText parses "2026-12-20/2027-01-03 Europe/Berlin", both days included,
// or a single day.
func (f *Freeze) UnmarshalText(text []byte) error {
	f.text = strings.TrimSpace(string(text))
	fields := strings.Fields(f.text)
	if len(fields) == 0 {
		return fmt.Errorf("is empty; write days and a time zone, such as \"2026-12-20/2027-01-03 Europe/Berlin\"")
	}
	first, last, isSpan := strings.Cut(fields[0], "/")
	if !isSpan {
		last = first
	}
	for _, day := range []string{first, last} {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			return fmt.Errorf("%q is not a day of the calendar; write YYYY-MM-DD/YYYY-MM-DD and a time zone", day)
		}
	}
	switch {
	case last < first:
		return fmt.Errorf("%q ends before it begins; write the earlier day first", fields[0])
	case len(fields) == 1:
		return fmt.Errorf("%q has no time zone; add one, such as Europe/Berlin, UTC, or Local for this machine's", f.text)
	case len(fields) > 2:
		return fmt.Errorf("%q is not a span of days; write days and a time zone, such as \"2026-12-20/2027-01-03 Europe/Berlin\"", f.text)
	}
	zone, err := parseZone(fields[1])
	f.first, f.last, f.zone = first, last, zone
	return err
}

// MarshalText is the text it was parsed from.
func (f Freeze) MarshalText() ([]byte, error) { return []byte(f.text), nil }

// String is the text it was parsed from.
func (f Freeze) String() string { return f.text }

// Covers reports whether t is on one of its days.
func (f Freeze) Covers(t time.Time) bool {
	day := f.day(t)
	return f.zone != nil && f.first <= day && day <= f.last
}

// End is the first moment after its last day.
func (f Freeze) End() time.Time {
	last, _ := time.Parse(time.DateOnly, f.last)
	end := time.Date(last.Year(), last.Month(), last.Day()+1, 0, 0, 0, 0, f.zone)
	// Where clocks jump over midnight, time.Date may give the last day's 23:00.
	if f.Covers(end) {
		_, end = end.ZoneBounds()
	}
	return end
}

func (f Freeze) day(t time.Time) string {
	if f.zone == nil {
		return ""
	}
	return t.In(f.zone).Format(time.DateOnly)
}
