package workspace_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/workspace"
)

// Each repository that cannot be worked with says what to do about it.
func TestSyncSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(w *world)
		want   string
	}{
		"no repository": {func(w *world) { w.repo.Path = w.t.TempDir() }, "run git init there"},
		"no folder":     {func(w *world) { w.repo.Path += "/nowhere/else" }, "run git init there"},
		"no commits": {func(w *world) {
			w.repo.Path = w.t.TempDir()
			w.run(w.repo.Path, "git", "init", "-q")
		}, "make a first commit on the branch main"},
		"no such base": {func(w *world) { w.repo.Base = "trunk" }, "has no branch trunk: set base to the branch it uses (there are main)"},
		"bad base":     {func(w *world) { w.repo.Base = "--upload-pack=x" }, "begins with a dash"},
		"shallow": {func(w *world) {
			w.write(w.user, "x", "x")
			w.commitIn(w.user, "second")
			to := filepath.Join(w.t.TempDir(), "shallow")
			w.run(w.user, "git", "clone", "-q", "--depth=1", "file://"+w.user, to)
			w.repo.Path = to
		}, "git fetch --unshallow"},
		"remote without the base":    {func(w *world) { w.repo.Path, w.repo.URL, w.repo.Base = "", w.user, "trunk" }, "has no branch trunk"},
		"remote that is not there":   {func(w *world) { w.repo.Path, w.repo.URL = "", w.user+"-none" }, "does not appear to be a git repository"},
		"remote of a forbidden kind": {func(w *world) { w.repo.Path, w.repo.URL = "", "ext::sh -c touch% /tmp/x" }, "not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.change(w)
			_, err := w.m.Sync(context.Background(), w.repo)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q in it", err, test.want)
			}
		})
	}
}

// Everything of a user's repository that git calls a repository works.
func TestKindsOfRepositories(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	linked := filepath.Join(t.TempDir(), "linked")
	w.run(w.user, "git", "worktree", "add", "-q", "-b", "side", linked)
	bare := filepath.Join(t.TempDir(), "bare.git")
	w.run(w.user, "git", "clone", "-q", "--bare", w.user, bare)
	odd := filepath.Join(t.TempDir(), "odd % name, with: 'all'")
	w.run(w.user, "git", "clone", "-q", w.user, odd)
	packed := filepath.Join(t.TempDir(), "packed")
	w.run(w.user, "git", "clone", "-q", w.user, packed)
	w.run(packed, "git", "pack-refs", "--all")
	want := w.run(w.user, "git", "rev-parse", "main")
	for i, path := range []string{linked, bare, odd, packed, filepath.Join(w.user, ".git")} {
		w.repo.ID, w.repo.Path = "kind-"+string(rune('a'+i)), path
		if base := w.sync(); base.SHA != want {
			t.Errorf("%s: base %+v", path, base)
		}
		ws := workspace.Workspace{ID: w.repo.ID, Branch: "backburner/" + w.repo.ID}
		ws.Head = w.prepare(ws, workspace.Created).Head
		got, err := w.m.Publish(context.Background(), w.repo, ws.Branch, ws.Head, "")
		if err != nil || got.Status != workspace.PublishPushed {
			t.Errorf("%s: published %+v, %v", path, got, err)
		}
	}
}

// Longer object ids work as well, also when only the remote's answer tells.
func TestSHA256(t *testing.T) {
	t.Parallel()
	for _, remote := range []bool{false, true} {
		w := newWorld(t)
		long := filepath.Join(t.TempDir(), "long")
		w.run(w.user, "git", "init", "-q", "--object-format=sha256", long)
		w.write(long, "x.txt", "x\n")
		w.commitIn(long, "first")
		w.repo.Path = long
		if remote {
			w.repo.Path, w.repo.URL = "", long
		}
		ws, dir := w.started()
		if len(ws.Head) != 64 {
			t.Fatalf("head %s", ws.Head)
		}
		w.write(dir, "y.txt", "y\n")
		w.commitIn(dir, "own")
		w.write(dir, "z.txt", "z\n")
		ws.Head = w.checkpoint(ws, "").Commit
		w.pristine(ws)
	}
}

