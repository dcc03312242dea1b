package forge

import (
	"regexp"
	"strings"
	"sync"

	"github.com/backburner-cli/backburner/pkg/work"
)

// Closing finds references that close the issue they name, when the text is that of
// a pull request or of a commit that lands: the word, what follows it, and how the
// reference begins. Marks of Markdown and HTML that a reader does not see may be between.
var Closing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(close[sd]?|fix(?:e[sd])?|resolve[sd]?)((?:[^\w#&\\]|_|</?[a-z][^<>]*>)+)` +
		`(\\?#[0-9]|gh\\?-[0-9]|[\w.\\-]+/[\w.\\-]+#[0-9]|https?://)`)
})

var (
	// elsewhere is an issue of another repository, on which a commit that names it is noted.
	elsewhere = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([\w.-]+/[\w.-]+)#([0-9])`) })
	// vouched is a trailer that says who had a part in a commit, which is nothing that an agent knows.
	vouched = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?im)^([ \t]*[a-z][a-z-]*)-(by[ \t]*:)`) })
	// called is the name of somebody who would hear of the commit.
	called = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[^0-9A-Za-z])@([0-9A-Za-z])`) })
)

// CommitMessage is an agent's message of a commit that may land on a hub: it closes
// nothing there, calls nobody, and switches off no checks. Which issue the work is
// for is known to backburner, not to the agent.
func CommitMessage(text string) string {
	text = Closing().ReplaceAllStringFunc(text, func(found string) string {
		m := Closing().FindStringSubmatch(found)
		place, number, numbered := strings.Cut(strings.ReplaceAll(m[3], `\`, ""), "#")
		switch {
		case !numbered: // an address, or gh-7
			return m[1] + m[2] + "issue " + strings.ReplaceAll(place, "-", " ")
		case place != "":
			place += " "
		}
		return m[1] + m[2] + place + "issue " + number
	})
	text = elsewhere().ReplaceAllString(text, "$1 issue $2")
	text = Checked(text)
	text = vouched().ReplaceAllString(text, "$1 $2")
	return called().ReplaceAllString(text, "$1@\u200b$2")
}

// Checked is a text that switches off no checks when it becomes the message of a
// commit.
func Checked(text string) string {
	return work.Unchecked().ReplaceAllStringFunc(text, func(found string) string {
		return strings.NewReplacer("[", "(", "]", ")", "*", "", "-", " ", "_", " ").Replace(found)
	})
}
