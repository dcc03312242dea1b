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

func TestOversteps(t *testing.T) {
	for message, want := range map[string]bool{
		"Say hello [skip ci]": true, "x\n\nskip-checks: true": true, "Say hello [skip this": false,
		"Fixes #7": false, "fixes: acme/shop#7": false, "Resolves GH-7, closes #8": false, "Close https://github.com/acme/shop/issues/8.": false,
		"Fixes #71": true, "fixes other/shop#7": true, "resolve gh-9": true, "closes https://github.com/acme/other/issues/7": true,
		"Closes #7, fixes #9": true, "fixes\n#9": true, `fixes \#9`: true, "**Fixes** [#9](x)": true,
		"Fix https://example.org/manual": false, "See #9": false, "Prefix #9": false, "": false,
	} {
		if got := forge.Oversteps(message, "acme/shop#7", "Acme/shop#8"); got != want {
			t.Errorf("%q: %v", message, got)
		}
	}
	if forge.Oversteps("Fixes #9") || !forge.Oversteps("[ci skip]") {
		t.Error("where nothing is closed by words, they count, or what skips checks does not")
	}
}