func TestSyncFollows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	w.write(dir, "x.txt", "x\n")
	ws.Head = w.checkpoint(ws, "").Commit
	if _, err := w.m.Publish(context.Background(), w.repo, ws.Branch, ws.Head, ""); err != nil {
		t.Fatal(err)
	}

	// A person goes on with the branch in their own repository.
	linked := filepath.Join(t.TempDir(), "linked")
	w.run(w.user, "git", "worktree", "add", "-q", linked, ws.Branch)
	w.write(linked, "person.txt", "p\n")
	theirs := w.commitIn(linked, "by a person")
	base := w.sync(ws.Branch)
	if !base.Moved || base.Branches[ws.Branch] != theirs {
		t.Errorf("sync %+v, want %s", base, theirs)
	}
	if p := w.prepare(ws, workspace.FastForwarded); p.Head != theirs {
		t.Errorf("prepared %+v", p)
	}
	ws.Head = theirs
	w.pristine(ws)
	if w.read(dir, "person.txt") != "p\n" {
		t.Error("the files did not follow")
	}

	// Both go on: diverged. Nothing is overwritten.
	w.write(linked, "person.txt", "again\n")
	w.commitIn(linked, "by a person again")
	w.write(dir, "x.txt", "y\n")
	ws.Head = w.checkpoint(ws, "").Commit
	w.sync(ws.Branch)
	w.prepare(ws, workspace.BlockedDiverged)
	got, err := w.m.Publish(context.Background(), w.repo, ws.Branch, ws.Head, theirs)
	if err != nil || got.Status != workspace.PublishLeaseFailed {
		t.Errorf("published %+v, %v", got, err)
	}

	// The branch is removed: forgotten, and no longer diverged.
	w.run(w.user, "git", "worktree", "remove", "--force", linked)
	w.run(w.user, "git", "branch", "-q", "-D", ws.Branch)
	base = w.sync(ws.Branch)
	if base.Branches[ws.Branch] != "" {
		t.Errorf("sync %+v", base)
	}
	if idle := w.calls(func() { w.sync(ws.Branch) }); idle != 1 {
		t.Errorf("an idle sync costs %d", idle)
	}
	w.prepare(ws, workspace.UpToDate)
	w.sound()
}

// Base and upstream that went apart are told, whether the upstream is configured or only has the same name.
func TestDiverged(t *testing.T) {
	t.Parallel()
	for _, configured := range []bool{true, false} {
		w := newWorld(t)
		clone := filepath.Join(t.TempDir(), "clone")
		w.run(w.user, "git", "clone", "-q", w.user, clone)
		if !configured {
			w.run(clone, "git", "branch", "-q", "--unset-upstream")
		}
		w.repo.Path = clone
		if base := w.sync(); base.Upstream != "refs/remotes/origin/main" || base.Diverged() {
			t.Errorf("base %+v", base)
		}
		w.write(w.user, "theirs.txt", "t\n")
		w.commitIn(w.user, "theirs")
		w.write(clone, "ours.txt", "o\n")
		w.commitIn(clone, "ours")
		w.run(clone, "git", "fetch", "-q")
		base := w.sync()
		if !base.Diverged() || base.Ahead != 1 || base.Behind != 1 {
			t.Errorf("base %+v", base)
		}
		if idle := w.calls(func() { base = w.sync() }); idle != 1 || !base.Diverged() {
			t.Errorf("an idle sync costs %d and says %+v", idle, base)
		}
	}
}

// A store that was lost is made again from what the repository has.
func TestLostStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	w.write(dir, "x.txt", "x\n")
	ws.Head = w.checkpoint(ws, "").Commit
	if _, err := w.m.Publish(context.Background(), w.repo, ws.Branch, ws.Head, ""); err != nil {
		t.Fatal(err)
	}
	unpublished := workspace.Workspace{ID: "ws-2", Branch: "backburner/ws-2"}
	unpublished.Head = w.prepare(unpublished, workspace.Created).Head
	w.write(w.m.Path("ws-2"), "y.txt", "y\n")
	unpublished.Head = w.checkpoint(unpublished, "").Commit

	if err := os.RemoveAll(w.root); err != nil {
		t.Fatal(err)
	}
	w.restart()
	w.prepare(ws, workspace.DeferredFetch)
	w.sync(ws.Branch, unpublished.Branch)
	if p := w.prepare(ws, workspace.Created); p.Head != ws.Head {
		t.Errorf("prepared %+v", p)
	}
	w.pristine(ws)
	w.prepare(unpublished, workspace.BlockedMissing)
}

