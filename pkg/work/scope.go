package work

import (
	"fmt"
	"slices"
	"strings"
)

// OutOfScope says why a difference to the base may not be published: a
// protected path, a forbidden area, a place the plan does not allow, too many
// lines. "" when it may.
func (w *Workstream) OutOfScope(changed []string, lines int, p Policy) string {
	var planned []string
	if w.Plan != nil {
		planned = w.Plan.Paths()
	}
	for _, path := range changed {
		if glob := MatchAny(p.ProtectedPaths, path); glob != "" {
			return fmt.Sprintf("%s is protected (%s): only people may change it", path, glob)
		}
		if w.Plan == nil || path == w.Filed.Path {
			continue
		}
		if glob := MatchAny(w.Plan.ForbiddenAreas, path); glob != "" {
			return fmt.Sprintf("%s is in an area the plan forbids (%s)", path, glob)
		}
		if len(w.Plan.AllowedAreas) > 0 && MatchAny(w.Plan.AllowedAreas, path) == "" && !slices.ContainsFunc(planned, holds(path)) {
			return path + " is outside of the areas the plan allows"
		}
	}
	if p.MaxDiffLines > 0 && lines > p.MaxDiffLines {
		return fmt.Sprintf("%d changed lines are more than max_diff_lines = %d", lines, p.MaxDiffLines)
	}
	return ""
}

// holds reports whether a planned path is the path, or a folder it lies in.
func holds(path string) func(planned string) bool {
	return func(planned string) bool {
		return planned == path || strings.HasSuffix(planned, "/") && strings.HasPrefix(path, planned)
	}
}
