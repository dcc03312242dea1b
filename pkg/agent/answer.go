package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode"

	"github.com/backburner-cli/backburner/pkg/work"
)

// The most bytes, or elements, of what an agent answers.
const (
	maxSummary  = 16 << 10
	maxMessage  = 4 << 10
	maxMemory   = 8 << 10
	maxBody     = 32 << 10
	maxComments = 200
	maxAsked    = 50
	maxOrder    = 10_000
	maxSession  = 200
	maxSearched = 512 << 10 // of a last message that is looked through for an answer
	maxAttempts = 200       // at reading an object there
)

// answer is what the agent answered, cleaned and cut, and why it cannot be accepted; "" when it can.
func (a *Agent) answer(c Call, r report) (work.Result, string) {
	raw, missing := r.structured, "the last message has no JSON object with a status"
	if a.preset.contract {
		raw, missing = readResult(c.path(resultFile))
	} else if raw == nil {
		raw = findAnswer(r.final)
	}
	if raw == nil {
		if c.Task.Writes() && r.ended && (missing == "" || strings.TrimSpace(r.final) != "") {
			return work.Result{Status: work.ResultDone, Summary: words(r.final, maxSummary)}, ""
		}
		if missing == "" {
			missing = "there is no result file"
		}
		return work.Result{}, missing
	}
	var result work.Result
	if err := json.Unmarshal(raw, &result); err != nil {
		return work.Result{}, "the answer is not as it should be: " + describe(err)
	}
	clean(&result)
	problems := result.Problems(c.Task)
	if result.Status == work.ResultDone && result.Summary == "" && (c.Task == work.AnalyzeIssue || c.Task == work.Respond) {
		problems = append(problems, "summary: missing")
	}
	return result, strings.Join(problems, "; ")
}

// readResult reads the file of a custom agent. Nothing and "" mean that there is none.
func readResult(path string) (json.RawMessage, string) {
	f, err := open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ""
	}
	if err != nil {
		return nil, "the result file cannot be read: " + err.Error()
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxResult+1))
	switch {
	case err != nil:
		return nil, "the result file cannot be read: " + err.Error()
	case len(text) > maxResult:
		return nil, fmt.Sprintf("the result file is larger than %d MB", maxResult>>20)
	case len(bytes.TrimSpace(text)) == 0:
		return nil, "the result file is empty"
	}
	return text, ""
}

func describe(err error) string {
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		if mistyped.Field == "" {
			return "it is no JSON object but of type " + mistyped.Value
		}
		return mistyped.Field + " is of type " + mistyped.Value
	}
	return work.Clip(work.Printable(err.Error()), 200)
}

// findAnswer is the last JSON object with a status in a text; nil when there is none. Objects within objects do not count.
func findAnswer(text string) json.RawMessage {
	if len(text) > maxSearched {
		text = text[len(text)-maxSearched:]
	}
	var found json.RawMessage
	for attempts := 0; attempts < maxAttempts; {
		start := strings.IndexByte(text, '{')
		if start < 0 {
			break
		}
		text = text[start:]
		var raw json.RawMessage
		decoder := json.NewDecoder(strings.NewReader(text))
		if decoder.Decode(&raw) != nil {
			attempts++
			text = text[1:]
			continue
		}
		var head struct {
			Status *string `json:"status"`
		}
		if json.Unmarshal(raw, &head) == nil && head.Status != nil {
			found = raw
		}
		text = text[decoder.InputOffset():]
	}
	return found
}

// clean cuts what is too long and takes out what cannot be shown. Session and usage stay: only a custom agent's are believed.
func clean(r *work.Result) {
	r.Status = strings.TrimSpace(r.Status)
	r.Summary = words(r.Summary, maxSummary)
	r.CommitMessage = words(r.CommitMessage, maxMessage)
	r.Memory = words(r.Memory, maxMemory)
	r.Questions = first(r.Questions, maxAsked)
	for i, q := range r.Questions {
		r.Questions[i] = words(q, maxMessage)
	}
	r.Order = first(r.Order, maxOrder)
	if r.Review != nil {
		r.Review.Verdict = strings.TrimSpace(r.Review.Verdict)
		r.Review.Body = words(r.Review.Body, maxBody)
		r.Review.Comments = first(r.Review.Comments, maxComments)
		for i := range r.Review.Comments {
			r.Review.Comments[i].Body = words(r.Review.Comments[i].Body, maxMessage)
		}
	}
	if r.Assessment != nil {
		r.Assessment.Reason = words(r.Assessment.Reason, maxMessage)
	}
	if r.Plan != nil {
		r.Plan.Questions = first(r.Plan.Questions, maxAsked)
		for i, q := range r.Plan.Questions {
			r.Plan.Questions[i] = words(q, maxMessage)
		}
	}
}

func first[T any](list []T, n int) []T { return list[:min(len(list), n)] }

// words is a text of several lines without control, zero-width and bidirectional characters, of at most n bytes.
func words(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return work.Clip(strings.TrimSpace(s), n)
}
