package githubtest

import (
	"strconv"
	"strings"
)

// comparison is what a head brings to a base, as a pull request shows it.
type comparison struct {
	commits int
	changes []change
	clean   bool // it merges without a conflict
}

// change is one file of a comparison.
type change struct {
	path, status       string
	additions, removed int
	patch              string
}

// compare compares two commits; a pair of commits never compares differently, so
// each is compared once.
func (b *bare) compare(base, head string) *comparison {
	key := base + " " + head
	if c := b.compared[key]; c != nil {
		return c
	}
	c := &comparison{}
	_, c.clean = b.mergeTree(base, head)
	var err error
	c.commits, err = strconv.Atoi(b.git("rev-list", "--count", base+".."+head))
	must(err)
	for _, section := range strings.Split("\n"+b.git("diff", "--no-color", "--no-renames", base+"..."+head), "\ndiff --git ")[1:] {
		c.changes = append(c.changes, parseChange(section))
	}
	b.compared[key] = c
	return c
}

// parseChange reads one file of git's patch, behind "diff --git ".
func parseChange(section string) change {
	header, rest, _ := strings.Cut(section, "\n")
	// "a/PATH b/PATH": without renames both are the same, so that a space in one
	// does not matter.
	c := change{path: header[len(header)-(len(header)-len("a/ b/"))/2:], status: "modified"}
	switch {
	case strings.HasPrefix(rest, "new file"):
		c.status = "added"
	case strings.HasPrefix(rest, "deleted file"):
		c.status = "removed"
	}
	_, patch, shown := strings.Cut(rest, "\n@@")
	if !shown {
		return c
	}
	c.patch = "@@" + patch
	for line := range strings.Lines(c.patch) {
		switch line[0] {
		case '+':
			c.additions++
		case '-':
			c.removed++
		}
	}
	return c
}
