package proc

import (
	"os"
	"sync"
)

// Identity names one process for good. An id alone does not: ids are used again, start over after a reboot, and mean something else in
// another container.
type Identity struct {
	BootID       string `json:"boot_id"`
	PIDNamespace string `json:"pid_namespace"`
	PID          int    `json:"pid"`
	// Start is when it started, in the kernel's own unit (on Linux field 22 of /proc/PID/stat: clock ticks since boot).
	Start uint64 `json:"start"`
}

// host is the part of an identity that all processes seen from here share.
var host = sync.OnceValue(func() Identity {
	return Identity{BootID: bootID(), PIDNamespace: pidNamespace()}
})

// Self is the identity of this process.
func Self() Identity {
	identity, _ := identify(os.Getpid())
	return identity
}

// identify finds the identity of a process by its id; ok is false when there is none, or only a zombie.
func identify(pid int) (identity Identity, ok bool) {
	identity = host()
	identity.PID = pid
	p, ok := readProcess(pid)
	identity.Start = p.start
	return identity, ok && !p.zombie
}

// Alive reports whether that very process still runs. A zombie is dead; so is, as seen from here, a process of another boot or of
// another process namespace.
func (i Identity) Alive() bool {
	if i.PID <= 0 || !i.local() {
		return false
	}
	now, ok := identify(i.PID)
	return ok && now == i
}

func (i Identity) local() bool {
	h := host()
	return i.BootID == h.BootID && i.PIDNamespace == h.PIDNamespace
}

// signal sends sig to that very process, and to no other that got its id: os.ErrProcessDone when it is gone.
func (i Identity) signal(sig os.Signal) error {
	if i.PID <= 0 || !i.local() {
		return os.ErrProcessDone
	}
	return signalExactly(i, sig)
}
