package workspace_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/git"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// TestMain gives every git of these tests, the program's and the agents', the same empty user configuration.
func TestMain(m *testing.M) {
	if dir := os.Getenv(sweepDir); dir != "" {
		os.Exit(liveOneTick(dir))
	}
	home, err := os.MkdirTemp("", "workspace-test-")
	if err != nil {
		panic(err)
	}
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": filepath.Join(home, ".gitconfig"), "TZ": "UTC", "LC_ALL": "C",
	} {
		os.Setenv(name, value)
	}
	config := "[user]\n\tname = Ann User\n\temail = ann@example.com\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o644); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

// world is a user's repository, and a Manager that works for it.
type world struct {
	t    *testing.T
	user string // the user's checkout
	root string
	git  *git.Git
	m    *workspace.Manager
	repo workspace.Repository
	now  time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, user: filepath.Join(dir, "user"), root: filepath.Join(dir, "root"), now: time.Now()}
	template.Do(func() { makeTemplate(w) })
	if err := os.CopyFS(w.user, os.DirFS(templateDir)); err != nil {
		t.Fatal(err)
	}
	w.run(w.user, "git", "update-index", "-q", "--refresh")
	w.repo = workspace.Repository{ID: "acme/shop", Path: w.user, Base: "main"}
	w.restart()
	return w
}

// template is the user's repository, made once.
var (
	template    sync.Once
	templateDir string
)

func makeTemplate(w *world) {
	templateDir = filepath.Join(os.Getenv("HOME"), "template")
	w.write(templateDir, "README.md", "hello\n")
	w.write(templateDir, "src/a.go", "package src\n")
	w.write(templateDir, "src/b.go", "package src\n\nvar B = 1\n")
	w.write(templateDir, ".gitignore", "*.log\n/build/\n")
	w.run(templateDir, "git", "init", "-q", "--template=")
	w.run(templateDir, "git", "add", ".")
	w.run(templateDir, "git", "commit", "-q", "-m", "first")
}

// restart is a new run of the program over the same folders.
func (w *world) restart() {
	w.git = git.New(git.Options{})
	w.m = workspace.New(w.root, w.git, func() time.Time { return w.now })
	m := w.m
	w.t.Cleanup(func() { m.Close() })
}

// run runs a command as a person or an agent would, in dir, and returns what it said.
func (w *world) run(dir string, args ...string) string {
	w.t.Helper()
	out, err := command(dir, args...)
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// fails runs a command that has to fail.
func (w *world) fails(dir string, args ...string) string {
	w.t.Helper()
	out, err := command(dir, args...)
	if err == nil {
		w.t.Fatalf("%s: did not fail\n%s", strings.Join(args, " "), out)
	}
	return out
}

func command(dir string, args ...string) (string, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return strings.TrimSpace(out.String()), err
}

func (w *world) write(dir, name, content string) {
	w.t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(path ...string) string {
	w.t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(content)
}

func (w *world) storeDir() string { return filepath.Join(w.root, "stores", "acme%2Fshop", "git") }

// store runs git in the store, as a test may and the program's callers never do.
func (w *world) store(args ...string) string {
	w.t.Helper()
	return w.run(w.storeDir(), append([]string{"git", "--git-dir", w.storeDir()}, args...)...)
}

func (w *world) sync(branches ...string) workspace.Base {
	w.t.Helper()
	base, err := w.m.Sync(context.Background(), w.repo, branches...)
	if err != nil {
		w.t.Fatal(err)
	}
	return base
}

// started is a workspace that was just made, and where it is.
func (w *world) started() (workspace.Workspace, string) {
	w.t.Helper()
	w.sync()
	ws := workspace.Workspace{ID: "ws-1", Branch: "backburner/ws-1"}
	p := w.prepare(ws, workspace.Created)
	ws.Head = p.Head
	return ws, w.m.Path(ws.ID)
}

func (w *world) prepare(ws workspace.Workspace, want workspace.PrepareStatus) workspace.Prepared {
	w.t.Helper()
	p, err := w.m.Prepare(context.Background(), w.repo, ws)
	if err != nil {
		w.t.Fatal(err)
	}
	if p.Status != want {
		w.t.Fatalf("prepared %+v, want %s", p, want)
	}
	return p
}

func (w *world) checkpoint(ws workspace.Workspace, problem workspace.Problem) workspace.Checkpoint {
	w.t.Helper()
	c, err := w.m.Checkpoint(context.Background(), w.repo, ws, "work\n\nby an agent")
	if err != nil {
		w.t.Fatal(err)
	}
	if c.Problem != problem {
		w.t.Fatalf("checkpoint %+v, want problem %q", c, problem)
	}
	return c
}

func (w *world) restore(ws workspace.Workspace, want workspace.Outcome) workspace.Restored {
	w.t.Helper()
	r, err := w.m.Restore(context.Background(), w.repo, ws, "task-1")
	if err != nil {
		w.t.Fatal(err)
	}
	if r.Outcome != want {
		w.t.Fatalf("restored %+v, want %s", r, want)
	}
	return r
}

// pristine fails unless the workspace is on its branch at its head and clean, both for backburner and for whoever works in it.
func (w *world) pristine(ws workspace.Workspace) {
	w.t.Helper()
	state, err := w.m.Verify(context.Background(), w.repo, ws)
	if err != nil {
		w.t.Fatal(err)
	}
	if !state.Clean || state.Head != ws.Head {
		w.t.Errorf("state %+v, want clean at %s", state, ws.Head)
	}
	want := "# branch.oid " + ws.Head + "\n# branch.head " + ws.Branch
	if got := w.run(w.m.Path(ws.ID), "git", "status", "--porcelain=v2", "--branch"); got != want {
		w.t.Errorf("git status in the workspace:\n%s\nwant\n%s", got, want)
	}
}

// sound fails unless the store is whole.
func (w *world) sound() {
	w.t.Helper()
	for line := range strings.Lines(w.store("fsck", "--strict", "--no-dangling", "--no-progress")) {
		if !strings.HasPrefix(line, "notice: HEAD points to an unborn branch") {
			w.t.Errorf("git fsck in the store: %s", line)
		}
	}
}

// calls is how many git processes f needs.
func (w *world) calls(f func()) int64 {
	before := w.git.Calls()
	f()
	return w.git.Calls() - before
}

// untouched returns a function that fails unless the user's checkout is what it was.
func (w *world) untouched() func() {
	w.t.Helper()
	before := w.userState()
	return func() {
		w.t.Helper()
		if after := w.userState(); after != before {
			w.t.Errorf("the user's checkout changed:\n%s\nbefore:\n%s", after, before)
		}
	}
}

func (w *world) userState() string {
	w.t.Helper()
	index, err := os.Stat(filepath.Join(w.user, ".git", "index"))
	if err != nil {
		w.t.Fatal(err)
	}
	env := []string{"git", "--no-optional-locks"}
	return strings.Join([]string{
		w.run(w.user, append(env, "status", "--porcelain=v2", "--branch")...),
		w.read(w.user, ".git", "HEAD"),
		index.ModTime().String(),
		w.run(w.user, append(env, "stash", "list")...),
		w.run(w.user, append(env, "reflog", "HEAD")...),
		w.run(w.user, "find", ".", "-name", ".git", "-prune", "-o", "-type", "f", "-printf", "%p %s %T@\n"),
	}, "\n---\n")
}
