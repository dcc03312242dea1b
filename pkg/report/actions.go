package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/backburner-cli/backburner/pkg/work"
)

// maxSummary is how much GitHub Actions takes of one step's summary, less some
// room for what it adds; of a longer one it shows nothing at all.
const maxSummary = 1<<20 - 4096

// Actions prints a tick for the log of a GitHub Actions run: the summary within
// a group, and an annotation for whatever needs somebody's attention. token
// must be one nobody can guess: while the group is open, it is what keeps a
// line of an agent or a title from being taken for a command to the runner.
func Actions(out io.Writer, t work.Tick, token string) error {
	if Quiet(t) {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "::group::%s\n", escapeData("backburner: "+totals(t)))
	fmt.Fprintf(&b, "::stop-commands::%s\n", token)
	b.WriteString(tickText(t, Style{}))
	fmt.Fprintf(&b, "::%s::\n::endgroup::\n", token)
	for _, c := range t.Changes {
		if level := levelOf(c); level != "" {
			fmt.Fprintf(&b, "::%s title=%s::%s\n", level, escapeProperty(c.ID+" is "+statusWords(c.To)), escapeData(annotation(c)))
		}
	}
	for _, n := range t.Notices {
		fmt.Fprintf(&b, "::warning title=backburner::%s\n", escapeData(oneLine(n)))
	}
	if t.Error != "" {
		fmt.Fprintf(&b, "::error title=%s::%s\n", escapeProperty("backburner could not go on"), escapeData(oneLine(t.Error)))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// levelOf is how loudly a change is annotated: errors are what went wrong,
// notices what people are asked for or may be glad of.
func levelOf(c work.Change) string {
	switch c.To {
	case work.Failed:
		return "error"
	case work.Blocked, work.PausedBudget:
		return "warning"
	case work.AwaitingApproval, work.AwaitingInput, work.ReadyToMerge, work.Merged:
		return "notice"
	}
	return ""
}

func annotation(c work.Change) string {
	text := oneLine(c.Detail)
	if next := oneLine(c.Next); next != "" && next != text {
		text += "\n" + next
	}
	return strings.TrimSpace(text)
}

// escapeData makes a text the message of one workflow command.
func escapeData(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

// escapeProperty makes a text the value of a workflow command's property.
func escapeProperty(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(work.Printable(text))
}

// Markdown is a tick as a page, and the board after it, for a step summary or a
// file. Nothing happened is a page that says so.
func Markdown(t work.Tick, v View) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## backburner\n\n%s\n", cell(totals(t)))
	if t.Error != "" {
		fmt.Fprintf(&b, "\n**It could not go on:** %s\n", cell(oneLine(t.Error)))
	}
	if t.TookOver != "" {
		fmt.Fprintf(&b, "\nThe tick before did not end: %s\n", cell(oneLine(t.TookOver)))
	}
	for _, n := range t.Notices {
		fmt.Fprintf(&b, "\n> %s\n", cell(oneLine(n)))
	}
	if len(t.Changes) > 0 {
		b.WriteString("\n### What changed\n\n| workstream | from | to | next |\n| --- | --- | --- | --- |\n")
		for _, c := range t.Changes {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(c.ID), fromWords(c.From), statusWords(c.To), cell(oneLine(c.Next)))
		}
	}
	if len(v.Workstreams) > 0 {
		fmt.Fprintf(&b, "\n### The board\n\n%s\n\n| workstream | status | cost | title | next |\n| --- | --- | --- | --- | --- |\n", counts(v.Workstreams))
		for _, i := range v.Workstreams {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", cell(i.ID), statusCell(i), costCell(i), cell(work.Printable(i.Title)), cell(oneLine(i.Next)))
		}
	}
	return b.String()
}

func fromWords(s work.Status) string {
	if s == "" {
		return "-"
	}
	return statusWords(s)
}

// cell is a text from outside within a table: it ends no cell, and is not
// taken for markup, a link or a mention.
func cell(text string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "`", "\\`", "*", `\*`, "_", `\_`,
		"[", `\[`, "]", `\]`, "#", `\#`, "~", `\~`, "@", "@&#8203;").Replace(text)
}

// AppendSummary adds a page to the step summary of a GitHub Actions run, the
// file that GITHUB_STEP_SUMMARY names. A page for which there is too little room
// is cut after a line and says so; without any room, nothing is added.
func AppendSummary(path, page string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("step summary: %w", err)
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.WriteString(fit(page, maxSummary-info.Size()))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("step summary: %w", err)
	}
	return nil
}

const cutNote = "\n(The rest did not fit; see: backburner status)\n"

// fit cuts a page to so many bytes, after a whole line.
func fit(page string, room int64) string {
	if int64(len(page)) <= room {
		return page
	}
	if room -= int64(len(cutNote)); room <= 0 {
		return ""
	}
	end := strings.LastIndexByte(page[:room], '\n')
	return page[:end+1] + cutNote
}
