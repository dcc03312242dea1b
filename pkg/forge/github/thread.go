package github

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ID is the number by which the REST interface knows a thing.
type ID int64

// UnmarshalJSON reads an id as GraphQL writes it, in quotes since it may be
// longer than a number of theirs, and as REST does.
func (id *ID) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		return nil
	}
	n, err := strconv.ParseInt(string(bytes.Trim(data, `"`)), 10, 64)
	if err != nil {
		return fmt.Errorf("id %.40q is no number", data)
	}
	*id = ID(n)
	return nil
}

// String is the id in digits.
func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// Actor is who did something: the zero Actor is an account that was deleted.
type Actor struct {
	Login string `json:"login"`
	Type  string `json:"__typename"` // User, Bot, Mannequin, Organization, EnterpriseUserAccount
}

// Bot reports whether it is an app. GitHub says so; a name says nothing.
func (a Actor) Bot() bool { return a.Type == "Bot" }

// Viewer is the account that the token belongs to.
type Viewer struct {
	Login string `json:"login"` // of an app with [bot] at its end
	ID    ID     `json:"databaseId"`
}

// Bot reports whether the token belongs to an app, as that of a workflow does.
func (v Viewer) Bot() bool { return strings.HasSuffix(v.Login, botSuffix) }

// Is reports whether an actor is this account.
func (v Viewer) Is(a Actor) bool {
	return v.Login != "" && sameLogin(v.Login, a.Login) && v.Bot() == a.Bot()
}

// botSuffix ends the name of an app in the one interface and not in the other.
const botSuffix = "[bot]"

func sameLogin(x, y string) bool {
	return strings.EqualFold(strings.TrimSuffix(x, botSuffix), strings.TrimSuffix(y, botSuffix))
}

// Written is a text and who is to answer for it. It is data from outside.
type Written struct {
	Author    Actor     `json:"author"`
	Editor    Actor     `json:"editor"` // who changed it last; zero when nobody did
	Body      string    `json:"body"`
	CreatedAt time.Time `json:"createdAt"`
	EditedAt  time.Time `json:"lastEditedAt"`
	Hidden    bool      `json:"isMinimized"` // somebody thought it not worth reading
}

// At is when it came to be as it is.
func (w Written) At() time.Time {
	if w.EditedAt.After(w.CreatedAt) {
		return w.EditedAt
	}
	return w.CreatedAt
}

// Thread is an issue, or a pull request, as it was read.
type Thread struct {
	Written
	Node      string
	ID        ID
	Slug      string // of the repository
	Number    int
	Title     string
	URL       string
	State     State
	Reason    string // why an issue was closed: COMPLETED, NOT_PLANNED, DUPLICATE
	UpdatedAt time.Time
	Labels    []string
	Comments  []Comment   // the newest, oldest first
	Timeline  []Happening // likewise
	Pull      *Pull       // nil: it is an issue
	Reviews   []Review    // the newest, oldest first
}

// State is whether a thread is over.
type State string

// The states of threads; only a pull request can be merged.
const (
	StateOpen   State = "OPEN"
	StateClosed State = "CLOSED"
	StateMerged State = "MERGED"
)

// Comment is one on a thread.
type Comment struct {
	Written
	Node string
	ID   ID
}

// Happening is an entry of a thread's timeline.
type Happening struct {
	Node     string
	Type     string // LabeledEvent, UnlabeledEvent, ClosedEvent, ...
	At       time.Time
	By       Actor
	Label    string
	Assignee string
}

// Pull is what a pull request has that an issue has not.
type Pull struct {
	Head       string // branch
	HeadOID    string
	HeadRepo   string // slug; "" when it was deleted
	Base       string // branch
	BaseOID    string
	Draft      bool
	Fork       bool // the head is in another repository
	Modifiable bool // maintainers may push to the head
	MergedAt   time.Time
	MergeOID   string          // the commit that it landed as
	Resolved   map[ID]struct{} // first comments of conversations that are resolved
}

// Review is a review of a pull request.
type Review struct {
	Written
	Node     string
	ID       ID
	Verdict  string // APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED
	Commit   string // that it looked at
	Comments []ReviewComment
}

// ReviewComment is one tied to a line.
type ReviewComment struct {
	Written
	Node    string
	ID      ID
	Path    string
	Line    int // of the new side; as it was then, when the line is gone
	Hunk    string
	ReplyTo ID
}
