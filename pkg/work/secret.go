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
		{"a private key", regexp.MustCompile(`-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----`)},
		{"an AWS access key", regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`)},
		{"a GitHub token", regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})`)},
		{"a GitLab token", regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}`)},
		{"an Anthropic key", regexp.MustCompile(`\bsk-ant-[A-Za-z0-9_-]{32,}`)},
		{"an OpenAI key", regexp.MustCompile(`\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{32,}`)},
		{"a Slack token", regexp.MustCompile(`\bxox[abprs]-[A-Za-z0-9-]{20,}`)},
		{"a Google API key", regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{35}\b`)},
		{"a Stripe key", regexp.MustCompile(`\b[rs]k_live_[A-Za-z0-9]{20,}`)},
	}
})

type secret struct {
	what  string
	shape *regexp.Regexp
}

// keyBody is a private key to its end, or to the end of the text.
var keyBody = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----.*?(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|\z)`)
})

// Redact is a text with the secrets in it taken out, and what they were in their
// place.
func Redact(text string) string {
	text = keyBody().ReplaceAllLiteralString(text, "[redacted: a private key]")
	for _, s := range secrets() {
		text = s.shape.ReplaceAllLiteralString(text, "[redacted: "+s.what+"]")
	}
	return text
}

// Secret finds the first secret among the lines that a patch adds, and says
// what it is and in which file; "" when there is none. The secret itself is
// not in the answer.
func Secret(patch []byte) string {
	file := ""
	for line := range bytes.Lines(patch) {
		if name, ok := bytes.CutPrefix(line, []byte("+++ ")); ok {
			file = strings.TrimPrefix(Printable(string(name)), "b/")
			continue
		}
		if len(line) == 0 || line[0] != '+' {
			continue
		}
		for _, s := range secrets() {
			if s.shape.Match(line) {
				return s.what + " in " + file
			}
		}
	}
	return ""
}
