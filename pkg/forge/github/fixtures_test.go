package github_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/forge/github"
	"github.com/backburner-cli/backburner/pkg/forge/github/githubtest"
)

// hub is a GitHub with the repository acme/shop; ann may write to it, bob may
// only read, and backburner's token is that of the account crew.
type hub struct {
	*githubtest.Server
	t     *testing.T
	shop  *githubtest.Repository
	token string
	clock *clock
}

var ctx = context.Background()

func newHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{Server: githubtest.Start(t), t: t, clock: newClock()}
	for login, role := range map[string]string{"crew": "write", "ann": "write", "bob": "read"} {
		h.AddUser(login, role)
	}
	h.Freeze(time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC))
	h.shop = h.AddRepository("acme/shop")
	h.token = h.IssueToken(githubtest.Token{Login: "crew"})
	return h
}

// client is one of a new tick: it remembers nothing.
func (h *hub) client() *github.Client {
	return github.New(github.Options{APIURL: h.URL(), Token: h.token, Now: h.clock.Now, Sleep: h.clock.Sleep, Spacing: time.Second})
}

// shows fails unless what a person sees of a thread has some texts so many times.
func (h *hub) shows(number int, times map[string]int) {
	h.t.Helper()
	page := h.shop.Show(number)
	for text, n := range times {
		if got := strings.Count(page, text); got != n {
			h.t.Errorf("%q is there %d times, want %d:\n%s", text, got, n, page)
		}
	}
}

// pull brings branches main and tea, which changes tea.txt, to the repository,
// and opens a pull request of it if wanted; it is its number and head.
func (h *hub) pull(open bool) (number int, head string) {
	h.t.Helper()
	dir, head := branches()
	git(dir, "push", "-q", h.shop.CloneURL(), "main", "tea")
	if open {
		number = h.shop.OpenPullRequest("ann", githubtest.PullRequest{Title: "Tea", Body: "All kinds.", Head: "tea"})
	}
	return number, head
}

var shared string // folder of branches, once it is there

// branches is a checkout that every test pushes from, made once.
var branches = sync.OnceValues(func() (dir, head string) {
	dir, err := os.MkdirTemp("", "github-test")
	if err != nil {
		panic(err)
	}
	shared = dir
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "tea.txt"), []byte(text), 0o644); err != nil {
			panic(err)
		}
		git(dir, "add", "-A")
		git(dir, "commit", "-q", "-m", "write")
	}
	git(dir, "init", "-q", "-b", "main")
	write("green\n")
	git(dir, "checkout", "-q", "-b", "tea")
	write("green\nblack\n")
	return dir, git(dir, "rev-parse", "HEAD")
})

func git(dir string, args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		panic("git " + strings.Join(args, " ") + ": " + err.Error() + ": " + string(out))
	}
	return strings.TrimSpace(string(out))
}

// TestMain removes the checkout that the tests shared.
func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(shared) // "" is none
	os.Exit(code)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
