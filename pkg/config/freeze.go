package config

import (
	"fmt"
	"strings"
	"time"
)

// Freeze is a span of whole days on which no agent starts. The zero value is none.
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

// Open reports whether agents may start at t: on none of its days.
func (f Freeze) Open(t time.Time) bool {
	if f.zone == nil {
		return true
	}
	day := t.In(f.zone).Format(time.DateOnly)
	return day < f.first || f.last < day
}

// Next is the first moment, t or later, that is on none of its days.
func (f Freeze) Next(t time.Time) time.Time {
	if f.Open(t) {
		return t
	}
	last, _ := time.Parse(time.DateOnly, f.last)
	end := time.Date(last.Year(), last.Month(), last.Day()+1, 0, 0, 0, 0, f.zone)
	// Where clocks jump over midnight, time.Date may give the last day's 23:00.
	if !f.Open(end) {
		_, end = end.ZoneBounds()
	}
	return end
}
