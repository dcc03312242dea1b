package workspace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/git"
	"github.com/backburner-cli/backburner/pkg/workspace"
)

const (
	sweepDir = "WORKSPACE_TEST_TICK"  // this test binary is to live one tick in the folder it names
	sweepAll = "WORKSPACE_TEST_SWEEP" // set: every kill point, not a few
)

// killer stands for git and kills whoever calls it for the nth time: before git runs, after it, or while it runs on.
const killer = `#!/bin/sh
n=$(cat "$KILL_COUNT" 2>/dev/null || echo 0); n=$((n+1)); echo $n > "$KILL_COUNT"
[ "$n" = "$KILL_AT" ] || exec git "$@"
case "$KILL_HOW" in
before) kill -9 $PPID ;;
after) git "$@"; kill -9 $PPID ;;
during) kill -9 $PPID; exec git "$@" ;;
esac
`

// tickState is what a caller would keep between ticks.
type tickState struct {
	Head                         string
	Worked, Taken, Messed, Ended bool
}

// liveOneTick goes on with a workstream's life from what the last tick saved, as a pass does. It returns an exit code.
func liveOneTick(dir string) int {
	t := tick{dir: dir, user: filepath.Join(dir, "user")}
	if content, err := os.ReadFile(filepath.Join(dir, "state.json")); err == nil {
		_ = json.Unmarshal(content, &t.state)
	}
	t.m = workspace.New(filepath.Join(dir, "root"), git.New(git.Options{Path: os.Getenv("KILL_GIT")}), time.Now)
	t.repo = workspace.Repository{ID: "repo", Path: t.user, Base: "main"}
	if err := t.live(context.Background()); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

type tick struct {
	dir, user string
	m         *workspace.Manager
	repo      workspace.Repository
	state     tickState
}

func (t *tick) ws() workspace.Workspace {
	return workspace.Workspace{ID: "ws", Branch: "backburner/ws", Head: t.state.Head}
}

func (t *tick) save() {
	content, _ := json.Marshal(t.state)
	if err := os.WriteFile(filepath.Join(t.dir, "state.json"), content, 0o644); err != nil {
		panic(err)
	}
}

func (t *tick) live(ctx context.Context) error {
	if _, err := t.m.CleanLeftovers(ctx, 0); err != nil {
		return err
	}
	if t.state.Worked && !t.state.Taken { // what the agent of a dead tick left
		if err := t.take(ctx); err != nil {
			return err
		}
	}
	base, err := t.m.Sync(ctx, t.repo, "backburner/ws")
	if err != nil {
		return err
	}
	if t.state.Messed {
		if err := t.recover(ctx); err != nil {
			return err
		}
	}
	if err := t.prepare(ctx); err != nil {
		return err
	}
	if !t.state.Worked {
		t.work()
		if err := t.take(ctx); err != nil {
			return err
		}
		if base, err = t.m.Sync(ctx, t.repo, "backburner/ws"); err != nil {
			return err
		}
	}
	if err := t.putFile(ctx); err != nil {
		return err
	}
	if err := t.mergeMainline(ctx, base); err != nil {
		return err
	}
	if err := t.publish(ctx, base.Branches["backburner/ws"]); err != nil {
		return err
	}
	if t.state.Ended {
		return nil
	}
	t.state.Messed = true
	t.save()
	if err := os.WriteFile(filepath.Join(t.m.Path("ws"), "mess.txt"), []byte("mess\n"), 0o644); err != nil {
		return err
	}
	return t.recover(ctx)
}

func (t *tick) prepare(ctx context.Context) error {
	p, err := t.m.Prepare(ctx, t.repo, t.ws())
	if err != nil {
		return err
	}
	if p.Head == "" || strings.HasPrefix(string(p.Status), "blocked") {
		return fmt.Errorf("prepared %+v", p)
	}
	t.state.Head = p.Head
	t.save()
	return nil
}

// work is an agent that commits some of what it does; at the same time the base moves.
func (t *tick) work() {
	script := `set -e
echo one > one.txt; git add one.txt; git commit -q -m "by the agent"; echo two > two.txt
cd "$0"; echo more > mainline.txt; git add mainline.txt; git commit -q -m mainline`
	if out, err := command(t.m.Path("ws"), "sh", "-c", script, t.user); err != nil {
		panic(out)
	}
	t.state.Worked = true
	t.save()
}

func (t *tick) take(ctx context.Context) error {
	c, err := t.m.Checkpoint(ctx, t.repo, t.ws(), "by backburner")
	if err != nil {
		return err
	}
	if c.Problem != "" || !c.NetNew || len(c.Changed) != 2 {
		return fmt.Errorf("checkpoint %+v", c)
	}
	t.state.Head, t.state.Taken = c.Commit, true
	t.save()
	return nil
}

// putFile is asked again by each tick: one file is one commit.
func (t *tick) putFile(ctx context.Context) error {
	c, err := t.m.PutFile(ctx, t.repo, t.ws(), "docs/plan.md", []byte("a plan\n"), "the plan")
	if err != nil {
		return err
	}
	t.state.Head = c.Commit
	t.save()
	return nil
}

func (t *tick) mergeMainline(ctx context.Context, base workspace.Base) error {
	m, err := t.m.Mainline(ctx, t.repo, t.state.Head, base.SHA)
	if err != nil || m.Status == workspace.MainlineUpToDate {
		return err
	}
	c, err := t.m.MergeMainline(ctx, t.repo, t.ws(), "merge main")
	if err != nil {
		return err
	}
	t.state.Head = c.Commit
	t.save()
	return nil
}

func (t *tick) publish(ctx context.Context, old string) error {
	p, err := t.m.Publish(ctx, t.repo, "backburner/ws", t.state.Head, old)
	if err != nil {
		return err
	}
	if p.Status != workspace.PublishPushed && p.Status != workspace.PublishAlready {
		return fmt.Errorf("published %+v", p)
	}
	return nil
}

// recover saves what a failed agent left.
func (t *tick) recover(ctx context.Context) error {
	r, err := t.m.Restore(ctx, t.repo, t.ws(), "task")
	if err != nil || r.Outcome != workspace.Recovered && r.Outcome != workspace.Skipped {
		return fmt.Errorf("restored %+v, %v", r, err)
	}
	t.state.Messed, t.state.Ended = false, true
	t.save()
	return nil
}

// Killed at any call of git, the next tick finishes what the killed one began: the history is the same, nothing is lost or doubled, and nothing
// is left over.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	total := killedAt(t, 0, "never")
	if total < 25 {
		t.Fatalf("only %d calls of git were seen", total)
	}
	step := 6
	if os.Getenv(sweepAll) != "" {
		step = 1
	}
	hows := []string{"before", "after", "during"}
	for i, at := 0, 1; at <= total; i, at = i+1, at+step {
		for j, how := range hows {
			if step > 1 && j != i%len(hows) {
				continue
			}
			t.Run(fmt.Sprintf("%s call %d", how, at), func(t *testing.T) { killedAt(t, at, how) })
		}
	}
}

