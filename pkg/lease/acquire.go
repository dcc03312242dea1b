package lease

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/proc"
)

// DefaultTTL is how long a lease lasts after a renewal, unless Options say
// otherwise. A holder on this host is judged by its process and not by this.
const DefaultTTL = 5 * time.Minute

// MaxTTL is the longest lifetime that is believed.
const MaxTTL = time.Hour

// Options say who wants the lease. Only TickID is needed.
type Options struct {
	TickID string
	TTL    time.Duration // default DefaultTTL, at most MaxTTL
	Renew  time.Duration // how often to renew; default a tenth of TTL, at most half of it
	Now    func() time.Time

	Host     string        // default the machine's name
	Identity proc.Identity // default this process
}

// complete fills in defaults and refuses what cannot work.
func (o Options) complete() (Options, error) {
	if o.TTL == 0 {
		o.TTL = DefaultTTL
	}
	if o.Renew == 0 {
		o.Renew = o.TTL / 10
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Identity.PID == 0 {
		o.Identity = proc.Self()
	}
	if o.Host == "" {
		host, err := os.Hostname()
		if err != nil {
			return o, fmt.Errorf("name of this machine: %w", err)
		}
		o.Host = strings.ToValidUTF8(host, "?")
	}
	switch {
	case o.TickID == "" || !printable(o.TickID):
		return o, fmt.Errorf("tick id %q cannot be written into a lease", o.TickID)
	case !printable(o.Host):
		return o, fmt.Errorf("host name %q cannot be written into a lease", o.Host)
	case o.TTL < 0 || o.TTL > MaxTTL:
		return o, fmt.Errorf("a lease of %s: it must be positive and at most %s", o.TTL, MaxTTL)
	case o.Renew <= 0 || o.Renew > o.TTL/2:
		return o, fmt.Errorf("renewing a lease every %s: it must be positive and at most half its %s", o.Renew, o.TTL)
	}
	return o, nil
}

// self is the asker as a holder, without token and times.
func (o Options) self() Holder {
	const hint = 200 // bytes of command line
	command := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.Join(os.Args, " "))
	return Holder{
		Version: schema, Host: o.Host, TickID: o.TickID,
		BootID: o.Identity.BootID, PIDNamespace: o.Identity.PIDNamespace, PID: o.Identity.PID, Start: o.Identity.Start,
		Command: strings.ToValidUTF8(command[:min(len(command), hint)], ""),
	}
}

// Acquire takes the lease of the state folder dir, which exists, and keeps it
// renewed until Release. The lease's context derives from ctx. The error is a
// *HeldError when somebody alive has it; nothing is waited for then.
func Acquire(ctx context.Context, dir string, o Options) (*Lease, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	patience, cancel := context.WithTimeoutCause(ctx, lockPatience, errLockBusy)
	defer cancel()
	g, err := lock(patience, dir)
	if err != nil {
		return nil, err
	}
	defer g.unlock()
	removeLeftovers(dir)
	return acquireLocked(ctx, g, dir, o)
}

func acquireLocked(ctx context.Context, g *guard, dir string, o Options) (*Lease, error) {
	found, err := inspect(g, dir)
	if err != nil {
		return nil, err
	}
	takeover, err := o.decide(found)
	if err != nil {
		return nil, err
	}
	// The token is spent before the old file is touched: whoever is killed
	// between any two of these steps leaves a higher token and an old holder
	// that is as dead as before.
	if err := g.raise(max(g.token, found.token) + 1); err != nil {
		return nil, err
	}
	if found.bad != nil {
		if takeover.Kept, err = setAside(dir, o.Now()); err != nil {
			return nil, err
		}
	}
	l := newLease(dir, o, takeover)
	l.mine = o.self()
	l.mine.Token = g.token
	l.mine.AcquiredAt = o.Now().Round(0).UTC()
	if err := l.write(o.Now()); err != nil {
		return nil, err
	}
	l.start(ctx)
	return l, nil
}

// decide says whether o may have the lease, and whom it takes it from, if anybody.
func (o Options) decide(f finding) (*Takeover, error) {
	switch {
	case f.holder != nil:
		v := judge(*f.holder, o.self(), f.age, o.TTL, proc.Identity.Alive)
		if !v.dead {
			return nil, &HeldError{Holder: *f.holder, How: v.how, Todo: v.todo}
		}
		return &Takeover{Holder: f.holder, How: v.how}, nil
	case f.bad == nil:
		return nil, nil
	}
	var newer *newerError
	if errors.As(f.bad, &newer) && f.age <= MaxTTL {
		return nil, fmt.Errorf("%s: %w", leaseFile, newer)
	}
	return &Takeover{How: fmt.Sprintf("%s could not be understood: %v", leaseFile, f.bad)}, nil
}

// Wait is Acquire that tries again while somebody alive has the lease, until ctx
// ends. The error then is both the cause and the last *HeldError. As the lease's
// context derives from ctx too, ctx is the tick's own.
func Wait(ctx context.Context, dir string, o Options) (*Lease, error) {
	const first, longest = 50 * time.Millisecond, 2 * time.Second
	for pause := first; ; pause = min(pause*2, longest) {
		l, err := Acquire(ctx, dir, o)
		var held *HeldError
		if !errors.As(err, &held) {
			return l, err
		}
		if err := sleep(ctx, pause/2+rand.N(pause)); err != nil {
			return nil, fmt.Errorf("wait for the lease: %w: %w", err, held)
		}
	}
}

// leaseFile is the lease's file in the state folder.
const leaseFile = "lease.json"

// maxFile is the most, in bytes, that is read of it.
const maxFile = 64 << 10

// finding is what is in the state folder.
type finding struct {
	holder *Holder       // nil: nobody, or bad
	bad    error         // why lease.json could not be understood
	age    time.Duration // since it was written
	token  int64         // the highest token found in it
}

// inspect looks at lease.json under the lock. Only what is wrong with the file
// itself is a finding; anything that may be better next time is an error.
func inspect(g *guard, dir string) (finding, error) {
	path := filepath.Join(dir, leaseFile)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return finding{}, nil
	}
	if err != nil {
		return finding{}, err
	}
	f, err := readFile(path)
	if err != nil {
		return f, err
	}
	now, err := g.clock()
	if err != nil {
		return f, err
	}
	if f.age = now.Sub(info.ModTime()); f.age < 0 {
		f.age = 0
		if info.Mode().IsRegular() {
			err = os.Chtimes(path, now, now)
		}
	}
	return f, err
}

// readFile reads lease.json, without its age.
func readFile(path string) (finding, error) {
	data, err := atomicfile.Read(path, maxFile)
	if errors.Is(err, atomicfile.ErrNotRegular) || errors.Is(err, atomicfile.ErrTooLarge) {
		return finding{bad: err}, nil
	}
	if err != nil {
		return finding{}, err
	}
	holder, err := decode(data)
	if err != nil {
		return finding{bad: err, token: salvageToken(data)}, nil
	}
	return finding{holder: &holder, token: holder.Token}, nil
}

// setAside keeps a bad lease.json for people to look at.
func setAside(dir string, now time.Time) (string, error) {
	path := filepath.Join(dir, leaseFile)
	kept := path + ".bad-" + now.UTC().Format("20060102T150405.000000000Z")
	return kept, os.Rename(path, kept)
}

// removeLeftovers removes what a process killed while writing lease.json left.
// Under the lock nobody is writing it. It is tidiness: trouble with it is not.
func removeLeftovers(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if base, ok := atomicfile.IsTemporary(entry.Name()); ok && base == leaseFile {
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}
