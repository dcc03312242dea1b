package lease

import (
	"fmt"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
)

// HeldError is the answer of Acquire when the lease has a living holder.
type HeldError struct {
	Holder Holder
	How    string // how it is known that the holder lives, and when it renewed
	Todo   string // what a person can do
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s holds the lease since %s: %s; %s",
		e.Holder, e.Holder.AcquiredAt.Local().Format(time.DateTime), e.How, e.Todo)
}

// Takeover tells whom a new holder replaced, for the report.
type Takeover struct {
	Holder *Holder // nil when lease.json could not be understood
	How    string  // how it was known that nobody holds the lease any more
	Kept   string  // path under which a bad lease.json was kept, if there was one
}

// String is a sentence for people.
func (t Takeover) String() string {
	text := "took over the lease: " + t.How
	if t.Holder != nil {
		text = fmt.Sprintf("took over the lease of %s: %s", t.Holder, t.How)
	}
	if t.Kept != "" {
		text += "; the file is kept as " + t.Kept
	}
	return text
}

// verdict is what can be known about a holder.
type verdict struct {
	dead bool
	how  string
	todo string // only for the living
}

// judge decides whether h still holds the lease, by the table in the package
// comment. self is who asks, age how long ago h renewed, by one clock, and ttl
// the lifetime to assume when h states an absurd one.
func judge(h, self Holder, age, ttl time.Duration, alive func(proc.Identity) bool) verdict {
	limit := lifetime(h, ttl)
	ago := age.Round(time.Second)
	switch relate(h, self) {
	case sameProcesses:
		if !alive(h.identity()) {
			return verdict{dead: true, how: fmt.Sprintf("process %d of this machine is gone", h.PID)}
		}
		v := verdict{
			how:  fmt.Sprintf("it is running, renewed %s ago", ago),
			todo: fmt.Sprintf("wait for it to end (--on-busy wait), or end it: kill %d", h.PID),
		}
		if age > limit {
			v.how = fmt.Sprintf("it exists but has not renewed for %s", ago)
			v.todo = fmt.Sprintf("if it is suspended, resume it (kill -CONT %d) or end it (kill -KILL %d)", h.PID, h.PID)
		}
		return v
	case restarted:
		return verdict{dead: true, how: "this machine was restarted since"}
	}
	if age > limit {
		return verdict{dead: true, how: fmt.Sprintf("it has not renewed for %s, and its lease lasts %s", ago, limit)}
	}
	return verdict{
		how:  fmt.Sprintf("it renewed %s ago", ago),
		todo: fmt.Sprintf("wait for it to end (--on-busy wait); if it died, the lease is free %s after the last renewal", limit),
	}
}

// relation says what can be known about a holder's process from here.
type relation int

const (
	elsewhere     relation = iota // nothing
	sameProcesses                 // whether it exists
	restarted                     // that it is gone
)

// relate compares where h and self run. The host name only matters where the
// boot ids differ: a laptop changes its name with the network, and containers
// of one machine that see different processes have different names.
func relate(h, self Holder) relation {
	switch {
	case h.BootID == "" || self.BootID == "" || h.PIDNamespace != self.PIDNamespace:
		return elsewhere
	case h.BootID == self.BootID:
		return sameProcesses
	case h.Host == self.Host:
		return restarted
	default:
		return elsewhere
	}
}

// lifetime is how long after a renewal h's lease lasts. Both times are from the
// holder's own clock, so it does not matter how wrong that is.
func lifetime(h Holder, ttl time.Duration) time.Duration {
	if stated := h.ExpiresAt.Sub(h.RenewedAt); stated > 0 && stated <= MaxTTL {
		return stated
	}
	return ttl
}
