package config_test

import (
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/config"
)

func hours(t *testing.T, text string) config.Hours {
	t.Helper()
	var h config.Hours
	if err := h.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return h
}

func at(t *testing.T, zone, clock string) time.Time {
	t.Helper()
	loc, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	got, err := time.ParseInLocation("2006-01-02 15:04:05", clock, loc)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestHoursOpen(t *testing.T) {
	const night = "Mon-Fri 20:00-07:00 Europe/Berlin"
	for _, tc := range []struct {
		hours, at string // Berlin
		open      bool
	}{
		{night, "2026-11-30 19:59:59", false}, // a Monday
		{night, "2026-11-30 20:00:00", true},
		{night, "2026-12-01 06:59:59", true},
		{night, "2026-12-01 07:00:00", false},
		{night, "2026-11-30 03:00:00", false}, // Sunday's night has no window
		{night, "2026-12-05 06:59:59", true},  // Friday's reaches into Saturday
		{night, "2026-12-05 07:00:00", false},
		{night, "2026-12-05 21:00:00", false},
		{night + "; Sat,Sun 00:00-24:00", "2026-12-05 21:00:00", true},
		{night + "; Sat,Sun 00:00-24:00", "2026-12-06 23:59:59", true},
		{night + "; Sat,Sun 00:00-24:00", "2026-12-07 00:00:00", false},
		{"20:00-22:00 UTC", "2026-12-01 21:30:00", true}, // 20:30 in UTC
		{"20:00-22:00 UTC", "2026-12-01 20:30:00", false},
		{"20:00-22:00; 09:00-10:00 UTC", "2026-12-01 21:30:00", true}, // the zone behind counts for both
		{"20:00-22:00 UTC; 09:00-10:00", "2026-12-01 10:30:00", true}, // and so does the one before
		{"Fri-Mon 12:00-13:00 Europe/Berlin", "2026-12-06 12:30:00", true},
		{"Fri-Mon 12:00-13:00 Europe/Berlin", "2026-12-08 12:30:00", false},
		{"sat 12:00-13:00 Europe/Berlin", "2026-12-05 12:30:00", true},
		// Clocks go forward at 2:00 on 2026-03-29, and back at 3:00 on 2026-10-25.
		{"01:00-02:30 Europe/Berlin", "2026-03-29 01:59:59", true},
		{"01:00-02:30 Europe/Berlin", "2026-03-29 03:00:00", false},
		{"", "2026-12-01 03:00:00", true},
	} {
		if got := hours(t, tc.hours).Open(at(t, "Europe/Berlin", tc.at)); got != tc.open {
			t.Errorf("%q at %s: open %v, want %v", tc.hours, tc.at, got, tc.open)
		}
	}
}

func TestHoursOnTheDayClocksGoBack(t *testing.T) {
	h := hours(t, "01:00-02:30 Europe/Berlin")
	start := at(t, "UTC", "2026-10-24 23:00:00") // 01:00 in Berlin
	for minutes, open := range map[int]bool{-1: false, 0: true, 89: true, 90: false, 119: false, 120: true, 149: true, 150: false} {
		if got := h.Open(start.Add(time.Duration(minutes) * time.Minute)); got != open {
			t.Errorf("%d minutes after one o'clock: open %v, want %v", minutes, got, open)
		}
	}
}

// TestHoursNext holds Next against asking Open every five minutes.
func TestHoursNext(t *testing.T) {
	const step = 5
	for _, text := range []string{
		"Mon-Fri 20:00-07:00 Europe/Berlin",
		"02:15-02:45 Europe/Berlin",     // is skipped once a year
		"Sun 02:15-02:45 Europe/Berlin", // then for a fortnight
		"02:00-03:00 Europe/Berlin",
		"02:15-03:30 Europe/Berlin",                // is entered by the change itself
		"01:30-03:30 Australia/Lord_Howe",          // changes by half an hour
		"00:00-00:30 America/Santiago",             // changes at midnight
		"23:30-00:15 America/Santiago",             //
		"Wed 10:00-10:05 UTC; Thu 09:00-09:30 UTC", //
		"Sat 00:00-24:00 Pacific/Apia",             //
	} {
		h := hours(t, text)
		for _, from := range []string{"2026-03-21", "2026-03-28", "2026-04-04", "2026-09-05", "2026-10-03", "2026-10-24", "2026-12-01"} {
			begin := at(t, "UTC", from+" 00:00:00")
			next := time.Time{} // the first open moment at or after the one looked at
			for i := 16 * 24 * 60 / step; i >= 0; i-- {
				now := begin.Add(time.Duration(i*step) * time.Minute)
				if h.Open(now) {
					next = now
				}
				if i*step < 36*60 && i%7 == 0 && !h.Next(now).Equal(next) {
					t.Fatalf("%q: Next(%s) = %s, want %s", text, now, h.Next(now).UTC(), next)
				}
			}
		}
	}
}

func TestHoursNextKeepsAnOpenMoment(t *testing.T) {
	now := at(t, "Europe/Berlin", "2026-11-30 20:00:30")
	if got := hours(t, "20:00-21:00 Europe/Berlin").Next(now); !got.Equal(now) {
		t.Errorf("got %s, want %s itself", got, now)
	}
	if got := (config.Hours{}).Next(now); !got.Equal(now) {
		t.Errorf("without windows: got %s, want %s itself", got, now)
	}
}

func TestHoursRefuses(t *testing.T) {
	for _, text := range []string{
		"Mon", "20:00-07:00", "Mon 20:00 UTC", "20:00-7:00 UTC", "20-07 UTC", "24:00-07:00 UTC", "20:60-07:00 UTC", "20:00-24:01 UTC",
		"Mon- 20:00-07:00 UTC", "Mon,, 20:00-07:00 UTC", "Mon Tue 20:00-07:00 UTC", "20:00-07:00 UTC UTC", "20:00-07:00 UTC;", ";",
		"20:00-07:00 ../../etc/passwd", "+1:00-02:00 UTC", "20:00-07:00-08:00 UTC",
	} {
		var h config.Hours
		if err := h.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestFreeze(t *testing.T) {
	var f config.Freeze
	if err := f.UnmarshalText([]byte("2026-12-20/2027-01-03 Europe/Berlin")); err != nil {
		t.Fatal(err)
	}
	for clock, open := range map[string]bool{
		"2026-12-19 23:59:59": true, "2026-12-20 00:00:00": false, "2027-01-03 23:59:59": false, "2027-01-04 00:00:00": true,
	} {
		if got := f.Open(at(t, "Europe/Berlin", clock)); got != open {
			t.Errorf("%s: open %v, want %v", clock, got, open)
		}
	}
	if got, want := f.Next(at(t, "UTC", "2026-12-24 12:00:00")), at(t, "Europe/Berlin", "2027-01-04 00:00:00"); !got.Equal(want) {
		t.Errorf("it ends at %s, want %s", got, want)
	}
	now := at(t, "UTC", "2026-12-01 12:00:00")
	if !f.Next(now).Equal(now) || !(config.Freeze{}).Next(now).Equal(now) {
		t.Error("outside its days it is not open at once")
	}
}

// In Chile clocks go forward at midnight: 2026-09-06 begins at 01:00.
func TestFreezeThatEndsInAGap(t *testing.T) {
	var f config.Freeze
	if err := f.UnmarshalText([]byte("2026-09-05 America/Santiago")); err != nil {
		t.Fatal(err)
	}
	next := f.Next(at(t, "America/Santiago", "2026-09-05 12:00:00"))
	if want := at(t, "UTC", "2026-09-06 04:00:00"); !next.Equal(want) {
		t.Errorf("it ends at %s, want %s", next.UTC(), want)
	}
	if !f.Open(next) || f.Open(next.Add(-time.Second)) {
		t.Error("it does not end where Next says")
	}
}
