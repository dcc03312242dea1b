package cmd

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the files that are made from the code")

// The example in .github is what `init --github-actions` writes for claude and a repository on GitHub.
func TestExampleWorkflow(t *testing.T) {
	const path = "../.github/example-workflow.yml"
	want, err := workflow("acme/shop", []string{"claude"})
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what init writes; run: go test ./cmd -run ExampleWorkflow -update", path)
	}
}
