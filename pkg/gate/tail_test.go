package gate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/backburner-cli/backburner/pkg/gate"
)

// execution is the folder of a gate that was cut while its second step ran.
func execution(t *testing.T, log string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"01-vet": "vetted", "02-test": log} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name, "log"), []byte(content), 0o644))
	}
	return dir
}

func TestTailReads(t *testing.T) {
	tests := []struct{ name, log, want string }{
		{"empty", "", ""},
		{"plain", "one\ntwo\n", "one\ntwo"},
		{"broken UTF-8", "caf\xe9\n", "caf�"},
		{"colours", "\x1b[1;31mFAIL\x1b[0m cart\n", "FAIL cart"},
		{"title and link", "\x1b]0;title\x07go \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", "go link"},
		{"progress", "10%\r55%\r100%\r\ndone\n", "100%\ndone"},
		{"control characters", "a\x00b\x07c\u202ed\te\n", "abcd\te"},
	}
	for _, tt := range tests {
		got, err := gate.Tail(execution(t, tt.log), 1000)
		if err != nil || got != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
}

func TestTailIsCut(t *testing.T) {
	dir := execution(t, strings.Repeat("a line of the log\n", 10_000)+"the end\n")
	got, err := gate.Tail(dir, 50)
	if want := "a line of the log\na line of the log\nthe end"; err != nil || got != want {
		t.Errorf("tail %q, %v, want %q", got, err, want)
	}
	long := execution(t, strings.Repeat("ä", 10_000))
	for most := range 40 {
		got, err := gate.Tail(long, most)
		if err != nil || len(got) > most || !utf8.ValidString(got) || most > 3 && got == "" {
			t.Errorf("tail of %d bytes is %q, %v", most, got, err)
		}
	}
}

func TestTailOfNothing(t *testing.T) {
	if got, err := gate.Tail(t.TempDir(), 100); got != "" || err != nil {
		t.Errorf("tail %q, %v", got, err)
	}
	if _, err := gate.Tail(filepath.Join(t.TempDir(), "no-such"), 100); err == nil {
		t.Error("an execution that is not there has a tail")
	}
}

func FuzzTail(f *testing.F) {
	f.Add([]byte("\x1b[31mFAIL\x1b[0m\r\n\xff"), 10)
	f.Fuzz(func(t *testing.T, log []byte, most int) {
		got, err := gate.Tail(execution(t, string(log)), most%10_000)
		if err != nil || !utf8.ValidString(got) || len(got) > max(0, most%10_000) || strings.ContainsAny(got, "\x1b\x00\r") {
			t.Errorf("tail %q, %v", got, err)
		}
	})
}
