package workspace_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/git"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

// benchFiles is how many files the benchmarks' repository has.
func benchFiles() int {
	if n, err := strconv.Atoi(os.Getenv("WORKSPACE_BENCH_FILES")); err == nil {
		return n
	}
	return 3000
}

// large is a bare repository with many files and a history of 200 commits.
func large(b *testing.B) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "large.git")
	if out, err := command(b.TempDir(), "git", "init", "-q", "--bare", dir); err != nil {
		b.Fatal(out)
	}
	var stream bytes.Buffer
	files := benchFiles()
	for commit := range 200 {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter A <a@b> %d +0000\ndata 1\nx\n", 1_700_000_000+commit)
		for i := range files {
			if commit > 0 && i%200 != commit {
				continue
			}
			content := fmt.Sprintf("// file %d, version %d\n", i, commit) + string(bytes.Repeat([]byte("line of code\n"), 100))
			fmt.Fprintf(&stream, "M 100644 inline d%d/e%d/f%d.go\ndata %d\n%s\n", i%20, i%7, i, len(content), content)
		}
	}
	cmd := exec.Command("git", "--git-dir", dir, "fast-import", "--quiet")
	cmd.Stdin = &stream
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return dir
}

type bench struct {
	m    *workspace.Manager
	git  *git.Git
	repo workspace.Repository
	root string
}

func newBench(b *testing.B) *bench {
	b.Helper()
	w := &bench{git: git.New(git.Options{}), root: filepath.Join(b.TempDir(), "root")}
	w.m = workspace.New(w.root, w.git, time.Now)
	b.Cleanup(func() { w.m.Close() })
	w.repo = workspace.Repository{ID: "large", Path: large(b), Base: "main"}
	if _, err := w.m.Sync(context.Background(), w.repo); err != nil {
		b.Fatal(err)
	}
	return w
}

func (w *bench) prepare(b *testing.B, ws workspace.Workspace, want workspace.PrepareStatus) workspace.Workspace {
	b.Helper()
	p, err := w.m.Prepare(context.Background(), w.repo, ws)
	if err != nil || p.Status != want {
		b.Fatalf("prepared %+v, %v", p, err)
	}
	ws.Head = p.Head
	return ws
}

// BenchmarkCreate makes workspaces, and for comparison linked working trees of the same commit, in turn.
func BenchmarkCreate(b *testing.B) {
	w := newBench(b)
	var ours, theirs time.Duration
	n := 0
	for b.Loop() {
		syscall.Sync() // so that neither pays for what the other wrote
		begin := time.Now()
		ws := w.prepare(b, workspace.Workspace{ID: fmt.Sprint("ws-", n), Branch: fmt.Sprint("backburner/", n)}, workspace.Created)
		ours += time.Since(begin)
		linked := filepath.Join(b.TempDir(), fmt.Sprint("linked-", n))
		syscall.Sync()
		begin = time.Now()
		if out, err := command(w.repo.Path, "git", "--git-dir", w.repo.Path, "worktree", "add", "-q", "-b", fmt.Sprint("linked-", n), linked, ws.Head); err != nil {
			b.Fatal(out)
		}
		theirs += time.Since(begin)
		b.StopTimer()
		if err := w.m.Remove(context.Background(), w.repo, ws.ID); err != nil {
			b.Fatal(err)
		}
		if err := os.RemoveAll(linked); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		n++
	}
	b.ReportMetric(float64(ours.Milliseconds())/float64(n), "ms/workspace")
	b.ReportMetric(float64(theirs.Milliseconds())/float64(n), "ms/worktree-add")
	b.ReportMetric(float64(ours)/float64(theirs), "ratio")
}

// BenchmarkIdle is a repository in which nothing moved and a workspace that is up to date, and git's own status of the same files.
func BenchmarkIdle(b *testing.B) {
	w := newBench(b)
	ws := w.prepare(b, workspace.Workspace{ID: "ws", Branch: "backburner/ws"}, workspace.Created)
	b.Run("sync", func(b *testing.B) {
		for b.Loop() {
			if _, err := w.m.Sync(context.Background(), w.repo, "backburner/ws"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("prepare", func(b *testing.B) {
		for b.Loop() {
			w.prepare(b, ws, workspace.UpToDate)
		}
	})
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			if _, err := w.m.Verify(context.Background(), w.repo, ws); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("git-status", func(b *testing.B) {
		for b.Loop() {
			if out, err := command(w.m.Path("ws"), "git", "status", "--porcelain"); err != nil || out != "" {
				b.Fatal(out, err)
			}
		}
	})
	b.Run("git-version", func(b *testing.B) {
		for b.Loop() {
			if out, err := command(w.root, "git", "version"); err != nil {
				b.Fatal(out, err)
			}
		}
	})
}

// BenchmarkCheckpoint commits one changed file.
func BenchmarkCheckpoint(b *testing.B) {
	w := newBench(b)
	ws := w.prepare(b, workspace.Workspace{ID: "ws", Branch: "backburner/ws"}, workspace.Created)
	n := 0
	for b.Loop() {
		n++
		if err := os.WriteFile(filepath.Join(w.m.Path("ws"), "d0/new.go"), fmt.Appendf(nil, "package d0 // %d\n", n), 0o644); err != nil {
			b.Fatal(err)
		}
		c, err := w.m.Checkpoint(context.Background(), w.repo, ws, "work")
		if err != nil || !c.NetNew {
			b.Fatalf("checkpoint %+v, %v", c, err)
		}
		ws.Head = c.Commit
	}
}
