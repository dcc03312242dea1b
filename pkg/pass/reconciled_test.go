package pass

import (
	"slices"
	"testing"
)

func TestWithMarkers(t *testing.T) {
	conflict := "+<<<<<<< HEAD\n+ours\n+=======\n+theirs\n+>>>>>>> 1234\n"
	for _, c := range []struct {
		name, patch string
		want        []string
	}{
		{"none", "--- a/shelf\n+++ b/shelf\n@@ -1 +1,2 @@\n+more\n", nil},
		{"a conflict", "--- a/shelf\n+++ b/shelf\n@@ -1 +1,5 @@\n" + conflict, []string{"shelf"}},
		{"two of them", "+++ b/shelf\n" + conflict + conflict, []string{"shelf"}},
		{"a name with spaces", "+++ b/a shelf\t\n" + conflict, []string{"a shelf"}},
		{"in a file that was not in conflict", "+++ b/manual\n" + conflict, nil},
		{"that was there before", "+++ b/shelf\n <<<<<<< HEAD\n+x\n >>>>>>> 1234\n", nil},
		{"half of one", "+++ b/shelf\n+<<<<<<< see below\n+++ b/a shelf\n+>>>>>>> 1234\n", nil},
		{"taken out", "+++ b/shelf\n-<<<<<<< HEAD\n->>>>>>> 1234\n", nil},
	} {
		if got := withMarkers([]byte(c.patch), []string{"shelf", "a shelf"}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
