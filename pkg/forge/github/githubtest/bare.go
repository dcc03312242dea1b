package githubtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
)

// bare is the git side of a repository: a real one, that real git pushes to.
type bare struct {
	dir      string
	compared map[string]*comparison // by both commits
}

// gitTimeout is far more than any call here takes.
const gitTimeout = 60 * time.Second

// openBare makes the bare repository of a slug, by hand since tests make many, or
// takes the one that is there.
func openBare(root, slug string) *bare {
	b := &bare{dir: filepath.Join(root, slug+".git"), compared: map[string]*comparison{}}
	if info, err := os.Lstat(b.dir); err == nil && info.Mode()&os.ModeSymlink != 0 {
		must(os.Remove(b.dir)) // whoever takes an old name ends that it leads on
	}
	if _, err := os.Stat(filepath.Join(b.dir, "HEAD")); err == nil {
		return b
	}
	for _, folder := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		must(os.MkdirAll(filepath.Join(b.dir, folder), 0o755))
	}
	const config = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[receive]\n\tautogc = false\n"
	must(os.WriteFile(filepath.Join(b.dir, "config"), []byte(config), 0o644))
	must(os.WriteFile(filepath.Join(b.dir, "HEAD"), []byte("ref: refs/heads/main\n"), 0o644))
	return b
}

// link moves the repository to its new name; the old path leads there, as the
// old address does on GitHub.
func (b *bare) link(root, slug string) {
	to := filepath.Join(root, slug+".git")
	must(os.MkdirAll(filepath.Dir(to), 0o755))
	must(os.Rename(b.dir, to))
	must(os.Symlink(to, b.dir))
	b.dir = to
}

func must(err error) {
	if err != nil {
		panic(fmt.Errorf("githubtest: %w", err))
	}
}

// git runs a call that has to succeed.
func (b *bare) git(args ...string) string {
	out, exit := b.try(args...)
	if exit != 0 {
		panic(fmt.Sprintf("githubtest: git %s in %s: exit %d: %s", strings.Join(args, " "), b.dir, exit, out))
	}
	return out
}

// try runs a call whose exit code is an answer.
func (b *bare) try(args ...string) (out string, exit int) { return b.run(nil, "", args) }

func (b *bare) run(more []string, input string, args []string) (out string, exit int) {
	env := append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_COMMITTER_NAME=GitHub", "GIT_COMMITTER_EMAIL=noreply@github.com",
	}, more...)
	r, err := proc.Run(context.Background(), proc.Command{
		Args: append([]string{"git"}, args...), Dir: b.dir, Env: env, Stdin: []byte(input), Timeout: gitTimeout,
	})
	must(err)
	if r.Exit != 0 {
		return string(r.Stdout) + string(r.Stderr), r.Exit
	}
	return strings.TrimRight(string(r.Stdout), "\n"), 0
}

// author of a commit; no date is that of the committer.
type author struct{ name, mail, date string }

// commitTree writes a commit, at a time of GitHub's clock.
func (b *bare) commitTree(at time.Time, tree, title, message string, by author, parents ...string) string {
	date := fmt.Sprintf("%d +0000", at.Unix())
	if by.date == "" {
		by.date = date
	}
	args := []string{"commit-tree", tree}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	env := []string{"GIT_COMMITTER_DATE=" + date, "GIT_AUTHOR_DATE=" + by.date, "GIT_AUTHOR_NAME=" + by.name, "GIT_AUTHOR_EMAIL=" + by.mail}
	out, exit := b.run(env, strings.TrimSpace(title+"\n\n"+message)+"\n", args)
	if exit != 0 {
		panic("githubtest: git commit-tree: " + out)
	}
	return out
}

// ref reads a ref as git's own files hold it: no process, since every request
// looks at the heads of open pull requests. "" when it is not there.
func (b *bare) ref(name string) string {
	if text, err := os.ReadFile(filepath.Join(b.dir, name)); err == nil {
		return strings.TrimSpace(string(text))
	}
	packed, err := os.ReadFile(filepath.Join(b.dir, "packed-refs"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(packed)) {
		if id, n, ok := strings.Cut(strings.TrimSpace(line), " "); ok && n == name {
			return id
		}
	}
	return ""
}

func (b *bare) branch(name string) string { return b.ref("refs/heads/" + name) }

// defaultBranch is what HEAD names.
func (b *bare) defaultBranch() string {
	text, err := os.ReadFile(filepath.Join(b.dir, "HEAD"))
	must(err)
	return strings.TrimPrefix(strings.TrimSpace(string(text)), "ref: refs/heads/")
}

func (b *bare) has(commit string) bool {
	_, exit := b.try("cat-file", "-e", commit+"^{commit}")
	return exit == 0
}

// contains reports whether an ancestor is reachable from a commit.
func (b *bare) contains(commit, ancestor string) bool {
	_, exit := b.try("merge-base", "--is-ancestor", ancestor, commit)
	return exit == 0
}

// mergeTree merges without a checkout; clean is false on a conflict.
func (b *bare) mergeTree(base, head string) (tree string, clean bool) {
	out, exit := b.try("merge-tree", "--write-tree", base, head)
	tree, _, _ = strings.Cut(out, "\n")
	return tree, exit == 0
}
