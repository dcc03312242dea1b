package prompt

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

var (
	// escapes are the sequences by which programs colour their output.
	escapes = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("\x1b(?:\\[[0-9;:?<=>]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\^_])")
	})
	// hiddenDefinition is a link reference that points nowhere, which renderers of Markdown do not show: [//]: # (words)
	hiddenDefinition = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^ {0,3}\[[^\]\n]*\]:[ \t]*(?:<>|#)(?:[ \t].*)?$`)
	})
)

// Clean is a text from outside without what its readers on a web page do not see: HTML comments, link definitions used as comments,
// control, zero-width, bidirectional and tag characters, variation selectors and fillers. Bytes that are not UTF-8 become U+FFFD.
func Clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = escapes().ReplaceAllString(s, "")
	s = strings.Map(visible, s) // first, as what cannot be seen could split the marks of a comment
	s = cutOpenComment(cutComments(s))
	return hiddenDefinition().ReplaceAllString(s, "")
}

// cutComments removes HTML comments, also those that come to be where one is removed ("<!-<!-- x -->- y -->"), in one go: a
// hostile text must not cost more than its length.
func cutComments(s string) string {
	const begin, end = "<!--", "-->"
	if !strings.Contains(s, begin) {
		return s
	}
	out := make([]byte, 0, len(s))
	open := -1 // where in out the comment begins
	for i := range len(s) {
		out = append(out, s[i])
		switch {
		case open < 0 && bytes.HasSuffix(out, []byte(begin)):
			open = len(out) - len(begin)
		case open >= 0 && bytes.HasSuffix(out, []byte(end)):
			out, open = out[:open], -1
		}
	}
	return string(out)
}

// visible maps what cannot be seen to nothing, and separators of lines to a line feed.
func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t' || r >= ' ' && r <= '~':
		return r
	case r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085':
		return '\n'
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Variation_Selector, r),
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return -1
	case r >= 0xE0000 && r <= 0xE0FFF: // tags and what is reserved beside them
		return -1
	}
	return r
}

// cutOpenComment removes a comment that never ends: where it begins a line outside of a code block, a web page
// shows nothing of the rest.
func cutOpenComment(s string) string {
	if !strings.Contains(s, "<!--") {
		return s
	}
	fence := ""
	at := 0
	for line := range strings.Lines(s) {
		text := strings.TrimLeft(line, " ")
		indent := len(line) - len(text)
		switch {
		case indent > 3:
		case fence != "":
			if strings.HasPrefix(text, fence) && strings.Trim(strings.TrimSpace(text), fence[:1]) == "" {
				fence = ""
			}
		case strings.HasPrefix(text, "```"), strings.HasPrefix(text, "~~~"):
			fence = text[:3]
		case strings.HasPrefix(text, "<!--"):
			return s[:at]
		}
		at += len(line)
	}
	return s
}

// head keeps the beginning of a text, at most n bytes, and says so.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "\n[... cut here ...]"
}

// tail keeps the end of a text, at most n bytes from the beginning of a line where there is one, and says so.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = strings.ToValidUTF8(s[len(s)-n:], "")
	if _, after, ok := strings.Cut(s, "\n"); ok && after != "" {
		s = after
	}
	return "[... the beginning is cut ...]\n" + s
}
