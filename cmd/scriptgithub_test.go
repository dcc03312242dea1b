package cmd

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/backburner-cli/backburner/pkg/forge/github/githubtest"
)

// scriptGitHub is a script's own GitHub; it runs in the test process.
type scriptGitHub struct {
	*githubtest.Server
	token string
}

// githubAct is one subcommand of github: how it is called, and what it does.
type githubAct struct {
	usage string
	do    func(g *scriptGitHub, ts *testscript.TestScript, c githubCall)
}

// githubCall is what a subcommand was called with, and by whom.
type githubCall struct {
	args []string
	by   string
}

type scriptGitHubKey struct{}

// setUpGitHub keeps a place for a script's GitHub; at its end the server ends,
// and violations fail it.
func setUpGitHub(env *testscript.Env) {
	g := &scriptGitHub{}
	env.Values[scriptGitHubKey{}] = g
	env.Defer(func() {
		if g.Server == nil {
			return
		}
		g.Stop()
		if v := g.Violations(); len(v) > 0 {
			env.T().(interface{ Errorf(string, ...any) }).Errorf("github: violations:\n  %s", strings.Join(v, "\n  "))
		}
	})
}

// failing is a test that notes what is reported as wrong instead of failing.
type failing struct {
	testscript.T
	said []string
}

func (f *failing) Errorf(format string, args ...any) {
	f.said = append(f.said, fmt.Sprintf(format, args...))
}
func (f *failing) Run(_ string, script func(t testscript.T)) { script(f) }
func (*failing) Parallel()                                   {}
func (*failing) Log(...any)                                  {}
func (*failing) Verbose() bool                               { return false }

func TestGitHubViolationsFailAScript(t *testing.T) {
	script := filepath.Join(t.TempDir(), "violates.txtar")
	if err := os.WriteFile(script, []byte("github start\nget /nowhere\ngithub stop\n! get /user\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	get := func(ts *testscript.TestScript, neg bool, args []string) {
		req, err := http.NewRequest(http.MethodGet, ts.Getenv("BACKBURNER_GITHUB_API_URL")+args[0], nil)
		ts.Check(err)
		req.Header.Set("Authorization", "Bearer "+ts.Getenv("GH_TOKEN"))
		res, err := http.DefaultTransport.RoundTrip(req)
		if err == nil {
			err = res.Body.Close()
		}
		if (err != nil) != neg {
			ts.Fatalf("get %s: %v", args[0], err)
		}
	}
	f := &failing{}
	testscript.RunT(f, testscript.Params{Files: []string{script}, Setup: setup, Cmds: map[string]func(*testscript.TestScript, bool, []string){"github": githubCommand, "get": get}})
	if len(f.said) != 1 || !strings.Contains(f.said[0], "GET /nowhere: not served") {
		t.Errorf("the script fails with %q", f.said)
	}
}

// githubCommand is github SUBCOMMAND [ARG...] [by USER].
func githubCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: github SUBCOMMAND [ARG...] [by USER]; see testdata/script/README")
	}
	act, known := githubActs[args[0]]
	if !known {
		ts.Fatalf("github: there is no subcommand %s; see testdata/script/README", args[0])
	}
	c := githubCall{args: args[1:]}
	if n := len(c.args); n >= 2 && c.args[n-2] == "by" {
		c.args, c.by = c.args[:n-2], c.args[n-1]
	}
	g := ts.Value(scriptGitHubKey{}).(*scriptGitHub)
	if g.Server == nil && args[0] != "start" {
		ts.Fatalf("github: not started; begin with: github start")
	}
	if !act.fits(c) {
		ts.Fatalf("usage: github %s %s", args[0], act.usage)
	}
	if trouble := attempt(func() { act.do(g, ts, c) }); trouble != "" {
		ts.Fatalf("github %s: %s", strings.Join(args, " "), trouble)
	}
}

