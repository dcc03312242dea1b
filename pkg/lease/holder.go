package lease

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/backburner-cli/backburner/pkg/proc"
)

// schema is the version of lease.json that this program writes and reads.
const schema = 1

// maxToken is above any token that counting will reach, and still exact in a
// JSON reader that has floating point only.
const maxToken = 1 << 53

// Holder is the content of lease.json: who has the lease and until when.
type Holder struct {
	Version      int       `json:"version"`
	Host         string    `json:"host"`
	BootID       string    `json:"boot_id"`
	PIDNamespace string    `json:"pid_namespace"`
	PID          int       `json:"pid"`
	Start        uint64    `json:"start"` // see proc.Identity
	TickID       string    `json:"tick_id"`
	Token        int64     `json:"fencing_token"` // goes up with every new holder
	AcquiredAt   time.Time `json:"acquired_at"`
	RenewedAt    time.Time `json:"renewed_at"`
	ExpiresAt    time.Time `json:"expires_at"`
	Command      string    `json:"command"` // a hint for people, cut short
}

// identity is the holder as a process.
func (h Holder) identity() proc.Identity {
	return proc.Identity{BootID: h.BootID, PIDNamespace: h.PIDNamespace, PID: h.PID, Start: h.Start}
}

// same tells whether h and other are one acquisition of the lease.
func (h Holder) same(other Holder) bool {
	return h.Token == other.Token && h.TickID == other.TickID && h.Host == other.Host && h.identity() == other.identity()
}

// String names the holder in a sentence.
func (h Holder) String() string {
	return fmt.Sprintf("process %d on %s (tick %s)", h.PID, h.Host, h.TickID)
}

// encode is the file's content.
func (h Holder) encode() ([]byte, error) {
	data, err := json.MarshalIndent(h, "", "  ")
	return append(data, '\n'), err
}

// newerError is a lease.json that a newer program wrote.
type newerError struct{ version int }

func (e *newerError) Error() string {
	return fmt.Sprintf("written by a newer backburner (schema %d, this one knows %d): use that one, or wait for it to end",
		e.version, schema)
}

// decode reads the file's content. It believes nothing that would make a wrong
// judgement or an unreadable message later.
func decode(data []byte) (Holder, error) {
	var h Holder
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return h, err
	}
	if head.Version > schema {
		return h, &newerError{version: head.Version}
	}
	if err := json.Unmarshal(data, &h); err != nil {
		return h, err
	}
	switch {
	case h.Version != schema:
		return h, fmt.Errorf("schema %d is none", h.Version)
	case h.PID <= 0:
		return h, fmt.Errorf("process id %d is none", h.PID)
	case h.Token <= 0 || h.Token > maxToken:
		return h, fmt.Errorf("fencing token %d is none", h.Token)
	case !printable(h.Host), !printable(h.TickID), !printable(h.Command):
		return h, errors.New("a text in it cannot be shown")
	}
	return h, nil
}

var tokenPattern = regexp.MustCompile(`"fencing_token"\s*:\s*(\d+)`)

// salvageToken finds the highest plausible token in content that decode refused,
// so that even a torn file keeps tokens from going backwards. 0 when there is none.
func salvageToken(data []byte) int64 {
	var highest int64
	for _, match := range tokenPattern.FindAllSubmatch(data, -1) {
		highest = max(highest, parseToken(string(match[1])))
	}
	return highest
}

// parseToken reads a token, or gives 0 for what is none.
func parseToken(text string) int64 {
	token, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || token < 0 || token > maxToken {
		return 0
	}
	return token
}

func printable(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
