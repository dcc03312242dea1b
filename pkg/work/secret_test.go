package work_test

import (
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/work"
)

func TestSecret(t *testing.T) {
	patch := func(line string) []byte {
		return []byte("diff --git a/conf b/conf\n--- a/conf\n+++ b/conf\n@@ -1 +1,2 @@\n kept\n" + line + "\n")
	}
	long := strings.Repeat("a1B2", 20)
	for _, tc := range []struct{ name, line, want string }{
		{"private key", "+-----BEGIN OPENSSH PRIVATE KEY-----", "a private key in conf"},
		{"plain private key", "+-----BEGIN PRIVATE KEY-----", "a private key in conf"},
		{"aws", "+key = AKIA" + "IOSFODNN7EXAMPLE", "an AWS access key in conf"},
		{"github", "+t: ghp_" + long[:36], "a GitHub token in conf"},
		{"github, fine-grained", "+t: github_pat_" + long, "a GitHub token in conf"},
		{"gitlab", "+glpat-" + long[:20], "a GitLab token in conf"},
		{"anthropic", "+sk-ant-" + long[:40], "an Anthropic key in conf"},
		{"openai", "+sk-proj-" + long[:40], "an OpenAI key in conf"},
		{"slack", "+xoxb-" + long[:24], "a Slack token in conf"},
		{"google", "+AIza" + long[:35], "a Google API key in conf"},
		{"stripe", "+sk_live_" + long[:24], "a Stripe key in conf"},
		{"taken out", "-key = AKIA" + "IOSFODNN7EXAMPLE", ""},
		{"was there", " key = AKIA" + "IOSFODNN7EXAMPLE", ""},
		{"a public key", "+-----BEGIN PUBLIC KEY-----", ""},
		{"words", "+ghp_short and sk-ant- and AKIA in a sentence", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := work.Secret(patch(tc.line))
			if got != tc.want {
				t.Errorf("found %q, want %q", got, tc.want)
			}
			if strings.Contains(got, long[:20]) {
				t.Error("the answer has the secret in it")
			}
		})
	}
}

func TestRedact(t *testing.T) {
	long := strings.Repeat("a1B2", 20)
	key := "-----BEGIN RSA PRIVATE KEY-----\n" + long + "\n-----END RSA PRIVATE KEY-----"
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "ghp_short, and words", "ghp_short, and words"},
		{"token", "use ghp_" + long[:36] + ", twice ghp_" + long[:36], "use [redacted: a GitHub token], twice [redacted: a GitHub token]"},
		{"key", "before\n" + key + "\nafter", "before\n[redacted: a private key]\nafter"},
		{"half a key", "before\n" + key[:60], "before\n[redacted: a private key]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := work.Redact(tc.text); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
