package budget

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Cap is the most one scope may use. 0 is no limit.
type Cap struct {
	USD      float64
	Tokens   int64 // input and output together
	Sessions int   // runs of agents
	Time     time.Duration
}

// Caps are the caps of every scope.
type Caps struct {
	Task       Cap
	Workstream Cap // in its whole life
	Tick       Cap
	Day        Cap // a local calendar day
	// AlertPercent is the share of a cap at which an alert is due; 0 is never.
	AlertPercent int
}

// Used is what one scope has used up.
type Used struct {
	USD         float64 // as far as it is known
	UnknownCost int     // runs whose cost nobody stated
	Tokens      int64
	Sessions    int
	Time        time.Duration
}

// Spent is what every scope has used up.
type Spent struct {
	Task       Used
	Workstream Used
	Tick       Used
	Day        Used
}

// Validate returns an error that names every cap which is negative or no number.
func (c Caps) Validate() error {
	var errs []error
	for _, s := range scopes {
		limit := s.cap(c)
		for _, u := range units {
			if v := u.limit(limit); !sound(v) {
				errs = append(errs, fmt.Errorf("budget %s_%s: %v is not an amount; use 0 for no limit", s.name, u.name, v))
			}
		}
	}
	if c.AlertPercent < 0 || c.AlertPercent > 100 {
		errs = append(errs, fmt.Errorf("budget alert_percent: %d is not between 0 and 100", c.AlertPercent))
	}
	return errors.Join(errs...)
}

// Countable reports whether a stated cost in US dollars can be added up. What
// an agent states is data from outside: a negative cost would win back budget,
// and one that is not a number would poison every sum. Treat what is not
// countable as unknown.
func Countable(usd float64) bool { return sound(usd) }

func sound(v float64) bool { return v >= 0 && !math.IsInf(v, 1) } // false for NaN
