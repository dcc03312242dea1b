package git_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/git"
)

func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "git-test-")
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME"} {
		os.Setenv(name, home)
	}
	os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

var who = git.Identity{Name: "Ann User", Email: "ann@example.com"}

// repository makes a repository with one commit, and says where it is and which commit that is.
func repository(t *testing.T) (dir, head string) {
	t.Helper()
	dir = t.TempDir()
	run(t, dir, "git", "init", "-q", "-b", "main")
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "git", "add", ".")
	run(t, dir, "git", "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "-m", "first")
	return dir, run(t, dir, "git", "rev-parse", "HEAD")
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestErrorSaysWhatGitSaid(t *testing.T) {
	t.Parallel()
	dir, _ := repository(t)
	repo := git.New(git.Options{}).Foreign(filepath.Join(dir, ".git"))
	_, err := repo.CommitTree(context.Background(), git.NewCommit{Tree: strings.Repeat("1", 40)})
	var failed *git.Error
	if !errors.As(err, &failed) || failed.Exit != 128 || failed.Args[0] != "commit-tree" || !strings.Contains(err.Error(), "not a valid object") {
		t.Errorf("error %#v", err)
	}
}

// Nothing that is not a full name or id reaches git at all.
func TestNamesAreChecked(t *testing.T) {
	t.Parallel()
	dir, head := repository(t)
	g := git.New(git.Options{})
	repo := g.Foreign(filepath.Join(dir, ".git"))
	ctx := context.Background()
	for name, err := range map[string]error{
		"branch as id":   func() error { _, err := repo.TreeOf(ctx, "main"); return err }(),
		"option as id":   func() error { _, _, _, err := repo.Patch(ctx, "--output=pwn", head, 0); return err }(),
		"option as tip":  func() error { _, err := repo.Log(ctx, "", "--output=pwn", 0); return err }(),
		"short as ref":   repo.UpdateRef(ctx, "main", head, ""),
		"option in ref":  repo.UpdateRef(ctx, "refs/heads/--output=pwn", head, ""),
		"option as url":  func() error { _, err := repo.RemoteRefs(ctx, "--upload-pack=x", "refs/heads/a"); return err }(),
		"relative path":  repo.FetchObjects(ctx, "../x", head),
		"option pattern": func() error { _, err := repo.Refs(ctx, "--format=x"); return err }(),
	} {
		var bad *git.NameError
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if g.Calls() != 0 {
		t.Errorf("git was called %d times", g.Calls())
	}
}

func TestUpdateRefComparesAndSwaps(t *testing.T) {
	t.Parallel()
	dir, head := repository(t)
	repo := git.New(git.Options{}).Foreign(filepath.Join(dir, ".git"))
	ctx := context.Background()
	const ref = "refs/heads/x"
	other, err := repo.As(who, false).CommitTree(ctx, git.NewCommit{Tree: run(t, dir, "git", "rev-parse", "HEAD^{tree}"), Message: "other"})
	if err != nil {
		t.Fatal(err)
	}
	if err := repo.UpdateRef(ctx, ref, head, other); !errors.Is(err, git.ErrMoved) {
		t.Errorf("a branch that is not there was moved: %v", err)
	}
	if err := repo.UpdateRef(ctx, ref, head, git.ZeroID(head)); err != nil {
		t.Error(err)
	}
	if err := repo.UpdateRef(ctx, ref, other, git.ZeroID(head)); !errors.Is(err, git.ErrMoved) {
		t.Errorf("a branch that is there was made: %v", err)
	}
	if err := repo.UpdateRef(ctx, ref, head, other); !errors.Is(err, git.ErrMoved) {
		t.Errorf("a branch that is elsewhere was moved: %v", err)
	}
	if err := repo.UpdateRef(ctx, ref, other, head); err != nil {
		t.Error(err)
	}
	if err := repo.DeleteRef(ctx, ref, head); !errors.Is(err, git.ErrMoved) {
		t.Errorf("a branch that is elsewhere was deleted: %v", err)
	}
	if err := repo.DeleteRef(ctx, ref, other); err != nil {
		t.Error(err)
	}
}

// Locks that a dead process left are taken away from what is backburner's own, however many; one in somebody's repository is not.
func TestLocksOfTheDead(t *testing.T) {
	t.Parallel()
	dir, head := repository(t)
	locks := []string{filepath.Join(dir, ".git", "refs", "heads", "x.lock"), filepath.Join(dir, ".git", "HEAD.lock")}
	for _, lock := range locks {
		if err := os.WriteFile(lock, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	g := git.New(git.Options{})
	ctx := context.Background()
	somebodys := g.Foreign(filepath.Join(dir, ".git"))
	for _, repo := range []git.Repo{somebodys, somebodys.Owning("refs/heads/y")} {
		if err := repo.UpdateRef(ctx, "refs/heads/x", head, ""); !errors.Is(err, git.ErrLocked) {
			t.Errorf("error %v", err)
		}
	}
	for _, lock := range locks {
		if _, err := os.Stat(lock); err != nil {
			t.Error("somebody's lock was taken away")
		}
	}
	own := g.Private(filepath.Join(dir, ".git")).WithWorkTree(dir).As(who, false)
	if err := os.WriteFile(filepath.Join(dir, "new.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := own.Stage(ctx, []git.StatusEntry{{Path: "new.txt", Code: "??"}}); err != nil {
		t.Fatal(err)
	}
	// A commit takes both: that of HEAD, and that of its branch.
	const branch = "refs/heads/main"
	locks = append(locks, filepath.Join(dir, ".git", "refs", "heads", "main.lock"))
	if err := os.WriteFile(locks[2], nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := own.Commit(ctx, branch, "message"); err != nil {
		t.Error(err)
	}
	if err := somebodys.Owning("refs/heads/x").UpdateRef(ctx, "refs/heads/x", head, ""); err != nil {
		t.Error(err)
	}
	for _, lock := range locks {
		if left, _ := filepath.Glob(lock + "*"); len(left) != 0 {
			t.Errorf("left over %v", left)
		}
	}
}

// spy stands for git and writes down what it was called with.
func spy(t *testing.T) (program, log string) {
	dir := t.TempDir()
	program, log = filepath.Join(dir, "git"), filepath.Join(dir, "log")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n{ echo \"$@\"; env; } > '"+log+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return program, log
}

// What is configured for the network is there for the network only, and an address is not seen in the process list.
func TestNetworkSettings(t *testing.T) {
	t.Parallel()
	program, log := spy(t)
	repo := git.New(git.Options{
		Path: program, NetworkConfig: func() []git.Setting { return []git.Setting{{Key: "credential.helper", Value: "mine"}} },
	}).Private(t.TempDir())
	const url = "https://user:password@host/x"
	ctx := context.Background()
	if _, err := repo.RemoteRefs(ctx, url, "refs/heads/a"); err != nil {
		t.Fatal(err)
	}
	content, _ := os.ReadFile(log)
	args, env, _ := strings.Cut(string(content), "\n")
	if strings.Contains(args, "password") || !strings.Contains(env, "="+url) || !strings.Contains(env, "=mine\n") {
		t.Errorf("called with %s\n%s", args, env)
	}
	if err := repo.Collect(ctx); err != nil {
		t.Fatal(err)
	}
	content, _ = os.ReadFile(log)
	if strings.Contains(string(content), "=mine\n") {
		t.Errorf("a local call has %s", content)
	}
}

// ssh asks nothing, and is the ssh that the user configured.
func TestSSHAsksNothing(t *testing.T) {
	t.Parallel()
	dir, _ := repository(t)
	program, log := spy(t)
	run(t, dir, "git", "config", "core.sshCommand", program+" -i key")
	_, err := git.New(git.Options{}).Private(filepath.Join(dir, ".git")).RemoteRefs(context.Background(), "git@host.invalid:x.git", "refs/heads/a")
	if err == nil {
		t.Error("a spy answered like a server")
	}
	content, _ := os.ReadFile(log)
	args, _, _ := strings.Cut(string(content), "\n")
	if !strings.HasPrefix(args, "-i key -oBatchMode=yes") {
		t.Errorf("ssh was called with %s", args)
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	dir, _ := repository(t)
	linked := filepath.Join(t.TempDir(), "linked")
	run(t, dir, "git", "worktree", "add", "-q", linked)
	if err := os.MkdirAll(filepath.Join(dir, "deep", "er"), 0o755); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(dir, ".git")
	for _, test := range []struct{ path, dir, common string }{
		{dir, own, own},
		{own, own, own},
		{linked, filepath.Join(own, "worktrees", "linked"), own},
	} {
		got, common, err := git.Locate(test.path)
		if err != nil || got != test.dir || filepath.Clean(common) != test.common {
			t.Errorf("Locate(%s) = %s, %s, %v", test.path, got, common, err)
		}
	}
	for _, path := range []string{t.TempDir(), filepath.Join(dir, "deep", "er"), filepath.Join(dir, "gone")} {
		var none *git.NotRepositoryError
		if _, _, err := git.Locate(path); !errors.As(err, &none) {
			t.Errorf("Locate(%s): error %v", path, err)
		}
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	if got, err := git.ParseIdentity("Ann User <ann@example.com>"); err != nil || got != who {
		t.Errorf("identity %v, %v", got, err)
	}
	for _, bad := range []string{"", "Ann", "<a@b>", "Ann <>", "Ann <a@b> x", "Ann <a@b", "A\nB <a@b>"} {
		if _, err := git.ParseIdentity(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	dir, _ := repository(t)
	repo := git.New(git.Options{}).Foreign(filepath.Join(dir, ".git"))
	var none *git.Error
	if _, err := repo.Author(context.Background()); !errors.As(err, &none) {
		t.Errorf("a guess was taken for an identity: %v", err)
	}
	run(t, dir, "git", "config", "user.name", who.Name)
	run(t, dir, "git", "config", "user.email", who.Email)
	if got, err := repo.Author(context.Background()); err != nil || got != who {
		t.Errorf("author %v, %v", got, err)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	if err := git.New(git.Options{}).CheckVersion(context.Background()); err != nil {
		t.Error(err)
	}
	program := filepath.Join(t.TempDir(), "git")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho git version 2.30.2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := git.New(git.Options{Path: program}).CheckVersion(context.Background()); err == nil || !strings.Contains(err.Error(), "install git 2.39") {
		t.Errorf("error %v", err)
	}
}