// With the store gone and the workspace there, the branch is in the workspace.
func TestLostStoreOfWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	w.write(dir, "x.txt", "x\n")
	own := w.commitIn(dir, "own")
	ws.Head = w.checkpoint(ws, "").Commit
	if ws.Head != own {
		t.Fatalf("head %s", ws.Head)
	}
	w.write(dir, "y.txt", "y\n")
	if err := os.RemoveAll(filepath.Join(w.root, "stores")); err != nil {
		t.Fatal(err)
	}
	w.restart()
	w.sync(ws.Branch)
	w.prepare(ws, workspace.BlockedDirty)
	if c := w.checkpoint(ws, ""); !c.NetNew || len(c.Changed) != 1 {
		t.Errorf("checkpoint %+v", c)
	} else {
		ws.Head = c.Commit
	}
	w.pristine(ws)
	w.sound()
}

// A store with many small packs is packed, and the workspaces that borrow from its copy do not notice.
func TestStoresArePacked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	w.write(dir, "x.txt", "x\n")
	ws.Head = w.checkpoint(ws, "").Commit
	for i := range 51 {
		id := w.store("-c", "user.name=x", "-c", "user.email=x", "commit-tree", "-m", string(rune('a'+i)), ws.Head+"^{tree}")
		w.run(w.storeDir(), "sh", "-c", "echo "+id+" | git --git-dir . pack-objects -q objects/pack/pack")
	}
	done, err := w.m.CleanLeftovers(context.Background(), time.Hour)
	if err != nil || done.Packed != 1 {
		t.Errorf("cleaned %+v, %v", done, err)
	}
	if packs, _ := filepath.Glob(filepath.Join(w.storeDir(), "objects", "pack", "*.pack")); len(packs) > 2 {
		t.Errorf("%d packs", len(packs))
	}
	w.prepare(ws, workspace.UpToDate)
	w.pristine(ws)
	w.run(dir, "git", "fsck", "--strict")
	w.sound()
}

// What killed processes left beside a store goes when it is old enough to be nobody's, and not before.
func TestLeftoversAreRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, _ := w.started()
	beside := filepath.Dir(w.storeDir())
	admin := filepath.Join(beside, "admin", filepath.Base(w.m.Path(ws.ID)))
	left := []string{
		filepath.Join(w.root, "..gitignore.tmp-1abc"),
		filepath.Join(beside, ".pool.json.tmp-1abc"), filepath.Join(admin, ".known.json.tmp-1abc"), filepath.Join(admin, "index.lock"),
		filepath.Join(w.storeDir(), "objects", "pack", "tmp_pack_1abc"),
	}
	clean := func(want int) {
		t.Helper()
		if _, err := w.m.CleanLeftovers(context.Background(), time.Hour); err != nil {
			t.Fatal(err)
		}
		there := 0
		for _, path := range left {
			if _, err := os.Stat(path); err == nil {
				there++
			}
		}
		if there != want {
			t.Errorf("%d of %d are left, want %d", there, len(left), want)
		}
	}
	for _, path := range left {
		w.write(filepath.Dir(path), filepath.Base(path), "half")
	}
	clean(len(left))
	for _, path := range left {
		yesterday := time.Now().Add(-25 * time.Hour)
		if err := os.Chtimes(path, yesterday, yesterday); err != nil {
			t.Fatal(err)
		}
	}
	clean(0)
	w.prepare(ws, workspace.UpToDate)
	w.sound()
}

