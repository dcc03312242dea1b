package github

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

// apart is what is put between two characters that must not be read as one
// thing: nobody sees it. It is written as an entity, which people who edit the
// text do see.
const apart = "&#8203;"

var (
	// entity is a character as HTML writes it. GitHub resolves it before it looks for names and issues; in HTML the
	// semicolon may be left out.
	entity = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`&(?:#[0-9]{1,9};?|#[xX][0-9a-fA-F]{1,7};?|[a-zA-Z]{2,31};)`)
	})
	// foreign is what GitHub notes on an issue of another repository, for all to see there.
	foreign = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([\w.\\-]+/[\w.\\-]+#)([0-9])`) })
	// threadAddress is the same as an address; GitHub's own way round it leads to the same page, and is not noted.
	threadAddress = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(https?://)(?:www\.)?(github\.com/[\w.-]+/[\w.-]+/(?:issues|pull|discussions)/[0-9])`)
	})
	// folds is a line that begins or ends a folded part.
	folds = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("^(?:<details><summary>[^<>&@`]*</summary>|</details>)$")
	})
	// address is a link as GitHub finds it in plain text, with an @ in its path.
	address = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(^|[\s*_~(])https?://(?:[a-z0-9-]+\.)+[a-z]{2,}(?::[0-9]+)?/[^\s<]*`)
	})
)

// Outgoing is a text of an agent as it may be shown on GitHub: it calls nobody,
// closes nothing, hides nothing, and gives no secret away. Code stays as it is
// where GitHub is sure to see code as well.
func Outgoing(text string) string {
	text = forge.Defuse(work.Redact(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")))
	if !strings.ContainsAny(text, "@&#") && !forge.Closing().MatchString(text) && !threadAddress().MatchString(text) {
		return text
	}
	var b strings.Builder
	for _, p := range passages(text) {
		if p.code {
			b.WriteString(p.text)
		} else {
			b.WriteString(prose(p.text))
		}
	}
	return b.String()
}

// OutgoingTitle is a title of an agent as it may be shown: on one line, and it
// closes nothing and switches off no checks when it becomes that of a commit.
func OutgoingTitle(text string) string {
	text = forge.Checked(work.Printable(work.Redact(text)))
	return unlinked(strings.ReplaceAll(text, "@", "@\u200b"), "\u200b")
}

// prose defuses a passage outside of code blocks, paragraph by paragraph.
func prose(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		end := strings.Index(text, "\n\n")
		if end < 0 {
			end = len(text)
		} else {
			end += 2
		}
		b.WriteString(paragraph(text[:end]))
		text = text[end:]
	}
	return b.String()
}

// paragraph defuses all but code between backticks. Where it is not certain what
// GitHub takes for code, nothing is.
func paragraph(text string) string {
	if !strings.Contains(text, "`") || !certain(text) {
		return quiet(text)
	}
	var b strings.Builder
	plain := "" // since the last code, over lines: a word may close what begins the next
	for line := range strings.Lines(text) {
		for start, end := codeSpan(line); start >= 0; start, end = codeSpan(line) {
			b.WriteString(quiet(plain+line[:start]) + line[start:end])
			plain, line = "", line[end:]
		}
		plain += line
	}
	return b.String() + quiet(plain)
}

// certain reports whether code between backticks is the same for every reader:
// each line ends what it begins, and nothing else that could hold a backtick is
// there.
func certain(text string) bool {
	if strings.ContainsAny(text, `<\`) {
		return false
	}
	for line := range strings.Lines(text) {
		for {
			start, end := codeSpan(line)
			if start < 0 {
				break
			}
			line = line[end:]
		}
		if strings.Contains(line, "`") {
			return false
		}
	}
	return true
}

// codeSpan is the first code between backticks on a line; -1 when there is none.
func codeSpan(line string) (start, end int) {
	for at := 0; at < len(line); {
		start = strings.IndexByte(line[at:], '`')
		if start < 0 {
			return -1, -1
		}
		start += at
		n := run(line[start:])
		for end = start + n; end < len(line); {
			next := strings.IndexByte(line[end:], '`')
			if next < 0 {
				break
			}
			end += next
			m := run(line[end:])
			end += m
			if m == n {
				return start, end
			}
		}
		at = start + n
	}
	return -1, -1
}

func run(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }

