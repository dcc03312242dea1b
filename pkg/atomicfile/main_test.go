package atomicfile_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
)

// childAction makes the test binary a program of one call of the package, so
// that a limit, a user or a tracer concerns that call and not the tests.
const childAction = "ATOMICFILE_TEST_CHILD"

func init() {
	if os.Getenv(childAction) != "" {
		runtime.LockOSThread() // strace counts system calls per thread
	}
}

func TestMain(m *testing.M) {
	if action := os.Getenv(childAction); action != "" {
		os.Exit(child(action, os.Args[1]))
	}
	os.Exit(m.Run())
}

// newContent is what the child writes.
var newContent = strings.Repeat("new content\n", 100)

// child does one thing to path and says on stderr what came of it.
func child(action, path string) int {
	limits := map[string]int{"fsize": syscall.RLIMIT_FSIZE, "nofile": syscall.RLIMIT_NOFILE}
	limited, _, _ := strings.Cut(action, " ")
	if which, ok := limits[limited]; ok {
		// Nine bytes cut the content short; zero files allow none at all.
		limit := syscall.Rlimit{Cur: map[string]uint64{"fsize": 9, "nofile": 0}[limited]}
		limit.Max = limit.Cur
		if err := syscall.Setrlimit(which, &limit); err != nil {
			fmt.Fprintln(os.Stderr, "setrlimit:", err)
			return 2
		}
	}
	if limited == "nobody" && os.Getuid() == 0 {
		if err := syscall.Setuid(65534); err != nil {
			fmt.Fprintln(os.Stderr, "setuid:", err)
			return 2
		}
	}
	var err error
	switch {
	case strings.HasSuffix(action, "create"):
		err = atomicfile.Create(path, []byte(newContent), 0o644)
	case strings.HasSuffix(action, "append"):
		for i := range 50 {
			err = atomicfile.Append(path, fmt.Appendf(nil, "%d %03d %s", os.Getpid(), i, strings.Repeat("x", 200)))
		}
	default:
		err = atomicfile.Write(path, []byte(newContent), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// runChild returns what the child said, and whether it ended well. The words of
// wrapper come before the program, e.g. a tracer.
func runChild(t *testing.T, action, path string, wrapper ...string) (stderr string, ok bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := slices.Concat(wrapper, []string{self, path})
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), childAction+"="+action)
	var said strings.Builder
	cmd.Stderr = &said
	err = cmd.Run()
	return said.String(), err == nil
}

// wantContent fails the test unless path holds want.
func wantContent(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s holds %.40q, want %.40q", filepath.Base(path), got, want)
	}
}

// wantNames fails the test unless dir holds exactly these names.
func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("folder holds %q, want %q", got, want)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	return got
}

// put writes a file for a test to work on.
func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wantError fails the test unless err is want, names the file asked for, never
// the temporary one, and gives its advice once, however often it was wrapped.
func wantError(t *testing.T, err, want error, path, todo string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want one that is %v", err, want)
	}
	text := fmt.Errorf("save: %w", fmt.Errorf("again: %w", err)).Error()
	if !strings.Contains(text, path) || strings.Contains(text, ".tmp-") {
		t.Errorf("%q must name %s and no temporary file", text, path)
	}
	if strings.Count(text, todo) != 1 {
		t.Errorf("%q must say %q once", text, todo)
	}
}