// A remote repository, by its address only.
func TestRemote(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	remote := filepath.Join(t.TempDir(), "remote.git")
	w.run(w.user, "git", "clone", "-q", "--bare", w.user, remote)
	w.repo.Path, w.repo.URL = "", "file://"+remote
	ctx := context.Background()
	ws, dir := w.started()
	if idle := w.calls(func() { w.sync(ws.Branch) }); idle != 1 {
		t.Errorf("an idle sync costs %d", idle)
	}
	w.write(dir, "x.txt", "x\n")
	ws.Head = w.checkpoint(ws, "").Commit
	publish := func(old string, want workspace.PublishStatus) {
		t.Helper()
		got, err := w.m.Publish(ctx, w.repo, ws.Branch, ws.Head, old)
		if err != nil || got.Status != want {
			t.Errorf("published %+v, %v, want %s", got, err, want)
		}
	}
	publish("", workspace.PublishPushed)
	publish("", workspace.PublishAlready)
	if base := w.sync(ws.Branch); base.Moved {
		t.Errorf("sync %+v", base)
	}
	first := ws.Head
	w.write(dir, "x.txt", "y\n")
	ws.Head = w.checkpoint(ws, "").Commit
	publish("", workspace.PublishLeaseFailed)
	publish(strings.Repeat("1", 40), workspace.PublishLeaseFailed)
	if got, err := w.m.Publish(ctx, w.repo, ws.Branch, ws.Head, strings.Repeat("1", 40)); err != nil || got.Found != first || !strings.Contains(got.Detail, "somebody moved the branch") {
		t.Errorf("published %+v, %v, want what is there, %s", got, err, first)
	}
	w.write(remote, "hooks/pre-receive", "#!/bin/sh\necho protected >&2\nexit 1\n")
	if err := os.Chmod(filepath.Join(remote, "hooks", "pre-receive"), 0o755); err != nil {
		t.Fatal(err)
	}
	publish(first, workspace.PublishFailed)
	w.run(remote, "rm", "hooks/pre-receive")
	publish(first, workspace.PublishPushed)
	if got := w.run(remote, "git", "--git-dir", remote, "rev-parse", ws.Branch); got != ws.Head {
		t.Errorf("the remote has %s", got)
	}
	w.run(remote, "mv", remote, remote+"-away")
	if got, err := w.m.Publish(ctx, w.repo, ws.Branch, first, ws.Head); err == nil || !strings.Contains(err.Error(), "check network and access") {
		t.Errorf("published %+v, %v", got, err)
	}
	if _, err := w.m.Publish(ctx, w.repo, "main", ws.Head, ""); err == nil {
		t.Error("the base was pushed to")
	}
	if _, err := w.m.Publish(ctx, w.repo, "--exec=x", ws.Head, ""); err == nil {
		t.Error("an option was taken for a branch")
	}
}

// What a power loss may leave of files that were not made durable is made again.
func TestTornFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	w.write(dir, "x.txt", "x\n")
	ws.Head = w.checkpoint(ws, "").Commit
	for _, name := range []string{
		"stores/acme%2Fshop/admin/ws-1/index", "stores/acme%2Fshop/admin/ws-1/HEAD", "stores/acme%2Fshop/admin/ws-1/commondir",
		"stores/acme%2Fshop/admin/ws-1/known.json", "stores/acme%2Fshop/seen.json", "stores/acme%2Fshop/pool.json", "workspaces/ws-1/.git/HEAD",
		"workspaces/ws-1/.git/config", "workspaces/ws-1/.git/refs/heads/backburner/ws-1", "workspaces/ws-1/.git/objects/info/alternates",
	} {
		for _, content := range []string{"", strings.Repeat("\x00", 100)} {
			w.write(w.root, name, content)
			w.restart()
			w.sync(ws.Branch)
			p, err := w.m.Prepare(context.Background(), w.repo, ws)
			if err != nil || p.Status != workspace.UpToDate {
				t.Fatalf("with %q in %s: prepared %+v, %v", content, name, p, err)
			}
			w.pristine(ws)
		}
	}
}

// The whole root can be moved, and its path may have anything in it that git can take.
func TestRootMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	w.write(dir, "x.txt", "x\n")
	w.commitIn(dir, "own")
	moved := filepath.Join(t.TempDir(), `a: 'root', 100% odd \ #1`)
	if err := os.Rename(w.root, moved); err != nil {
		t.Fatal(err)
	}
	w.root = moved
	w.restart()
	w.sync()
	ws.Head = w.checkpoint(ws, "").Commit
	w.prepare(ws, workspace.UpToDate)
	w.pristine(ws)
	other := workspace.Workspace{ID: "ws-2", Branch: "backburner/ws-2"}
	other.Head = w.prepare(other, workspace.Created).Head
	w.pristine(other)
	w.run(w.m.Path(other.ID), "git", "fsck", "--strict")
}
