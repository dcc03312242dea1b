package report

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/backburner-cli/backburner/pkg/work"
)

// Quiet reports whether nothing happened in a tick that anybody has to hear of.
func Quiet(t work.Tick) bool {
	return len(t.Changes) == 0 && len(t.Notices) == 0 && t.Error == "" && t.TookOver == "" &&
		t.Agents+t.Gates+t.Failed == 0 && (t.Outcome == "idle" || t.Outcome == "done" || t.Outcome == "")
}

// Tick prints what a tick did: nothing when nothing happened, else a paragraph
// for each workstream it changed, what it cost, and what a person has to do.
func Tick(out io.Writer, t work.Tick, s Style) error {
	if Quiet(t) && (s.Width == 0 || len(t.Passing) == 0) { // whoever looks on wants to know why nothing happens
		return nil
	}
	_, err := io.WriteString(out, tickText(t, s))
	return err
}

// TickJSON prints a tick for programs, on one line like that of the tick log.
func TickJSON(out io.Writer, t work.Tick) error {
	if t.Changes == nil {
		t.Changes = []work.Change{}
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(t)
}

func tickText(t work.Tick, s Style) string {
	var b strings.Builder
	if t.TookOver != "" {
		fmt.Fprintf(&b, "The tick before did not end: %s\n\n", oneLine(t.TookOver))
	}
	for _, c := range t.Changes {
		change(&b, c, s)
	}
	for _, n := range t.Notices {
		for _, line := range block(n) {
			fmt.Fprintf(&b, "%s\n", s.paint(yellow, line))
		}
	}
	for _, p := range t.Passing {
		fmt.Fprintf(&b, "%s\n", s.paint(dim, oneLine(p)))
	}
	if len(t.Notices)+len(t.Passing) > 0 {
		b.WriteString("\n")
	}
	if t.Error != "" {
		fmt.Fprintf(&b, "%s\n", s.paint(red, "The tick could not go on: "+oneLine(t.Error)))
	}
	fmt.Fprintf(&b, "%s\n", totals(t))
	if waiting := waiting(t); len(waiting) > 0 {
		fmt.Fprintf(&b, "%s\n", s.paint(yellow, "Waiting for you: "+strings.Join(waiting, ", ")))
	}
	return b.String()
}

// change is the paragraph of one workstream.
func change(b *strings.Builder, c work.Change, s Style) {
	move := statusWords(c.To)
	switch {
	case c.From == "":
		move = "new: " + move
	case c.From != c.To:
		move = statusWords(c.From) + " -> " + move
	}
	fmt.Fprintf(b, "%s  %s\n", s.paint(bold, work.Printable(c.ID)), s.paint(statusColor(c.To), move))
	for _, step := range c.Steps {
		indented(b, s, "  ", oneLine(step))
	}
	label := "next: "
	if asksPerson(c) {
		label = "you: "
	}
	if c.Next != "" {
		indented(b, s, "  "+label, oneLine(c.Next))
	}
	b.WriteString("\n")
}

// asksPerson reports whether a change ends with a person's turn: its status may
// wait for one, and what comes next is something to type. A blocked workstream
// that the next tick recovers by itself asks nobody.
func asksPerson(c work.Change) bool {
	return needsPerson(c.To) && (c.Next == "" || strings.Contains(c.Next, "backburner "))
}

// indented is a text behind a prefix, wrapped below itself.
func indented(b *strings.Builder, s Style, prefix, text string) {
	room := 0
	if s.Width > 0 {
		room = max(s.columns()-widthOf(prefix), 20)
	}
	for i, line := range wrap(text, room) {
		if i > 0 {
			prefix = strings.Repeat(" ", widthOf(prefix))
		}
		fmt.Fprintf(b, "%s%s\n", prefix, line)
	}
}

// totals is the tick in one line.
func totals(t work.Tick) string {
	var parts []string
	if t.Agents > 0 {
		parts = append(parts, plural(t.Agents, "agent run", "agent runs"))
	}
	if t.Gates > 0 {
		parts = append(parts, plural(t.Gates, "gate run", "gate runs"))
	}
	if t.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", t.Failed))
	}
	if t.Agents > 0 || t.CostUSD > 0 || t.UnknownCost > 0 {
		parts = append(parts, moneyInWords(t.CostUSD, t.UnknownCost))
	}
	for _, outcome := range slices.Sorted(maps.Keys(t.Recoveries)) {
		parts = append(parts, plural(t.Recoveries[outcome], "workspace ", "workspaces ")+outcome)
	}
	took := lasted(t.EndedAt.Sub(t.StartedAt))
	text := "Tick " + work.Printable(t.ID)
	switch t.Outcome {
	case "interrupted":
		text += " was interrupted after " + took + "; what was done is saved"
	case "deadline":
		text += " reached its deadline after " + took + "; the next one goes on"
	case "error":
		text += " failed after " + took
	default:
		text += " done in " + took
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text + "."
}

// waiting are the workstreams that wait for a person at the end of the tick.
func waiting(t work.Tick) []string {
	var ids []string
	for _, c := range t.Changes {
		if asksPerson(c) {
			ids = append(ids, work.Printable(c.ID)+" ("+statusWords(c.To)+")")
		}
	}
	return ids
}
