package forge

import "time"

// Entry is one thing said on the thread of a workstream.
type Entry struct {
	ID   string // deterministic: saying it twice is saying it once
	By   string // login or name; "" is backburner itself
	Text string // Markdown, as it was written
	At   time.Time
}
