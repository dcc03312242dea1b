package git

import (
	"regexp"
	"strings"
	"sync"
)

// troubles are what keeps git from working with a repository at all, by its own words, and what a person can do about each. $1 is what the
// pattern found.
var troubles = sync.OnceValue(func() []trouble {
	return []trouble{
		{regexp.MustCompile(`(?:dubious ownership in|unsafe) repository (?:at )?\(?'([^'\n]+)'`),
			"it belongs to another user, so git refuses it: give it to the user that runs backburner, or let that user run git config --global --add safe.directory '$1'"},
		{regexp.MustCompile(`unknown repository extensions? found:\s*(\S+)`),
			"this git does not know the repository's format ($1): install a newer git, or convert the repository"},
		{regexp.MustCompile(`Ignoring path `), "git takes no file of such a name: rename it"},
		{regexp.MustCompile(`bad (?:numeric |boolean )?config (?:line|value|variable).*`), "correct git's configuration there"},
		{regexp.MustCompile(`from promisor remote|lazy fetching disabled`),
			"it is a partial clone, which lacks objects: make it whole with git fetch --refetch --no-filter"},
		{regexp.MustCompile(`(?:missing|bad) object|inflate: data|unable to unpack|object \S+ is corrupt|is damaged|did not send all necessary objects`),
			"the repository is damaged: look with git fsck, and restore what is missing, for example from a clone"},
		{regexp.MustCompile(`(?i)permission denied|insufficient permission|read-only file system`),
			"give the user that runs backburner access to it"},
		{regexp.MustCompile(`(?i)no space left on device|disk quota exceeded`), "make room on the disk"},
	}
})

type trouble struct {
	said   *regexp.Regexp
	advice string
}

// advise says what a person can do about what git said; "" when that is not known.
func advise(said string) string {
	for _, t := range troubles() {
		if found := t.said.FindStringSubmatchIndex(said); found != nil {
			return string(t.said.ExpandString(nil, t.advice, said, found))
		}
	}
	return ""
}

// oneLine joins the lines of what git said, without its hints.
func oneLine(said string) string {
	var lines []string
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "hint:") && !strings.HasPrefix(line, "To add an exception") &&
			!strings.HasPrefix(line, "git config --global --add safe.directory") {
			lines = append(lines, line)
		}
	}
	return strings.ReplaceAll(strings.Join(lines, "; "), ":; ", ": ")
}
