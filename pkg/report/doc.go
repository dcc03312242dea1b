// Package report is how backburner speaks to people and programs that look at
// it: the tables of `status`, the summary of a tick, JSON, what GitHub Actions
// shows, and live progress on a terminal. It turns values into text. It reads
// no state, decides nothing about the work, and writes only where it is told.
//
// Whatever comes from outside (titles, names, what agents said) is shown without
// control characters, so that nobody can move the cursor, hide a line or forge
// one. Text is cut by the width it has on a screen, and only on a screen: in a
// pipe every line is whole. Commands to type are never cut.
//
// JSON is a promise: fields are added, never renamed.
package report
