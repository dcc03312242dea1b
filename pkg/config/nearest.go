package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Nearest is the candidate that was probably meant by name, or "". Case, dashes
// and underscores do not matter.
func Nearest(name string, candidates []string) string {
	const longest = 64 // no name of ours comes near; keeps the work bounded
	if name == "" || len(name) > longest {
		return ""
	}
	best, least := "", 1+max(1, len(name)/3)
	for _, c := range candidates {
		if d := distance(plain(name), plain(c)); d < least {
			best, least = c, d
		}
	}
	return best
}

func plain(name string) string {
	return strings.ReplaceAll(strings.ToLower(name), "-", "_")
}

// distance is the number of single-byte edits and swaps of neighbours between a
// and b (optimal string alignment).
func distance(a, b string) int {
	before, last, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(last[j]+1, next[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, last, next = last, next, before
	}
	return last[len(b)]
}

// meant is the end of a message about a wrong word.
func meant(word string, allowed []string) string {
	if near := Nearest(word, allowed); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "use " + alternatives(allowed)
}

// alternatives is `"a", "b" or "c"`.
func alternatives(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}
