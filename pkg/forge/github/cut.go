package github

import "strings"

// What GitHub takes, with room to spare: it counts a character outside of the
// first plane as two in some places.
const (
	maxBody        = 65000 // characters of a comment, a review or a description; 65,536
	maxTitle       = 250   // 256
	maxDescription = 140   // of a commit status
	maxLabel       = 50
)

// Cut is a text of at most limit characters. What is over is left out at the end
// of a line, code blocks are closed, and pointer says where the whole is.
func Cut(text, pointer string, limit int) string {
	if length(text) <= limit {
		return text
	}
	note := "\n\n(cut here"
	if pointer != "" {
		note += "; " + pointer
	}
	note += ")"
	const closing = 200 // characters that may be needed to close what is open
	room := limit - length(note) - closing
	if room <= 0 {
		return prefix(text, limit)
	}
	kept := prefix(text, room)
	if end := strings.LastIndexByte(kept, '\n'); end > len(kept)/2 {
		kept = kept[:end]
	}
	return strings.TrimRight(kept, "\n") + closed(kept) + note
}

// closed is what closes the code block and the folded parts that are open at the
// end of a text.
func closed(text string) string {
	var s scanner
	depth := 0
	for line := range strings.Lines(text) {
		if s.readable(strings.TrimRight(line, "\n")) {
			depth += strings.Count(line, "<details") - strings.Count(line, "</details")
		}
	}
	end := ""
	if s.fence != "" && len(s.fence) <= 100 {
		end = "\n" + s.fence
	}
	if s.comment {
		end += "\n-->"
	}
	return end + strings.Repeat("\n</details>", max(0, min(depth, 5)))
}

// length is how many characters GitHub counts at most.
func length(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// prefix is the longest beginning of a text that has at most n characters.
func prefix(text string, n int) string {
	for i, r := range text {
		n--
		if r > 0xFFFF {
			n--
		}
		if n < 0 {
			return text[:i]
		}
	}
	return text
}
