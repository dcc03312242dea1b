package work

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Notice is something to be said on the thread, once. Its id is deterministic,
// so that saying it again after a crash finds the first.
type Notice struct {
	ID     string    `json:"id"`
	Event  string    `json:"event"` // plan, question, blocked, failure, ready_to_merge, ...
	Text   string    `json:"text"`
	Class  Class     `json:"class,omitempty"`   // of the failure it tells of
	Run    string    `json:"run,omitempty"`     // execution that has the whole log
	Log    string    `json:"log,omitempty"`     // end of that
	Then   string    `json:"then,omitempty"`    // what to type next
	Reply  int64     `json:"reply,omitempty"`   // comment of a review that it answers
	OnPull bool      `json:"on_pull,omitempty"` // it belongs to the pull request, not the issue
	At     time.Time `json:"at"`
}

// Say queues a notice unless its id was said before.
func (w *Workstream) Say(id, event, text string, now time.Time) {
	w.SayNotice(Notice{ID: id, Event: event, Text: text}, now)
}

// maxTold is how many notices are known to have been said. One of long ago that is
// said again is found where it was said.
const maxTold = 1000

// SayNotice queues a notice unless its id was said before.
func (w *Workstream) SayNotice(n Notice, now time.Time) {
	if w.HasSaid(n.ID) {
		return
	}
	n.At = now.UTC()
	w.Told = append(w.Told[max(0, len(w.Told)+1-maxTold):], n.ID)
	w.Outbox = append(w.Outbox, n)
}

// HasSaid reports whether a notice was said before.
func (w *Workstream) HasSaid(id string) bool { return slices.Contains(w.Told, id) }

// SayStopped queues what stopped the work, under one id for each condition: when
// the same stops it once more, what was said of it then has the newest run. What a
// person asked for meanwhile, another plan or another increment make it a new one.
func (w *Workstream) SayStopped(code, detail string, n Notice, now time.Time) {
	head, log, _ := strings.Cut(strings.TrimSpace(detail), "\n")
	sum := sha256.Sum256([]byte(head))
	n.ID = fmt.Sprintf("%s:%s:%d.%d.%d:%s", n.Event, code, w.Revision, w.Increment, len(w.Applied), hex.EncodeToString(sum[:4]))
	n.Log = orElse(n.Log, log)
	if !w.HasSaid(n.ID) {
		w.SayNotice(n, now)
		return
	}
	n.At = now.UTC()
	w.Outbox = append(slices.DeleteFunc(w.Outbox, func(o Notice) bool { return o.ID == n.ID }), n)
}

// stopped is the first line of a reason to stop, as a sentence.
func stopped(detail string) string {
	head, _, _ := strings.Cut(strings.TrimSpace(detail), "\n")
	return "Stopped: " + strings.TrimRight(head, ".") + "."
}
