package proc

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// process is one row of the table of processes.
type process struct {
	pid     int
	name    string
	parent  int
	session int
	start   uint64
	zombie  bool
	cpu     time.Duration // its own and that of the children it has waited for
}

func (p process) identity() Identity {
	identity := host()
	identity.PID, identity.Start = p.pid, p.start
	return identity
}

// descendants chooses from a table what belongs to one of the roots: their children and the children of those, and all
// in a session that a root leads. The roots themselves are not among them.
func descendants(table []process, roots ...int) []process {
	family := map[int]bool{}
	for _, root := range roots {
		family[root] = true
	}
	var found []process
	for grown := true; grown; {
		grown = false
		for _, p := range table {
			if !family[p.pid] && (family[p.parent] || slices.Contains(roots, p.session)) {
				family[p.pid], grown = true, true
				found = append(found, p)
			}
		}
	}
	return found
}

// hunt ends processes: first politely, then by force.
type hunt struct {
	// find lists what is still alive. clear says that nothing is and, as far as that can be known, nothing can come any more.
	find func() (alive []process, clear bool, err error)
	// pause waits for a change, at most so long.
	pause func(time.Duration)
	// hurry says that the polite part has to be cut short.
	hurry func() bool
	group *cgroup
}

const (
	firstLook = 2 * time.Millisecond
	lastLook  = 50 * time.Millisecond
)

// errNotClear says that no process was seen, but it cannot be ruled out that there is one.
var errNotClear = errors.New("processes may be left that could not be seen")

// run asks every process to end, and after grace forces them, again and again until nothing is left or force has
// passed. It returns an error that names what could not be ended.
func (h hunt) run(grace, force time.Duration) error {
	over := after(grace)
	asked := map[Identity]bool{}
	_, err := h.until(func() bool { return over() || h.hurry() }, func(alive []process) {
		for _, p := range alive {
			if id := p.identity(); !asked[id] {
				asked[id] = true
				_ = id.signal(syscall.SIGTERM)
				_ = id.signal(syscall.SIGCONT) // a stopped process cannot hear
			}
		}
	})
	if err == nil {
		return nil
	}
	left, err := h.until(after(force), func(alive []process) {
		h.group.kill()
		for _, p := range alive {
			_ = p.identity().signal(syscall.SIGKILL)
		}
	})
	if err == nil || len(left) == 0 {
		return err
	}
	names := make([]string, 0, len(left))
	for _, p := range left {
		names = append(names, fmt.Sprintf("%d (%q)", p.pid, p.name))
	}
	return fmt.Errorf("processes could not be ended: %s", strings.Join(names, ", "))
}

// until applies act to all that is found, until nothing is left or it is over; then it returns an error and what was left.
func (h hunt) until(over func() bool, act func([]process)) ([]process, error) {
	for look := firstLook; ; look = min(2*look, lastLook) {
		alive, clear, err := h.find()
		switch {
		case err == nil && clear:
			return nil, nil
		case err == nil:
			err = errNotClear
		}
		act(alive)
		if over() {
			return alive, err
		}
		h.pause(look)
	}
}

func after(d time.Duration) func() bool {
	end := time.Now().Add(d)
	return func() bool { return !time.Now().Before(end) }
}

// carriers chooses from a table what carries the marker of an execution and is no older than since, which spares looking at
// most processes. This process never counts.
func carriers(table []process, execution string, since uint64) []process {
	entry, self := Marker+"="+execution, os.Getpid()
	var found []process
	for _, p := range table {
		if p.pid != self && p.start >= since && !p.zombie && carries(p.pid, entry) {
			found = append(found, p)
		}
	}
	return found
}

// living is the table without zombies and without doubles.
func living(lists ...[]process) []process {
	var alive []process
	seen := map[int]bool{}
	for _, list := range lists {
		for _, p := range list {
			if !p.zombie && !seen[p.pid] {
				seen[p.pid] = true
				alive = append(alive, p)
			}
		}
	}
	return alive
}
