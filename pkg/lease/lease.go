package lease

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
)

// ErrLost says that this process may not go on: it did not renew in time, or
// somebody else has the lease. Nothing is to be saved or done any more.
var ErrLost = errors.New("lease lost")

// errReleased is what Check says after Release.
var errReleased = errors.New("the lease was released")

// Lease is the right to run a pass, held by this process. Its methods may be
// called by several goroutines at once.
type Lease struct {
	dir      string
	options  Options
	takeover *Takeover

	ctx    context.Context // the holder's work
	cancel context.CancelCauseFunc
	life   context.Context // renewing, which goes on when the work is told to end
	end    context.CancelFunc
	loops  sync.WaitGroup

	mu      sync.Mutex
	mine    Holder
	written written
	ended   error // why the lease is over
}

// written is the last content that this process put into lease.json.
type written struct {
	at      time.Time // as Now gave it, for both of its clocks
	content []byte
	trouble error // why the latest renewal failed
}

func newLease(dir string, o Options, takeover *Takeover) *Lease {
	return &Lease{dir: dir, options: o, takeover: takeover}
}

// start begins the work and the loops that guard it.
func (l *Lease) start(ctx context.Context) {
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	// A pass told to stop still has to save, and may only while it has the lease.
	l.life, l.end = context.WithCancel(context.WithoutCancel(ctx))
	l.loops.Go(l.keepRenewing)
	l.loops.Go(l.watch)
}

// Context ends with the one given to Acquire, with Release, and, with a cause
// that is ErrLost, as soon as the lease is known to be lost.
func (l *Lease) Context() context.Context { return l.ctx }

// TookOver is whom this holder replaced, or nil when the lease was free.
func (l *Lease) TookOver() *Takeover { return l.takeover }

// Holder is this process as others see it in lease.json.
func (l *Lease) Holder() Holder {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mine
}

// Check returns nil when lease.json names this holder and its own deadline has
// not come. It is for asking before every save and effect, and costs one read
// of the file, under 10 µs; the content is only parsed when it is not what this
// process wrote last. An error that is not ErrLost means that the file could
// not be read: the save must not go on either, but asking again may help.
func (l *Lease) Check() error {
	content, err := atomicfile.Read(filepath.Join(l.dir, leaseFile), maxFile)
	l.mu.Lock()
	defer l.mu.Unlock()
	// The clock comes last: reading may have taken a night's sleep.
	if err := l.overdue(); err != nil {
		return err
	}
	if err == nil && bytes.Equal(content, l.written.content) {
		return nil
	}
	return l.compare(content, err)
}

// compare tells whether what was read from lease.json is this holder. The
// caller has l.mu.
func (l *Lease) compare(content []byte, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l.lose(leaseFile + " is gone")
	case errors.Is(err, atomicfile.ErrNotRegular), errors.Is(err, atomicfile.ErrTooLarge):
		return l.lose(err.Error())
	case err != nil:
		return fmt.Errorf("check lease: %w", err)
	}
	holder, err := decode(content)
	switch {
	case err != nil:
		return l.lose(fmt.Sprintf("%s could not be understood: %v", leaseFile, err))
	case !holder.same(l.mine):
		return l.lose(fmt.Sprintf("%s took it over with token %d, ours was %d", holder, holder.Token, l.mine.Token))
	}
	return nil
}

// lose ends the lease for a reason and returns why it is over, which may be an
// earlier reason. The caller has l.mu.
func (l *Lease) lose(reason string) error {
	if l.ended == nil {
		l.ended = fmt.Errorf("%w: %s; stopping here, the next tick goes on", ErrLost, reason)
		l.cancel(l.ended)
	}
	return l.ended
}

// write puts this holder, renewed now, into lease.json. The caller has the
// kernel lock, and not l.mu: writing may hang, and then the watch must still
// be able to end the lease. On an error the old one stays, on disk and here.
func (l *Lease) write(now time.Time) error {
	next := l.Holder()
	next.RenewedAt = now.Round(0).UTC()
	next.ExpiresAt = next.RenewedAt.Add(l.options.TTL)
	content, err := next.encode()
	if err != nil {
		return err
	}
	if err := atomicfile.WriteRelaxed(filepath.Join(l.dir, leaseFile), content, 0o644); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mine = next
	l.written = written{at: now, content: content}
	return nil
}

// releasePatience bounds Release: a pass that is told to stop has 5 s in all.
const releasePatience = 2 * time.Second

// Release ends the lease's context and gives the lease to whoever comes next.
// It removes lease.json only when that still names this holder, and may be
// called again.
func (l *Lease) Release() error {
	l.mu.Lock()
	done := errors.Is(l.ended, errReleased)
	l.mu.Unlock()
	if done {
		return nil
	}
	l.cancel(nil)
	l.end()
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(l.ctx), releasePatience, errLockBusy)
	defer cancel()
	l.waitForLoops(ctx)
	if err := l.remove(ctx); err != nil {
		return fmt.Errorf("release lease: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = errReleased
	return nil
}

// waitForLoops waits until nothing renews any more. A renewal that hangs in the
// file system does not matter to what follows: when it gets on, it finds that
// lease.json is not this holder's and leaves it.
func (l *Lease) waitForLoops(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		l.loops.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

func (l *Lease) remove(ctx context.Context) error {
	g, err := lock(ctx, l.dir)
	if err != nil {
		return err
	}
	defer g.unlock()
	path := filepath.Join(l.dir, leaseFile)
	f, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || f.holder == nil || !f.holder.same(l.Holder()) {
		return err
	}
	// Not durable: should a power loss bring it back, the machine was restarted.
	return os.Remove(path)
}
