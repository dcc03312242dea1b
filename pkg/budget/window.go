package budget

import "time"

// Window says when agents may start: working hours, or the time outside a
// freeze.
type Window interface {
	// Open reports whether agents may start at t.
	Open(t time.Time) bool
	// Next is the first moment, t or later, at which they may; the zero time
	// when there is none.
	Next(t time.Time) time.Time
}

// maxRounds bounds the search for a moment when several windows are open: it
// is reached only by windows that never overlap.
const maxRounds = 1000

// Opens is the first moment, t or later, at which every window is open. It is
// t when all are open now, and the zero time when they never are.
func Opens(t time.Time, windows ...Window) time.Time {
	for range maxRounds {
		closed := firstClosed(t, windows)
		if closed == nil {
			return t
		}
		next := closed.Next(t)
		if !next.After(t) { // never, or a window that contradicts itself
			return time.Time{}
		}
		t = next
	}
	return time.Time{}
}

func firstClosed(t time.Time, windows []Window) Window {
	for _, w := range windows {
		if w != nil && !w.Open(t) {
			return w
		}
	}
	return nil
}

// NextDay is the beginning of the calendar day after t, in t's location: when
// the caps of a day start anew.
func NextDay(t time.Time) time.Time {
	y, m, d := t.Date()
	next := time.Date(y, m, d+1, 0, 0, 0, 0, t.Location())
	// Where clocks go forward at midnight there is no 00:00, and Date may
	// answer with a moment of the day before.
	for next.Day() == d {
		next = next.Add(time.Hour)
	}
	return next
}
