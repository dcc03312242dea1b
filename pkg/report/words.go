package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// ago is how long ago a moment was, in the unit that matters.
func ago(at, now time.Time) string {
	if at.IsZero() {
		return "-"
	}
	d := now.Sub(at)
	switch {
	case d < time.Minute:
		return "now" // also when clocks differ
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// since is ago within a sentence.
func since(at, now time.Time) string {
	if a := ago(at, now); a != "now" && a != "-" {
		return a + " ago"
	}
	return "just now"
}

// lasted is a duration to the second, or finer where that says nothing.
func lasted(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	text := d.Round(time.Second).String()
	if cut, ok := strings.CutSuffix(text, "m0s"); ok {
		return cut + "m"
	}
	return text
}

// money is an amount with what is not known of it.
func money(usd float64, unknown int) string {
	switch {
	case unknown > 0 && usd == 0:
		return "unknown"
	case unknown > 0:
		return fmt.Sprintf("$%.2f+", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

// moneyInWords is money within a sentence.
func moneyInWords(usd float64, unknown int) string {
	runs := plural(unknown, "run", "runs")
	switch {
	case unknown > 0 && usd == 0:
		return "cost unknown (" + runs + ")"
	case unknown > 0:
		return fmt.Sprintf("$%.2f and %s of unknown cost", usd, runs)
	}
	return fmt.Sprintf("$%.2f", usd)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// thousands is a count that need not be exact.
func thousands(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}

// statusWords is a status as people read it.
func statusWords(s work.Status) string {
	if s == work.New {
		return "queued"
	}
	if s == work.QA {
		return "QA"
	}
	return strings.ReplaceAll(string(s), "_", " ")
}

// statusColor is yellow for what waits for a person, red for what went wrong.
func statusColor(s work.Status) string {
	switch s {
	case work.Blocked, work.Failed:
		return red
	case work.AwaitingApproval, work.AwaitingInput, work.PausedBudget:
		return yellow
	case work.ReadyToMerge, work.Merged:
		return green
	case work.New, work.Closed:
		return dim
	}
	return blue
}

// needsPerson reports whether nothing goes on without a person.
func needsPerson(s work.Status) bool {
	switch s {
	case work.AwaitingApproval, work.AwaitingInput, work.Blocked, work.PausedBudget, work.ReadyToMerge, work.Failed:
		return true
	}
	return false
}

func short(commit string) string {
	commit = work.Printable(commit)
	return commit[:min(len(commit), 10)]
}
