package cmd

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptCommands are what scripts can do beyond testscript's own; they are
// described in testdata/script/README.
var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"field": field,
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
