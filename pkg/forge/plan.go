package forge

import (
	"fmt"
	"strings"

	"github.com/backburner-cli/backburner/pkg/work"
)

// RenderPlan is a plan as Markdown, for a comment or a file. What the agent
// wrote stays within its list item or paragraph: it cannot add a heading or a
// hidden comment.
func RenderPlan(p *work.Plan, revision int) string {
	if p == nil {
		return "There is no plan yet.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## Plan, revision %d\n\n%s\n", max(revision, 1), Quoted(p.Summary))
	files(&b, p.Files)
	list(&b, "Acceptance criteria", p.AcceptanceCriteria)
	increments(&b, p.Increments)
	list(&b, "Risks", p.Risks)
	contracts(&b, p.Contracts)
	codes(&b, "May also change", p.AllowedAreas)
	codes(&b, "Must not change", p.ForbiddenAreas)
	list(&b, "Questions", p.Questions)
	if p.GateProfile != "" {
		fmt.Fprintf(&b, "\nGate profile: %s\n", code(p.GateProfile))
	}
	if p.Base != "" {
		fmt.Fprintf(&b, "\nMade on %s.\n", code(p.Base))
	}
	return b.String()
}

// PlanFile is a plan as a file of the branch it is for.
func PlanFile(w *work.Workstream) string {
	return work.Redact("# " + item(w.Title) + "\n\n" + RenderPlan(w.Plan, w.Revision))
}

// PlanPointer says where people find a plan that is not told as it is.
func PlanPointer(w *work.Workstream, as string) string {
	switch {
	case as == work.PlanAsPull && w.Filed.Revision == w.Revision && w.Thread.Pull != nil:
		said := fmt.Sprintf("Plan %d is in pull request #%d, as %s.", w.Revision, w.Thread.Pull.Number, code(w.Filed.Path))
		if w.Status == work.AwaitingApproval {
			said += " " + howToReview
		}
		return said
	case as == work.PlanAsFile:
		return fmt.Sprintf("Plan %d is kept where backburner runs, as `workstreams/%s/plan.md` in its state; `backburner status %s` shows it.", w.Revision, w.ID, w.ID)
	}
	return ""
}

const howToReview = "A review that approves it approves the plan; one that asks for changes, or remarks on its lines, has it made again."

func files(b *strings.Builder, f work.PlanFiles) {
	if len(f.Create)+len(f.Modify)+len(f.Delete) == 0 {
		return
	}
	b.WriteString("\n### Files\n\n")
	for _, group := range []struct {
		verb  string
		paths []string
	}{{"create", f.Create}, {"modify", f.Modify}, {"delete", f.Delete}} {
		for _, p := range group.paths {
			fmt.Fprintf(b, "- %s %s\n", group.verb, code(p))
		}
	}
}

func increments(b *strings.Builder, steps []work.Increment) {
	if len(steps) == 0 {
		return
	}
	b.WriteString("\n### Increments\n\n")
	for i, step := range steps {
		fmt.Fprintf(b, "%d. %s\n", i+1, item(step.Title))
		for _, c := range step.AcceptanceCriteria {
			fmt.Fprintf(b, "   - %s\n", item(c))
		}
		if len(step.Files) > 0 {
			fmt.Fprintf(b, "   - files: %s\n", joinCodes(step.Files))
		}
	}
}

// RenderPart is the text of an issue for one increment of a plan.
func RenderPart(step work.Increment, nth, of int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Part %d of %d of what is planned there.\n", nth, of)
	list(&b, "Acceptance criteria", step.AcceptanceCriteria)
	codes(&b, "Files", step.Files)
	return b.String()
}

func contracts(b *strings.Builder, c *work.Contracts) {
	if c == nil {
		return
	}
	var touched []string
	for _, one := range []struct{ name, change string }{{"OpenAPI", c.OpenAPI}, {"events", c.Events}, {"database", c.DB}} {
		if one.change != "" && one.change != "none" {
			touched = append(touched, one.name+": "+one.change)
		}
	}
	list(b, "Contracts touched", touched)
}

func list(b *strings.Builder, heading string, items []string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s\n\n", heading)
	for _, i := range items {
		fmt.Fprintf(b, "- %s\n", item(i))
	}
}

func codes(b *strings.Builder, heading string, globs []string) {
	if len(globs) > 0 {
		fmt.Fprintf(b, "\n%s: %s\n", heading, joinCodes(globs))
	}
}

func joinCodes(texts []string) string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = code(t)
	}
	return strings.Join(out, ", ")
}
