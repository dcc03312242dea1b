package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// stale is the age of the last tick from which it is asked whether the schedule
// has stopped.
const stale = 24 * time.Hour

// mostNext is how many lines of a screen the next step of one workstream gets
// in the table; `status ID` shows it whole.
const mostNext = 3

// Status prints the table of `status`: what waits for a person first, then what
// is in progress, then the rest.
func Status(out io.Writer, v View, s Style) error {
	var b strings.Builder
	if len(v.Workstreams) == 0 {
		b.WriteString("No work is open. Write a spec to .backburner/specs/<id>.md, or: backburner add FILE\n")
	} else {
		table(&b, v, s)
	}
	footer(&b, v, s)
	_, err := io.WriteString(out, b.String())
	return err
}

func table(b *strings.Builder, v View, s Style) {
	items := slices.Clone(v.Workstreams)
	slices.SortStableFunc(items, func(x, y Item) int { return rank(x) - rank(y) })
	rows := make([][4]string, len(items))
	widths := [4]int{widthOf("ID"), widthOf("STATUS"), widthOf("COST"), widthOf("SINCE")}
	for i, item := range items {
		rows[i] = [4]string{work.Printable(item.ID), statusCell(item), costCell(item), ago(item.ChangedAt, v.Now)}
		for c, cell := range rows[i] {
			widths[c] = max(widths[c], widthOf(cell))
		}
	}
	heading := pad("ID", widths[0]) + "  " + pad("STATUS", widths[1]) + "  " + pad("COST", widths[2]) + "  " + pad("SINCE", widths[3]) + "  TITLE"
	fmt.Fprintln(b, s.paint(bold, heading))
	used := widths[0] + widths[1] + widths[2] + widths[3] + 8
	for i, item := range items {
		cells := []string{
			s.paint(bold, pad(rows[i][0], widths[0])), s.paint(itemColor(item), pad(rows[i][1], widths[1])),
			pad(rows[i][2], widths[2]), pad(rows[i][3], widths[3]), titleCell(item, s, used),
		}
		fmt.Fprintln(b, strings.TrimRight(strings.Join(cells, "  "), " "))
		next(b, item, s, widths[0])
	}
}

// ranks are the parts of the table, in its order.
var ranks = [...]string{"waiting for you", "in progress", "queued", "held", "done"}

// rank orders the table; equal ones stay in the order of the board.
func rank(i Item) int {
	switch {
	case i.NeedsPerson():
		return 0
	case i.Held:
		return 3
	case i.Status == work.New:
		return 2
	case !i.Status.Open():
		return 4
	}
	return 1
}

func statusCell(i Item) string {
	text := statusWords(i.Status)
	if i.Held {
		text += ", held"
	}
	if i.Escalated {
		text += " !"
	}
	return text
}

func itemColor(i Item) string {
	switch {
	case i.Escalated:
		return red
	case i.Held:
		return dim
	}
	return statusColor(i.Status)
}

func costCell(i Item) string {
	if i.Sessions == 0 && i.CostUSD == 0 {
		return "-"
	}
	return money(i.CostUSD, i.UnknownCost)
}

func titleCell(i Item, s Style, used int) string {
	title := work.Printable(i.Title)
	if s.Width == 0 {
		return title
	}
	return cut(title, max(s.columns()-used, 10))
}

// next is what happens next, below the row, on at most mostNext lines. What is
// left out is in the middle: the command to type is at the end.
func next(b *strings.Builder, i Item, s Style, indent int) {
	text, arrow := oneLine(i.Next), "-> "
	if i.Why != "" { // nothing will be done
		arrow = "   "
	}
	if i.Escalated {
		text = "escalated: " + oneLine(i.Escalation) + "; " + text
	}
	if text == "" {
		return
	}
	indent += 2
	room := 0
	if s.Width > 0 {
		indent = min(indent, s.columns()/3)
		room = s.columns() - indent - len(arrow)
	}
	lines := wrap(text, room)
	if len(lines) > mostNext {
		lines = append(lines[:mostNext-2], "…", lines[len(lines)-1])
	}
	for n, line := range lines {
		if n > 0 {
			arrow = "   "
		}
		fmt.Fprintf(b, "%s%s%s\n", strings.Repeat(" ", indent), arrow, line)
	}
}

// footer is what concerns everything: counts, holds, problems, the last tick.
func footer(b *strings.Builder, v View, s Style) {
	if len(v.Workstreams) > 0 {
		fmt.Fprintf(b, "\n%s\n", counts(v.Workstreams))
	}
	if v.Hold != nil {
		by := ""
		if v.Hold.By != "" {
			by = " by " + work.Printable(v.Hold.By)
		}
		fmt.Fprintf(b, "%s\n", s.paint(yellow, "Everything is held"+by+", "+since(v.Hold.At, v.Now)+"; go on with: backburner resume --all"))
	}
	for _, r := range v.Requests {
		fmt.Fprintf(b, "%s\n", request(r))
	}
	for _, t := range v.Troubles {
		color := yellow
		if t.Passing {
			color = dim
		}
		fmt.Fprintf(b, "%s\n", s.paint(color, work.Printable(t.Repository)+" ("+since(t.Since, v.Now)+"): "+oneLine(t.Text)))
	}
	for _, p := range v.Problems {
		fmt.Fprintf(b, "%s\n", s.paint(red, "Problem: "+oneLine(p)))
	}
	if v.LastTick != nil || v.Lease == nil {
		fmt.Fprintln(b, lastTick(v, s))
	}
	if v.Lease != nil {
		fmt.Fprintf(b, "A tick is running since %s (%s, pid %d on %s).\n", v.Lease.AcquiredAt.In(v.Now.Location()).Format("15:04"),
			work.Printable(v.Lease.TickID), v.Lease.PID, work.Printable(v.Lease.Host))
	}
}

// request is what waits for a tick, in one line.
func request(r Request) string {
	what := string(r.Verb) + " --all"
	if r.Workstream != "" {
		what = string(r.Verb) + " " + work.Printable(r.Workstream)
	}
	if r.Reason == "" {
		return "Noted, and not taken up yet: " + what
	}
	return fmt.Sprintf("Put off: %s: %s (%s)", what, oneLine(r.Detail), work.Printable(r.Reason))
}

func counts(items []Item) string {
	var of [len(ranks)]int
	for _, i := range items {
		of[rank(i)]++
	}
	var parts []string
	for r, n := range of {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, ranks[r]))
		}
	}
	return plural(len(items), "workstream", "workstreams") + ": " + strings.Join(parts, ", ") + "."
}

// lastTick says when there was one last: a schedule that stopped makes no noise
// of its own.
func lastTick(v View, s Style) string {
	if v.LastTick == nil {
		return "No tick has ended yet. Run one with: backburner tick"
	}
	at := v.LastTick.EndedAt
	text := fmt.Sprintf("Last tick %s (%s)", since(at, v.Now), work.Printable(v.LastTick.Outcome))
	switch {
	case v.LastTick.Error != "":
		return s.paint(red, text+": "+oneLine(v.LastTick.Error))
	case v.Now.Sub(at) >= stale && v.Lease == nil:
		return s.paint(yellow, text+". Has its schedule stopped? See: backburner doctor")
	}
	return text + "."
}
