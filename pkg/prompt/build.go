package prompt

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"text/template"

	"github.com/backburner-cli/backburner/pkg/work"
)

//go:embed templates/*.md
var files embed.FS

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Option("missingkey=error").Funcs(template.FuncMap{
		"join": strings.Join,
	}).ParseFS(files, "templates/*.md"))
})

// Build writes the prompt and the packet of a task. Texts of the packet are cleaned, and cut where they are long. The same packet gives
// the same bytes, always.
func Build(kind work.TaskKind, p Packet) (prompt, packet []byte, err error) {
	schema, err := Schema(kind)
	if err != nil {
		return nil, nil, err
	}
	if err := p.check(); err != nil {
		return nil, nil, err
	}
	p = p.cleaned()
	p.Task.Kind, p.Task.Role = kind, kind.Role()
	if kind == Prioritize {
		p.Task.Role = work.Prioritizer
	}
	p.Contract = schema
	packet, err = json.MarshalIndent(p, "", "  ")
	if err != nil {
		return nil, nil, fmt.Errorf("packet of %s: %w", p.Task.ID, err)
	}
	v := view{Packet: p, Writes: kind.Writes(), Example: examples[kind], nonce: nonce(packet)}
	if p.Plan != nil {
		text, err := json.MarshalIndent(p.Plan, "", "  ")
		if err != nil {
			return nil, nil, fmt.Errorf("plan of %s: %w", p.Task.ID, err)
		}
		v.PlanText = head(Clean(string(text)), maxPlanText)
	}
	var out bytes.Buffer
	if err := templates().ExecuteTemplate(&out, string(kind)+".md", v); err != nil {
		return nil, nil, fmt.Errorf("prompt of %s: %w", kind, err)
	}
	return tidy(out.Bytes()), append(packet, '\n'), nil
}

// view is what the templates see.
type view struct {
	Packet
	Writes   bool
	PlanText string
	Example  string // an answer
	nonce    string
}

// Block is a text from outside between delimiters that it does not contain: who writes such a text cannot know the packet's digest,
// which is part of them, and what looks like a delimiter is defused.
func (v view) Block(source, text string) string {
	text = strings.NewReplacer("<untrusted", "‹untrusted", "</untrusted", "‹/untrusted").Replace(strings.TrimSpace(text))
	return fmt.Sprintf("<untrusted-%s source=%q>\n%s\n</untrusted-%s>", v.nonce, source, text, v.nonce)
}

// List is a list as lines of Markdown.
func (v view) List(items []string) string {
	var b strings.Builder
	for _, item := range items {
		b.WriteString("- " + item + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Step is an increment as text.
func (v view) Step(inc *Increment) string {
	text := inc.Title
	if len(inc.Files) > 0 {
		text += "\n\nFiles:\n" + v.List(inc.Files)
	}
	if len(inc.AcceptanceCriteria) > 0 {
		text += "\n\nDone when:\n" + v.List(inc.AcceptanceCriteria)
	}
	return text
}

// Remarks is a thread or a review as text.
func (v view) Remarks(all []Remark) string {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "%s", r.Author)
		if !r.At.IsZero() {
			fmt.Fprintf(&b, ", %s", r.At.UTC().Format("2006-01-02 15:04"))
		}
		if r.Path != "" {
			fmt.Fprintf(&b, ", on %s", r.Path)
			if r.Line > 0 {
				fmt.Fprintf(&b, ":%d", r.Line)
			}
		}
		fmt.Fprintf(&b, ":\n%s\n\n", strings.TrimSpace(r.Body))
	}
	return b.String()
}

// Answered is what was asked and answered, as text.
func (v view) Answered() string {
	var b strings.Builder
	for _, a := range v.Answers {
		fmt.Fprintf(&b, "Question: %s\nAnswer: %s\n\n", a.Question, a.Answer)
	}
	return b.String()
}

// Waiting is the queue as text.
func (v view) Waiting() string {
	var b strings.Builder
	for _, q := range v.Queue {
		fmt.Fprintf(&b, "%s (priority %d): %s\n", q.ID, q.Priority, q.Title)
		if q.Summary != "" {
			fmt.Fprintf(&b, "    %s\n", q.Summary)
		}
	}
	return b.String()
}

// nonce is taken from everything that is said, so that no part of it can contain it.
func nonce(packet []byte) string {
	sum := sha256.Sum256(packet)
	for bytes.Contains(packet, []byte(hex.EncodeToString(sum[:8]))) {
		sum = sha256.Sum256(sum[:])
	}
	return hex.EncodeToString(sum[:8])
}

// tidy takes away the empty lines that unused parts of a template leave, outside of what they contain.
func tidy(prompt []byte) []byte {
	var out bytes.Buffer
	blank, inside := true, false
	for line := range bytes.Lines(prompt) {
		switch {
		case bytes.HasPrefix(line, []byte("<untrusted-")):
			inside = true
		case bytes.HasPrefix(line, []byte("</untrusted-")):
			inside = false
		}
		empty := len(bytes.TrimSpace(line)) == 0
		if empty && blank && !inside {
			continue
		}
		blank = empty
		out.Write(line)
	}
	return append(bytes.TrimRight(out.Bytes(), "\n"), '\n')
}
