package work_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/backburner-cli/backburner/pkg/work"
)

func TestBadID(t *testing.T) {
	for _, fine := range []string{"a", "login", "fix-login", "Fix_Login.2", "42", "a.b.c", "_x", strings.Repeat("a", 80), "lock", "json", "a.locked"} {
		if why := work.BadID(fine); why != "" {
			t.Errorf("%q: %s", fine, why)
		}
	}
	for bad, want := range map[string]string{
		"":                      "empty",
		strings.Repeat("a", 81): "longer than 80 characters",
		"-rf":                   "starts with -",
		".hidden":               "starts with .",
		"..":                    "starts with .",
		"a.":                    "git refuses such a branch name",
		"a..b":                  "git refuses such a branch name",
		"a.lock":                "git refuses such a branch name",
		"a.json":                "ends in .json, like the files that records are kept in",
		"a.JSON":                "ends in .json, like the files that records are kept in",
		"a/b":                   `has '/'; letters, digits, -, _ and . are fine`,
		`a\b`:                   `has '\\'; letters, digits, -, _ and . are fine`,
		"a b":                   `has ' '; letters, digits, -, _ and . are fine`,
		"a\x00":                 `has '\x00'; letters, digits, -, _ and . are fine`,
		"a\n":                   `has '\n'; letters, digits, -, _ and . are fine`,
		"$(x)":                  `has '$'; letters, digits, -, _ and . are fine`,
		"a;b":                   `has ';'; letters, digits, -, _ and . are fine`,
		"a~1":                   `has '~'; letters, digits, -, _ and . are fine`,
		"a@{0}":                 `has '@'; letters, digits, -, _ and . are fine`,
		"a:b":                   `has ':'; letters, digits, -, _ and . are fine`,
		"ä":                     `has 'ä'; letters, digits, -, _ and . are fine`,
		"ａ":                     `has 'ａ'; letters, digits, -, _ and . are fine`,
		"a\u202eb":              `has '\u202e'; letters, digits, -, _ and . are fine`,
		"a\xffb":                `has '�'; letters, digits, -, _ and . are fine`,
	} {
		if got := work.BadID(bad); got != want {
			t.Errorf("%.40q: %q, want %q", bad, got, want)
		}
	}
}

func TestSpecHashTellsTextsApart(t *testing.T) {
	one := work.SpecHash("a", "b")
	if !strings.HasPrefix(one, "sha256:") || len(one) != len("sha256:")+64 || one != work.SpecHash("a", "b") {
		t.Errorf("hash %q", one)
	}
	for _, other := range [][2]string{{"ab", ""}, {"", "ab"}, {"a", "b "}, {"A", "b"}, {"a\x00", "b"}} {
		if work.SpecHash(other[0], other[1]) == one {
			t.Errorf("%q has the same hash", other)
		}
	}
}

func TestSpecTitle(t *testing.T) {
	for body, want := range map[string]string{
		"# Fix the login\n\nIt fails.":  "Fix the login",
		"\n\n  ## Deep ##  \n":          "Deep ##",
		"plain text\nmore":              "plain text",
		"---\nafter\n":                  "after",
		"#\n##\n# x":                    "x",
		"":                              "fallback",
		"\n \n\t\n":                     "fallback",
		"# \u200b\u202e\n":              "fallback",
		"\u200b# hidden mark\n":         "hidden mark",
		"# a\x1b[31mb\rc":               "a[31mb c",
		"# \xff\xfe":                    "fallback",
		"no newline":                    "no newline",
		"# " + strings.Repeat("x", 200): strings.Repeat("x", 120) + "…",
	} {
		if got := work.SpecTitle(body, "fallback"); got != want {
			t.Errorf("%.40q: %q, want %q", body, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"abc", 3, "abc"}, {"abc", 4, "abc"}, {"abcd", 3, "abc…"}, {"", 0, ""}, {"a", 0, "…"},
		{"äöü", 6, "äöü"}, {"äöü", 5, "äö…"}, {"äöü", 1, "…"}, {"a€b", 3, "a…"}, {"a😀b", 4, "a…"}, {"a😀b", 5, "a😀…"},
		{"\x80\x80\x80", 2, "…"},
	} {
		if got := work.Clip(c.in, c.n); got != c.want {
			t.Errorf("%q cut to %d: %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                      "plain",
		" a\tb\r\nc ":                "a b  c",
		"a\x1b[31mred\x1b[0m":        "a[31mred[0m",
		"a\x07\x08\x7f\u009bb":       "ab",
		"a\u200b\u200d\ufeff\u2060b": "ab",  // zero width
		"a\u202eb\u2066c\u2069":      "abc", // bidirectional
		"a\u00adb":                   "ab",  // soft hyphen
		"a\u2028b\u2029c":            "a b c",
		"a\u3164b\u115fc":            "abc", // fillers
		"a\ufe0f\U000e0100b":         "ab",  // variation selectors
		"a\U000e0041b":               "ab",  // tags
		"a\u034fb":                   "ab",
		"a\xffb\xc0":                 "ab",
		"grüße 世界 😀":                 "grüße 世界 😀",
		"\u200b":                     "",
	} {
		if got := work.Printable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzTextFromOutside(f *testing.F) {
	for _, seed := range []string{"", "# title", "a\x1b]0;x\x07", "\xff\xfe\x00", "---\n#\u202e", "a.lock", "../x", "\u2028"} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		p := work.Printable(s)
		if !utf8.ValidString(p) || strings.ContainsFunc(p, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }) {
			t.Errorf("%q became %q", s, p)
		}
		if work.Printable(p) != p {
			t.Errorf("%q is not printable once and for all", s)
		}
		if title := work.SpecTitle(s, "fallback"); title == "" || len(title) > 123 || strings.ContainsAny(title, "\n\r\x1b") {
			t.Errorf("%q has the title %q", s, title)
		}
		if n >= 0 && n < 1<<20 {
			if c := work.Clip(s, n); len(c) > n+len("…") || utf8.ValidString(s) && !utf8.ValidString(c) {
				t.Errorf("%q cut to %d is %q", s, n, c)
			}
		}
		if work.BadID(s) == "" && (len(s) > 80 || strings.ContainsAny(s, "/\\ \x00") || strings.HasPrefix(s, "-")) {
			t.Errorf("%q passes for an id", s)
		}
		work.BadPath(s)
		work.MatchGlob(s, s)
		work.ValidGlob(s)
	})
}
