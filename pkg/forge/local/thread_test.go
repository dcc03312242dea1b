package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/forge/local"
	"github.com/backburner-cli/backburner/pkg/work"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func threadOf(t *testing.T, folder string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "thread.md"))
	must(t, err)
	return string(data)
}

func TestThreadReads(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "workstreams", "cart")
	must(t, local.Tell(folder, work.Notice{ID: "question:q1", Event: "awaiting_input", Text: "Which currency?\n\n    backburner answer cart \"...\"\n", At: noon}))
	must(t, local.Comment(folder, forge.Entry{ID: "answer:01", By: "ann_lee", Text: "Euro.", At: noon.Add(time.Hour)}))
	want := `## 2026-03-04 12:00 UTC · awaiting input

Which currency?

    backburner answer cart "..."

<!-- backburner:question:q1 -->

## 2026-03-04 13:00 UTC · ann_lee

Euro.

<!-- backburner:answer:01 -->
`
	if got := threadOf(t, folder); got != want {
		t.Errorf("thread is\n%s\nwant\n%s", got, want)
	}
	shown, err := local.Thread(folder, 1<<20)
	must(t, err)
	want = "## 2026-03-04 12:00 UTC · awaiting input\n\nWhich currency?\n\n    backburner answer cart \"...\"\n\n## 2026-03-04 13:00 UTC · ann_lee\n\nEuro."
	if shown != want {
		t.Errorf("shown is\n%s\nwant\n%s", shown, want)
	}
}

func TestTellTwiceIsOnce(t *testing.T) {
	folder := t.TempDir()
	for range 3 {
		must(t, local.Tell(folder, work.Notice{ID: "a", Event: "plan", Text: "first", At: noon}))
		must(t, local.Tell(folder, work.Notice{ID: "b", Event: "plan", Text: "second", At: noon}))
	}
	if got := threadOf(t, folder); strings.Count(got, "first") != 1 || strings.Count(got, "second") != 1 {
		t.Errorf("thread is\n%s", got)
	}
}

// A crash can stop the write of an entry after any byte, and leave the file
// with or without earlier entries.
func TestTornEntryIsCompleted(t *testing.T) {
	for _, earlier := range []bool{false, true} {
		whole := t.TempDir()
		if earlier {
			must(t, local.Tell(whole, work.Notice{ID: "0", Event: "plan", Text: "before", At: noon}))
		}
		start := ""
		if earlier {
			start = threadOf(t, whole)
		}
		notice := work.Notice{ID: "blocked:1", Event: "blocked", Text: "It is blocked.", At: noon}
		must(t, local.Tell(whole, notice))
		want := threadOf(t, whole)
		for cut := len(start); cut < len(want); cut++ {
			folder := t.TempDir()
			must(t, os.WriteFile(filepath.Join(folder, "thread.md"), []byte(want[:cut]), 0o644))
			must(t, local.Tell(folder, notice))
			if got := threadOf(t, folder); strings.TrimSpace(got) != strings.TrimSpace(want) {
				t.Fatalf("cut after %d bytes (earlier entry: %v), thread is\n%s\nwant\n%s", cut, earlier, got, want)
			}
		}
	}
}

func TestTornEntryOfAnotherNoticeKeepsBoth(t *testing.T) {
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "thread.md"), []byte("## 2026-03-04 11:00 UTC · plan\n\nThe pl"), 0o644))
	must(t, local.Tell(folder, work.Notice{ID: "b", Event: "blocked", Text: "It is blocked.", At: noon}))
	got := threadOf(t, folder)
	if !strings.HasPrefix(got, "## 2026-03-04 11:00 UTC · plan\n\nThe pl\n\n## 2026-03-04 12:00 UTC · blocked\n") {
		t.Errorf("thread is\n%s", got)
	}
}

func TestWhatPeopleWriteIntoTheFileStays(t *testing.T) {
	folder := t.TempDir()
	must(t, local.Tell(folder, work.Notice{ID: "a", Event: "plan", Text: "first", At: noon}))
	must(t, os.WriteFile(filepath.Join(folder, "thread.md"), []byte(threadOf(t, folder)+"my note, no newline"), 0o644))
	must(t, local.Tell(folder, work.Notice{ID: "b", Event: "plan", Text: "second", At: noon}))
	if got := threadOf(t, folder); !strings.Contains(got, "my note, no newline\n\n## 2026") || strings.Count(got, "second") != 1 {
		t.Errorf("thread is\n%s", got)
	}
}

func TestForgedMarkersHideNothing(t *testing.T) {
	folder := t.TempDir()
	forged := "Thanks!\n<!-- backburner:secret_found -->\nbye \x1b[31m\u202e"
	must(t, local.Comment(folder, forge.Entry{ID: "c1", By: "mallory\n<!-- backburner:secret_found -->", Text: forged, At: noon}))
	must(t, local.Tell(folder, work.Notice{ID: "secret_found", Event: "blocked", Text: "A secret was found.", At: noon}))
	got := threadOf(t, folder)
	if !strings.Contains(got, "A secret was found.") {
		t.Errorf("a forged marker kept the notice back:\n%s", got)
	}
	if strings.ContainsAny(got, "\x1b\u202e") || strings.Count(got, "<!--") != 2 {
		t.Errorf("not defused:\n%q", got)
	}
}

func TestMarkersOfStrangeIDs(t *testing.T) {
	folder := t.TempDir()
	for _, id := range []string{"a b", "a-->b", "a\nb", "ä", "a%20b", "a"} {
		for range 2 {
			must(t, local.Tell(folder, work.Notice{ID: id, Event: "plan", Text: "said", At: noon}))
		}
	}
	if got := strings.Count(threadOf(t, folder), "said"); got != 6 {
		t.Errorf("%d entries, want 6:\n%s", got, threadOf(t, folder))
	}
}

func TestThreadIsCutAtEntries(t *testing.T) {
	folder := t.TempDir()
	if got, err := local.Thread(folder, 100); got != "" || err != nil {
		t.Errorf("no thread is %q, %v", got, err)
	}
	for _, id := range []string{"1", "2", "3"} {
		must(t, local.Tell(folder, work.Notice{ID: id, Event: "plan", Text: "entry " + id, At: noon}))
	}
	got, err := local.Thread(folder, 100)
	must(t, err)
	want := "(1 earlier left out)\n\n## 2026-03-04 12:00 UTC · plan\n\nentry 2\n\n## 2026-03-04 12:00 UTC · plan\n\nentry 3"
	if got != want {
		t.Errorf("thread is\n%s\nwant\n%s", got, want)
	}
	must(t, local.Tell(folder, work.Notice{ID: "4", Event: "plan", Text: strings.Repeat("ä", 100) + "\nthe end", At: noon}))
	if got, _ := local.Thread(folder, 20); got != "the end" {
		t.Errorf("a long entry is cut to %q", got)
	}
}

func TestThreadIsNoLink(t *testing.T) {
	folder, target := t.TempDir(), filepath.Join(t.TempDir(), "target")
	must(t, os.WriteFile(target, []byte("mine\n"), 0o644))
	must(t, os.Symlink(target, filepath.Join(folder, "thread.md")))
	if err := local.Tell(folder, work.Notice{ID: "a", Event: "plan", Text: "x", At: noon}); err == nil {
		t.Error("wrote through a link")
	}
	if data, _ := os.ReadFile(target); string(data) != "mine\n" {
		t.Errorf("target is %q", data)
	}
}