// The same, killed at what the program itself does to files between its calls of git. strace counts by thread, so that a sweep
// finds most points and not each.
func TestKilledBetweenCalls(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("strace"); err != nil || os.Getenv(sweepAll) == "" {
		t.Skip("takes minutes, and strace: set " + sweepAll)
	}
	for _, syscall := range []string{"renameat", "mkdirat", "unlinkat", "fsync", "ftruncate", "fchmodat", "flock"} {
		for at := 1; at < 40; at++ {
			reached := 0
			t.Run(fmt.Sprintf("%s %d", syscall, at), func(t *testing.T) { reached = killedAt(t, at, "strace "+syscall) })
			if reached == 0 {
				break
			}
		}
	}
}

// killedAt lives a life in which one tick is killed, and says how many calls of git the first tick made.
func killedAt(t *testing.T, at int, how string) (calls int) {
	w := newWorld(t)
	dir := filepath.Dir(w.user)
	w.root = filepath.Join(dir, "root")
	w.write(dir, "killer", killer)
	if err := os.Chmod(filepath.Join(dir, "killer"), 0o755); err != nil {
		t.Fatal(err)
	}
	live := func(at int) (string, error) {
		args := []string{os.Args[0]}
		if syscall, ok := strings.CutPrefix(how, "strace "); ok && at > 0 {
			args = append([]string{"strace", "-f", "-o", "/dev/null", "-e", "trace=" + syscall, fmt.Sprintf("--inject=%s:signal=KILL:when=%d", syscall, at)}, args...)
			at = 0 // the stand-in for git kills nobody
		}
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), sweepDir+"="+dir, "KILL_GIT="+filepath.Join(dir, "killer"),
			"KILL_AT="+strconv.Itoa(at), "KILL_HOW="+how, "KILL_COUNT="+filepath.Join(dir, "count"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := live(at)
	if at == 0 && err == nil {
		calls, _ = strconv.Atoi(strings.TrimSpace(w.read(dir, "count")))
	} else if strings.HasPrefix(how, "strace ") && err == nil {
		return 0 // no thread came that far
	} else if at == 0 || err == nil || !strings.HasPrefix(how, "strace ") && !strings.Contains(err.Error(), "killed") {
		t.Fatalf("%v\n%s", err, out) // strace may also kill what git itself starts: then the tick ends with an error
	} else {
		calls = at
		out, err = live(0)
	}
	if err != nil {
		t.Fatalf("the next tick: %v\n%s", err, out)
	}
	store := filepath.Join(w.root, "stores", "repo", "git")
	log := w.run(w.user, "git", "log", "--topo-order", "--format=%s", "backburner/ws")
	if want := "merge main\nmainline\nthe plan\nby backburner\nby the agent\nfirst"; log != want {
		t.Errorf("history\n%s\nwant\n%s", log, want)
	}
	salvaged := w.run(store, "git", "--git-dir", store, "for-each-ref", "--format=%(refname)", "refs/backburner/salvage")
	saved := false
	for ref := range strings.Lines(salvaged) {
		_, err := command(store, "git", "--git-dir", store, "cat-file", "-e", strings.TrimSpace(ref)+":mess.txt")
		saved = saved || err == nil
	}
	if !saved {
		t.Errorf("the mess was not saved in %q", salvaged)
	}
	if got := w.run(filepath.Join(w.root, "workspaces", "ws"), "git", "status", "--porcelain=v2", "--branch"); strings.Count(got, "\n") != 1 {
		t.Errorf("the workspace is not clean:\n%s", got)
	}
	w.run(store, "git", "--git-dir", store, "fsck", "--strict", "--no-dangling", "--no-progress")
	if done, err := w.m.CleanLeftovers(context.Background(), 0); err != nil || done.Runs > 1 {
		t.Errorf("left over %+v, %v", done, err)
	}
	return calls
}