// fits holds a call against the usage: arguments in [brackets] may be left out,
// one that ends in ... may come often, and "by USER" has to be there or not.
func (a githubAct) fits(c githubCall) bool {
	least, most := 0, 0
	words, needsUser := strings.CutSuffix(a.usage, " by USER")
	for _, w := range strings.Fields(words) {
		most++
		if !strings.HasPrefix(w, "[") {
			least++
		}
		if strings.HasSuffix(w, "...]") {
			most = 1000
		}
	}
	return len(c.args) >= least && len(c.args) <= most && needsUser == (c.by != "")
}

// attempt does something and is what githubtest says against it: it panics when
// a test asks for what cannot be.
func attempt(act func()) (trouble string) {
	defer func() {
		switch said := recover().(type) {
		case nil:
		case string:
			trouble = said
		case error:
			if !strings.HasPrefix(said.Error(), "githubtest: ") {
				panic(said) // of testscript, or a fault of ours
			}
			trouble = said.Error()
		default:
			panic(said)
		}
	}()
	act()
	return ""
}

// text is an argument, or the file that <FILE names.
func (c githubCall) text(ts *testscript.TestScript, n int) string {
	file, isFile := strings.CutPrefix(c.args[n], "<")
	if !isFile {
		return c.args[n]
	}
	return ts.ReadFile(file)
}

func (c githubCall) number(ts *testscript.TestScript, n int) int {
	number, err := strconv.Atoi(c.args[n])
	if err != nil {
		ts.Fatalf("%s is no number", c.args[n])
	}
	return number
}

// option is the rest of an argument of the form name=rest; "" when it is not there.
func (c githubCall) option(name string) string {
	for _, a := range c.args {
		if rest, found := strings.CutPrefix(a, name+"="); found {
			return rest
		}
	}
	return ""
}

func (c githubCall) has(word string) bool {
	for _, a := range c.args {
		if a == word {
			return true
		}
	}
	return false
}

// start makes the script's GitHub, or starts the one that was stopped
// where it was.
func (g *scriptGitHub) start(ts *testscript.TestScript, _ githubCall) {
	if g.Server == nil {
		hub, err := githubtest.New(githubtest.Options{Dir: filepath.Join(ts.Getenv("WORK"), ".hub")})
		ts.Check(err)
		if why := hub.Unchecked(); why != "" {
			ts.Logf("requests and answers are not held against GitHub's descriptions: %s", why)
		}
		hub.AddUser("backburner-bot", "write")
		g.Server, g.token = hub, hub.IssueToken(githubtest.Token{Login: "backburner-bot"})
	}
	ts.Check(g.Server.Start())
	for key, value := range map[string]string{
		"HUB": strings.TrimSuffix(g.CloneURL(), "/{slug}.git"), "GH_TOKEN": g.token,
		"BACKBURNER_GITHUB_API_URL": g.URL(), "BACKBURNER_GITHUB_CLONE_URL": g.CloneURL(),
	} {
		ts.Setenv(key, value)
	}
}

// ordinal is one of the ids of comments that NUMBER/ORDINAL names; they count from one.
func ordinal(ts *testscript.TestScript, ids []int64, text string) int64 {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(ids) {
		ts.Fatalf("there is no comment %s among %d", text, len(ids))
	}
	return ids[n-1]
}

// of is the repository that a call names first.
func (g *scriptGitHub) of(c githubCall) *githubtest.Repository { return g.Repository(c.args[0]) }

// target is what NUMBER, or NUMBER/ORDINAL for a comment, stands for.
func (g *scriptGitHub) target(ts *testscript.TestScript, c githubCall) (number int, comment int64) {
	issue, nth, isComment := strings.Cut(c.args[1], "/")
	number, err := strconv.Atoi(issue)
	if err != nil {
		ts.Fatalf("%s is no number", issue)
	}
	if isComment {
		comment = ordinal(ts, g.of(c).Comments(number), nth)
	}
	return number, comment
}

func say(ts *testscript.TestScript, text string) {
	_, err := fmt.Fprint(ts.Stdout(), text)
	ts.Check(err)
}

