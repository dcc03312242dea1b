package forge

import (
	"strings"

	"github.com/backburner-cli/backburner/pkg/work"
)

// RenderNotice is a notice as Markdown: what happened, the end of the log, where
// the rest of it is, and last what to type. Where folded, people open the log when
// they want it.
func RenderNotice(n work.Notice, folded bool) string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	add(n.Text)
	if n.Log != "" && folded {
		add("<details><summary>The end of its log</summary>\n\n" + fenced(n.Log) + "\n\n</details>")
	} else if n.Log != "" {
		add(fenced(n.Log))
	}
	add(whole(n))
	add(n.Then)
	return strings.Join(parts, "\n\n")
}

// whole says where to read all that a run said, and of which class its failure is.
func whole(n work.Notice) string {
	var said []string
	if n.Class != "" {
		said = append(said, "Class: "+code(string(n.Class))+".")
	}
	if n.Run != "" {
		said = append(said, "Run: "+code(n.Run)+"; all of it, where backburner runs, with `backburner logs "+n.Run+"`.")
	}
	return strings.Join(said, " ")
}
