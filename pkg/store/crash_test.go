package store

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const saveEnv = "STORE_TEST_SAVE"

// saveForever saves and archives until it is killed.
func saveForever(dir string) {
	s, err := Open(dir, Options{})
	if err != nil {
		panic(err)
	}
	board, _, err := s.Load(context.Background())
	for n := 0; err == nil; n++ {
		w := board.Workstreams["x"]
		w.Title = strings.Repeat("title ", n%500)
		if err = s.Save(w); err != nil {
			break
		}
		if err = s.AppendMemory("x", w.Title, 4000); err != nil {
			break
		}
		if err = s.Archive(w); err != nil {
			break
		}
		if board.Workstreams["x"], err = s.Unarchive("x"); err != nil {
			break
		}
		if n == 3 {
			os.Stdout.WriteString("going\n")
		}
	}
	panic(err)
}

// However a process is killed, the next one finds the workstream once, whole,
// with its folder, and can go on.
func TestKilledWhileSaving(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	closed(t, s, "x", noon)
	for round := range 15 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), saveEnv+"="+s.dir)
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if n, err := out.Read(make([]byte, 6)); n == 0 {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(round) * 700 * time.Microsecond) // another point each time; no result depends on which
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("it ended by itself: %v", err)
		}
		b := mustLoad(t, s)
		if w := b.Workstreams["x"]; w == nil {
			if _, err := s.Unarchive("x"); err != nil {
				t.Fatalf("round %d: neither open nor archived: %v", round, err)
			}
		}
		if path, err := s.Archived("x"); path != "" || err != nil {
			t.Fatalf("round %d: open and archived: %s %v", round, path, err)
		}
		if text := read(t, s.memoryFile("x")); !strings.HasSuffix(text, "\n") {
			t.Fatalf("round %d: memory %q", round, text)
		}
	}
	for _, p := range Verify(s.dir) {
		if !strings.Contains(p.Detail, "cut short") {
			t.Error(p)
		}
	}
}
