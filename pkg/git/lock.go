package git

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
)

// lockDelays are the pauses between attempts while a lock is held: about a second in all. git holds the locks of
// references for milliseconds; one held longer belongs to a process that is stuck or dead.
var lockDelays = []time.Duration{
	20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 300 * time.Millisecond, 400 * time.Millisecond,
}

var lockMessage = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)unable to create '([^'\n]+\.lock)': File exists`)
})

// contendedLock says whether a call failed because a lock file was there, and which.
func contendedLock(err error) (path string, contended bool) {
	var failed *Error
	if !errors.As(err, &failed) {
		return "", false
	}
	found := lockMessage().FindStringSubmatch(failed.Stderr)
	if found == nil {
		return "", false
	}
	return found[1], true
}

// breakLock takes away a lock that a killed process left in a repository, or on a reference, that only backburner uses, and says whether
// the call may be repeated. The lock is renamed first, so that of two that break it only one does, and neither takes away the lock of a third.
func (r Repo) breakLock(path string) bool {
	if !r.owns(path) {
		return false
	}
	aside := path + ".dead-" + strconv.FormatUint(rand.Uint64(), 36)
	if err := os.Rename(path, aside); err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	return os.Remove(aside) == nil
}

// owns says whether the lock path is in the repository itself, or in the one it shares references with, if that is only backburner's; or
// on the reference that is.
func (r Repo) owns(path string) bool {
	if r.own != "" && strings.HasSuffix(path, "/"+r.own+".lock") {
		return true
	}
	if !r.private {
		return false
	}
	for _, dir := range []string{r.dir, r.common} {
		if dir == "" {
			continue
		}
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// AtWork says whether a git process works in the folder dir, an absolute path without symbolic links, or below it. known is false where the
// system does not tell.
func AtWork(dir string) (busy, known bool) {
	found, err := proc.WorkingIn(dir, "git")
	return len(found) > 0, err == nil
}

// outlived says whether the lock of an index is held by a git process that is at work on its working tree: a killed run's may go on for as long
// as a checkout takes.
func (r Repo) outlived(lock string) bool {
	if !r.private || r.workTree == "" || filepath.Base(lock) != "index.lock" {
		return false
	}
	busy, _ := AtWork(r.workTree)
	return busy
}

// sleep waits for d and says whether it was allowed to.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
