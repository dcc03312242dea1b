package github

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// changedFile is a file of a pull request, and what of it changed.
type changedFile struct {
	Filename string `json:"filename"`
	Patch    string `json:"patch"` // "" when it is binary or too long
}

// commentable is by path the lines of the new side that a comment can be tied to.
func (c *Client) commentable(ctx context.Context, slug string, number int) (map[string]map[int]bool, error) {
	lines := make(map[string]map[int]bool)
	r := request{op: "read what " + threadName(slug, number) + " changes", path: pullPath(slug, number, "files") + "?per_page=100"}
	err := pages(ctx, c, r, func(page []changedFile) bool {
		for _, f := range page {
			lines[f.Filename] = newSide(f.Patch)
		}
		return true
	})
	return lines, err
}

var hunkHeader = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^@@ -[0-9]+(?:,[0-9]+)? \+([0-9]+)(?:,[0-9]+)? @@`)
})

// newSide are the line numbers of the new side that a patch shows.
func newSide(patch string) map[int]bool {
	shown := make(map[int]bool)
	next := 0
	for line := range strings.Lines(patch) {
		if m := hunkHeader().FindStringSubmatch(line); m != nil {
			next, _ = strconv.Atoi(m[1]) // digits; what is too long for a number is no line
			continue
		}
		if next > 0 && (line[0] == '+' || line[0] == ' ') {
			shown[next] = true
			next++
		}
	}
	return shown
}
