package github

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	for _, tc := range []struct {
		name, text string
		want       []string // what it ends with, line by line
	}{
		{"fits", strings.Repeat(line, 9), []string{line[:99], ""}},
		{"at the end of a line", strings.Repeat(line, 20), []string{line[:99], "", "(cut here; see the log)"}},
		{"one long line", strings.Repeat("x", 2000), []string{"", "(cut here; see the log)"}},
		{"in a code block", "````go\n" + strings.Repeat(line, 20) + "````\n", []string{line[:99], "````", "", "(cut here; see the log)"}},
		{"after a code block", "```\na\n```\n" + strings.Repeat(line, 20), []string{line[:99], "", "(cut here; see the log)"}},
		{"in a folded part", "<details>\n" + strings.Repeat(line, 20) + "</details>", []string{line[:99], "</details>", "", "(cut here; see the log)"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Cut(tc.text, "see the log", 1000)
			if length(got) > 1000 {
				t.Errorf("%d characters", length(got))
			}
			if want := strings.Join(tc.want, "\n"); !strings.HasSuffix(got, want) {
				t.Errorf("it ends with %q, want %q", got[max(0, len(got)-200):], want)
			}
		})
	}
	if got := Cut(strings.Repeat("ä", 900), "", 1000); length(got) != 900 {
		t.Error("what fits was cut")
	}
	if got := Cut(strings.Repeat("😀", 600), "", 1000); length(got) > 1000 || !utf8.ValidString(got) {
		t.Errorf("characters of two units: %d", length(got))
	}
}

func FuzzCut(f *testing.F) {
	f.Add("```\n"+strings.Repeat("line\n", 100), 300)
	f.Add(strings.Repeat("😀", 300), 400)
	f.Add("<details>"+strings.Repeat("a <!-- b\n", 100), 350)
	f.Add(strings.Repeat("`", 900), 300)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = 1 + limit&0x7ff
		text = strings.ToValidUTF8(text, "?")
		got := Cut(text, "see the log", limit)
		if n := length(got); n > limit {
			t.Fatalf("%d characters of %d: %q", n, limit, got)
		}
		if !utf8.ValidString(got) {
			t.Fatalf("cut within a character: %q", got)
		}
		if length(text) <= limit && got != text {
			t.Fatalf("%q fits, and became %q", text, got)
		}
	})
}

func TestNewSide(t *testing.T) {
	patch := "@@ -1,3 +1,4 @@\n a\n-b\n+b2\n+c\n d\n\\ No newline at end of file\n@@ -10 +20,2 @@ func x() {\n y\n+z"
	got := newSide(patch)
	for _, n := range []int{1, 2, 3, 4, 20, 21} {
		if !got[n] {
			t.Errorf("line %d is shown, and not found", n)
		}
	}
	if len(got) != 6 {
		t.Errorf("found %v", got)
	}
	if len(newSide("")) != 0 {
		t.Error("a file without a patch shows lines")
	}
}
