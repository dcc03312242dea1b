package forge_test

import (
	"testing"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

func TestRenderNotice(t *testing.T) {
	n := work.Notice{Text: "Stopped: the gate is red.", Class: work.ClassGate, Run: "shop-1.0003", Log: "a\n```\n<!-- b", Then: "Try again."}
	rest := "Class: `gate`. Run: `shop-1.0003`; all of it, where backburner runs, with `backburner logs shop-1.0003`.\n\nTry again."
	log := "````text\na\n```\n&lt;!-- b\n````\n\n"
	want := "Stopped: the gate is red.\n\n<details><summary>The end of its log</summary>\n\n" + log + "</details>\n\n" + rest
	if got := forge.RenderNotice(n, true); got != want {
		t.Errorf("folded it is\n%s\nwant\n%s", got, want)
	}
	if got := forge.RenderNotice(n, false); got != "Stopped: the gate is red.\n\n"+log+rest {
		t.Errorf("it is\n%s", got)
	}
	if got := forge.RenderNotice(work.Notice{Text: "Merged."}, true); got != "Merged." {
		t.Errorf("a bare one is %q", got)
	}
}

func TestQuoted(t *testing.T) {
	for _, tc := range [][2]string{
		{"Plain `<b>` and a < b, x <- y.", "Plain `<b>` and a < b, x <- y."},
		{"<details><summary>x</summary>", "&lt;details>&lt;summary>x&lt;/summary>"},
		{"a ` <b> ` ` <i>", "a ` &lt;b> ` ` &lt;i>"},
		{"```go\n<b>\n# x", "```go\n<b>\n# x\n```"},
		{"~~~\n```\n~~~\n# x", "~~~\n```\n~~~\n\\# x"},
		{"  ## x", "\\## x"},
		{"a\n  ## x\u202e", "a\n  \\## x"},
		{"<!-- x", "&lt;!-- x"},
	} {
		if got := forge.Quoted(tc[0]); got != tc[1] {
			t.Errorf("%q became %q, want %q", tc[0], got, tc[1])
		}
	}
}
