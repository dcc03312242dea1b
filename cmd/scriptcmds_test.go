package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptCommands are what scripts can do beyond testscript's own; they are
// described in testdata/script/README.
var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"field":  field,
	"exits":  exits,
	"await":  await,
	"github": githubCommand,
}

// field FILE PATH WANT holds one value of a JSON file against a text. PATH is
// dotted; numbers index lists.
func field(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: field FILE PATH WANT")
	}
	var v any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &v); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	got := lookUp(v, strings.Split(args[1], "."))
	if (got == args[2]) == neg {
		ts.Fatalf("%s of %s is %q, want %s%q", args[1], args[0], got, map[bool]string{true: "not "}[neg], args[2])
	}
}

func lookUp(v any, path []string) string {
	for _, key := range path {
		switch at := v.(type) {
		case map[string]any:
			v = at[key]
		case []any:
			i := 0
			if _, err := fmt.Sscan(key, &i); err != nil || i >= len(at) {
				return ""
			}
			v = at[i]
		default:
			return ""
		}
	}
	switch at := v.(type) {
	case nil:
		return ""
	case string:
		return at
	}
	text, _ := json.Marshal(v)
	return string(text)
}

// exits CODE PROGRAM [ARG...] runs a program that must end with exactly that
// exit code; stdout and stderr can be looked at afterwards.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var ended *exec.ExitError
		if !errors.As(err, &ended) {
			ts.Fatalf("%v", err)
		}
		got = ended.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d\n[stdout]\n%s[stderr]\n%s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// patience is how long await waits for what has to happen; only a failure
// takes that long.
const patience = time.Minute

// await FILE [REGEXP] waits until the file is there, and matches.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: await FILE [REGEXP]")
	}
	pattern, err := regexp.Compile("(?m)" + strings.Join(args[1:], ""))
	ts.Check(err)
	path := ts.MkAbs(args[0])
	var last []byte
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if last, err = os.ReadFile(path); err == nil && pattern.Match(last) {
			return
		}
	}
	ts.Fatalf("waited in vain for %s; there is %q", strings.Join(args, " "), last)
}
