package config

import (
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// maxNesting is far above what any configuration needs, and low enough for the
// TOML library, whose work grows with the square of the depth.
const maxNesting = 32

// positions are the lines of a TOML document's keys, which the TOML library keeps
// to itself. Keys are written as join and element write them.
type positions struct {
	lines   map[string]int
	order   []string // keys in the order of the document
	tooDeep int      // line where it is nested deeper than maxNesting; 0: nowhere
}

// join is the key of a name in a table.
func join(table, name string) string {
	if !isBare(name) {
		name = strconv.Quote(name)
	}
	if table == "" {
		return name
	}
	return table + "." + name
}

// element is the key of an element of a list.
func element(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

func isBare(name string) bool {
	for _, c := range []byte(name) {
		if !isBareByte(c) {
			return false
		}
	}
	return name != ""
}

func isBareByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// scanner walks over a document without judging it: the TOML library does that.
// It stops where it understands no more.
type scanner struct {
	text   string
	at     int
	line   int
	depth  int
	counts map[string]int // [[key]] -> how many there were
	found  positions
}

// locate finds the line of every key and list element of a TOML document.
func locate(text string) positions {
	s := &scanner{text: text, line: 1, counts: map[string]int{}, found: positions{lines: map[string]int{}}}
	table := ""
	for ok := true; ok; {
		s.skipBlank()
		switch s.peek() {
		case 0:
			return s.found
		case '[':
			table, ok = s.header()
		default:
			ok = s.keyValue(table)
		}
	}
	return s.found
}

func (s *scanner) peek() byte {
	if s.at >= len(s.text) {
		return 0
	}
	return s.text[s.at]
}

func (s *scanner) has(prefix string) bool { return strings.HasPrefix(s.text[s.at:], prefix) }

// skip moves on by n bytes and counts lines.
func (s *scanner) skip(n int) {
	end := min(s.at+n, len(s.text))
	s.line += strings.Count(s.text[s.at:end], "\n")
	s.at = end
}

func (s *scanner) accept(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.skip(1)
	return true
}

func (s *scanner) skipSpace() {
	for s.peek() == ' ' || s.peek() == '\t' {
		s.at++
	}
}

// skipBlank skips white space, line ends and comments.
func (s *scanner) skipBlank() {
	for {
		switch s.peek() {
		case ' ', '\t', '\r', '\n':
			s.skip(1)
		case '#':
			if end := strings.IndexByte(s.text[s.at:], '\n'); end >= 0 {
				s.at += end
			} else {
				s.at = len(s.text)
			}
		default:
			return
		}
	}
}

func (s *scanner) record(key string, line int) {
	if _, there := s.found.lines[key]; !there {
		s.found.lines[key] = line
		s.found.order = append(s.found.order, key)
	}
}

// header reads [a.b] or [[a.b]] and gives the key of the table it opens.
func (s *scanner) header() (string, bool) {
	line := s.line
	s.skip(1)
	many := s.accept('[')
	parts, ok := s.key()
	if !ok || !s.accept(']') || many && !s.accept(']') {
		return "", false
	}
	table := ""
	for i, part := range parts {
		table = join(table, part)
		last := i == len(parts)-1
		s.record(table, line)
		if last && many {
			s.counts[table]++
		}
		// A name that is a list of tables means its latest element.
		if n := s.counts[table]; n > 0 {
			table = element(table, n-1)
			s.record(table, line)
		}
	}
	return table, true
}

// keyValue reads a.b = value in a table.
func (s *scanner) keyValue(table string) bool {
	line := s.line
	parts, ok := s.key()
	if !ok {
		return false
	}
	key := table
	for _, part := range parts {
		key = join(key, part)
		s.record(key, line)
	}
	s.skipSpace()
	if !s.accept('=') {
		return false
	}
	s.skipSpace()
	return s.value(key)
}

// key reads a dotted key.
func (s *scanner) key() ([]string, bool) {
	var parts []string
	for {
		s.skipSpace()
		part, ok := s.keyPart()
		if !ok {
			return nil, false
		}
		if parts = append(parts, part); len(parts) > maxNesting {
			s.found.tooDeep = s.line
			return nil, false
		}
		s.skipSpace()
		if !s.accept('.') {
			return parts, true
		}
	}
}

func (s *scanner) keyPart() (string, bool) {
	start := s.at
	if c := s.peek(); c == '"' || c == '\'' {
		if !s.quoted() {
			return "", false
		}
		// The library knows all escapes; such keys are rare.
		var doc struct{ K string }
		_, err := toml.Decode("K = "+s.text[start:s.at], &doc)
		return doc.K, err == nil
	}
	for isBareByte(s.peek()) {
		s.at++
	}
	return s.text[start:s.at], s.at > start
}

// quoted skips a string of any of the four kinds.
func (s *scanner) quoted() bool {
	quote := s.text[s.at : s.at+1]
	escapes := quote == `"`
	if triple := strings.Repeat(quote, 3); s.has(triple) {
		quote = triple
	}
	s.skip(len(quote))
	for s.at < len(s.text) {
		switch {
		case escapes && s.peek() == '\\':
			s.skip(2)
		case s.has(quote):
			s.skip(len(quote))
			// Up to two more quotes may belong to the text.
			for len(quote) == 3 && s.has(quote[:1]) {
				s.skip(1)
			}
			return true
		case len(quote) == 1 && s.peek() == '\n':
			return false
		default:
			s.skip(1)
		}
	}
	return false
}

func (s *scanner) value(key string) bool {
	if s.depth++; s.depth > maxNesting {
		s.found.tooDeep = s.line
		return false
	}
	defer func() { s.depth-- }()
	switch s.peek() {
	case '"', '\'':
		return s.quoted()
	case '[':
		return s.list(key)
	case '{':
		return s.inlineTable(key)
	}
	end := strings.IndexAny(s.text[s.at:], ",]}#\r\n")
	if end < 0 {
		end = len(s.text) - s.at
	}
	s.at += end
	return end > 0
}

func (s *scanner) list(key string) bool {
	s.skip(1)
	for i := 0; ; i++ {
		s.skipBlank()
		if s.accept(']') {
			return true
		}
		s.record(element(key, i), s.line)
		if !s.value(element(key, i)) {
			return false
		}
		s.skipBlank()
		if !s.accept(',') && s.peek() != ']' {
			return false
		}
	}
}

func (s *scanner) inlineTable(key string) bool {
	s.skip(1)
	for {
		s.skipBlank()
		if s.accept('}') {
			return true
		}
		if !s.keyValue(key) {
			return false
		}
		s.skipBlank()
		if !s.accept(',') && s.peek() != '}' {
			return false
		}
	}
}
