package github

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/backburner-cli/backburner/pkg/forge"
)

// Verb is what a command in a comment asks for.
type Verb string

// The verbs of commands.
const (
	VerbStart   Verb = "start"
	VerbPlan    Verb = "plan" // make one, or another one
	VerbApprove Verb = "approve"
	VerbAnswer  Verb = "answer" // TEXT, or q2: TEXT
	VerbRetry   Verb = "retry"
	VerbHold    Verb = "hold"
	VerbResume  Verb = "resume"
	VerbReview  Verb = "review"
	VerbPrepare Verb = "prepare-for-merge"
	VerbMerge   Verb = "merge"
	VerbSkip    Verb = "skip"
	VerbCancel  Verb = "cancel"
	VerbStatus  Verb = "status"
	VerbHelp    Verb = "help"
	VerbUnknown Verb = "" // what was typed is no verb
	verbTooMany Verb = "too many"
)

// verbs are all that can be asked for, and the words that each takes.
var verbs = map[Verb]words{
	VerbStart: noWords, VerbApprove: noWords, VerbMerge: noWords, VerbPrepare: noWords, VerbCancel: noWords, VerbResume: noWords,
	VerbHold: aLine, VerbReview: aLine, VerbSkip: aLine,
	VerbPlan: manyLines, VerbAnswer: manyLines, VerbRetry: manyLines,
	VerbStatus: anyWords, VerbHelp: anyWords,
}

// words are what may follow a verb.
type words int

const (
	noWords   words = iota // "merge, but not before monday" is no merge: what begins, lands or ends something is refused with words
	aLine                  // for whoever does it, or why
	manyLines              // likewise, and the lines that follow belong to it
	anyWords               // it changes nothing: "status of this?" says how it stands
)

// Command is one line of a comment that is meant for backburner.
type Command struct {
	Verb     Verb
	Text     string // what follows the verb
	Question string // of an answer: "q2"
	Line     string // as it was typed
}

// Hash is the identity of what is asked: the same words again are the same
// command, other words another one.
func (c Command) Hash() string {
	sum := sha256.Sum256([]byte(string(c.Verb) + "\n" + c.Line + "\n" + c.Text))
	return hex.EncodeToString(sum[:6])
}

// Commands are the commands in a text, in order: every line that starts with the
// prefix and a space, and is neither part of a code block, nor quoted, nor
// hidden in a comment of HTML. Each of them counts; the same one twice is one. Of
// too many, none does: then there is one that says so.
// The words of answer, retry and plan go on until the next command, or the end.
func Commands(text, prefix string) []Command {
	var all []Command
	var at scanner
	open := false            // the last one takes the lines that follow
	var more strings.Builder // them
	end := func() {
		if open {
			all[len(all)-1].Text += more.String()
		}
		more.Reset()
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		c, ok := Command{}, false
		if at.readable(line) {
			c, ok = parseCommand(line, prefix)
		}
		switch {
		case ok:
			end()
			all = append(all, c)
			open = verbs[c.Verb] == manyLines
		case open:
			more.WriteString("\n")
			more.WriteString(line)
		}
	}
	end()
	return counted(all)
}

// counted are the commands that are done.
func counted(all []Command) []Command {
	var once []Command
	known := make(map[string]bool)
	for _, c := range all {
		c = c.settled()
		if hash := c.Hash(); !known[hash] {
			known[hash] = true
			once = append(once, c)
		}
	}
	if len(once) > maxCommands {
		return []Command{{Verb: verbTooMany, Line: fmt.Sprintf("%d commands", len(once))}}
	}
	return once
}

// maxCommands is how many of one comment are done; anybody can write thousands.
const maxCommands = 20

func parseCommand(line, prefix string) (Command, bool) {
	if prefix == "" || len(line) < len(prefix) || !strings.EqualFold(line[:len(prefix)], prefix) {
		return Command{}, false
	}
	rest := line[len(prefix):]
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return Command{}, false
	}
	word, text, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(rest, "\t", " ")), " ")
	c := Command{Verb: verbOf(word), Text: strings.TrimSpace(text), Line: strings.Join(strings.Fields(line), " ")}
	if c.Verb == VerbUnknown {
		c.Text = word // nothing else is of use
	}
	return c, true
}

func verbOf(word string) Verb {
	word = strings.ToLower(word)
	switch word {
	case "":
		return VerbHelp
	case "prepare":
		return VerbPrepare
	}
	if _, known := verbs[Verb(word)]; known {
		return Verb(word)
	}
	return VerbUnknown
}

// unknown says that what was typed is no command, and which one may be meant.
func (c Command) unknown(w Words) string {
	typed, _, _ := strings.Cut(c.Text, " ")
	said := fmt.Sprintf("`%s %s` is no command", w.Prefix, strings.ReplaceAll(prefix(typed, 40), "`", "'"))
	var known []string
	for verb := range verbs {
		known = append(known, string(verb))
	}
	slices.Sort(known)
	if near := w.Near(typed, known); near != "" {
		return fmt.Sprintf("%s; did you mean `%s %s`? `%[2]s help` lists all.", said, w.Prefix, near)
	}
	return fmt.Sprintf("%s; `%s help` lists those there are.", said, w.Prefix)
}

var question = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(q[0-9]{1,3}):\s*`)
})

// settled is the command once all its lines are known.
func (c Command) settled() Command {
	c.Text = strings.TrimSpace(c.Text)
	if m := question().FindStringSubmatch(c.Text); m != nil && c.Verb == VerbAnswer {
		c.Question, c.Text = m[1], c.Text[len(m[0]):]
	}
	return c
}

// scanner goes through the lines of a Markdown text and knows which of them its
// author means to be read as they stand.
type scanner struct {
	fence   string // that the code block began with
	comment bool   // of HTML
}

// readable takes the next line.
func (s *scanner) readable(line string) bool {
	trimmed := strings.TrimLeft(line, " ")
	indented := len(line)-len(trimmed) > 3
	switch {
	case s.comment:
		s.comment = staysOpen("<!--" + line)
		return false
	case s.fence != "":
		if !indented && closes(trimmed, s.fence) {
			s.fence = ""
		}
		return false
	}
	if f := forge.Fence(trimmed); f != "" && !indented {
		s.fence = f
		return false
	}
	s.comment = staysOpen(line)
	return true
}

// closes reports whether a line ends the code block that a fence began.
func closes(line, fence string) bool {
	rest := strings.TrimRight(line, " \t")
	return len(rest) >= len(fence) && strings.Trim(rest, fence[:1]) == ""
}

// staysOpen reports whether a comment of HTML that begins on the line does not
// end there. What is code on the line begins none.
func staysOpen(line string) bool {
	for {
		at := strings.IndexAny(line, "`<")
		if at < 0 {
			return false
		}
		line = line[at:]
		if line[0] == '`' {
			line = afterCode(line)
			continue
		}
		after, begins := strings.CutPrefix(line, "<!--")
		if !begins {
			line = line[1:]
			continue
		}
		_, rest, ends := strings.Cut(after, "-->")
		if !ends {
			return true
		}
		line = rest
	}
}

// afterCode is what follows the code that a line begins with, or else the
// backticks that it begins with.
func afterCode(line string) string {
	rest := strings.TrimLeft(line, "`")
	n := len(line) - len(rest)
	for after := rest; ; {
		at := strings.IndexByte(after, '`')
		if at < 0 {
			return rest
		}
		end := strings.TrimLeft(after[at:], "`")
		if len(after)-at-len(end) == n {
			return end
		}
		after = end
	}
}
