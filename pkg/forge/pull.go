package forge

import (
	"fmt"
	"strings"

	"github.com/backburner-cli/backburner/pkg/work"
)

// RenderPull is the text of a pull request for a finished piece of work: what
// was planned and done, and how it was tested.
func RenderPull(w *work.Workstream) string {
	var b strings.Builder
	if w.Plan != nil {
		fmt.Fprintf(&b, "%s\n", Quoted(w.Plan.Summary))
		list(&b, "Acceptance criteria", w.Plan.AcceptanceCriteria)
		list(&b, "Risks", w.Plan.Risks)
		contracts(&b, w.Plan.Contracts)
	} else {
		fmt.Fprintf(&b, "%s\n", item(w.Title))
	}
	if w.OnlyPlanned() {
		fmt.Fprintf(&b, "\nThis is the plan for #%d, %s. What is built from it is added here.\n", w.Thread.Number, code(w.Filed.Path))
		if w.Status == work.AwaitingApproval {
			fmt.Fprintf(&b, "\n%s\n", howToReview)
		}
		return b.String()
	}
	fmt.Fprintf(&b, "\nGates: %s.\n", GateWords(w))
	if cost := costWords(w.Spending); cost != "" && w.Spending.UnknownCost < w.Spending.Sessions {
		fmt.Fprintf(&b, "\nCost: %s.\n", cost)
	}
	return b.String()
}
