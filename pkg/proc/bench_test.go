package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What a supervisor costs, beside the floor: the same program by itself, and by Run.
func BenchmarkTrue(b *testing.B) {
	env := Environment(os.Environ(), nil)
	b.Run("exec", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Run", func(b *testing.B) {
		for b.Loop() {
			if _, err := Run(b.Context(), Command{Args: []string{"true"}, Env: env}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Start+Wait", func(b *testing.B) {
		root, n, program := b.TempDir(), 0, self(b)
		for b.Loop() {
			n++
			dir := filepath.Join(root, fmt.Sprint(n))
			if err := os.Mkdir(dir, 0o700); err != nil {
				b.Fatal(err)
			}
			job := Job{
				Execution: fmt.Sprintf("bench-%d-%d", os.Getpid(), n), Args: []string{"true"}, Dir: dir, Env: env,
				Stdout: "stdout", Stderr: "stderr", MaxOutput: 1 << 20,
			}
			h, err := Start(program, dir, job)
			if err != nil {
				b.Fatal(err)
			}
			if exit, err := h.Wait(b.Context()); err != nil || exit.Code != 0 {
				b.Fatal(exit, err)
			}
		}
	})
}
