package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/backburner-cli/backburner/pkg/forge/github/githubtest"
)

// hubLife is a shop on GitHub, and a folder on this machine from which ticks
// serve it. What people do there and what becomes of it has everything in it
// that backburner writes on GitHub.
type hubLife struct {
	t    *testing.T
	hub  *githubtest.Server
	shop *githubtest.Repository
	dir  string
	bin  string
	env  []string
	runs atomic.Pointer[os.Process] // the tick that does
	said strings.Builder

	planned bool // its plans are in pull requests
}

const hubConfig = `[github]
write_interval = "0s"
[retry]
attempts = 1
[[repository]]
slug = "acme/shop"
[agent.mine]
preset = "custom"
command = ["sh", "agent.sh"]
[gate.full]
steps = [{ name = "hello", run = ["test", "-f", "hello.txt"] }]
`

const hubAgent = `case "$BACKBURNER_TASK_KIND" in
plan)
	if grep -q 'Fail' "$BACKBURNER_PROMPT_FILE"; then exit 1; fi
	if ! grep -q 'Everybody is meant' "$BACKBURNER_PROMPT_FILE"; then
		echo '{"status":"needs_input","questions":["Who is meant?"]}'
	else
		echo '{"status":"done","plan":{"summary":"Say hello","files":{"create":["hello.txt"]},"acceptance_criteria":["it says hello"]}}'
	fi ;;
implement) echo hello >hello.txt; echo '{"status":"done","summary":"Said hello","commit_message":"Say hello"}' ;;
address_review) echo hello, all >hello.txt; echo '{"status":"done","summary":"To all","commit_message":"To all"}' ;;
review_pr) echo '{"status":"done","review":{"verdict":"request_changes","body":"Not yet.","comments":[{"path":"tea.txt","line":1,"body":"Which?"}]}}' ;;
*) echo '{"status":"done","summary":"fine"}' ;;
esac >"$BACKBURNER_RESULT_FILE"
`

func newHubLife(t *testing.T, bin string) *hubLife {
	l := &hubLife{t: t, hub: githubtest.Start(t), dir: t.TempDir(), bin: bin}
	l.hub.AddUser("backburner-bot", "write")
	l.hub.AddUser("ann", "write")
	l.shop = l.hub.AddRepository("acme/shop")
	l.env = append(os.Environ(), "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "TZ=UTC",
		"GH_TOKEN="+l.hub.IssueToken(githubtest.Token{Login: "backburner-bot"}),
		"BACKBURNER_GITHUB_API_URL="+l.hub.URL(), "BACKBURNER_GITHUB_CLONE_URL="+l.hub.CloneURL())
	l.write(filepath.Join(l.dir, "backburner.toml"), hubConfig)
	at := l.checkout()
	l.write(filepath.Join(at, "agent.sh"), hubAgent)
	l.git(at, "add", ".")
	l.git(at, "commit", "-q", "-m", "shop")
	l.git(at, "push", "-q", "origin", "HEAD:main")
	return l
}

// inPulls has plans put into pull requests.
func (l *hubLife) inPulls() {
	l.planned = true
	l.write(filepath.Join(l.dir, "backburner.toml"), strings.Replace(hubConfig, "[[repository]]", "[[repository]]\nplan_as = \"pull_request\"", 1))
}

func (l *hubLife) write(path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

func (l *hubLife) checkout() string {
	at := l.t.TempDir()
	l.git(at, "clone", "-q", strings.ReplaceAll(l.hub.CloneURL(), "{slug}", "acme/shop"), ".")
	l.git(at, "config", "user.name", "Ann")
	l.git(at, "config", "user.email", "ann@example.org")
	return at
}

func (l *hubLife) git(dir string, args ...string) { gitIn(l.t, dir, args...) }

func (l *hubLife) command(args ...string) *exec.Cmd {
	c := exec.Command(l.bin, args...)
	c.Dir, c.Env = l.dir, l.env
	return c
}

// tick runs one; it may fail, as those do that are killed.
func (l *hubLife) tick() {
	c := l.command("tick")
	c.Stdout, c.Stderr = &l.said, &l.said
	l.said.WriteString("tick\n")
	if err := c.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.runs.Store(c.Process)
	if err := c.Wait(); err != nil {
		l.said.WriteString(err.Error() + "\n")
	}
}

// rest runs ticks until one changes nothing on GitHub, and nothing goes wrong.
func (l *hubLife) rest() {
	for range 60 {
		l.tick()
		quiet := true
		for _, r := range l.hub.Log() {
			writes := r.Method != "GET" && (r.Path != "/graphql" || strings.HasPrefix(r.Document, "mutation"))
			quiet = quiet && r.Fault == "" && !writes
			l.said.WriteString("    " + r.String() + "\n")
		}
		if quiet {
			return
		}
	}
	l.t.Fatalf("it does not come to rest:\n%s", l.said.String())
}

// live is what people do, and the rest after each of it.
func (l *hubLife) live() {
	l.shop.OpenIssue("ann", "Say hello", "To everybody.")
	l.shop.Label("ann", 1, "backburner")
	l.rest()
	l.shop.Comment("ann", 1, "/backburner answer Everybody is meant")
	l.rest()
	if l.planned {
		l.shop.Review("ann", 2, "changes_requested", "Louder.", githubtest.Remark{Path: "docs/plans/acme-shop-1.md", Line: 1, Body: "All?"})
		l.rest()
		l.shop.Review("ann", 2, "approved", "Be quick.")
	} else {
		l.shop.Comment("ann", 1, "/backburner approve")
	}
	l.rest()
	l.shop.Review("ann", 2, "changes_requested", "Not all.", githubtest.Remark{Path: "hello.txt", Line: 1, Body: "All?"})
	l.rest()
	at := l.checkout()
	l.write(filepath.Join(at, "tea.txt"), "tea\n")
	l.git(at, "add", ".")
	l.git(at, "commit", "-q", "-m", "tea")
	l.git(at, "push", "-q", "origin", "HEAD:tea")
	l.shop.OpenPullRequest("ann", githubtest.PullRequest{Title: "Sell tea", Body: "All kinds.", Head: "tea", Base: "main"})
	l.shop.Label("ann", 3, "backburner:review")
	l.rest()
	l.shop.OpenIssue("ann", "Fail", "At once.")
	l.shop.Label("ann", 4, "backburner")
	l.rest()
	l.shop.Comment("ann", 2, "/backburner merge")
	l.rest()
}

// fleeting is what may differ between two lives that are the same: ids of
// commits and comments, what agents cost, for one that was killed is paid for as
// well, and who noticed a merge.
var fleeting = regexp.MustCompile(`\b[0-9a-f]{12,40}\b|\b3[0-9]{9}\b|\| Cost \|.*|merged as \S+|pull request #2 was merged( by backburner-bot)?`)

// numbered begins a comment on a thread; which of them came first may differ.
var numbered = regexp.MustCompile(`(?m)^comment [0-9]+ by (\S+)( edited)?$`)

// world is what is on GitHub in the end, comment by comment.
func (l *hubLife) world() string {
	var b strings.Builder
	for number := 1; number <= 4; number++ {
		thread := fleeting.ReplaceAllString(l.shop.Show(number), "*")
		parts := strings.SplitAfter(numbered.ReplaceAllString(thread, "\x00comment by $1"), "\x00")
		slices.Sort(parts[1:])
		b.WriteString(strings.ReplaceAll(strings.Join(parts, ""), "\x00", ""))
	}
	return b.String()
}
