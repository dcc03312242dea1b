package forge

import (
	"strings"

	"github.com/backburner-cli/backburner/pkg/work"
)

// code is text as inline code, in a fence long enough for what it contains.
func code(text string) string {
	text = work.Printable(text)
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	return "`` " + strings.ReplaceAll(text, "``", "` `") + " ``"
}

// item is text on one line, for a list.
func item(text string) string { return untagged(work.Printable(text)) }

// Quoted is text of several lines that may stand between what is backburner's own,
// whoever wrote it: it starts no heading, opens nothing that what follows would be
// part of, and hides nothing.
func Quoted(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	fence := ""
	for i, line := range lines {
		line = strings.TrimRight(work.Shown(strings.ReplaceAll(line, "\t", "    ")), " ")
		bare := strings.TrimLeft(line, " ")
		switch mark := Fence(bare); {
		case fence != "":
			if len(mark) >= len(fence) && strings.Trim(bare, fence[:1]) == "" {
				fence = ""
			}
			line = Defuse(line)
		case mark != "":
			fence = mark
		default:
			line = untagged(line)
			if at := len(line) - len(strings.TrimLeft(line, " ")); at < 4 && strings.HasPrefix(line[at:], "#") {
				line = line[:at] + `\` + line[at:]
			}
		}
		lines[i] = line
	}
	if fence != "" {
		lines = append(lines, fence)
	}
	return strings.Join(lines, "\n")
}

// Fence is what a line, without its indentation, begins or ends a code block with;
// "" when it does not.
func Fence(line string) string {
	for _, mark := range []string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, mark))
		if n >= 3 && (mark == "~" || !strings.Contains(line[n:], "`")) {
			return line[:n]
		}
	}
	return ""
}

// untagged is a line whose tags of HTML are shown, not done: one that is not
// closed takes in all that follows. Code between backticks stays where that is
// certain to be code.
func untagged(line string) string {
	if !strings.Contains(line, "<") {
		return line
	}
	parts := strings.Split(line, "`")
	certain := len(parts)%2 == 1 && !strings.Contains(line, "``") && !strings.Contains(line, "\\`")
	for i, part := range parts {
		if certain && i%2 == 1 {
			parts[i] = Defuse(part)
			continue
		}
		parts[i] = shownTags(part)
	}
	return strings.Join(parts, "`")
}

// shownTags writes each < that may begin a tag, a link or a comment as an entity.
func shownTags(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if text[i] == '<' && i+1 < len(text) && text[i+1] > ' ' && text[i+1] != '=' && text[i+1] != '-' {
			b.WriteString("&lt;")
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// Defuse makes HTML comments in a text visible. Hidden text is how instructions
// are smuggled past people, and how a marker of backburner's own is forged.
func Defuse(text string) string { return strings.ReplaceAll(text, "<!--", "&lt;!--") }

// fenced is a log as a code block that nothing in it can end.
func fenced(log string) string {
	mark := "```"
	for strings.Contains(log, mark) {
		mark += "`"
	}
	return mark + "text\n" + Defuse(strings.TrimRight(log, "\n")) + "\n" + mark
}
