package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/forge/github/githubtest"
)

// Whatever GitHub answers, the tick ends well, says once what a person can do
// about it and nothing where it passes by itself; status has it; and when it is
// over, the next tick does what was due.
func TestHubAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector has nothing to find in it")
	}
	bin := program(t)
	for _, tc := range []struct{ kind, says string }{
		{"401", "set GH_TOKEN to a token that is valid"},
		{"403", "give the token"},
		{"404", "check the name, and that the token may see the repository"},
		{"410", "check the name"},
		{"409", "GitHub answered 409"},
		{"422", "GitHub answered 422"},
		{"429", `429.*, until \d\d:\d\d:\d\d UTC; the pass goes on without GitHub until then`},
		{"500", "500.*githubstatus"},
		{"502", "502.*githubstatus"},
		{"503", "503.*githubstatus"},
		{"504", "504.*githubstatus"},
		{"html", "502.*githubstatus"},
		{"truncated", "the answer is not whole; the next tick tries again"},
		{"empty", "the answer is not whole; the next tick tries again"},
		{"cut", "the connection ended before the answer; the next tick tries again"},
		{"lost", "the connection ended before the answer; the next tick tries again"},
		{"secondary", `secondary rate limit.*, until .*without GitHub`},
		{"secondary-bare", `secondary rate limit.*, until .*without GitHub`},
		{"429-secondary", `secondary rate limit.*, until .*without GitHub`},
		{"primary", `rate limit exceeded.*, until .*without GitHub`},
		{"timeout", "Something went wrong.*githubstatus"},
		{"partial:acme/shop", "Could not resolve to a Repository|Something went wrong"},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			t.Parallel()
			answered(t, newHubLife(t, bin), githubtest.Fault{Route: "graphql", Kind: tc.kind, Times: -1}, tc.says)
			if !strings.HasPrefix(tc.kind, "partial") && tc.kind != "timeout" {
				answered(t, newHubLife(t, bin), githubtest.Fault{Route: "P* /repos/*", Kind: tc.kind, Times: -1}, tc.says)
			}
		})
	}
}

// told are the kinds of trouble that do not pass by themselves.
var told = map[string]bool{"401": true, "403": true, "404": true, "410": true, "409": true, "422": true}

func answered(t *testing.T, l *hubLife, f githubtest.Fault, says string) {
	t.Helper()
	reading := f.Route == "graphql"
	refused := !reading && (f.Kind == "404" || f.Kind == "410" || f.Kind == "409") // the thread is gone, or locked: nobody has to hear of it
	l.shop.OpenIssue("ann", "Say hello", "Everybody is meant.")
	l.shop.Label("ann", 1, "backburner")
	l.hub.Fail(f)
	first, status, again := l.heard("tick"), l.heard("status"), l.heard("tick")
	if said := regexp.MustCompile("(?m)^acme-shop: .*(" + says + ")").MatchString(first); reading && said != told[f.Kind] || !reading && !said && !refused {
		t.Errorf("%s %s: the first tick says %s", f.Route, f.Kind, first) // one that has other news tells what passes, too
	}
	if !refused && !regexp.MustCompile(`(?m)^acme-shop \(just now\): .*(`+says+")").MatchString(status) {
		t.Errorf("%s %s: status says %s", f.Route, f.Kind, status)
	}
	if again != "" {
		t.Errorf("%s %s: the second tick says %s", f.Route, f.Kind, again)
	}
	l.hub.Heal()
	l.outwait()
	l.heard("tick")
	l.heard("tick")
	if shown := l.shop.Show(1); !refused && strings.Count(shown, "## Plan, revision 1") != 1 || strings.Contains(l.heard("status"), "acme-shop (") {
		t.Errorf("%s %s: in the end there is %s\n%s", f.Route, f.Kind, shown, l.said.String())
	}
}

var untouched = regexp.MustCompile(`"until": ?"[^"]*"`)

// outwait has the time pass until which GitHub asked to be left alone.
func (l *hubLife) outwait() {
	l.hub.Replenish()
	path := filepath.Join(l.dir, ".backburner", "state", "repositories", "acme-shop.json")
	if text, err := os.ReadFile(path); err == nil {
		l.write(path, untouched.ReplaceAllString(string(text), `"until": "2026-01-02T03:04:05Z"`))
	}
}

// heard is what a command says, which must end well.
func (l *hubLife) heard(command string) string {
	l.t.Helper()
	out, err := l.command(command).CombinedOutput()
	fmt.Fprintf(&l.said, "%s\n%s", command, out)
	if err != nil {
		l.t.Errorf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}
