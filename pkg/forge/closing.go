package forge

import (
	"regexp"
	"strings"
	"sync"
)

// Closing finds references that close the issue they name, when the text is that of
// a pull request or of a commit that lands: the word, what follows it, and how the
// reference begins.
var Closing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(close[sd]?|fix(?:e[sd])?|resolve[sd]?)(:?\s+)(#[0-9]|gh-[0-9]|[\w.-]+/[\w.-]+#[0-9]|https?://)`)
})

// CommitMessage is an agent's message of a commit that may land on a hub: it closes
// nothing there. Which issue the work is for is known to backburner, not to the agent.
func CommitMessage(text string) string {
	return Closing().ReplaceAllStringFunc(text, func(found string) string {
		m := Closing().FindStringSubmatch(found)
		place, number, numbered := strings.Cut(m[3], "#")
		switch {
		case !numbered: // an address, or gh-7
			return m[1] + m[2] + "issue " + strings.ReplaceAll(m[3], "-", " ")
		case place != "":
			place += " "
		}
		return m[1] + m[2] + place + "issue " + number
	})
}
