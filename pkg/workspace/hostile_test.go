package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/workspace"
)

// trap is a program that an agent plants wherever git might run it, and the file that shows that it did.
func (w *world) trap() (program, marker string) {
	marker = filepath.Join(w.t.TempDir(), "marker")
	program = filepath.Join(w.t.TempDir(), "trap")
	w.write(filepath.Dir(program), "trap", "#!/bin/sh\necho \"$0 $*\" >> '"+marker+"'\ncat\n")
	if err := os.Chmod(program, 0o755); err != nil {
		w.t.Fatal(err)
	}
	return program, marker
}

// sprung says whether a trap was run since the last time.
func sprung(marker string) bool {
	return os.Remove(marker) == nil
}

// infest makes the repository in dir run program in every way known.
func (w *world) infest(dir, program string) {
	w.t.Helper()
	var config strings.Builder
	for section, keys := range map[string]string{
		"core": "fsmonitor sshCommand editor pager gitProxy askPass alternateRefsCommand", "diff": "external", `diff "x"`: "textconv command",
		`filter "x"`: "clean smudge process", `merge "x"`: "driver", "gpg": "program", "credential": "helper", "uploadpack": "packObjectsHook",
		"sequence": "editor", `remote "origin"`: "uploadpack vcs", "pager": "status", "interactive": "diffFilter",
	} {
		fmt.Fprintf(&config, "[%s]\n", section)
		for key := range strings.FieldsSeq(keys) {
			fmt.Fprintf(&config, "\t%s = %s\n", key, program)
		}
	}
	config.WriteString("[alias]\n\tstatus = !" + program + "\n\tcommit = !" + program + `
[commit]
	gpgSign = true
[core]
	hooksPath = .git/evil
	worktree = /
	bare = true
	fsmonitorHookVersion = 1
	attributesFile = .git/info/attributes
[extensions]
	partialClone = origin
[remote "origin"]
	url = ext::` + program + `
[protocol "ext"]
	allow = always
[include]
	path = /dev/zero/none
[gc]
	auto = 1
`)
	w.write(dir, ".git/config", config.String())
	hooks := "pre-commit post-commit post-checkout post-merge reference-transaction post-index-change prepare-commit-msg commit-msg pre-push " +
		"post-rewrite pre-auto-gc fsmonitor-watchman post-receive pre-receive update post-update"
	for _, folder := range []string{"hooks", "evil"} {
		for hook := range strings.FieldsSeq(hooks) {
			w.write(dir, ".git/"+folder+"/"+hook, "#!/bin/sh\n"+program+"\n")
			if err := os.Chmod(filepath.Join(dir, ".git", folder, hook), 0o755); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	w.write(dir, ".git/info/attributes", "* filter=x diff=x merge=x\n")
	w.write(dir, ".gitattributes", "* filter=x diff=x merge=x\n")
}

// Nothing that an agent writes into its repository's configuration, hooks or attributes is run by any call.
func TestNothingOfTheWorkspaceIsRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	ws, dir := w.started()
	program, marker := w.trap()
	w.run(dir, "git", "config", "--file", ".git/config", "core.fsmonitor", program)
	_, _ = command(dir, "git", "status")
	if !sprung(marker) {
		t.Fatal("the trap does not work")
	}
	safe := func(step string) {
		t.Helper()
		if sprung(marker) {
			t.Errorf("%s ran what the workspace said", step)
		}
	}
	steps := []struct {
		name string
		do   func()
	}{
		{"verify", func() { _, _ = w.m.Verify(ctx, w.repo, ws) }},
		{"checkpoint", func() { ws.Head = w.checkpoint(ws, "").Commit }},
		{"prepare", func() { w.prepare(ws, workspace.UpToDate) }},
		{"merge mainline", func() {
			w.write(w.user, "mainline.txt", "more\n")
			w.run(w.user, "git", "add", ".")
			w.run(w.user, "git", "commit", "-q", "-m", "mainline")
			w.sync()
			c, err := w.m.MergeMainline(ctx, w.repo, ws, "merge main")
			if err != nil {
				t.Error(err)
			}
			ws.Head = c.Commit
		}},
		{"restore", func() { w.restore(ws, workspace.Recovered) }},
	}
	for _, step := range steps {
		switch step.name {
		case "verify", "checkpoint":
			w.write(dir, "work.txt", "for checkpoint\n")
		case "restore":
			w.write(dir, "work.txt", "for restore\n")
		}
		w.infest(dir, program)
		sprung(marker)
		step.do()
		safe(step.name)
	}
	if got := w.store("show", ws.Head+":work.txt"); got != "for checkpoint" {
		t.Errorf("committed %q: a filter of the workspace was used", got)
	}
	w.run(dir, "sh", "-c", "rm -rf .git && git init -q") // a stranger's repository in its place
	w.infest(dir, program)
	sprung(marker)
	w.checkpoint(ws, workspace.HistoryRewritten)
	w.restore(ws, workspace.Recovered)
	safe("restore of another repository")
	w.pristine(ws)
	w.sound()
}

// A submodule that an agent filled in is a repository with a configuration too.
func TestNothingOfASubmoduleIsRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := filepath.Join(t.TempDir(), "sub")
	w.write(sub, "s.txt", "sub\n")
	w.run(sub, "git", "init", "-q")
	w.run(sub, "git", "add", ".")
	w.run(sub, "git", "commit", "-q", "-m", "sub")
	w.run(w.user, "git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub, "sub")
	w.run(w.user, "git", "commit", "-q", "-m", "add sub")
	ws, dir := w.started()
	w.run(dir, "git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	if w.read(dir, "sub", "s.txt") != "sub\n" {
		t.Fatal("the submodule is empty")
	}
	program, marker := w.trap()
	inner := w.run(filepath.Join(dir, "sub"), "git", "rev-parse", "--absolute-git-dir")
	w.run(dir, "git", "config", "--file", inner+"/config", "filter.x.clean", program)
	w.write(inner, "info/attributes", "* filter=x\n")
	stale := time.Now().Add(-time.Hour)
	_ = os.Chtimes(filepath.Join(dir, "sub", "s.txt"), stale, stale)
	_, _ = command(dir, "git", "add", "-A")
	if !sprung(marker) {
		t.Fatal("the trap does not work")
	}
	w.write(dir, "work.txt", "work\n")
	stale = stale.Add(-time.Hour)
	_ = os.Chtimes(filepath.Join(dir, "sub", "s.txt"), stale, stale)
	ws.Head = w.checkpoint(ws, "").Commit
	w.prepare(ws, workspace.UpToDate)
	w.write(dir, "more.txt", "work\n")
	w.restore(ws, workspace.Recovered)
	if sprung(marker) {
		t.Error("a filter of a submodule was run")
	}
}

// An agent that writes through what its objects are linked to damages the copy, and the copy is made good.
func TestLinkedObjectsAreACopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	other := workspace.Workspace{ID: "ws-2", Branch: "backburner/ws-2"}
	other.Head = w.prepare(other, workspace.Created).Head
	pool := strings.TrimSpace(w.read(dir, ".git", "objects", "info", "alternates"))
	if strings.Contains(pool, "stores") {
		t.Fatalf("the workspace borrows from the store: %s", pool)
	}
	w.run(pool, "sh", "-c", `for f in pack/*; do chmod u+w "$f"; s=$(stat -c %s "$f"); head -c "$s" /dev/zero > "$f.new"; cat "$f.new" > "$f"; rm "$f.new"; touch -d 2001-01-01 "$f"; done`)
	w.write(pool, "info/alternates", "/etc\n")
	w.write(pool, "pack/pack-evil.idx", "evil")
	w.fails(w.m.Path(other.ID), "git", "log")
	w.sound()
	w.store("gc", "--quiet", "--prune=now")
	w.sound()

	w.prepare(other, workspace.UpToDate)
	w.pristine(other)
	w.run(w.m.Path(other.ID), "git", "fsck", "--strict")
	if _, err := os.Stat(filepath.Join(pool, "info", "alternates")); err == nil {
		t.Error("what was planted in the pool is still there")
	}

	// The same with the folder itself.
	w.run(filepath.Dir(pool), "rm", "-rf", "objects")
	w.run(filepath.Dir(pool), "ln", "-s", w.user, "objects")
	check := w.untouched()
	w.write(dir, "x.txt", "x\n")
	ws.Head = w.checkpoint(ws, "").Commit
	w.pristine(ws)
	check()
}

