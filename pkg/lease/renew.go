package lease

import (
	"context"
	"fmt"
	"time"
)

// deadline is how long after its last renewal a holder trusts its lease: less
// than others do, so that it has stopped before they start.
func (l *Lease) deadline() time.Duration { return l.options.TTL / 4 * 3 }

// elapsed is the time from one to the other, by the wall clock or by the
// monotonic one, whichever says more: the first stands still when it is put
// back, the second while the machine sleeps.
func elapsed(from, to time.Time) time.Duration {
	return max(to.Sub(from), to.Round(0).Sub(from.Round(0)))
}

// overdue returns why the lease is over, nil when it is not. The caller has l.mu.
func (l *Lease) overdue() error {
	if l.ended != nil {
		return l.ended
	}
	late := elapsed(l.written.at, l.options.Now())
	if late < l.deadline() {
		return nil
	}
	reason := fmt.Sprintf("not renewed for %s; this process or machine was asleep, or its clock was changed", late.Round(time.Second))
	if l.written.trouble != nil {
		reason = fmt.Sprintf("not renewed for %s: %v", late.Round(time.Second), l.written.trouble)
	}
	return l.lose(reason)
}

// keepRenewing renews until the lease is over.
func (l *Lease) keepRenewing() {
	ticker := time.NewTicker(l.options.Renew)
	defer ticker.Stop()
	for {
		select {
		case <-l.life.Done():
			return
		case <-ticker.C:
		}
		if over := l.renew(); over {
			return
		}
	}
}

// renew renews once. Trouble is remembered and tried again at the next turn:
// the deadline decides when it has been too much.
func (l *Lease) renew() (over bool) {
	err := l.rewrite()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written.trouble = err
	return l.overdue() != nil
}

func (l *Lease) rewrite() error {
	ctx, cancel := context.WithTimeoutCause(l.life, l.options.Renew, errLockBusy)
	defer cancel()
	g, err := lock(ctx, l.dir)
	if err != nil {
		return err
	}
	defer g.unlock()
	if err := l.Check(); err != nil {
		return err
	}
	return l.write(l.options.Now())
}

// watch ends the lease at its deadline even when a renewal hangs in the file
// system. It looks as often as renewals come, because a timer for the whole
// way would be late by as long as the machine slept.
func (l *Lease) watch() {
	for {
		l.mu.Lock()
		over := l.overdue() != nil
		left := l.deadline() - elapsed(l.written.at, l.options.Now())
		l.mu.Unlock()
		if over || sleep(l.life, min(left, l.options.Renew)) != nil {
			return
		}
	}
}
