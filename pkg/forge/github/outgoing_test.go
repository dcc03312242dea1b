package github

import (
	"strings"
	"testing"
)

func TestOutgoing(t *testing.T) {
	const z = "&#8203;"
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "Plain words, a@b.example, 5 > 3 & x.", "Plain words, a@b.example, 5 > 3 & x."},
		{"a name", "Ask @ann, or (@acme/team).", "Ask @" + z + "ann, or (@" + z + "acme/team)."},
		{"a name in emphasis", "_@ann_ **@bob**", "_@" + z + "ann_ **@" + z + "bob**"},
		{"escaped", `\@ann`, `\@` + z + "ann"},
		{"as entities", "&#64;ann &#x40;ann &commat;ann @&#97;nn", "@" + z + "ann @" + z + "ann @" + z + "ann @" + z + "ann"},
		{"twice is once", Outgoing("@ann fixes #1"), Outgoing("@ann fixes #1")},
		{"fenced", "```java\n@Override\n```\n@ann", "```java\n@Override\n```\n@" + z + "ann"},
		{"between backticks", "run `npm i @types/node` as @ann", "run `npm i @types/node` as @" + z + "ann"},
		{"two backticks", "``a ` @b`` @ann", "``a ` @b`` @" + z + "ann"},
		{"backtick that does not end", "a ` b\n` @ann `", "a ` b\n` @" + z + "ann `"},
		{"escaped backtick", "\\` @ann `", "\\` @" + z + "ann `"},
		{"backtick in a tag", "<a href=\"`\">` @ann `x`", "<a href=\"`\">` @" + z + "ann `x`"},
		{"fence in HTML", "<div>\n```\n@ann\n```\n</div>", "<div>\n```\n@" + z + "ann\n```\n</div>"},
		{"fence in a folded part", "<details><summary>The log</summary>\n\n```text\n@ann\n```\n\n</details>\n\n@ann",
			"<details><summary>The log</summary>\n\n```text\n@ann\n```\n\n</details>\n\n@" + z + "ann"},
		{"fence that a folded part takes in", "<details><summary>The log</summary>\n```text\n@ann\n```\n</details>",
			"<details><summary>The log</summary>\n```text\n@" + z + "ann\n```\n</details>"},
		{"fence in a list", "- ```\n  ```\n@ann", "- ```\n  ```\n@" + z + "ann"},
		{"indented fence", " - a\n   ```\n@ann\n   ```", " - a\n   ```\n@" + z + "ann\n   ```"},
		{"a link", "see https://www.npmjs.com/package/@types/node by @ann", "see https://www.npmjs.com/package/@types/node by @" + z + "ann"},
		{"no link", "https://@ann x:https://a.b/@ann", "https://@" + z + "ann x:https://a.b/@" + z + "ann"},
		{"closing words", "This fixes #12, Closes: acme/x#3 and resolved https://github.com/a/b/issues/1.",
			"This fixes" + z + " #" + z + "12, Closes" + z + ": acme/x#" + z + "3 and resolved" + z + " https://redirect.github.com/a/b/issues/1."},
		{"closing as entities", "fixes &#35;8, f&#105;xes #9, &#x66;ixes&nbsp;&num;7, fixes &&#35;35;6",
			"fixes" + z + " #" + z + "8, fixes" + z + " #" + z + "9, fixes" + z + " #" + z + "7, fixes" + z + " #" + z + "6"},
		{"closing, escaped", `fixes \#8, fixes GH\-7`, "fixes" + z + ` \#` + z + "8, fixes" + z + ` GH\-` + z + "7"},
		{"closing through marks", "fixes [#11](x), **fixes** #12, fixes <b>#16</b>",
			"fixes" + z + " [#" + z + "11](x), **fixes" + z + "** #" + z + "12, fixes" + z + " <b>#" + z + "16</b>"},
		{"closing over lines beside code", "`x` fixes\n#7", "`x` fixes" + z + "\n#" + z + "7"},
		{"issues of others, coded", `a/b\#1, a/b&#35;2`, `a/b\#` + z + "1, a/b#" + z + "2"},
		{"entities that stay", "&lt;b> &amp;#64;ann &#96;", "&lt;b> &amp;#64;ann &#96;"},
		{"closing over lines", "closes\n#12", "closes" + z + "\n#" + z + "12"},
		{"issues of others", "see a/b#1, #2 and http://www.github.com/a/b/pull/3#x or https://github.com/a/b",
			"see a/b#" + z + "1, #2 and http://redirect.github.com/a/b/pull/3#x or https://github.com/a/b"},
		{"issues of others in code", "`a/b#1`", "`a/b#1`"},
		{"no closing words", "fixes the prefixes #12, see #12", "fixes the prefixes #12, see #12"},
		{"hidden text", "a <!-- backburner:v1 key=x --> b", "a &lt;!-- backburner:v1 key=x --> b"},
		{"a secret", "use ghp_" + strings.Repeat("a1B2", 9), "use [redacted: a GitHub token]"},
		{"line ends", "a\r\nb", "a\nb"},
		{"no UTF-8", "a\xffb", "a\uFFFDb"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Outgoing(tc.text)
			if got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
			if again := Outgoing(got); again != got {
				t.Errorf("a second time it is %q", again)
			}
		})
	}
}

func TestOutgoingTitle(t *testing.T) {
	if got, want := OutgoingTitle("Fixes #12 for\n@ann"), "Fixes\u200b #\u200b12 for @\u200bann"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzOutgoing(f *testing.F) {
	for _, seed := range []string{"@ann", "`@ann`", "```\n@ann\n```", "fixes #1", "https://a.example/@x", "<!-- x -->", "- ```\n@a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Outgoing(text)
		if strings.Contains(got, "<!--") {
			t.Fatalf("%q hides something: %q", text, got)
		}
		if !strings.ContainsAny(text, "`~") && !strings.Contains(text, "://") {
			for i := range len(got) {
				if got[i] == '@' && calls(got, i) {
					t.Fatalf("%q calls somebody: %q", text, got)
				}
			}
		}
		if again := Outgoing(got); again != got {
			t.Fatalf("%q is %q once, %q twice", text, got, again)
		}
	})
}

func TestMarker(t *testing.T) {
	seen := make(map[string]string)
	for _, key := range []string{"a", "a b", "a-->b", "a%20b", "ä", "a\nb", "blocked:gate_failed:fast:abc", "a--b"} {
		m := marker(key)
		if other, twice := seen[m]; twice {
			t.Errorf("%q and %q have one marker", key, other)
		}
		seen[m] = key
		if strings.Count(m, "--") != 2 || strings.ContainsAny(m, "\n") || !hasMarker(m) {
			t.Errorf("the marker of %q is %q", key, m)
		}
	}
	if marks("x "+marker("ab"), "a") || !marks("x "+marker("a")+" y", "a") {
		t.Error("a marker is taken for another")
	}
}
