package lease

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
)

// Peek tells who holds the lease of dir, and whether it is alive, without
// writing or locking anything: for showing. The holder is nil when there is
// none. Without a lock the age of another host's lease is taken by now, so that
// one may look alive or dead by as much as the clocks differ; Acquire decides
// better. A lease.json that cannot be understood is an error.
func Peek(dir string, now time.Time) (holder *Holder, alive bool, err error) {
	o, err := Options{TickID: "peek"}.complete()
	if err != nil {
		return nil, false, err
	}
	return peek(dir, o, now)
}

func peek(dir string, o Options, now time.Time) (*Holder, bool, error) {
	path := filepath.Join(dir, leaseFile)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	f, err := readFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case f.bad != nil:
		return nil, false, fmt.Errorf("%s: %w", path, f.bad)
	}
	v := judge(*f.holder, o.self(), max(0, now.Sub(info.ModTime())), o.TTL, proc.Identity.Alive)
	return f.holder, !v.dead, nil
}
