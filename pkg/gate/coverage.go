package gate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// maxReport bounds what is read of a coverage report, in bytes.
const maxReport = 64 << 20

// Coverage is a threshold on a report that a step writes.
type Coverage struct {
	File    string  // in the workspace
	Format  string  // "go", "lcov", "cobertura" or "jacoco"
	Minimum float64 // percent of lines; of statements for "go"
}

// parsers turn a report into what it covers.
var parsers = map[string]func([]byte) (share, error){
	"go": parseGoProfile, "lcov": parseLCOV, "cobertura": parseCobertura, "jacoco": parseJaCoCo,
}

// share is how many lines or statements ran, of how many.
type share struct{ covered, total int64 }

func (s share) percent() float64 { return 100 * float64(s.covered) / float64(s.total) }

var errNothingCounted = errors.New("it counts no lines")

// writtenAt is when each report was last written; zero for those not there. Taken
// before the steps run, it tells a new report from one left by an earlier run,
// or put there by the work under test.
func writtenAt(workspace string, reports []Coverage) []time.Time {
	times := make([]time.Time, len(reports))
	for i, c := range reports {
		_ = c.open(workspace, func(f *os.File) error { // one that is not there has no time
			info, err := f.Stat()
			if err == nil {
				times[i] = info.ModTime()
			}
			return err
		})
	}
	return times
}

// judge is the reason for which coverage makes a gate red, and what to tell
// people; "" when it does not.
func (c Coverage) judge(workspace string, before time.Time) (reason, detail string) {
	var got share
	err := c.open(workspace, func(f *os.File) error {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if info.ModTime().Equal(before) {
			return errors.New("no step of this run wrote it")
		}
		got, err = c.parse(f)
		return err
	})
	if err != nil {
		return NoCoverage, fmt.Sprintf("coverage report %s: %v", c.File, err)
	}
	if got.percent() < c.Minimum {
		return LowCoverage, fmt.Sprintf("coverage %.1f %% is below %g %% (%d of %d, %s)", floor(got.percent()), c.Minimum, got.covered, got.total, c.File)
	}
	return "", ""
}

// floor cuts to one decimal: 79.96 must not read as the 80.0 it is refused for.
func floor(percent float64) float64 { return float64(int64(percent*10)) / 10 }

func (c Coverage) open(workspace string, use func(*os.File) error) error {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := root.OpenFile(c.File, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("it is not there")
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	return use(f)
}

func (c Coverage) parse(f io.Reader) (share, error) {
	content, err := io.ReadAll(io.LimitReader(f, maxReport+1))
	if err != nil {
		return share{}, err
	}
	if len(content) > maxReport {
		return share{}, fmt.Errorf("it is longer than %d MiB", maxReport>>20)
	}
	return c.parseBytes(content)
}

func (c Coverage) parseBytes(report []byte) (share, error) {
	parse := parsers[c.Format]
	if parse == nil {
		return share{}, fmt.Errorf("%q is not one of the formats go, lcov, cobertura, jacoco", c.Format)
	}
	got, err := parse(report)
	if err == nil && (got.total <= 0 || got.covered < 0 || got.covered > got.total) {
		err = errNothingCounted
	}
	return got, err
}
