package work

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// secrets are what nobody commits on purpose. Each is a shape that its issuer
// documents, so that nothing else looks like it.
var secrets = sync.OnceValue(func() []secret {
	return []secret{
		{"a private key", "PRIVATE", regexp.MustCompile(`-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----`)},
		{"an AWS access key", "AKIA ASIA", regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`)},
		{"a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})`)},
		{"a GitLab token", "glpat-", regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}`)},
		{"an Anthropic key", "sk-ant-", regexp.MustCompile(`\bsk-ant-[A-Za-z0-9_-]{32,}`)},
		{"an OpenAI key", "sk-", regexp.MustCompile(`\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{32,}`)},
		{"a Slack token", "xox", regexp.MustCompile(`\bxox[abprs]-[A-Za-z0-9-]{20,}`)},
		{"a Google API key", "AIza", regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{35}\b`)},
		{"a Stripe key", "k_live_", regexp.MustCompile(`\b[rs]k_live_[A-Za-z0-9]{20,}`)},
	}
})

type secret struct {
	what  string
	marks string // a line without one of these words needs no closer look
	shape *regexp.Regexp
}

// pointer is the line by which Git LFS finds the content of a file.
var pointer = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\+oid sha256:[0-9a-f]{64}$`) })

// keyBody is a private key to its end, or to the end of the text.
var keyBody = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----.*?(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|\z)`)
})

// keyEnd is a private key of which the beginning was cut away.
var keyEnd = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)\A.*-----END (?:[A-Z]+ )*PRIVATE KEY-----`)
})

// Redact is a text with the secrets in it taken out, and what they were in their
// place. Half of a secret looks like none: a text is redacted before it is cut.
func Redact(text string) string {
	text = keyBody().ReplaceAllLiteralString(text, "[redacted: a private key]")
	text = keyEnd().ReplaceAllLiteralString(text, "[redacted: a private key]")
	for _, s := range secrets() {
		text = s.shape.ReplaceAllLiteralString(text, "[redacted: "+s.what+"]")
	}
	return text
}

// Reader looks through what would be published: commits with their patches, as
// git log -p -U0 prints them, or one patch. It keeps no more than two lines.
type Reader struct {
	Oversteps func(words string) bool // whether the message of a commit says what is not for an agent to say; nil: none does

	oversteps bool
	trouble   string
	file      string
	before    string // the line before, of the message of a commit
	rest      []byte // the beginning of a line
}

// Trouble is the first thing that must not be published, and where it is; ""
// when there is nothing. A secret itself is not in the answer.
func (r *Reader) Trouble() string {
	if len(r.rest) > 0 {
		r.line(r.rest)
		r.rest = nil
	}
	return r.trouble
}

// Overstepped reports whether the message of a commit did.
func (r *Reader) Overstepped() bool { return r.oversteps }

const message = "the message of a commit"

const (
	longLine = 1 << 20 // bytes; what is longer is looked at in pieces
	overlap  = 4 << 10 // bytes that two pieces share: no secret is longer
)

// Write implements io.Writer; it never fails.
func (r *Reader) Write(text []byte) (int, error) {
	r.rest = append(r.rest, text...)
	left := r.rest
	for {
		end := bytes.IndexByte(left, '\n')
		if end < 0 {
			break
		}
		r.line(left[:end])
		left = left[end+1:]
	}
	if len(left) > longLine {
		r.line(left)
		left = append(left[:2], left[len(left)-overlap:]...) // what kind of line it is, and its end
	}
	r.rest = r.rest[:copy(r.rest, left)]
	return len(text), nil
}

func (r *Reader) line(text []byte) {
	if r.trouble != "" || len(text) == 0 {
		return
	}
	name, file := bytes.CutPrefix(text, []byte("+++ "))
	switch {
	case text[0] == 1:
		r.file, r.before = message, ""
		return
	case file:
		r.file = strings.TrimPrefix(Printable(string(name)), "b/")
	case text[0] != '+' && !bytes.HasPrefix(text, []byte("  ")) && !bytes.HasPrefix(text, []byte("rename to ")):
		return
	}
	if r.Oversteps != nil && r.file == message && bytes.HasPrefix(text, []byte("  ")) {
		said := string(text) + "\n"
		if r.before == "" { // that is who made it
			said = "\n"
		}
		r.oversteps = r.oversteps || r.Oversteps(r.before+said) // what is meant together may be on two lines
		r.before = said
	}
	if what := secretIn(text); what != "" {
		if file || text[0] == 'r' {
			r.file = "the name of a file"
		}
		r.trouble = "there is " + what + " in " + r.file + "; have it taken out, and make a new one"
	} else if pointer().Match(text) {
		r.trouble = r.file + " is kept by Git LFS: only a pointer to it would be published, so commit it by hand"
	}
}

func secretIn(text []byte) string {
	for _, s := range secrets() {
		for mark := range strings.FieldsSeq(s.marks) {
			if bytes.Contains(text, []byte(mark)) && s.shape.Match(text) {
				return s.what
			}
		}
	}
	return ""
}
