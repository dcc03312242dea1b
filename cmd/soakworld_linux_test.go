//go:build linux && (amd64 || arm64)

package cmd

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

//go:embed testdata/soak
var soakFiles embed.FS

func (s *soak) shop() string  { return filepath.Join(s.dir, "shop") }
func (s *soak) state() string { return filepath.Join(s.shop(), ".backburner", "state") }
func (s *soak) storeDir() string {
	return filepath.Join(s.shop(), ".backburner", "stores", "shop", "git")
}
func (s *soak) workspace(id string) string {
	return filepath.Join(s.shop(), ".backburner", "workspaces", id)
}

// create makes the repository, and its origin, which notes what is pushed.
func (s *soak) create() error {
	files := map[string]string{
		"home/.gitconfig":                "[user]\n\tname = Jo\n\temail = jo@example.org\n[init]\n\tdefaultBranch = main\n",
		"origin.git/hooks/post-receive":  "#!/bin/sh\nwhile read -r old new ref; do echo \"$ref $new\" >>'" + s.dir + "/pushes'; done\n",
		"shop/.gitignore":                ".backburner/*\n!.backburner/specs\n",
		"shop/.backburner/specs/one.md":  "# One\n\nBegin.\n",
		"shop/.backburner/specs/two.txt": "This is no spec.\n",
	}
	for n := range 8 {
		files[fmt.Sprintf("shop/file%d.txt", n)] = "first\n"
	}
	settings := strings.NewReplacer("DIR", s.dir, "SEED", fmt.Sprint(s.seed), "APPROVAL", []string{"auto", "required"}[s.seed%2],
		"STRATEGY", []string{"merge", "squash", "rebase"}[s.seed%3], "ATTEMPTS", fmt.Sprint(1+s.seed%2))
	for name, place := range map[string]string{"agent.sh": "", "gate.sh": "", "backburner.toml": "shop"} {
		text, err := soakFiles.ReadFile("testdata/soak/" + name)
		if err != nil {
			return err
		}
		files[filepath.Join(place, name)] = string(text)
		if place != "" {
			files[filepath.Join(place, name)] = settings.Replace(string(text))
		}
	}
	for name, text := range files {
		if err := s.write(name, text); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "--bare", "../origin.git"}, {"init", "-q"}, {"remote", "add", "origin", "../origin.git"},
		{"add", "."}, {"commit", "-q", "-m", "first"}, {"push", "-q", "origin", "main"},
	} {
		if _, err := s.git(s.shop(), args...); err != nil {
			return err
		}
	}
	return nil
}

func (s *soak) write(name, text string) error {
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o755)
}

// personal is in the environment of what people start: nobody kills that.
const personal = "SOAK_PERSON=1"

// git runs git for a person and returns what it says.
func (s *soak) git(dir string, args ...string) (string, error) {
	c := exec.Command("git", args...)
	c.Dir, c.Env = dir, append(s.env, personal)
	out, err := c.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// ask runs backburner for a person. It may refuse, and no more than that.
func (s *soak) ask(args ...string) string {
	c := exec.Command(s.bin, args...)
	c.Dir, c.Env = s.shop(), append(s.env, personal)
	out, err := c.CombinedOutput()
	s.note("%s: %s", strings.Join(args, " "), firstLine(out))
	_, _ = s.output.Write(out)
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() > 2 || bytes.Contains(out, []byte("goroutine ")) {
		s.note("THAT MUST NOT BE: %v", err)
	}
	return string(out)
}

func firstLine(text []byte) string {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return string(line)
}

// tick makes one tick, and interferes with it after a while. It returns what it
// said.
func (s *soak) tick(interfere func(*os.Process), after time.Duration) string {
	s.began++
	var said bytes.Buffer
	c := exec.Command(s.bin, "tick")
	c.Dir, c.Env, c.Stdout, c.Stderr = s.shop(), s.env, &said, &said
	c.WaitDelay = time.Second // what it left behind may hold its output
	began := time.Now()
	if err := c.Start(); err != nil {
		s.note("THAT MUST NOT BE: %v", err)
		return ""
	}
	hung := time.AfterFunc(stepLimit, func() {
		s.note("THAT MUST NOT BE: the tick hangs")
		_ = c.Process.Signal(syscall.SIGQUIT)
	})
	if interfere != nil {
		time.Sleep(after)
		interfere(c.Process)
	}
	err := c.Wait()
	hung.Stop()
	code := c.ProcessState.ExitCode()
	s.whole = code == 0 || code == 143
	if code == 0 && interfere == nil {
		s.pace = (s.pace*3 + time.Since(began)) / 4
	}
	if !s.whole && (interfere == nil || code >= 0) {
		s.note("THAT MUST NOT BE: the tick ended with %v", err)
	}
	s.note("tick: %s, %v", time.Since(began).Round(time.Millisecond), c.ProcessState)
	_, _ = s.output.Write(said.Bytes())
	return said.String()
}

// killTick kills the tick alone: what it started goes on.
func (s *soak) killTick(tick *os.Process) {
	s.note("kill the tick alone")
	s.kills++
	_ = tick.Kill()
}

// terminate asks the tick to stop.
func (s *soak) terminate(tick *os.Process) {
	s.note("end the tick politely")
	_ = tick.Signal(syscall.SIGTERM)
}

// killTree kills the tick and all it has started.
func (s *soak) killTree(tick *os.Process) {
	s.note("kill the tick and all it started")
	s.kills++
	_ = tick.Kill()
	for quiet := 0; quiet < 3; {
		quiet++
		for pid := range s.processes() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			quiet = 0
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// meanwhile is what people do while a tick runs: all but in the checkout, where
// it could not be told from what the tick does.
func (s *soak) meanwhile(*os.Process) {
	for range 1 + s.dice.IntN(3) {
		if s.dice.IntN(4) == 0 {
			s.publishedBranch()
		} else {
			s.request()
		}
	}
}

// processes are those that were started here, by pid, with their command line;
// but not what people started.
func (s *soak) processes() map[int]string {
	found := map[int]string{}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		environment, _ := os.ReadFile(p + "/environ")
		command, _ := os.ReadFile(p + "/cmdline") // empty when it is dead
		if len(command) == 0 || !bytes.Contains(environment, []byte(s.dir+"/")) || bytes.Contains(environment, []byte(personal)) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(p))
		found[pid] = string(bytes.ReplaceAll(command, []byte{0}, []byte(" ")))
	}
	return found
}
