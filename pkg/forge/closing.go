package forge

import (
	"regexp"
	"slices"
	"strings"
	"sync"
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
	// unchecked is what a service takes for the wish that a commit is not tested.
	unchecked = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\[\s*(?:(?:skip|no)[\s_-]+[\w-]+|[\w-]+[\s_-]+skip)\s*\]|\*{3}no_ci\*{3}|skip-checks\s*:`)
	})
	// vouched is a trailer that says who had a part in a commit, which is nothing that an agent knows.
	vouched = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?im)^([ \t]*[a-z][a-z-]*)-(by[ \t]*:)`) })
	// reference is all of one to an issue, as it begins.
	reference = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?i:https?://[\w.:-]+/[\w.-]+/[\w.-]+/(?:issues|pull|discussions)/[0-9]+|[\w.\\/-]*\\?#[0-9]+|gh\\?-[0-9]+)`)
	})
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
	return unchecked().ReplaceAllStringFunc(text, func(found string) string {
		return strings.NewReplacer("[", "(", "]", ")", "*", "", "-", " ", "_", " ").Replace(found)
	})
}

// Oversteps reports whether the message of a commit keeps services from testing it,
// or closes another issue than those of the work: nothing that an agent decides. Each
// of those is written as in acme/shop#7; where there is none, no hub closes anything.
func Oversteps(message string, own ...string) bool {
	if unchecked().MatchString(message) {
		return true
	}
	for _, at := range Closing().FindAllStringSubmatchIndex(message, -1) {
		named := strings.ReplaceAll(reference().FindString(message[at[6]:]), `\`, "")
		if len(own) > 0 && named != "" && !slices.ContainsFunc(own, func(issue string) bool { return names(named, issue) }) {
			return true
		}
	}
	return false
}

// names reports whether a reference is to an issue of the repository it is read in.
func names(reference, issue string) bool {
	slug, number, _ := strings.Cut(issue, "#")
	for _, form := range []string{"#" + number, "gh-" + number, issue} {
		if strings.EqualFold(reference, form) {
			return true
		}
	}
	rest, found := strings.CutSuffix(strings.ToLower(reference), "/"+strings.ToLower(slug)+"/issues/"+number)
	return found && strings.Count(rest, "/") == 2
}
