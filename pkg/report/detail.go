package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// Detail is what `status ID` shows.
type Detail struct {
	Item       Item
	Workstream *work.Workstream
	Workspace  string    // folder; "" when it has none
	Executions string    // folder that has the executions' folders
	Review     string    // folder of the review bundle; "" when there is none
	Thread     string    // the end of it
	Now        time.Time // its zone is that of the times shown
}

// labelWidth is the column of what a label is about.
const labelWidth = 11

// StatusOf prints everything about one workstream, the most urgent first.
func StatusOf(out io.Writer, d Detail, s Style) error {
	p := &page{style: s}
	d.head(p)
	d.questions(p)
	d.plan(p)
	d.tasks(p)
	d.gates(p)
	d.trouble(p)
	d.places(p)
	d.thread(p)
	_, err := io.WriteString(out, p.String())
	return err
}

// page is a text of labelled paragraphs under headings.
type page struct {
	strings.Builder
	style Style
}

func (p *page) heading(text string) {
	fmt.Fprintf(p, "\n%s\n", p.style.paint(bold, text))
}

// row is a label and what is to be said, wrapped below itself. Nothing to say
// is no row.
func (p *page) row(label, color, text string) {
	if text == "" {
		return
	}
	room := 0
	if p.style.Width > 0 {
		room = max(p.style.columns()-labelWidth, 20)
	}
	for i, line := range wrap(text, room) {
		if i > 0 {
			label = ""
		}
		fmt.Fprintf(p, "%s%s\n", pad(label, labelWidth), p.style.paint(color, line))
	}
}

// line is indented and not wrapped: what is on it is for copying.
func (p *page) line(format string, args ...any) {
	fmt.Fprintln(p, strings.TrimRight("  "+fmt.Sprintf(format, args...), " "))
}

func (d Detail) head(p *page) {
	i, w := d.Item, d.Workstream
	fmt.Fprintf(p, "%s  %s\n", p.style.paint(bold, work.Printable(i.ID)), work.Printable(i.Title))
	status := statusWords(i.Status) + ", just now"
	if age := ago(i.ChangedAt, d.Now); age != "now" && age != "-" {
		status = statusWords(i.Status) + " for " + age
	}
	if i.Phase != "" && i.Status != work.Closed && i.Status != work.Failed {
		status += ", goes back to " + statusWords(i.Phase)
	}
	p.row("Status", itemColor(i), status)
	for n, line := range block(i.Detail) {
		p.row(map[bool]string{true: "Reason"}[n == 0], "", line)
	}
	if i.Reason != "" {
		p.row("Code", dim, work.Printable(i.Reason))
	}
	p.row("Escalated", red, oneLine(i.Escalation))
	if i.Held {
		p.row("Held", yellow, held(w.Held, i.ID, d.Now))
	}
	p.row("Next", "", oneLine(i.Next))
	p.row("From", "", strings.ReplaceAll(string(i.Kind), "_", " ")+" "+work.Printable(w.Spec.Source)+" in "+work.Printable(i.Repository))
	p.row("Branch", "", branch(i))
	p.row("Cost", "", cost(w.Spending))
}

func held(h *work.Hold, id string, now time.Time) string {
	text := since(h.At, now)
	if h.By != "" {
		text += ", by " + work.Printable(h.By)
	}
	if h.Reason != "" {
		text += ": " + oneLine(h.Reason)
	}
	return text + "; go on with: backburner resume " + id
}

func branch(i Item) string {
	text := work.Printable(i.Branch)
	switch {
	case i.Head == "":
		return text + ", nothing built yet"
	case i.Published:
		return text + " at " + short(i.Head) + ", published"
	}
	return text + " at " + short(i.Head) + ", not published"
}

func cost(s work.Spending) string {
	if s.Sessions == 0 {
		return "nothing yet"
	}
	text := moneyInWords(s.CostUSD, s.UnknownCost) + "; "
	if s.UnknownCost == s.Sessions && s.CostUSD == 0 {
		text = "unknown; "
	}
	text += plural(s.Sessions, "agent run", "agent runs") + ", " + lasted(s.Wall)
	if tokens := s.InputTokens + s.OutputTokens; tokens > 0 {
		text += ", " + thousands(tokens) + " tokens"
	}
	return text
}

func (d Detail) questions(p *page) {
	if len(d.Item.Questions) == 0 {
		return
	}
	p.heading("Questions to you")
	for _, q := range d.Item.Questions {
		for n, line := range block(q.Text) {
			label := ""
			if n == 0 {
				label = "  " + q.ID
			}
			p.row(label, "", line)
		}
		p.line("answer: %s", q.Answer)
	}
}

func (d Detail) plan(p *page) {
	plan, w := d.Workstream.Plan, d.Workstream
	if plan == nil {
		return
	}
	approved := ""
	switch a := w.Approval; {
	case a != nil && a.Revision == w.Revision && a.SpecHash == w.Spec.Hash:
		approved = ", approved by " + work.Printable(a.By)
	case a != nil:
		approved = ", not approved since it or its spec changed"
	}
	p.heading(fmt.Sprintf("Plan, revision %d%s", max(w.Revision, 1), approved))
	for _, line := range block(plan.Summary) {
		p.row("", "", line)
	}
	var files []string
	for _, f := range []struct {
		verb  string
		paths []string
	}{{"create", plan.Files.Create}, {"modify", plan.Files.Modify}, {"delete", plan.Files.Delete}} {
		if len(f.paths) > 0 {
			files = append(files, fmt.Sprintf("%s %s", f.verb, some(f.paths, 5)))
		}
	}
	p.row("  Files", "", strings.Join(files, "; "))
	for n, inc := range plan.Increments {
		mark := "  "
		if n == w.Increment && (w.Status == work.Building || w.Phase == work.Building) {
			mark = "> "
		}
		p.row("", "", fmt.Sprintf("%s%d. %s", mark, n+1, work.Printable(inc.Title)))
	}
	for n, criterion := range plan.AcceptanceCriteria {
		p.row(map[bool]string{true: "  Accepted"}[n == 0], "", "- "+oneLine(criterion))
	}
}

