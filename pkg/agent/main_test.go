package agent

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

// TestMain lets the test binary stand for the program ("supervise DIR" is what proc.Start adds to its command line) and for an agent
// ("fake-agent MODE ...").
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "supervise":
		if err := proc.Supervise(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case len(os.Args) >= 3 && os.Args[1] == "fake-agent":
		os.Exit(fakeAgent(os.Args[2], os.Args[3:]))
	}
	time.Local = time.UTC // messages name times without a zone
	os.Exit(m.Run())
}

// fakeAgent does what its mode says, as an agent would.
func fakeAgent(mode string, args []string) int {
	result := os.Getenv("BACKBURNER_RESULT_FILE")
	switch mode {
	case "look": // what it was given, for the test to compare
		prompt, _ := io.ReadAll(os.Stdin)
		dir, _ := os.Getwd()
		seen, _ := json.Marshal(map[string]any{"prompt": string(prompt), "dir": dir, "env": os.Environ(), "args": args})
		if os.WriteFile("seen.json", seen, 0o644) != nil {
			return 9
		}
	case "answer":
		if os.WriteFile(result, []byte(args[0]), 0o644) != nil {
			return 9
		}
	case "link":
		if os.Symlink(args[0], result) != nil {
			return 9
		}
	case "fail":
		fmt.Fprintln(os.Stderr, "\x1b[31mno such luck\x1b[0m")
		return 3
	case "hang":
		fmt.Println("started")
		time.Sleep(time.Hour)
	case "flood":
		for {
			fmt.Println(strings.Repeat("x", 1000))
		}
	case "die":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Hour)
	case "print": // files of samples, to stdout; then hang if asked to
		text, err := os.ReadFile(args[0])
		if err != nil {
			return 9
		}
		_, _ = os.Stdout.Write(text)
		if len(args) > 1 && args[1] == "and-hang" {
			time.Sleep(time.Hour)
		}
	case "version":
		fmt.Println("fake 1.2.3 (test)\nand more")
	}
	return 0
}

// self is the command line of the test binary.
func self(t testing.TB) []string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{path}
}

// fake is an agent of a preset that is played by the test binary.
func fake(t *testing.T, c Config, mode ...string) *Agent {
	t.Helper()
	if c.Preset == "" {
		c.Preset = "custom"
	}
	c.Name = "fake"
	c.Command = append(append(self(t), "fake-agent"), mode...)
	a, err := New(c, self(t))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var executions atomic.Int64

// call is one with a folder and a workspace of its own.
func call(t *testing.T, kind work.TaskKind) Call {
	t.Helper()
	// The id must be its own: by it, what is left of a run is found and ended.
	c := Call{Execution: fmt.Sprintf("w1.%d.%d", os.Getpid(), executions.Add(1)), Dir: t.TempDir(), Workspace: t.TempDir(), Task: kind, TaskID: "t1", Workstream: "w1"}
	write(t, c.path(promptFile), "Do it.\n")
	return c
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, elements ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
