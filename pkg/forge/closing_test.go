package forge_test

import (
	"testing"

	"github.com/backburner-cli/backburner/pkg/forge"
)

func TestCommitMessage(t *testing.T) {
	for _, tc := range [][2]string{
		{"Say hello\n\nFixes #71, see #8", "Say hello\n\nFixes issue 71, see #8"},
		{"closes: acme/shop#3\nresolved GH-4", "closes: acme/shop issue 3\nresolved issue GH 4"},
		{"Fix https://github.com/a/b/issues/5", "Fix issue https://github.com/a/b/issues/5"},
		{"fixes \\#8 and **fixes** #12, fixes [#11](x)", "fixes issue 8 and **fixes** issue 12, fixes [issue 11](x)"},
		{"see acme/other#9", "see acme/other issue 9"},
		{"Say hello [skip ci] [ci-skip] [no ci]\n\nskip-checks: true", "Say hello (skip ci) (ci skip) (no ci)\n\nskip checks: true"},
		{"***NO_CI***, [no]", "NO CI, [no]"},
		{"x\n\nCo-authored-by: Linus <l@kernel.example>\nsigned-off-by : A", "x\n\nCo-authored by: Linus <l@kernel.example>\nsigned-off by : A"},
		{"For @bob, a@b.example", "For @\u200bbob, a@b.example"},
		{"Prefix #1, fixes nothing", "Prefix #1, fixes nothing"},
	} {
		got := forge.CommitMessage(tc[0])
		if got != tc[1] {
			t.Errorf("%q became %q, want %q", tc[0], got, tc[1])
		}
		if forge.Closing().MatchString(got) {
			t.Errorf("%q still closes", got)
		}
	}
}
