package work_test

import (
	"slices"
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
			want := ""
			if tc.want != "" {
				want = "there is " + tc.want + "; have it taken out, and make a new one"
			}
			got := read(patch(tc.line))
			if got != want {
				t.Errorf("found %q, want %q", got, want)
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
		{"the end of a key", key[40:] + "\nafter", "[redacted: a private key]\nafter"},
		{"a key, and the end of one", key[40:] + "\n" + key + "\nafter", "[redacted: a private key]\n[redacted: a private key]\nafter"},
		{"half a key", "before\n" + key[:60], "before\n[redacted: a private key]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := work.Redact(tc.text); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func read(text []byte) string {
	var r work.Reader
	for piece := range slices.Chunk(text, max(7, len(text)/100)) {
		_, _ = r.Write(piece)
	}
	return r.Trouble()
}

func TestReader(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2", 10)
	lfs := "oid sha256:" + strings.Repeat("0123456789abcdef", 4)
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"in a message", "\x01\n  Jo\n  - use " + token + "\n\ndiff --git a/x b/x\n", "in the message of a commit"},
		{"in a name", "diff --git a/x b/x\n+++ b/" + token + "\n@@\n+x\n", "in the name of a file"},
		{"in a new name", "rename from x\nrename to " + token + "\n", "in the name of a file"},
		{"in a long line", "+++ b/long\n+" + strings.Repeat("x", 1<<20-20) + " " + token + " " + strings.Repeat("x", 1<<20) + "\n", "in long"},
		{"at the end", "+++ b/end\n+" + token, "in end"},
		{"taken out of a message of old", "\x01\n  Jo\n-" + token, ""},
		{"lfs", "+++ b/big\n+" + lfs + "\n", "big is kept by Git LFS"},
		{"words about lfs", "+++ b/doc\n+use " + lfs + "\n", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := read([]byte(tc.text))
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) || strings.Contains(got, token) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestReaderHearsMessages(t *testing.T) {
	for text, want := range map[string]bool{
		"\x01\n  Jo\n  Say not this\n":                                  true,
		"\x01\n  Jo\n  Say hello\n  \n  not\n  this":                    true,
		"\x01\n  Jo\n  Say not":                                         false,
		"\x01\n  Jo not this\n  Say hello":                              false,
		"\x01\n  Jo\n  Say not\n\n+++ b/x\n@@\n+y\n\x01\n  this\n  x\n": false,
		"\x01\n  Jo\n  Say hello\n\n+++ b/doc\n@@\n+say not this\n":     false,
	} {
		r := work.Reader{Oversteps: func(words string) bool {
			return strings.Contains(strings.Join(strings.Fields(words), " "), "not this")
		}}
		for i := range text {
			_, _ = r.Write([]byte(text[i : i+1]))
		}
		if r.Trouble(); r.Overstepped() != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
