package store

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
)

func TestRemember(t *testing.T) {
	for name, c := range map[string]struct {
		old, text string
		limit     int
		want      string
	}{
		"first":               {"", "  use make\n", 100, "  use make\n"},
		"next":                {"a\n", "b", 100, "a\n\nb\n"},
		"blank":               {"a\n", " \n\n \t\n", 100, "a\n"},
		"windows":             {"a\r\n\r\nb\r\n", "c", 100, "a\n\nb\n\nc\n"},
		"again":               {"a\n\nb\n\nc\n", "b", 100, "a\n\nb\n\nc\n"},
		"again, several":      {"a\n\nb\n\nc\n", "b\n\n\nc\n\n", 100, "a\n\nb\n\nc\n"},
		"a part":              {"ab\n", "a", 100, "ab\n\na\n"},
		"exactly full":        {"aaa\n", "bbb", 9, "aaa\n\nbbb\n"},
		"the oldest goes":     {"aaa\n\nbbb\n", "cccc", 10, "bbb\n\ncccc\n"},
		"all older go":        {"aaa\n\nbbb\n", "123456789", 10, "123456789\n"},
		"cut":                 {"aaa\n", "1234567890", 10, "123456…\n"},
		"cut on a rune":       {"", "äöüäöü", 10, "äöü…\n"},
		"too small to matter": {"a\n", "b", 3, "a\n"},
		"not UTF-8":           {"", "a\xffb", 100, "a\ufffdb\n"},
	} {
		got := remember(c.old, c.text, c.limit)
		if got != c.want {
			t.Errorf("%s: %q", name, got)
		}
		if again := remember(got, c.text, c.limit); again != got {
			t.Errorf("%s: a repeat makes %q of %q", name, again, got)
		}
	}
}

func FuzzRemember(f *testing.F) {
	f.Add("a\n\nb\n", "c\n\nd", 5)
	f.Fuzz(func(t *testing.T, old, text string, limit int) {
		got := remember(old, text, limit)
		if got != old && (len(got) > limit || !utf8.ValidString(got) || !strings.HasSuffix(got, "\n")) {
			t.Errorf("%q", got)
		}
	})
}

func TestAppendMemory(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	for range 2 {
		if err := s.AppendMemory("x", "make test takes a minute", 1000); err != nil {
			t.Fatal(err)
		}
	}
	before := atomicfile.Syncs()
	if err := s.AppendMemory("x", "make test takes a minute", 1000); err != nil || atomicfile.Syncs() != before {
		t.Errorf("a repeat wrote something: %v", err)
	}
	if text, err := s.Memory("x"); err != nil || text != "make test takes a minute\n" {
		t.Errorf("%q %v", text, err)
	}
}
