package proc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func sh(script string) Command { return Command{Args: []string{"sh", "-c", script}} }

func TestRun(t *testing.T) {
	tests := map[string]struct {
		command Command
		want    Result
	}{
		"output":      {sh(`echo out; echo err >&2`), Result{Stdout: []byte("out\n"), Stderr: []byte("err\n")}},
		"exit code":   {sh(`exit 3`), Result{Exit: 3}},
		"signal":      {sh(`kill -KILL $$`), Result{Exit: -1, Signal: "SIGKILL"}},
		"no input":    {sh(`cat`), Result{}},
		"input":       {Command{Args: []string{"cat"}, Stdin: []byte("hello")}, Result{Stdout: []byte("hello")}},
		"unread":      {Command{Args: []string{"true"}, Stdin: make([]byte, 1<<20)}, Result{}},
		"directory":   {Command{Args: []string{"pwd"}, Dir: "/"}, Result{Stdout: []byte("/\n")}},
		"cut":         {Command{Args: []string{"echo", "12345"}, MaxOutput: 3}, Result{Stdout: []byte("123"), Truncated: true}},
		"not cut":     {Command{Args: []string{"echo", "12"}, MaxOutput: 3}, Result{Stdout: []byte("12\n")}},
		"own session": {sh(`[ $(cut -d' ' -f6 /proc/$$/stat) = $$ ]`), Result{}},
		"environment": {Command{Args: []string{"env"}, Env: []string{"PATH=" + os.Getenv("PATH"), "A=b"}},
			Result{Stdout: []byte("PATH=" + os.Getenv("PATH") + "\nA=b\n")}},
		"empty environment": {Command{Args: []string{"/usr/bin/env"}, Env: []string{}}, Result{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Run(t.Context(), test.command)
			if err != nil {
				t.Fatal(err)
			}
			if got.Exit != test.want.Exit || got.Signal != test.want.Signal || got.Truncated != test.want.Truncated ||
				string(got.Stdout) != string(test.want.Stdout) || string(got.Stderr) != string(test.want.Stderr) {
				t.Errorf("got %d %q %q %q %v, want %+v", got.Exit, got.Signal, got.Stdout, got.Stderr, got.Truncated, test.want)
			}
		})
	}
}

func TestRunInheritsOnlyWithoutEnv(t *testing.T) {
	t.Setenv("INHERITED", "yes")
	got, err := Run(t.Context(), sh(`echo $INHERITED`))
	if err != nil || string(got.Stdout) != "yes\n" {
		t.Errorf("%q, %v", got.Stdout, err)
	}
}

func TestRunCannotStart(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	write(t, script, "#!/bin/sh\n")
	tests := map[string]struct {
		command  Command
		want     error
		searched string
	}{
		"not in PATH":    {Command{Args: []string{"no-such-program"}, Env: []string{"PATH=/a:/b"}}, ErrNotFound, "/a:/b"},
		"no such path":   {Command{Args: []string{"/no/such/program"}}, ErrNotFound, ""},
		"not executable": {Command{Args: []string{script}}, os.ErrPermission, ""},
		"nothing":        {Command{}, ErrNotFound, ""},
		"no directory":   {Command{Args: []string{"true"}, Dir: "/no/such/dir"}, os.ErrNotExist, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Run(t.Context(), test.command)
			var start *StartError
			if !errors.As(err, &start) || !errors.Is(err, test.want) || start.Searched != test.searched {
				t.Errorf("err = %#v", err)
			}
		})
	}
}

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plain"), "")
	if err := os.WriteFile(filepath.Join(dir, "tool"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	tests := []struct {
		name, path, want string
		err              error
	}{
		{"tool", "/nowhere:" + dir, filepath.Join(dir, "tool"), nil},
		{"tool", "", "", ErrNotFound},
		{"tool", ".", "", ErrNotFound},
		{"tool", ":", "", ErrNotFound},
		{"plain", dir, "", os.ErrPermission},
		{"folder", dir, "", ErrNotFound},
		{"", dir, "", ErrNotFound},
		{filepath.Join(dir, "tool"), "", filepath.Join(dir, "tool"), nil},
	}
	for _, test := range tests {
		got, err := LookPath(test.name, test.path)
		if got != test.want || !errors.Is(err, test.err) {
			t.Errorf("LookPath(%q, %q) = %q, %v", test.name, test.path, got, err)
		}
	}
}

// The command has left something behind that holds the pipes: Run returns, with what was said until then, and without an error.
func TestRunDoesNotWaitForHolderOfPipe(t *testing.T) {
	t.Parallel()
	got, err := Run(t.Context(), sh(`sleep 1000 & echo $!`))
	if err != nil || got.Exit != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	pid := childPID(t, got.Stdout)
	defer assertKilled(t, pid)
	if got.Duration > 30*time.Second {
		t.Errorf("waited %v", got.Duration)
	}
	if p, ok := readProcess(pid); !ok || p.zombie {
		t.Error("what a command leaves behind by itself must be let be")
	}
}

func TestRunTimeout(t *testing.T) {
	command := sh(`echo before; exec sleep 1000`)
	command.Timeout = 300 * time.Millisecond
	got, err := Run(t.Context(), command)
	if !errors.Is(err, ErrTimeout) || errors.Is(err, context.DeadlineExceeded) || got.Signal != "SIGTERM" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRunEndsWithContext(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ script, signal string }{
		"deaf child": {`(trap '' TERM; echo up >up; while :; do sleep 0.2; done) & echo $!; wait`, "SIGTERM"},
		"all deaf":   {`trap '' TERM; (echo up >up; while :; do sleep 0.2; done) & echo $!; while :; do sleep 0.2; done`, "SIGKILL"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := sh(test.script)
			command.Dir = t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				defer cancel()
				for !exists(command.Dir, "up") {
					time.Sleep(5 * time.Millisecond)
				}
			}()
			got, err := Run(ctx, command)
			if !errors.Is(err, context.Canceled) || errors.Is(err, ErrTimeout) || got.Signal != test.signal {
				t.Errorf("%+v, %v", got, err)
			}
			assertGone(t, childPID(t, got.Stdout))
		})
	}
}

func TestRunNotWithEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	marker := filepath.Join(t.TempDir(), "ran")
	if _, err := Run(ctx, Command{Args: []string{"touch", marker}}); !errors.Is(err, context.Canceled) || exists(marker) {
		t.Errorf("err = %v", err)
	}
}

func childPID(t *testing.T, stdout []byte) int {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "pid"), string(stdout))
	return pidIn(t, Job{Dir: dir}, "pid")
}

// assertGone waits for the end of a process that was killed but is not ours to wait for.
func assertGone(t *testing.T, pid int) {
	t.Helper()
	eventually(t, "the end of the process", func() bool {
		p, ok := readProcess(pid)
		return !ok || p.zombie
	})
}

func assertKilled(t *testing.T, pid int) {
	t.Helper()
	_ = unix.Kill(pid, unix.SIGKILL)
	assertGone(t, pid)
}

func TestEnvironment(t *testing.T) {
	base := []string{
		"HOME=/root", "PATH=/bin", "LC_ALL=C", "XDG_CONFIG_HOME=/x", "TERM=xterm", "https_proxy=http://p", "SSL_CERT_FILE=/c",
		"GH_TOKEN=1", "GITHUB_TOKEN=2", "GITHUB_ACTOR=a", "SSH_AUTH_SOCK=/s", "SSH_ASKPASS=/p", "GIT_ASKPASS=/p", "GIT_DIR=/d",
		"ANTHROPIC_API_KEY=k", "NPM_A=1", "NPM_B=2", "OTHER=o", "HOME=/home/me", "NOVALUE",
	}
	common := "HOME=/home/me PATH=/bin LC_ALL=C XDG_CONFIG_HOME=/x https_proxy=http://p SSL_CERT_FILE=/c"
	tests := map[string]struct {
		allow []string
		want  []string
	}{
		"nothing more":         {nil, nil},
		"a name":               {[]string{"ANTHROPIC_API_KEY"}, []string{"ANTHROPIC_API_KEY=k"}},
		"a pattern":            {[]string{"NPM_*"}, []string{"NPM_A=1", "NPM_B=2"}},
		"all is no pattern":    {[]string{"*"}, nil},
		"a token":              {[]string{"GH_TOKEN", "GITHUB_TOKEN", "SSH_AUTH_SOCK"}, nil},
		"a pattern of a token": {[]string{"G*", "SSH_*", "GITHUB_*"}, []string{"GITHUB_ACTOR=a"}},
		"git":                  {[]string{"GIT_*", "GIT_DIR"}, nil},
		"terminal":             {[]string{"TERM"}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := map[string]bool{}
			for _, entry := range Environment(base, test.allow) {
				if got[entry] {
					t.Errorf("%s twice", entry)
				}
				got[entry] = true
			}
			want := append(append(strings.Fields(common), "TERM=dumb"), test.want...)
			for _, entry := range want {
				if !got[entry] {
					t.Errorf("%s is missing", entry)
				}
				delete(got, entry)
			}
			for entry := range got {
				t.Errorf("%s is too much", entry)
			}
		})
	}
}