// changeToken makes the script's token good or bad.
func (g *scriptGitHub) changeToken(ts *testscript.TestScript, c githubCall) {
	states := map[string]githubtest.Token{
		"good":     {},
		"expired":  {Expired: true},
		"noscope":  {Scopes: []string{"read:org"}},
		"readonly": {Kind: "fine-grained", Permissions: map[string]string{"issues": "read", "pull_requests": "read", "contents": "read"}},
		"sso":      {SSO: "https://github.com/orgs/acme/sso?authorization_request=TEST"},
		"actions":  {Kind: "actions", Login: "github-actions[bot]"},
	}
	state, known := states[c.args[0]]
	if !known {
		ts.Fatalf("there is no token that is %s", c.args[0])
	}
	if state.Login == "" {
		state.Login = "backburner-bot"
	}
	for _, p := range c.args[1:] {
		if state.Permissions == nil {
			state.Permissions = map[string]string{}
		}
		name, level, _ := strings.Cut(p, "=")
		state.Permissions[name] = level
	}
	if state.Scopes == nil {
		state.Scopes = []string{"repo"}
	}
	g.ChangeToken(g.token, func(t *githubtest.Token) { *t = state })
}

// fault plans what goes wrong: ROUTE KIND [TIMES|each] [match=TEXT] [skip=N].
func (g *scriptGitHub) fault(ts *testscript.TestScript, c githubCall) {
	f := githubtest.Fault{Route: c.args[0], Kind: c.args[1], Match: c.option("match")}
	switch {
	case c.has("each"):
		f.Each = true
	case len(c.args) > 2 && !strings.Contains(c.args[2], "="):
		f.Times = c.number(ts, 2)
	}
	if skip := c.option("skip"); skip != "" {
		n, err := strconv.Atoi(skip)
		ts.Check(err)
		f.Skip = n
	}
	g.Fail(f)
}

// remarks are path:line words, in pairs.
func (c githubCall) remarks(ts *testscript.TestScript, from int) (all []githubtest.Remark) {
	args := c.args[from:]
	if len(args)%2 != 0 {
		ts.Fatalf("comments on lines are PATH:LINE and words, in pairs")
	}
	for i := 0; i < len(args); i += 2 {
		at := strings.LastIndex(args[i], ":")
		n, err := strconv.Atoi(args[i][at+1:])
		if err != nil || at < 0 {
			ts.Fatalf("%s is no PATH:LINE", args[i])
		}
		all = append(all, githubtest.Remark{Path: args[i][:at], Line: n, Body: args[i+1]})
	}
	return all
}

// rules are the words of github rules.
func (c githubCall) rules(ts *testscript.TestScript) githubtest.Rules {
	number := func(name string) int {
		n, err := strconv.Atoi("0" + c.option(name))
		ts.Check(err)
		return n
	}
	split := func(name string) []string {
		return strings.FieldsFunc(c.option(name), func(r rune) bool { return r == ',' })
	}
	return githubtest.Rules{
		Reviews: number("reviews"), Checks: split("checks"), Strategies: split("strategies"), LateMergeable: number("late-mergeable"),
		Queue: c.has("queue"), AutoMerge: c.has("auto-merge"), QuietReplies: c.has("quiet-replies"),
	}
}

// printLog prints the requests since the last time.
func (g *scriptGitHub) printLog(ts *testscript.TestScript, _ githubCall) {
	for _, r := range g.Log() {
		say(ts, r.String()+"\n")
	}
}

// moveClock moves GitHub's clock.
func (g *scriptGitHub) moveClock(ts *testscript.TestScript, c githubCall) {
	d, err := time.ParseDuration(strings.TrimPrefix(c.args[0], "+"))
	ts.Check(err)
	g.Advance(d)
}

// repository makes a repository, or changes one.
func (g *scriptGitHub) repository(ts *testscript.TestScript, c githubCall) {
	path := filepath.Join(ts.Getenv("WORK"), ".hub", c.args[0]+".git")
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink != 0 { // the old name of a renamed one is free
		g.AddRepository(c.args[0])
	}
	if c.has("archived") || c.has("unarchived") {
		g.of(c).SetArchived(c.has("archived"))
	}
	if c.has("private") || c.has("public") {
		g.of(c).SetPrivate(c.has("private"))
	}
}
