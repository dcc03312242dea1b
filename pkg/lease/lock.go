package lease

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
)

// errLockBusy ends waiting for the kernel lock. Its holders need milliseconds.
var errLockBusy = errors.New("another process is in the middle of changing the lease and does not get on; " +
	"if a backburner is suspended, resume or end it, then run again")

// lockFile is the file in the state folder that carries the kernel lock.
const lockFile = "lease.lock"

// lockPatience is how long Acquire waits for the kernel lock.
const lockPatience = 10 * time.Second

// guard is the kernel lock that a read-modify-write of lease.json needs.
type guard struct {
	file  *os.File
	token int64 // the highest token given out, as far as lease.lock knows
}

// lock waits for the kernel lock of dir, at most until ctx ends.
func lock(ctx context.Context, dir string) (*guard, error) {
	path := filepath.Join(dir, lockFile)
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		f, err := openLock(path)
		if err != nil {
			return nil, err
		}
		if err := flock(ctx, f); err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		g := &guard{file: f}
		current, err := g.isCurrent(path)
		if err == nil && current {
			g.token, err = g.readToken()
		}
		if err != nil {
			g.unlock()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if current {
			return g, nil
		}
		g.unlock() // somebody removed the file while we waited: ours excludes nobody
	}
}

// openLock opens the lock file, which a pipe or link put in its place must not
// make hang or point elsewhere.
func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return nil, atomicfile.Failure("open", path, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = atomicfile.ErrNotRegular
	}
	if err != nil {
		f.Close()
		return nil, atomicfile.Failure("open", path, err)
	}
	return f, nil
}

// flock polls, because a blocking call could not be given up when ctx ends.
func flock(ctx context.Context, f *os.File) error {
	const first, longest = time.Millisecond, 25 * time.Millisecond
	for pause := first; ; pause = min(pause*3/2, longest) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || (!errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR)) {
			return err
		}
		if err := sleep(ctx, pause/2+rand.N(pause)); err != nil {
			return err
		}
	}
}

// sleep returns the cause when ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// isCurrent tells whether path still is the file that is locked.
func (g *guard) isCurrent(path string) (bool, error) {
	mine, err := g.file.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, there), err
}

// readToken reads what raise wrote. Nonsense is no token: lease.json has it too.
func (g *guard) readToken() (int64, error) {
	buf := make([]byte, 64)
	n, err := g.file.ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	return parseToken(string(buf[:n])), nil
}

// raise records token as given out, before anybody sees it.
func (g *guard) raise(token int64) error {
	if _, err := fmt.Fprintf(io.NewOffsetWriter(g.file, 0), "%020d\n", token); err != nil {
		return fmt.Errorf("record fencing token: %w", err)
	}
	g.token = token
	return nil
}

// clock is the time by the file system's clock, the one that also dated
// lease.json.
func (g *guard) clock() (time.Time, error) {
	if err := g.raise(g.token); err != nil { // the same bytes, for their date
		return time.Time{}, err
	}
	info, err := g.file.Stat()
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// unlock gives the kernel lock back. It says so explicitly: a child being
// started at this moment has a copy of the descriptor for an instant.
func (g *guard) unlock() {
	_ = unix.Flock(int(g.file.Fd()), unix.LOCK_UN)
	_ = g.file.Close()
}
