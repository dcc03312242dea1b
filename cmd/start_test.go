package cmd

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// mostAtStart is how many allocations one of our packages may make before main:
// a table or two. A regular expression takes some fifty, a template hundreds.
const mostAtStart = 100

var initTrace = regexp.MustCompile(`(?m)^init github\.com/backburner-cli/backburner/(pkg/\S+) .* (\d+) allocs$`)

// TestStart holds every package to prepare what it needs when it is needed: each
// agent and each step of a gate has a supervisor, which is a start of this
// program that needs almost nothing of it.
func TestStart(t *testing.T) {
	c := exec.Command(program(t), supervise, t.TempDir())
	c.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	said, _ := c.CombinedOutput() // there is no job, which it says, too
	traces := initTrace.FindAllSubmatch(said, -1)
	if len(traces) == 0 {
		t.Fatalf("nothing was traced:\n%s", said)
	}
	for _, trace := range traces {
		if bytes.HasSuffix(trace[1], []byte("test")) {
			continue // not in the program
		}
		if n, _ := strconv.Atoi(string(trace[2])); n > mostAtStart {
			t.Errorf("%s makes %d allocations before main, more than %d: have them made when they are needed", trace[1], n, mostAtStart)
		}
	}
}
