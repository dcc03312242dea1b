package work

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
)

// MaxSpec is the most bytes a spec may have.
const MaxSpec = 256 << 10

// BadID says why a name from outside cannot be the id of a workstream; "" when
// it can. Ids become file names and branch names.
func BadID(id string) string {
	switch {
	case id == "":
		return "empty"
	case len(id) > 80:
		return "longer than 80 characters"
	case strings.HasPrefix(id, "-") || strings.HasPrefix(id, "."):
		return "starts with " + id[:1]
	case strings.HasSuffix(id, ".") || strings.HasSuffix(id, ".lock") || strings.Contains(id, ".."):
		return "git refuses such a branch name"
	case strings.HasSuffix(strings.ToLower(id), ".json"):
		return "ends in .json, like the files that records are kept in"
	}
	for _, r := range id {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r)) {
			return fmt.Sprintf("has %q; letters, digits, -, _ and . are fine", r)
		}
	}
	return ""
}

// SpecHash identifies the text that is worked from.
func SpecHash(title, body string) string {
	sum := sha256.Sum256([]byte(title + "\x00" + body))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// SpecTitle is the first heading or line of a spec, or the fallback.
func SpecTitle(body, fallback string) string {
	for line := range strings.Lines(body) {
		line = Printable(strings.TrimLeft(Printable(line), "#"))
		if line != "" && line != "---" {
			return Clip(line, 120)
		}
	}
	return fallback
}

// Clip cuts a text to at most n bytes on a rune's edge, and marks a cut with an
// ellipsis after them. Secrets are taken out of what is cut: nobody would know
// half of one.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if s = Redact(s); len(s) <= n {
		return s
	}
	cut := n
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}

// Printable is the text on one line, without control, zero-width and
// bidirectional characters: safe on a terminal.
func Printable(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return strings.TrimSpace(s) // as nearly all are
	}
	return strings.TrimSpace(Shown(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '\r' || unicode.In(r, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, s)))
}

// Shown is the text without what changes how a terminal shows it, line breaks included.
func Shown(s string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || unicode.In(r, unseen...) {
			return -1
		}
		return r
	}, s)
}

// unseen are the characters that change what people see without being seen.
var unseen = []*unicode.RangeTable{
	unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector,
}
