//go:build linux && (amd64 || arm64)

package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSoakNotices breaks each promise once, and demands that the checks of the
// soak say so: else it would prove nothing that it is content.
func TestSoakNotices(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector has nothing to find in it")
	}
	s := newSoak(t, program(t), 2) // with this seed plans need no approval
	if err := s.write("calm", ""); err != nil {
		t.Fatal(err)
	}
	s.must(t, s.tickUntilQuiet())
	forgotten := exec.Command("sleep", "600")
	forgotten.Env = s.env
	t.Cleanup(func() {
		if forgotten.Process != nil {
			_ = forgotten.Process.Kill()
			_ = forgotten.Wait()
		}
	})
	for _, harm := range []struct {
		says string
		do   func(*soak) error
	}{
		{"still running", func(*soak) error { return forgotten.Start() }},
		{"pushed twice", func(s *soak) error { return double(filepath.Join(s.dir, "pushes")) }},
		{"told twice", func(s *soak) error { return double(filepath.Join(s.state(), "workstreams", "one", "thread.md")) }},
		{"ran one/t2 again", (*soak).runAgain},
		{"the checkout was", func(s *soak) error { return s.write("shop/file7.txt", "mine\n") }},
		{"refs/heads/backburner/one went from", func(s *soak) error { return s.rewind(s.shop()) }},
		{"files were left", (*soak).leaveFiles},
		{"lost: ", func(s *soak) error { return s.rewind(s.storeDir()) }},
		{"workstreams/one.json", func(s *soak) error { return os.Truncate(filepath.Join(s.state(), "workstreams", "one.json"), 10) }},
		{"fsck", (*soak).loseObjects},
	} {
		if err := s.sound(); err != nil && strings.Contains(err.Error(), harm.says) {
			t.Errorf("%q before there was a reason: %v", harm.says, err)
		}
		if err := harm.do(s); err != nil {
			t.Fatalf("%q: %v", harm.says, err)
		}
		if err := s.sound(); err == nil || !strings.Contains(err.Error(), harm.says) {
			t.Errorf("nobody noticed %q: %v", harm.says, err)
		}
	}
}

func double(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, text...), 0o600)
}

// runAgain has the builder run once more.
func (s *soak) runAgain() error {
	executions := filepath.Join(s.state(), "executions")
	text, err := os.ReadFile(filepath.Join(executions, "one.0002", "execution.json"))
	if err != nil {
		return err
	}
	again := filepath.Join(executions, "one.0099")
	if err := os.Mkdir(again, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(again, "execution.json"), []byte(strings.Replace(string(text), "one.0002", "one.0099", 1)), 0o600)
}

// rewind takes the branch, and what else leads to the work, back to the base.
func (s *soak) rewind(repository string) error {
	said, err := s.git(repository, "for-each-ref", "--format=%(refname)", "refs/heads/backburner/", "refs/remotes/origin/backburner/", "refs/backburner/")
	if err != nil {
		return err
	}
	base, err := s.git(s.shop(), "rev-parse", "main")
	if err != nil {
		return err
	}
	for _, ref := range strings.Fields(said) {
		if _, err := s.git(repository, "update-ref", ref, base); err != nil {
			return err
		}
	}
	return os.RemoveAll(s.workspace("one"))
}

func (s *soak) leaveFiles() error {
	for n := range 11 {
		if err := s.write(filepath.Join("shop/.backburner/tmp", string(rune('a'+n))), ""); err != nil {
			return err
		}
	}
	return nil
}

func (s *soak) loseObjects() error {
	return os.RemoveAll(filepath.Join(s.storeDir(), "objects", "pack"))
}
