package work

import (
	"slices"
	"strings"
)

// Collision finds the workstream whose accepted, unfinished plan stands in the
// way of w's: one accepted earlier, on the same repository, that touches the
// same file, the same exclusive area or the same contract. what says which.
// It finds none when a person admitted w all the same.
func (b *Board) Collision(w *Workstream, exclusive []string) (other *Workstream, what string) {
	if w.Plan == nil || w.Collides {
		return nil, ""
	}
	for _, o := range b.Ordered() {
		if o == w || o.Repository != w.Repository || !o.committed() || !o.before(w) {
			continue
		}
		if what := w.Plan.overlap(o.Plan, exclusive); what != "" {
			return o, what
		}
	}
	return nil, ""
}

// committed reports whether the workstream has a plan that is being carried out.
func (w *Workstream) committed() bool {
	at := w.Status
	if at.Interrupts() {
		at = w.Phase
	}
	return w.Plan != nil && w.Status.Open() && (at == Building || at == QA || at == ReadyToMerge) &&
		w.Reason != "collision_detected"
}

func (w *Workstream) before(o *Workstream) bool {
	if !w.PlannedAt.Equal(o.PlannedAt) {
		return w.PlannedAt.Before(o.PlannedAt)
	}
	return w.ID < o.ID
}

// overlap is what two plans both touch; "" when nothing.
func (p *Plan) overlap(o *Plan, exclusive []string) string {
	theirs := o.Paths()
	for _, path := range p.Paths() {
		if slices.ContainsFunc(theirs, func(other string) bool { return holds(path)(other) || holds(other)(path) }) {
			return path
		}
	}
	for _, area := range exclusive {
		matches := func(path string) bool { return MatchGlob(area, path) }
		if slices.ContainsFunc(p.Paths(), matches) && slices.ContainsFunc(theirs, matches) {
			return "the exclusive area " + area
		}
	}
	mine, other := p.Contracts.touched(), o.Contracts.touched()
	for _, c := range mine {
		if slices.Contains(other, c) {
			return "the contract " + c
		}
	}
	return ""
}

// touched names the contracts that change.
func (c *Contracts) touched() []string {
	if c == nil {
		return nil
	}
	var names []string
	for _, one := range []struct{ name, change string }{{"openapi", c.OpenAPI}, {"events", c.Events}, {"db", c.DB}} {
		if change := strings.ToLower(strings.TrimSpace(one.change)); change != "" && change != "none" {
			names = append(names, one.name)
		}
	}
	return names
}
