package cmd

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/config"
)

// A check that hangs costs its own finding and no other.
func TestBounded(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	hangs := make(chan struct{})
	defer close(hangs)
	found := bounded(ctx, nil, check{"disk", func(context.Context, *config.Config) []finding {
		cancel(errors.New("enough"))
		<-hangs
		return nil
	}})
	if len(found) != 1 || found[0].Check != "disk" || found[0].Status != warn || !strings.HasPrefix(found[0].Detail, "no answer") {
		t.Errorf("found %+v", found)
	}
}

func TestPathInCrontab(t *testing.T) {
	for name, c := range map[string]struct {
		crontab, path string
		found         bool
	}{
		"empty":           {"", cronDefault, false},
		"other jobs only": {"PATH=/opt/bin\n0 3 * * * backup\n", "/opt/bin", false},
		"a comment":       {"# 0 3 * * * backburner tick\n", cronDefault, false},
		"no path":         {"*/15 * * * * cd /srv && backburner tick\n", cronDefault, true},
		"a line above":    {"PATH = \"/opt/bin:/bin\"\n\n*/15 * * * * cd /srv && backburner tick\n", "/opt/bin:/bin", true},
		"a line below":    {"*/15 * * * * backburner tick\nPATH=/opt/bin\n", cronDefault, true},
		"its own":         {"PATH=/a\n* * * * * cd /srv && PATH=/b:/c /b/backburner tick\n", "/b:/c", true},
		"its own, quoted": {cronLine("/srv/a shop", "/opt/my tools:/100%", []string{"backburner", "tick"}), "/opt/my tools:/100%", true},
		"the first job":   {"* * * * * PATH=/x other\n* * * * * PATH=/b backburner tick\n* * * * * PATH=/c backburner tick\n", "/b", true},
	} {
		t.Run(name, func(t *testing.T) {
			path, found := pathInCrontab(c.crontab)
			if path != c.path || found != c.found {
				t.Errorf("%q, %v; want %q, %v", path, found, c.path, c.found)
			}
		})
	}
}

func TestUsualPause(t *testing.T) {
	monday := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	every := func(n int, d time.Duration) []time.Time {
		var all []time.Time
		for i := range n {
			all = append(all, monday.Add(time.Duration(i)*d))
		}
		return all
	}
	nights := append(every(32, 15*time.Minute), append(at(monday, 24*time.Hour), at(monday, 48*time.Hour, 72*time.Hour)...)...)
	for name, c := range map[string]struct {
		starts []time.Time
		usual  time.Duration
		known  bool
	}{
		"none":                 {nil, 0, false},
		"three by hand":        {every(3, time.Minute), 0, false},
		"regular":              {every(20, 15*time.Minute), 15 * time.Minute, true},
		"in any order":         {at(monday, 3*time.Hour, 0, 2*time.Hour, time.Hour), time.Hour, true},
		"one hole is unusual":  {at(monday, 0, time.Hour, 2*time.Hour, 3*time.Hour, 90*time.Hour), time.Hour, true},
		"every night is usual": {nights, 24 * time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			usual, known := usualPause(c.starts)
			if usual != c.usual || known != c.known {
				t.Errorf("%v, %v; want %v, %v", usual, known, c.usual, c.known)
			}
		})
	}
}

func at(start time.Time, after ...time.Duration) []time.Time {
	var all []time.Time
	for _, d := range after {
		all = append(all, start.Add(d))
	}
	return all
}

func TestRoughly(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                              "less than a minute",
		59 * time.Second:               "less than a minute",
		90 * time.Second:               "2m",
		15 * time.Minute:               "15m",
		60 * time.Minute:               "1h",
		5*time.Hour + 10*time.Minute:   "5h10m",
		47*time.Hour + 10*time.Second:  "47h",
		73 * time.Hour:                 "3 days",
		20*time.Hour - 1*time.Second:   "20h",
		10*time.Minute + 1*time.Second: "10m",
	} {
		if got := roughly(d); got != want {
			t.Errorf("roughly(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestSpace(t *testing.T) {
	for free, want := range map[uint64]string{0: fail, noSpace - 1: fail, noSpace: warn, littleSpace - 1: warn, littleSpace: fine} {
		f := space("/srv", free)
		if f.Status != want {
			t.Errorf("%d bytes are %s, want %s", free, f.Status, want)
		}
		if (f.Status == fine) != (f.Fix == "") {
			t.Errorf("%d bytes: fix %q", free, f.Fix)
		}
	}
}

func TestShellWord(t *testing.T) {
	for text, want := range map[string]string{
		"/usr/bin": "/usr/bin", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "100%": "100%", "a\nb": "'a\nb'",
	} {
		if got := shellWord(text); got != want {
			t.Errorf("shellWord(%q) = %s, want %s", text, got, want)
		}
	}
}
