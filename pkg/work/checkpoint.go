package work

import (
	"fmt"
	"slices"
	"time"
)

// Checkpoint is what an agent left behind.
type Checkpoint struct {
	Commit      string    `json:"commit"`
	Tree        string    `json:"tree"`
	DiffHash    string    `json:"diff_hash,omitempty"` // of the difference to the base
	Task        string    `json:"task,omitempty"`
	Execution   string    `json:"execution,omitempty"`
	At          time.Time `json:"at"`
	NetNew      bool      `json:"net_new"`                // false: the tree did not change
	DuplicateOf string    `json:"duplicate_of,omitempty"` // commit of an earlier checkpoint with the same difference
	Changed     int       `json:"changed,omitempty"`      // files
	Insertions  int       `json:"insertions,omitempty"`
	Deletions   int       `json:"deletions,omitempty"`
}

// AddCheckpoint records what was left behind; the branch is there now.
func (w *Workstream) AddCheckpoint(c Checkpoint) {
	for i := range w.Checkpoints {
		if c.DiffHash != "" && w.Checkpoints[i].DiffHash == c.DiffHash {
			c.DuplicateOf = w.Checkpoints[i].Commit
			break
		}
	}
	w.Checkpoints = append(w.Checkpoints, c)
	w.Head, w.Tree = c.Commit, c.Tree
}

// Replace puts a commit with the same tree in the place of the head, which has
// what must not be published in its history, and says why. Its workspace is brought there as
// one that needs to be restored: what was there is saved before.
func (w *Workstream) Replace(head, why string, now time.Time) error {
	if len(w.Tasks) == 0 {
		return fmt.Errorf("replace the head of %s: it has no task", w.ID)
	}
	w.Say("one_commit:"+head, "one_commit", "What was committed is published as one commit, because of its history: "+why+".", now)
	w.Head = head
	w.Tasks[len(w.Tasks)-1].RecoveryNeeded = true
	return nil
}

// Join records the merge of what people pushed to the branch with what was done
// here, which is published instead of that alone.
func (w *Workstream) Join(c Checkpoint, now time.Time) {
	w.AddCheckpoint(c)
	w.Intents = slices.DeleteFunc(w.Intents, func(i Intent) bool { return i.Kind == "publish" })
	w.Say("joined:"+c.Commit, "joined", "What was pushed to `"+w.Branch+"` meanwhile was merged with the work, as "+c.Commit+".", now)
}

// NewWork reports whether there is work no gate has judged: no checkpoint yet,
// or the last one changed the tree to one not seen before.
func (w *Workstream) NewWork() bool {
	if len(w.Checkpoints) == 0 {
		return true
	}
	last := w.Checkpoints[len(w.Checkpoints)-1]
	return last.NetNew && last.DuplicateOf == ""
}

// The names of the gates that backburner itself runs.
const (
	GateFast  = "fast"
	GateFull  = "full"
	GateMerge = "merge"
)

// Evidence is the stored result of a gate, tied to the tree it ran on.
type Evidence struct {
	Gate      string    `json:"gate"`
	Green     bool      `json:"green"`
	Reason    string    `json:"reason,omitempty"` // red: step_failed, no_command, dirtied_tree, moved_head, timeout, ...
	Detail    string    `json:"detail,omitempty"`
	Commit    string    `json:"commit"`
	Tree      string    `json:"tree"`
	Execution string    `json:"execution"`
	At        time.Time `json:"at"`
}

// Fresh is the newest evidence of a gate, while the workstream's tree is the
// tree that was tested.
func (w *Workstream) Fresh(gate string) (Evidence, bool) {
	e, ok := w.Evidence[gate]
	return e, ok && e.Tree != "" && e.Tree == w.Tree
}

// Green reports whether the gate is known to pass on the workstream's tree.
func (w *Workstream) Green(gate string) bool {
	e, fresh := w.Fresh(gate)
	return fresh && e.Green
}

// AddEvidence records a gate's result.
func (w *Workstream) AddEvidence(e Evidence) {
	if w.Evidence == nil {
		w.Evidence = make(map[string]Evidence)
	}
	w.Evidence[e.Gate] = e
	w.LastGate = e.Gate
	if e.Green {
		w.Rounds.Repairs, w.Rounds.Gate = 0, 0
	}
}
