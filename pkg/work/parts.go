package work

// Parts are the increments of the plan that is being carried out; nil when it has
// only one step, or is not accepted yet.
func (w *Workstream) Parts() []Increment {
	if w.Plan == nil || len(w.Plan.Increments) < 2 {
		return nil
	}
	for _, at := range []Status{w.Status, w.Phase} { // one that is interrupted has a phase
		if at == Building || at == QA || at == ReadyToMerge {
			return w.Plan.Increments
		}
	}
	return nil
}