// What is in the workspace's own objects is believed only when it is what it says.
func TestForgedObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	w.write(dir, "x.txt", "old\n")
	w.run(dir, "git", "add", ".")
	w.run(dir, "git", "commit", "-q", "-m", "old")
	blob := w.run(dir, "git", "rev-parse", "HEAD:x.txt")
	w.write(dir, "x.txt", "good\n")
	w.run(dir, "git", "commit", "-q", "-a", "-m", "good")
	w.write(dir, "other.txt", "forged\n")
	forged := w.run(dir, "git", "hash-object", "-w", "other.txt")
	object := func(id string) string { return ".git/objects/" + id[:2] + "/" + id[2:] }
	w.run(dir, "cp", "-f", object(forged), object(blob))
	c := w.checkpoint(ws, workspace.Damaged)
	if c.Commit != ws.Head || c.Salvage == "" {
		t.Errorf("checkpoint %+v", c)
	}
	if got := w.store("show", c.Salvage+":x.txt"); got != "good" {
		t.Errorf("the file is saved as %q", got)
	}
	r := w.restore(ws, workspace.Recovered)
	if len(r.Aside) == 0 {
		t.Errorf("a damaged repository was thrown away: %+v", r)
	}
	w.pristine(ws)
}

// Whatever .git is replaced with, nothing outside is written, the files are saved, and the workspace is made good.
func TestReplacedGit(t *testing.T) {
	t.Parallel()
	outside := func(w *world) string {
		dir := filepath.Join(w.t.TempDir(), "outside")
		w.run(filepath.Dir(dir), "git", "init", "-q", dir)
		return dir
	}
	for name, replace := range map[string]func(w *world, dir string) string{
		"gone": func(w *world, dir string) string { return "" },
		"link": func(w *world, dir string) string {
			to := outside(w)
			w.run(dir, "ln", "-s", to+"/.git", ".git")
			return to
		},
		"file": func(w *world, dir string) string {
			to := outside(w)
			w.write(dir, ".git", "gitdir: "+to+"/.git\n")
			return to
		},
		"link to the store": func(w *world, dir string) string {
			w.run(dir, "ln", "-s", w.storeDir(), ".git")
			return ""
		},
		"links inside": func(w *world, dir string) string {
			to := outside(w)
			w.run(dir, "git", "init", "-q")
			w.run(dir, "rm", "-rf", ".git/refs", ".git/objects", ".git/HEAD")
			for _, part := range []string{"refs", "objects", "HEAD"} {
				w.run(dir, "ln", "-s", to+"/.git/"+part, ".git/"+part)
			}
			return to
		},
		"pipe": func(w *world, dir string) string {
			w.run(dir, "git", "init", "-q")
			w.run(dir, "rm", ".git/HEAD")
			if err := syscall.Mkfifo(filepath.Join(dir, ".git", "HEAD"), 0o644); err != nil {
				w.t.Fatal(err)
			}
			return ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ws, dir := w.started()
			w.write(dir, "work.txt", "work\n")
			w.run(dir, "rm", "-rf", ".git")
			target := replace(w, dir)
			before := ""
			if target != "" {
				before = w.run(target, "find", ".", "-printf", "%p %s %T@\n")
			}
			w.prepare(ws, workspace.BlockedDirty)
			if c := w.checkpoint(ws, workspace.Replaced); w.store("show", c.Salvage+":work.txt") != "work" {
				t.Error("the work was not saved")
			}
			r := w.restore(ws, workspace.Recovered)
			if w.store("show", r.SalvageRef+":work.txt") != "work" {
				t.Error("the work was not saved")
			}
			w.pristine(ws)
			if target != "" {
				if after := w.run(target, "find", ".", "-printf", "%p %s %T@\n"); after != before {
					t.Errorf("outside was changed:\n%s\nbefore:\n%s", after, before)
				}
			}
		})
	}
}

