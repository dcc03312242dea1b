package github

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// A marker is a comment of HTML that nobody sees. By it backburner finds what it
// wrote before, when the answer to that was lost.
const (
	markerStart = "<!-- backburner:v1 "
	markerEnd   = " -->"
)

var markerLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<!-- backburner:v1 key=(\S+) -->`)
})

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

// marks reports whether a text has the marker of a key.
func marks(body, key string) bool { return strings.Contains(body, marker(key)) }
