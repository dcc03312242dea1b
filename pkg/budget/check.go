package budget

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// The scopes of caps.
const (
	ScopeTask       = "task"
	ScopeWorkstream = "workstream"
	ScopeTick       = "tick"
	ScopeDay        = "day"
)

// Verdict is what a check came to.
type Verdict struct {
	Over   string  // the cap that is reached, named as in the configuration ("workstream_usd"); "" when none is
	Scope  string  // of that cap
	Detail string  // for people, with both amounts
	Alerts []Alert // caps that are not reached and nearly so
}

// Alert is a cap of which the alert share is used up.
type Alert struct {
	Cap    string // "day_usd"
	Scope  string
	Detail string
}

// scopes are in the order in which a reached cap is named: first those that
// only a person can lift, then those that pass by themselves.
var scopes = []struct {
	name string
	cap  func(Caps) Cap
	used func(Spent) Used
}{
	{ScopeWorkstream, func(c Caps) Cap { return c.Workstream }, func(s Spent) Used { return s.Workstream }},
	{ScopeTask, func(c Caps) Cap { return c.Task }, func(s Spent) Used { return s.Task }},
	{ScopeDay, func(c Caps) Cap { return c.Day }, func(s Spent) Used { return s.Day }},
	{ScopeTick, func(c Caps) Cap { return c.Tick }, func(s Spent) Used { return s.Tick }},
}

var units = []struct {
	name  string
	limit func(Cap) float64
	used  func(Used) float64
	show  func(float64) string
}{
	{"usd", func(c Cap) float64 { return c.USD }, func(u Used) float64 { return u.USD }, dollars},
	{"tokens", func(c Cap) float64 { return float64(c.Tokens) }, func(u Used) float64 { return float64(u.Tokens) }, count("tokens")},
	{"sessions", func(c Cap) float64 { return float64(c.Sessions) }, func(u Used) float64 { return float64(u.Sessions) }, count("agent runs")},
	{"time", func(c Cap) float64 { return c.Time.Seconds() }, func(u Used) float64 { return u.Time.Seconds() }, seconds},
}

// epsilon makes up for sums of decimal fractions: ten times 0.10 reaches 1.00.
const epsilon = 1e-9

// Check compares what was spent with the caps. An amount or a cap that is
// negative or no number is taken for reached: when the books are wrong, nothing
// more is spent.
func Check(c Caps, s Spent) Verdict {
	var v Verdict
	for _, scope := range scopes {
		limit, used := scope.cap(c), scope.used(s)
		for _, u := range units {
			most, now := u.limit(limit), u.used(used)
			if most == 0 {
				continue
			}
			name := scope.name + "_" + u.name
			switch {
			case !sound(most) || !sound(now):
				v.reach(name, scope.name, fmt.Sprintf("%s: %v of %v is not an amount; check the configuration and the state", name, now, most))
			case now >= most-epsilon:
				v.reach(name, scope.name, fmt.Sprintf("%s of %s used up (%s)%s", u.show(now), u.show(most), name, unknown(u.name, used)))
			case c.AlertPercent > 0 && now*100 >= most*float64(c.AlertPercent)-epsilon:
				v.Alerts = append(v.Alerts, Alert{Cap: name, Scope: scope.name, Detail: fmt.Sprintf("%s of %s used, %d %% (%s)%s",
					u.show(now), u.show(most), int(now*100/most+epsilon), name, unknown(u.name, used))})
			}
		}
	}
	return v
}

func (v *Verdict) reach(name, scope, detail string) {
	if v.Over == "" {
		v.Over, v.Scope, v.Detail = name, scope, detail
	}
}

// Left is how many US dollars may still be spent before the first cap is
// reached, for agents that can be told so. It reports false when money is not
// capped.
func Left(c Caps, s Spent) (usd float64, capped bool) {
	left := math.Inf(1)
	for _, scope := range scopes {
		most, now := scope.cap(c).USD, scope.used(s).USD
		switch {
		case most == 0:
			continue
		case !sound(most) || !sound(now):
			return 0, true
		}
		left = math.Min(left, math.Max(0, most-now))
	}
	if math.IsInf(left, 1) {
		return 0, false
	}
	return left, true
}

// unknown says how many runs a sum of dollars leaves out.
func unknown(unit string, u Used) string {
	switch {
	case unit != "usd" || u.UnknownCost <= 0:
		return ""
	case u.UnknownCost == 1:
		return ", and 1 run of unknown cost"
	}
	return fmt.Sprintf(", and %d runs of unknown cost", u.UnknownCost)
}

func dollars(v float64) string {
	if v != 0 && v < 0.005 {
		return "$" + strconv.FormatFloat(v, 'f', 4, 64)
	}
	return "$" + strconv.FormatFloat(v, 'f', 2, 64)
}

func count(noun string) func(float64) string {
	return func(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) + " " + noun }
}

func seconds(v float64) string {
	if v > float64(math.MaxInt64/int64(time.Second)) {
		return strconv.FormatFloat(v, 'f', 0, 64) + "s"
	}
	return (time.Duration(math.Round(v)) * time.Second).String()
}