// A workspace that leads elsewhere is rejected, and elsewhere is left alone.
func TestWorkspaceLeadsOutside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	ws, dir := w.started()
	w.run(filepath.Dir(dir), "rm", "-rf", dir)
	w.run(filepath.Dir(dir), "ln", "-s", w.user, dir)
	check := w.untouched()
	w.restore(ws, workspace.Rejected)
	var rejected *workspace.RejectedError
	if _, err := w.m.Prepare(ctx, w.repo, ws); !errors.As(err, &rejected) {
		t.Errorf("prepare: %v", err)
	}
	if _, err := w.m.Checkpoint(ctx, w.repo, ws, "x"); !errors.As(err, &rejected) {
		t.Errorf("checkpoint: %v", err)
	}
	if err := w.m.Remove(ctx, w.repo, ws.ID); !errors.As(err, &rejected) {
		t.Errorf("remove: %v", err)
	}
	check()
	for _, id := range []string{"../../x", "..", ".", "/etc", "a/../../b", "-rf", ""} {
		if path := w.m.Path(id); filepath.Dir(path) != filepath.Join(w.root, "workspaces") {
			t.Errorf("workspace %q is at %s", id, path)
		}
	}
}

// Files may be called anything, and links are kept as links.
func TestOddFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	for _, name := range []string{"--output=x", "-rf", "a b", "new\nline", "tab\there", `back\slash`, "q\"uote", ":(top)magic", "[a]", "*", "ümlaut"} {
		w.write(dir, name, "odd\n")
	}
	w.run(dir, "ln", "-s", "/etc/passwd", "link-out")
	w.run(dir, "ln", "-s", "../../../..", "link-up")
	w.run(dir, "sh", "-c", "rm -r src && ln -s /etc src") // files in a folder that is a link now
	w.run(dir, "sh", "-c", "rm README.md && mkdir README.md && echo in > README.md/in")
	c := w.checkpoint(ws, "")
	if len(c.Changed) != 18 {
		t.Errorf("changed %d: %q", len(c.Changed), c.Changed)
	}
	if got := w.store("ls-tree", c.Commit, "src"); !strings.HasPrefix(got, "120000") {
		t.Errorf("the link is %s", got)
	}
	ws.Head = c.Commit
	w.pristine(ws)
	w.write(dir, "more/-x", "x\n")
	w.restore(ws, workspace.Recovered)
	w.pristine(ws)
	if _, err := os.Stat(filepath.Join(w.root, "x")); err == nil {
		t.Error("a file name was taken for an option")
	}
}

