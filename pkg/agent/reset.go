package agent

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// longestReset is the farthest a quota's reset is believed to be away.
const longestReset = 40 * 24 * time.Hour

var (
	// "limit reached|1796043956"
	resetEpoch = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\|(\d{10})\b`) })
	// "try again in 1 hour 10 minutes", "reset after 3h22m", "retry in 34.07s"
	resetIn = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:again|retry|resets?) (?:in|after) ((?:\d+(?:\.\d+)? ?(?:days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|ms|[dhms])\b[, ]*(?:and )?|\d+(?:\.\d+)?(?:ms|[dhms]))+)`)
	})
	part = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(\d+(?:\.\d+)?) ?(ms|[dhms])`) })
	// "resets 3pm (Europe/Berlin)", "resets Oct 9, 5:30pm (UTC)", "try again at 1:36 PM", "at Dec 5th, 2026 2:12 AM"
	resetAt = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:resets?|again)(?: at)? (?:([A-Z][a-z]{2}) (\d{1,2})(?:st|nd|rd|th)?,? (?:(\d{4}),? )?(?:at )?)?(\d{1,2})(?::(\d{2}))? ?([ap]m)\b(?: \(([A-Za-z0-9_+/-]+)\))?`)
	})
)

// resetTime finds when a quota is free again in the message of a command line; zero when it does not say. now is when it said so, and
// loc the zone of times that name none.
func resetTime(message string, now time.Time, loc *time.Location) time.Time {
	at := findReset(message, now, loc)
	if at.IsZero() || !at.After(now) || at.Sub(now) > longestReset {
		return time.Time{}
	}
	return at.UTC()
}

func findReset(message string, now time.Time, loc *time.Location) time.Time {
	if m := resetEpoch().FindStringSubmatch(message); m != nil {
		seconds, _ := strconv.ParseInt(m[1], 10, 64)
		return time.Unix(seconds, 0)
	}
	if m := resetIn().FindStringSubmatch(message); m != nil {
		var wait time.Duration
		for _, p := range part().FindAllStringSubmatch(m[1], -1) {
			wait += duration(p[1], p[2])
		}
		return now.Add(wait)
	}
	if m := resetAt().FindStringSubmatch(message); m != nil {
		return clockTime(m, now, loc)
	}
	return time.Time{}
}

func duration(number, unit string) time.Duration {
	units := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second, "ms": time.Millisecond}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n > 1e6 {
		return 0
	}
	return time.Duration(n * float64(units[strings.ToLower(unit)]))
}

// clockTime is the time that m, a match of resetAt, names: the next one when the day or the year is missing.
func clockTime(m []string, now time.Time, loc *time.Location) time.Time {
	if m[7] != "" {
		if named, err := time.LoadLocation(m[7]); err == nil {
			loc = named
		}
	}
	now = now.In(loc)
	hour, _ := strconv.Atoi(m[4])
	minute, _ := strconv.Atoi(m[5])
	if hour < 1 || hour > 12 || minute > 59 {
		return time.Time{}
	}
	hour %= 12
	if strings.EqualFold(m[6], "pm") {
		hour += 12
	}
	if m[1] == "" {
		at := time.Date(now.Year(), now.Month(), now.Day(), hour, minute, 0, 0, loc)
		if !at.After(now) {
			at = time.Date(now.Year(), now.Month(), now.Day()+1, hour, minute, 0, 0, loc)
		}
		return at
	}
	month, err := time.Parse("Jan", m[1])
	if err != nil {
		return time.Time{}
	}
	day, _ := strconv.Atoi(m[2])
	year, dated := now.Year(), m[3] != ""
	if dated {
		year, _ = strconv.Atoi(m[3])
	}
	at := time.Date(year, month.Month(), day, hour, minute, 0, 0, loc)
	if !dated && !at.After(now) {
		at = time.Date(year+1, month.Month(), day, hour, minute, 0, 0, loc)
	}
	return at
}
