// Package budget is the arithmetic of caps: what was spent against what may be
// spent, and when work may start. It is pure: it reads no clock and keeps no
// state, and its only imports are of the standard library. What happens at a
// cap (a status, a held task, an alert) is decided by its callers.
//
// Four scopes are capped, each in four units. A cap of 0 is no limit. A cap is
// reached when as much as it allows is spent, not when more is: what starts
// afterwards could only go beyond it.
//
// Money is counted as far as agents state it. Runs of unknown cost add nothing
// in dollars, so it is tokens, sessions and time that bound them; wherever
// dollars are shown, their number is shown too.
package budget