// some is the first n of a list, and how many more there are.
func some(list []string, n int) string {
	var shown []string
	for _, l := range list[:min(n, len(list))] {
		shown = append(shown, work.Printable(l))
	}
	text := strings.Join(shown, ", ")
	if len(list) > n {
		text += fmt.Sprintf(" and %d more", len(list)-n)
	}
	return text
}

// mostTasks is how many tasks are shown; the older ones are over.
const mostTasks = 10

func (d Detail) tasks(p *page) {
	tasks := d.Workstream.Tasks
	if len(tasks) == 0 {
		return
	}
	p.heading("Tasks")
	if left := len(tasks) - mostTasks; left > 0 {
		p.line("(%d earlier left out)", left)
		tasks = tasks[left:]
	}
	for _, t := range tasks {
		p.line("%s  %s  %s", pad(t.ID, 4), pad(strings.ReplaceAll(string(t.Kind), "_", " "), 20), d.taskWords(t))
	}
}

func (d Detail) taskWords(t *work.Task) string {
	text := string(t.Status)
	if t.Class != "" && t.Class != work.ClassOrdinary && t.Status != work.TaskCompleted {
		text += " (" + strings.ReplaceAll(string(t.Class), "_", " ") + ")"
	}
	if t.Attempts > 0 {
		text += ", " + plural(t.Attempts, "failure", "failures")
	}
	if t.Irrelevant != "" && t.Status != work.TaskCancelled {
		text += ", no longer wanted: " + oneLine(t.Irrelevant)
	}
	if h := t.Held; h != nil && t.Status == work.TaskPending {
		text += ", held: " + strings.ReplaceAll(h.Reason, "_", " ")
		if !h.NextEligibleAt.IsZero() {
			text += " until " + h.NextEligibleAt.In(d.Now.Location()).Format("2006-01-02 15:04")
		}
		if h.Detail != "" {
			text += " (" + oneLine(h.Detail) + ")"
		}
	}
	if e := t.Execution(); e != "" {
		text += "  " + e
	}
	return text
}

func (d Detail) gates(p *page) {
	w := d.Workstream
	if len(w.Evidence) == 0 {
		return
	}
	p.heading("Gates")
	names := slices.Sorted(maps.Keys(w.Evidence))
	nameWidth, stateWidth := 0, 0
	for _, name := range names {
		state, _ := evidenceWords(w, name)
		nameWidth, stateWidth = max(nameWidth, widthOf(name)), max(stateWidth, widthOf(state))
	}
	for _, name := range names {
		e := w.Evidence[name]
		state, color := evidenceWords(w, name)
		p.line("%s  %s  %s  %s", pad(name, nameWidth), p.style.paint(color, pad(state, stateWidth)), pad(since(e.At, d.Now), 8), e.Execution)
		if !e.Green {
			for _, line := range block(e.Detail) {
				p.line("%s  %s", strings.Repeat(" ", nameWidth), line)
			}
		}
	}
}

// evidenceWords is what is known of a gate, and how it looks.
func evidenceWords(w *work.Workstream, gate string) (state, color string) {
	state, color = "green", green
	if !w.Evidence[gate].Green {
		state, color = "red", red
	}
	if gateState(w, gate) == "stale" {
		return state + ", of another tree", dim
	}
	return state, color
}

// trouble is what keeps the work from going on, beyond its status.
func (d Detail) trouble(p *page) {
	w := d.Workstream
	if c := w.Conflict; c != nil {
		p.heading("Conflict with the base")
		p.line("%s against %s in %s", short(c.Ours), short(c.Base), some(c.Files, 10))
	}
	var waiting []work.Blocker
	for _, b := range w.Blockers {
		if b.Resolution == "waiting_for_user" {
			waiting = append(waiting, b)
		}
	}
	if len(waiting) > 0 {
		p.heading("Waits for capabilities")
	}
	for _, b := range waiting {
		p.line("%s (server %s, task %s), %s; see: backburner mcp status", work.Printable(b.Capability), work.Printable(b.Handle), b.Task, since(b.DetectedAt, d.Now))
		p.line("do without it: backburner skip %s %s", w.ID, work.Printable(b.Capability))
	}
	var saved []work.Recovery
	for _, r := range w.Recoveries {
		if len(r.Places()) > 0 {
			saved = append(saved, r)
		}
	}
	if len(saved) > 0 {
		p.heading("Saved work")
	}
	for _, r := range saved {
		what := strings.Join(r.Places(), ", ")
		if r.Outcome == work.Restored {
			what += ", put back"
		}
		p.line("%s  %s", since(r.At, d.Now), work.Printable(what))
	}
	if len(saved) > 0 {
		p.line("look at it: backburner salvage list %s", w.ID)
	}
}

func (d Detail) places(p *page) {
	p.heading("Where")
	for _, place := range []struct{ label, path string }{
		{"Workspace", d.Workspace}, {"Review", d.Review}, {"Logs", d.Executions},
	} {
		if place.path != "" {
			p.line("%s  %s", pad(place.label, labelWidth-2), work.Printable(place.path))
		}
	}
	p.line("%s  backburner logs %s", pad("Read them", labelWidth-2), d.Item.ID)
}

func (d Detail) thread(p *page) {
	lines := block(d.Thread)
	if len(lines) == 0 {
		return
	}
	p.heading("Thread")
	for _, line := range lines {
		p.line("%s", line)
	}
}
