package forge

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/backburner-cli/backburner/pkg/work"
)

// RenderStatus is where a workstream stands, as Markdown for the one comment
// that is edited in place: state, next step and how to answer, plan, gates and
// cost. It has nothing in it that changes by itself, such as times, so that the
// same state is the same text.
func RenderStatus(w *work.Workstream, next string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**", statusWords(w))
	if why := oneLine(w.Detail); why != "" && !w.Status.Active() {
		fmt.Fprintf(&b, ": %s", strings.TrimRight(why, "."))
	}
	b.WriteString("\n\n")
	if w.Status != work.Merged && w.Reason != "reviewed" {
		fmt.Fprintf(&b, "Next: %s.\n\n", strings.TrimRight(oneLine(withoutDetail(w, next)), "."))
	}
	open := w.OpenQuestions()
	for _, q := range open {
		fmt.Fprintf(&b, "- %s: %s\n", q.ID, oneLine(q.Text))
	}
	if len(open) > 0 {
		b.WriteString("\n")
	}
	b.WriteString("| | |\n|---|---|\n")
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", name, strings.ReplaceAll(value, "|", `\|`))
		}
	}
	row("Plan", planWords(w))
	row("Gates", gateWords(w))
	row("Branch", branchWords(w))
	row("Cost", costWords(w.Spending))
	row("Needs a person", oneLine(w.Escalated))
	return b.String()
}

// withoutDetail is what comes next to a stopped workstream without why it is
// stopped, which is said above it.
func withoutDetail(w *work.Workstream, next string) string {
	why, _, _ := strings.Cut(strings.TrimSpace(w.Detail), "\n")
	if rest, ok := strings.CutPrefix(next, why+"; "); ok && w.Status == work.PausedBudget {
		return rest
	}
	if rest, ok := strings.CutPrefix(next, "blocked: "+strings.TrimRight(why, ".")+"; "); ok {
		if command, bare := strings.CutPrefix(rest, "then: "); bare {
			return "try again with " + command
		}
		return rest
	}
	return next
}

func oneLine(text string) string {
	head, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return work.Clip(item(head), 300)
}

func statusWords(w *work.Workstream) string {
	text := strings.ReplaceAll(string(w.Status), "_", " ")
	switch asked := w.Kind == work.KindPullRequest; { // it is open or closed by itself
	case asked && w.Reason == "reviewed":
		return "Reviewed"
	case asked && w.Status.Active():
		return "Being reviewed"
	case w.Status == work.New:
		return "Queued"
	case w.Status == work.QA:
		return "QA"
	case w.Status == work.PausedBudget:
		return "Paused"
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func planWords(w *work.Workstream) string {
	if w.Plan == nil {
		return ""
	}
	text := fmt.Sprintf("revision %d", w.Revision)
	if w.Approval != nil && w.Approval.Revision == w.Revision {
		text += ", approved by " + oneLine(w.Approval.By)
	}
	if n := w.Plan.Steps(); n > 1 {
		text += fmt.Sprintf(", increment %d of %d", min(w.Increment+1, n), n)
	}
	return text
}

// GateWords is how the gates stand, also when there is none to say it of.
func GateWords(w *work.Workstream) string {
	if words := gateWords(w); words != "" {
		return words
	}
	return "none is configured, so nothing was tested"
}

func gateWords(w *work.Workstream) string {
	var all []string
	for _, name := range []string{work.GateFast, work.GateFull, work.GateMerge} {
		e, fresh := w.Fresh(name)
		switch {
		case e.Tree == "":
		case !fresh:
			all = append(all, name+" stale")
		case e.Green:
			all = append(all, name+" green")
		default:
			all = append(all, name+" red")
		}
	}
	return strings.Join(all, ", ")
}

func branchWords(w *work.Workstream) string {
	if w.Published == "" {
		return ""
	}
	text := fmt.Sprintf("%s at %.12s", code(w.Branch), w.Published)
	if w.Thread != nil && w.Thread.Pull != nil && w.Thread.Pull.Number != w.Thread.Number {
		text += fmt.Sprintf(", #%d", w.Thread.Pull.Number)
	}
	return text
}

func costWords(s work.Spending) string {
	if s.Sessions == 0 {
		return ""
	}
	text := fmt.Sprintf("$%.2f", s.CostUSD)
	switch {
	case s.UnknownCost == s.Sessions:
		text = "not reported"
	case s.UnknownCost > 0:
		text += fmt.Sprintf(", and %d not reported", s.UnknownCost)
	}
	if s.Sessions == 1 {
		return text + " (1 run of an agent)"
	}
	return fmt.Sprintf("%s (%d runs of agents)", text, s.Sessions)
}

// CommentCommands turns the commands for a terminal in a text of backburner's own
// into those for a comment, prefix being what those begin with. What cannot be
// asked for in a comment stays.
func CommentCommands(text, id, prefix string) string {
	text = strings.ReplaceAll(text, "look at it with backburner status "+id, "look at the pull request")
	text = orReject().ReplaceAllString(text, ", or `"+prefix+" plan $1`")
	command := regexp.MustCompile("`?backburner (answer|approve|retry|hold|resume|cancel|merge|review)(?: --question (q[0-9]+))? " +
		regexp.QuoteMeta(id) + "( --reject)?(?: \"([^\"\n]*)\")?`?([^-.`[:alnum:]]|[.]?(?:\\s|$))")
	return command.ReplaceAllStringFunc(text, func(found string) string {
		m := command.FindStringSubmatch(found)
		typed := []string{prefix, m[1]}
		if m[3] != "" {
			typed[1] = "plan"
		}
		if m[2] != "" {
			typed = append(typed, m[2]+":")
		}
		if m[4] != "" {
			typed = append(typed, m[4])
		}
		return "`" + strings.Join(typed, " ") + "`" + m[5]
	})
}

// orReject is the second half of how to answer a plan.
var orReject = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`, or --reject "([^"\n]*)"`) })

// CommandHelp lists what can be asked for in a comment.
const CommandHelp = `| command | what it does |
|---|---|
| start | work on this issue |
| plan [WORDS] | make a plan that somebody approves; with words, also in place of the one that is built from |
| approve | build what is planned |
| answer WORDS | answer what was asked; "answer q2: WORDS" when several things were |
| retry [WORDS] | try again what was stopped; have what is ready changed, as the words say |
| hold, resume | let nothing more begin; go on |
| review | have this pull request reviewed |
| merge | merge what is ready |
| cancel | stop for good |
| status, help | say how it stands; this list |
`
