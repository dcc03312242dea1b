// Package lease decides who may run a pass over a state folder: one process at
// a time, and after it died the next one, at once and without asking anybody.
//
// The lease is the file lease.json in that folder. Each change of it, a
// read-modify-write, is made under a kernel lock on lease.lock, which is given
// back right after: a free kernel lock says nothing about the lease. lease.lock
// also holds the highest fencing token ever given out, so tokens go up even
// when lease.json was lost.
//
// # When a holder counts as dead
//
//	the holder, as seen from here           it is dead when
//	same boot id, same process namespace    that very process is gone (id and
//	                                        start time), whatever its age
//	same host name and process namespace,   always: the machine was restarted
//	other boot id
//	anything else (other host, other        lease.json is older than its own
//	container, boot id not known)           lifetime
//
// The first row has a price: a process that was suspended (Ctrl-Z, kill -STOP)
// is alive and keeps its lease for as long as it stays suspended. Others skip
// their turn and say for how long it has not renewed and what to type. When it
// is resumed after its own deadline, its Check and its context tell it to give
// up, although nobody else came.
//
// In the last row age is measured by one clock alone, the file system's:
// lease.lock is written and its modification time compared with that of
// lease.json. The clocks of the two hosts may differ by days and change
// nothing. Lifetime is expires_at minus renewed_at, both from the holder's
// clock; when it is absurd (nothing, or over MaxTTL) the judge's own TTL counts
// instead. A file from the future, left by a file
// system whose clock was put back, is dated to the present and ages from there.
//
// # What a holder does
//
// It renews in the background, and gives up after three quarters of its
// lifetime without a renewal, by the wall clock or the monotonic one, whichever
// says more: others wait for the fourth quarter as well. Its context then ends
// with the cause ErrLost. Because a sleeping machine misses timers, Check is
// asked before each save and effect.
//
// A lease that was taken over although its holder lives, which the table can
// do to a holder on another host, does no harm: Check compares what is on disk,
// and the token there is no longer the holder's.
//
// A lease.json that cannot be understood is renamed to lease.json.bad-<time>
// and taken over. One of a newer schema is respected for MaxTTL.
//
// The package does not know what a pass is. It must not look for processes that
// a dead holder started: those are found by their own records.
package lease
