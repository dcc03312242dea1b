package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Version is that of a git program.
type Version struct{ Major, Minor int }

// Oldest is the oldest git that backburner works with: the first whose merge-tree tests a merge without a checkout as it is used here.
var Oldest = Version{2, 39}

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Before says whether v is older than other.
func (v Version) Before(other Version) bool {
	return v.Major < other.Major || v.Major == other.Major && v.Minor < other.Minor
}

// Version asks the program for its version. It costs one process; callers keep the answer.
func (g *Git) Version(ctx context.Context) (Version, error) {
	said, err := Repo{git: g}.text(ctx, "version")
	if err != nil {
		return Version{}, err
	}
	return parseVersion(said)
}

// CheckVersion fails, and says what to do, when the program is older than Oldest.
func (g *Git) CheckVersion(ctx context.Context) error {
	v, err := g.Version(ctx)
	if err != nil {
		return err
	}
	if v.Before(Oldest) {
		return fmt.Errorf("git %s is too old: install git %s or newer", v, Oldest)
	}
	return nil
}

// parseVersion reads "git version 2.39.5 (Apple Git-154)" and "git version 2.43.0.windows.1".
func parseVersion(said string) (Version, error) {
	number, _, _ := strings.Cut(strings.TrimPrefix(said, "git version "), " ")
	parts := strings.Split(number, ".")
	if len(parts) >= 2 {
		major, err1 := strconv.Atoi(parts[0])
		minor, err2 := strconv.Atoi(parts[1])
		if err1 == nil && err2 == nil {
			return Version{major, minor}, nil
		}
	}
	return Version{}, fmt.Errorf("git version: cannot read %q", said)
}
