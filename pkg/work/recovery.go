package work

import (
	"strings"
	"time"
)

// Recovery is the outcome of restoring one workspace.
type Recovery struct {
	At      time.Time `json:"at"`
	Task    string    `json:"task"`
	Outcome string    `json:"outcome"`           // recovered, skipped, rejected, failed; restored: a person put the salvage back
	Salvage string    `json:"salvage,omitempty"` // ref in the store that holds what was found
	Aside   []string  `json:"aside,omitempty"`   // where the workspace, or parts of it, were moved as they are
	Detail  string    `json:"detail,omitempty"`
}

// Places are the salvage and the folders that have what lay in the workspace.
func (r Recovery) Places() []string {
	if r.Salvage == "" {
		return r.Aside
	}
	return append([]string{r.Salvage}, r.Aside...)
}

// Where says where that is which lay in the workspace, to go on after those words; "" when nothing was kept.
func (r Recovery) Where() string { return r.where("") }

func (r Recovery) where(quote string) string {
	var where []string
	if r.Salvage != "" {
		where = append(where, "is saved as "+quote+r.Salvage+quote)
	}
	if len(r.Aside) > 0 {
		where = append(where, "was moved to "+quote+strings.Join(r.Aside, quote+", "+quote)+quote)
	}
	return strings.Join(where, ", and what cannot be saved so ")
}

// Recovered notes what came of restoring the workspace, and tells on the thread where what lay there is.
func (w *Workstream) Recovered(r Recovery) {
	w.Recoveries = append(w.Recoveries, r)
	where := r.where("`")
	if where == "" {
		return
	}
	if r.Detail != "" {
		where += ": " + r.Detail
	}
	w.Say("salvage:"+strings.Join(r.Places(), ":"), "salvage", "What lay in the workspace "+where+".", r.At)
}
