package work

// Claim is something in git that a workstream relies on.
type Claim struct {
	What   string // for people
	Ref    string // full name of a reference; "" when only the commit counts
	Commit string // "" when any will do
}

// Claims are what has to be in the repository's store for the workstream to go on, and for people to find what was saved.
func (w *Workstream) Claims() []Claim {
	var claims []Claim
	if w.Head != "" {
		claims = append(claims, Claim{What: "the branch of " + w.ID, Ref: "refs/heads/" + w.Branch, Commit: w.Head})
	}
	for _, r := range w.Recoveries {
		if r.Salvage != "" && r.Outcome != Restored {
			claims = append(claims, Claim{What: "work of " + w.ID + " that was saved", Ref: r.Salvage})
		}
	}
	return claims
}
