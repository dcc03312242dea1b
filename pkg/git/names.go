package git

import (
	"fmt"
	"strings"
)

const (
	// Heads, Remotes and Tags are where branches, remote-tracking branches and tags live.
	Heads   = "refs/heads/"
	Remotes = "refs/remotes/"
	Tags    = "refs/tags/"
)

// IsObjectID says whether s is a full object id: 40 or 64 lower-case hexadecimal digits.
func IsObjectID(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}

// ZeroID is the id that stands for "no object", as long as id.
func ZeroID(id string) string {
	if len(id) == 64 {
		return strings.Repeat("0", 64)
	}
	return strings.Repeat("0", 40)
}

// NameError is a name from outside that git, or backburner, does not take.
type NameError struct{ Name, Reason string }

func (e *NameError) Error() string { return fmt.Sprintf("name %q: %s", e.Name, e.Reason) }

// CheckBranch refuses a branch name (without refs/heads/) that is not one, or that could be taken for an option.
func CheckBranch(name string) error {
	if name == "" {
		return &NameError{name, "is empty"}
	}
	if name == "HEAD" || strings.HasPrefix(name, "refs/") {
		return &NameError{name, "is not the short name of a branch"}
	}
	return CheckRef(Heads + name)
}

// CheckRef refuses what is not a full reference name by the rules of git check-ref-format, and components that begin with a dash.
func CheckRef(name string) error {
	if !strings.HasPrefix(name, "refs/") {
		return &NameError{name, "is not a full reference name"}
	}
	if len(name) > 1000 {
		return &NameError{name[:40] + "...", "is too long"}
	}
	for _, r := range name {
		if r < 0x20 || r == 0x7f || strings.ContainsRune(" ~^:?*[\\", r) {
			return &NameError{name, fmt.Sprintf("must not contain %q", r)}
		}
	}
	for _, bad := range []string{"..", "@{"} {
		if strings.Contains(name, bad) {
			return &NameError{name, fmt.Sprintf("must not contain %q", bad)}
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "":
			return &NameError{name, "has an empty part"}
		case strings.HasPrefix(part, "."), strings.HasSuffix(part, "."), strings.HasSuffix(part, ".lock"):
			return &NameError{name, "has a part that begins or ends with a dot, or ends with .lock"}
		case strings.HasPrefix(part, "-"):
			return &NameError{name, "has a part that begins with a dash"}
		}
	}
	return nil
}

// checkIDs refuses anything that is not a full object id.
func checkIDs(ids ...string) error {
	for _, id := range ids {
		if !IsObjectID(id) {
			return &NameError{id, "is not a full object id"}
		}
	}
	return nil
}
