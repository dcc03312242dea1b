package github

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"sync"
)

// A sealed text is one that people may go on writing on: by the seal that it
// carries backburner sees whether its part, and the title, are still as it wrote
// them. What people changed stays as they want it.
type sealed struct {
	before, text, after string // after has our markers in it
	title, body         string // what the seal says of them
}

const sealStart = "<!-- backburner:v1 text -->\n\n"

var sealLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\n\n<!-- backburner:v1 seal=([0-9a-f]+)\.([0-9a-f]+) -->\n`)
})

func sealOf(title, body string) string {
	return "\n\n<!-- backburner:v1 seal=" + fingerprint(title) + "." + body + " -->\n"
}

func fingerprint(text string) string {
	sum := sha256.Sum256([]byte(strings.TrimSpace(text)))
	return hex.EncodeToString(sum[:6])
}

// seal is a text of backburner's own with its seal and its marker.
func seal(title, text, key string) string {
	return sealStart + text + sealOf(title, fingerprint(text)) + marker(key)
}

// unseal takes a text apart; ok is false when people took away what it needs.
func unseal(body string) (s sealed, ok bool) {
	body = strings.ReplaceAll(body, "\r\n", "\n")
	before, rest, ok := strings.Cut(body, sealStart)
	at := sealLine().FindStringSubmatchIndex(rest)
	if !ok || at == nil {
		return sealed{}, false
	}
	return sealed{before: before, text: rest[:at[0]], after: rest[at[1]:], title: rest[at[2]:at[3]], body: rest[at[4]:at[5]]}, true
}

// revised is a title and a body brought up to date, as far as they are still
// backburner's.
func revised(there Proposed, title, text string) (newTitle, newBody string) {
	s, ok := unseal(there.Body)
	if !ok {
		return there.Title, there.Body
	}
	newTitle = there.Title
	if fingerprint(there.Title) == s.title {
		newTitle = title
	}
	if fingerprint(s.text) == s.body {
		s.text, s.body = text, fingerprint(text)
	}
	return newTitle, s.before + sealStart + s.text + sealOf(title, s.body) + s.after
}
