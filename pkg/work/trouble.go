package work

import (
	"slices"
	"time"
)

// Trouble is what keeps a repository from its forge. It is told once, and not
// before it is clear that it does not go away by itself.
type Trouble struct {
	Text    string    `json:"text"`              // what it is, and what a person does about it
	Writing bool      `json:"writing,omitempty"` // it keeps from telling; else from reading
	Passing bool      `json:"passing,omitempty"` // it goes away by itself
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until,omitzero"` // the forge is to be left alone until then
	Told    bool      `json:"told,omitempty"`
}

// Patience is how long what goes away by itself may take before a person is
// told.
const Patience = time.Hour

// Same reports whether it is the trouble that was there before: what passes by
// itself has many faces.
func (t Trouble) Same(other Trouble) bool {
	return t.Writing == other.Writing && t.Passing == other.Passing && (t.Passing || t.Text == other.Text)
}

// Meet notes trouble, and reports whether it has to be told now.
func (r *Repository) Meet(t Trouble, now time.Time) bool {
	t.Since = now.UTC()
	i := slices.IndexFunc(r.Troubles, t.Same)
	if i < 0 {
		r.Troubles = append(r.Troubles, t)
		i = len(r.Troubles) - 1
	}
	known := &r.Troubles[i]
	if !known.Until.After(now) || t.Until.After(known.Until) { // else it is what was asked for then
		known.Text, known.Until = t.Text, t.Until
	}
	tell := !known.Told && (!t.Passing || now.Sub(known.Since) >= Patience)
	known.Told = known.Told || tell
	return tell
}

// Untouched is until when the forge of a repository is to be left alone; zero
// when it need not.
func (r *Repository) Untouched() (until time.Time) {
	for _, t := range r.Troubles {
		if t.Until.After(until) {
			until = t.Until
		}
	}
	return until
}