// A pipe or a socket in place of a file is no reason to hang, or to lose the rest.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	w.write(dir, "work.txt", "work\n")
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	ws.Head = w.checkpoint(ws, "").Commit
	w.write(dir, "more.txt", "work\n")
	w.run(dir, "rm", "README.md")
	if err := syscall.Mkfifo(filepath.Join(dir, "README.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := w.checkpoint(ws, workspace.Uncommittable)
	if w.store("show", c.Salvage+":more.txt") != "work" {
		t.Error("the rest was not saved")
	}
	w.restore(ws, workspace.Recovered)
	w.pristine(ws)
}

// Pipes with the names of files that git reads wherever they are.
func TestPipesThatGitReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	w.write(dir, "x.txt", "x\n")
	for _, name := range []string{".gitattributes", "src/.gitignore", "src/.gitattributes"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws.Head = w.checkpoint(ws, "").Commit
	w.pristine(ws)
}

// Objects at which git would wait for ever, or that come from elsewhere, are not read.
func TestObjectsThatAreNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ws, dir := w.started()
	w.write(dir, "x.txt", "x\n")
	own := w.commitIn(dir, "own")
	elsewhere := t.TempDir()
	w.write(dir, ".git/objects/info/alternates", elsewhere+"\n")
	for _, folder := range []string{filepath.Join(dir, ".git", "objects"), elsewhere} {
		w.run(folder, "mkdir", "-p", "pack", "11")
		for _, name := range []string{"pack/pack-" + ws.Head + ".idx", "pack/multi-pack-index", "11/" + strings.Repeat("1", 38)} {
			if err := syscall.Mkfifo(filepath.Join(folder, name), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if c := w.checkpoint(ws, ""); c.Commit != own {
		t.Errorf("checkpoint %+v", c)
	}
}

// What the user configured for all their repositories goes on working.
func TestUsersOwnFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(w.user, "git", "config", "--global", "filter.upper.clean", "tr a-z A-Z")
	t.Cleanup(func() { w.run(w.user, "git", "config", "--global", "--remove-section", "filter.upper") })
	w.write(w.user, ".gitattributes", "*.up filter=upper\n")
	w.run(w.user, "git", "add", ".")
	w.run(w.user, "git", "commit", "-q", "-m", "attributes")
	ws, dir := w.started()
	w.write(dir, "x.up", "shout\n")
	if c := w.checkpoint(ws, ""); w.store("show", c.Commit+":x.up") != "SHOUT" {
		t.Error("the user's own filter was not used")
	}
}
