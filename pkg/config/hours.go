package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // runners and small containers have no time zones of their own
)

// Hours are the windows of the week in which agents may start. The zero value is
// always open. A window is open while the clock on the wall of its time zone says
// so, which also settles the days on which clocks are changed.
type Hours struct {
	text    string
	windows []window
}

// window is open from one minute of the day to another, on the days it begins on.
type window struct {
	days     [7]bool // by time.Weekday
	from, to int     // minutes since midnight; to <= from: on the next day
	zone     *time.Location
}

const dayMinutes = 24 * 60

// weekdays are the names of days, in the order of time.Weekday.
var weekdays = []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}

// UnmarshalText parses windows separated by semicolons, each
// "[days] HH:MM-HH:MM [zone]", such as "Mon-Fri 20:00-07:00 Europe/Berlin; Sat,Sun
// 00:00-24:00". Without days it is every day; a window without zone has that of the
// next one that names one, or of the last.
func (h *Hours) UnmarshalText(text []byte) error {
	*h = Hours{text: strings.TrimSpace(string(text))}
	if h.text == "" {
		return nil
	}
	for part := range strings.SplitSeq(h.text, ";") {
		w, err := parseWindow(strings.TrimSpace(part))
		if err != nil {
			return err
		}
		h.windows = append(h.windows, w)
	}
	var zone *time.Location
	for range 2 { // the second round reaches those behind the last zone
		for i := len(h.windows) - 1; i >= 0; i-- {
			if h.windows[i].zone == nil {
				h.windows[i].zone = zone
			}
			zone = h.windows[i].zone
		}
	}
	if zone == nil {
		return fmt.Errorf("%q has no time zone; add one, such as Europe/Berlin, UTC, or Local for this machine's", h.text)
	}
	return nil
}

// MarshalText is the text it was parsed from.
func (h Hours) MarshalText() ([]byte, error) { return []byte(h.text), nil }

// String is the text it was parsed from.
func (h Hours) String() string { return h.text }

// Open reports whether agents may start at t.
func (h Hours) Open(t time.Time) bool {
	return len(h.windows) == 0 || slices.ContainsFunc(h.windows, func(w window) bool { return w.open(t) })
}

// Next is the first moment, t or later, at which it is open.
func (h Hours) Next(t time.Time) time.Time {
	if h.Open(t) {
		return t
	}
	var first time.Time
	for _, w := range h.windows {
		if next := w.next(t); first.IsZero() || !next.IsZero() && next.Before(first) {
			first = next
		}
	}
	return first
}

func (w window) open(t time.Time) bool {
	t = t.In(w.zone)
	minute, today := t.Hour()*60+t.Minute(), t.Weekday()
	if w.from < w.to {
		return w.days[today] && minute >= w.from && minute < w.to
	}
	yesterday := (today + 6) % 7
	return w.days[today] && minute >= w.from || w.days[yesterday] && minute < w.to
}

// next is the first moment after t at which it opens. Those can be only where the
// clock shows its beginning, or where the clock is changed.
func (w window) next(t time.Time) time.Time {
	const days = 15 // a window may fall victim to a change of clocks once
	local := t.In(w.zone)
	var first time.Time
	try := func(at time.Time) {
		if at.After(t) && w.open(at) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	for day := range days {
		at := time.Date(local.Year(), local.Month(), local.Day()+day, 0, w.from, 0, 0, w.zone)
		before, after := at.Add(-dayMinutes*time.Minute), at.Add(dayMinutes*time.Minute)
		// The clock may show this time twice, or never; each of the offsets around
		// gives one reading of it.
		for _, near := range []time.Time{before, after} {
			_, shift := near.Zone()
			_, own := at.Zone()
			try(at.Add(time.Duration(own-shift) * time.Second))
		}
		if changed, _ := after.ZoneBounds(); changed.After(before) {
			try(changed)
		}
		if !first.IsZero() && first.Before(before) {
			break
		}
	}
	return first
}

func parseWindow(text string) (window, error) {
	fields := strings.Fields(text)
	w := window{days: [7]bool{true, true, true, true, true, true, true}}
	i := slices.IndexFunc(fields, func(f string) bool { return strings.Contains(f, ":") })
	if i < 0 || i > 1 || len(fields) > i+2 {
		return w, fmt.Errorf("%q is not a window of hours; write days, hours and a time zone, such as \"Mon-Fri 20:00-07:00 Europe/Berlin\"", text)
	}
	var err error
	if i == 1 {
		if w.days, err = parseDays(fields[0]); err != nil {
			return w, err
		}
	}
	if w.from, w.to, err = parseMinutes(fields[i]); err != nil {
		return w, err
	}
	if len(fields) == i+2 {
		w.zone, err = parseZone(fields[i+1])
	}
	return w, err
}

func parseZone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" {
		return nil, fmt.Errorf("%q is not a known time zone; write one such as Europe/Berlin, America/New_York or UTC", name)
	}
	return zone, nil
}

// parseDays reads "Mon-Fri" or "Sat,Sun" or a mixture.
func parseDays(text string) ([7]bool, error) {
	var days [7]bool
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err := parseDay(from)
		if err != nil {
			return days, err
		}
		last, err := parseDay(to)
		if err != nil {
			return days, err
		}
		for day := first; ; day = (day + 1) % 7 {
			days[day] = true
			if day == last {
				break
			}
		}
	}
	return days, nil
}

func parseDay(text string) (int, error) {
	i := slices.IndexFunc(weekdays, func(day string) bool { return strings.EqualFold(day, text) })
	if i < 0 {
		return 0, fmt.Errorf("%q is not a day; write Mon, Tue, Wed, Thu, Fri, Sat or Sun, as in Mon-Fri or Sat,Sun", text)
	}
	return i, nil
}

// parseMinutes reads "20:00-07:00".
func parseMinutes(text string) (from, to int, err error) {
	begin, end, ok := strings.Cut(text, "-")
	from, fromOK := parseClock(begin)
	to, toOK := parseClock(end)
	switch {
	case !ok || !fromOK || !toOK || from == dayMinutes:
		return 0, 0, fmt.Errorf("%q is not a span of hours; write HH:MM-HH:MM, such as 20:00-07:00", text)
	case from == to:
		return 0, 0, fmt.Errorf("%q is empty; write 00:00-24:00 for the whole day", text)
	}
	return from, to, nil
}

func parseClock(text string) (minute int, ok bool) {
	hh, mm, ok := strings.Cut(text, ":")
	if !ok || len(hh) != 2 || len(mm) != 2 {
		return 0, false
	}
	hours, err := strconv.ParseUint(hh, 10, 8)
	minutes, err2 := strconv.ParseUint(mm, 10, 8)
	minute = int(hours)*60 + int(minutes)
	return minute, err == nil && err2 == nil && minutes < 60 && minute <= dayMinutes
}