// quiet defuses text: names that would be called, and words that would close.
func quiet(text string) string {
	text = unlinked(resolved(text), apart)
	text = threadAddress().ReplaceAllString(text, "${1}redirect.${2}")
	if !strings.Contains(text, "@") {
		return text
	}
	links := address().FindAllStringIndex(text, -1)
	var b strings.Builder
	for i := range len(text) {
		b.WriteByte(text[i])
		for len(links) > 0 && links[0][1] <= i {
			links = links[1:]
		}
		inLink := len(links) > 0 && links[0][0] < i
		if text[i] == '@' && !inLink && calls(text, i) {
			b.WriteString(apart)
		}
	}
	return b.String()
}

// resolved is text in which the characters that names, issues and closing words
// are made of are written as themselves.
func resolved(text string) string {
	for range 8 {
		next := entity().ReplaceAllStringFunc(text, func(found string) string {
			switch r, _ := utf8.DecodeRuneInString(html.UnescapeString(found)); {
			case r < utf8.RuneSelf && (alphanumeric(byte(r)) || strings.ContainsRune("@#/:.-_", r)):
				return string(r) + strings.TrimPrefix(html.UnescapeString(found), string(r))
			case unicode.IsSpace(r):
				return " "
			}
			return found
		})
		if next == text { // else it may have written another one
			return text
		}
		text = next
	}
	return strings.ReplaceAll(text, "&", "&amp;") // nobody writes so by accident
}

// unlinked is text whose references close nothing, and leave no note on issues of
// others. apart is put where they are broken.
func unlinked(text, apart string) string {
	text = forge.Closing().ReplaceAllStringFunc(text, func(found string) string {
		m := forge.Closing().FindStringSubmatch(found)
		last := len(m[3]) - 1
		if strings.HasSuffix(m[3], "/") { // an address stays one
			return m[1] + apart + m[2] + m[3]
		}
		return m[1] + apart + m[2] + m[3][:last] + apart + m[3][last:]
	})
	return foreign().ReplaceAllString(text, "${1}"+apart+"${2}")
}

// calls reports whether the @ at i may begin the name of somebody.
func calls(text string, i int) bool {
	if i > 0 && alphanumeric(text[i-1]) || i+1 == len(text) {
		return false
	}
	return alphanumeric(text[i+1]) || text[i+1] == '&' && !strings.HasPrefix(text[i+1:], apart)
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// passage is a part of a text that is a code block, or is none.
type passage struct {
	text string
	code bool
}

// passages takes a text apart. A code block counts as one only where every
// reader agrees: its fence begins the line, and there is no other fence and no
// HTML around that could make it something else.
func passages(text string) []passage {
	var all []passage
	var fence string
	put := func(line string, code bool) {
		if n := len(all); n > 0 && all[n-1].code == code {
			all[n-1].text += line
			return
		}
		all = append(all, passage{line, code})
	}
	lines := append(strings.SplitAfter(text, "\n"), "")
	for i, line := range lines[:len(lines)-1] {
		bare := strings.TrimRight(line, "\n")
		trimmed := strings.TrimLeft(bare, " ")
		switch {
		case fence == "" && folds().MatchString(bare) && strings.TrimSpace(lines[i+1]) == "":
			put(line, false) // HTML that ends with its line
		case fence != "":
			put(line, true)
			if len(bare)-len(trimmed) <= 3 && closes(trimmed, fence) {
				fence = ""
			}
		case forge.Fence(bare) != "":
			fence = forge.Fence(bare)
			put(line, true)
		case strings.Contains(line, "```") || strings.Contains(line, "~~~") || strings.HasPrefix(trimmed, "<"):
			return []passage{{text: text}}
		default:
			put(line, false)
		}
	}
	return all
}

// A marker is a comment of HTML that nobody sees. By it backburner finds what it
// wrote before, when the answer to that was lost.
const (
	markerStart = "<!-- backburner:v1 "
	markerEnd   = " -->"
)

var markerLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<!-- backburner:v1 key=(\S+) -->`) })

// marker is the marker of a key, which is escaped: it cannot end the comment.
func marker(key string) string {
	var b strings.Builder
	for i := range len(key) {
		c := key[i]
		if c > ' ' && c < 0x7f && c != '<' && c != '>' && c != '%' && !(c == '-' && i > 0 && key[i-1] == '-') {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return markerStart + "key=" + b.String() + markerEnd
}

func hasMarker(body string) bool { return markerLine().MatchString(body) }

// markerKey is the key of the first marker in a text; "" when there is none.
func markerKey(body string) string {
	m := markerLine().FindStringSubmatch(body)
	if m == nil {
		return ""
	}
	key, err := url.PathUnescape(m[1])
	if err != nil {
		return ""
	}
	return key
}

// marks reports whether a text has the marker of a key.
func marks(body, key string) bool { return strings.Contains(body, marker(key)) }
