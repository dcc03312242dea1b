package github

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
)

// folders are folders of this machine, and what stands for their paths in what
// others read: where they are is nobody's business there.
type folders []folder

type folder struct {
	path *regexp.Regexp
	as   string
}

// newFolders is for absolute paths; the longest of those that are one in the other
// counts.
func newFolders(paths map[string]string) folders {
	var all folders
	for _, path := range slices.SortedFunc(maps.Keys(paths), func(x, y string) int { return cmp.Compare(len(y), len(x)) }) {
		if len(path) > 1 { // the root is everywhere
			all = append(all, folder{regexp.MustCompile(`(^|[^\w/.-])` + regexp.QuoteMeta(path) + `($|[^\w.-])`), "${1}" + paths[path] + "${2}"})
		}
	}
	return all
}

func (all folders) shorten(text string) string {
	for _, f := range all {
		text = f.path.ReplaceAllString(text, f.as)
	}
	return text
}
