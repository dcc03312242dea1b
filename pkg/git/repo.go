package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Repo is one repository, with what a call in it may use. It is a value: the With methods return a changed copy.
type Repo struct {
	git      *Git
	dir      string // GIT_DIR
	common   string // the repository whose references and objects dir shares, when it is another
	workTree string
	borrowed string
	index    string
	identity Identity
	sign     bool
	private  bool
	own      string // reference that only backburner sets, also in somebody's repository
}

// Private is a repository that only backburner uses: its locks may be broken when their holder is dead.
func (g *Git) Private(dir string) Repo { return Repo{git: g, dir: dir, private: true} }

// Foreign is somebody's repository that backburner was asked to work with; its files and locks are theirs. dir is the
// repository itself (the .git folder), see [Locate].
func (g *Git) Foreign(dir string) Repo { return Repo{git: g, dir: dir} }

// Owning is r, knowing that the reference ref (full name) is set by backburner alone: its lock may be broken when it is held for long.
func (r Repo) Owning(ref string) Repo {
	r.own = ref
	return r
}

// WithWorkTree is r with the folder path as its working tree.
func (r Repo) WithWorkTree(path string) Repo {
	r.workTree = path
	return r
}

// Sharing is r, knowing that its references and objects are those of the repository common.
func (r Repo) Sharing(common string) Repo {
	r.common = common
	return r
}

// Borrowing is r, reading objects also from the folder objects of another repository. Of that one nothing else is read, neither configuration
// nor references. What is read this way is believed only after [Repo.Import].
func (r Repo) Borrowing(objects string) Repo {
	r.borrowed = objects
	return r
}

// WithIndex is r with the index file path instead of its own.
func (r Repo) WithIndex(path string) Repo {
	r.index = path
	return r
}

// Identity is who an author or committer is.
type Identity struct{ Name, Email string }

func (i Identity) String() string { return i.Name + " <" + i.Email + ">" }

// ParseIdentity reads "Name <mail>".
func ParseIdentity(s string) (Identity, error) {
	name, rest, ok := strings.Cut(s, "<")
	email, after, closed := strings.Cut(rest, ">")
	id := Identity{strings.TrimSpace(name), strings.TrimSpace(email)}
	if !ok || !closed || strings.TrimSpace(after) != "" || id.Name == "" || id.Email == "" || strings.ContainsAny(s, "\n\x00") {
		return Identity{}, fmt.Errorf(`identity %q: write it as "Name <mail>"`, s)
	}
	return id, nil
}

// As is r, committing as who, with a signature when sign is set.
func (r Repo) As(who Identity, sign bool) Repo {
	r.identity, r.sign = who, sign
	return r
}

func (i Identity) env() []string {
	return []string{
		"GIT_AUTHOR_NAME=" + i.Name, "GIT_AUTHOR_EMAIL=" + i.Email,
		"GIT_COMMITTER_NAME=" + i.Name, "GIT_COMMITTER_EMAIL=" + i.Email,
	}
}

// Dir is the repository's own folder.
func (r Repo) Dir() string { return r.dir }

// shared is the folder with the references and objects.
func (r Repo) shared() string {
	if r.common != "" {
		return r.common
	}
	return commonOf(r.dir)
}

func (r Repo) name() string {
	if r.workTree != "" {
		return r.workTree
	}
	return r.dir
}

func (r Repo) workingDir() string {
	if r.workTree != "" {
		return r.workTree
	}
	return r.dir
}

// InitBare makes an empty bare repository in the folder dir. objectFormat is "sha1" or "sha256".
func (g *Git) InitBare(ctx context.Context, dir, objectFormat string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("make repository: %w", err)
	}
	_, err := g.Private(dir).run(ctx, call{args: []string{
		"init", "--quiet", "--bare", "--template=", "--initial-branch=none", "--object-format=" + objectFormat,
	}})
	if err != nil {
		return err
	}
	return settleAll(dir)
}

// Author is the identity that the repository's owner configured. Git's guess from login and host name does not count.
func (r Repo) Author(ctx context.Context) (Identity, error) {
	result, err := r.run(ctx, call{args: []string{"var", "GIT_AUTHOR_IDENT"}, config: []Setting{{"user.useConfigOnly", "true"}}})
	if err != nil {
		return Identity{}, err
	}
	// "Name <mail> 1700000000 +0000"
	said := string(result.Stdout)
	return ParseIdentity(said[:strings.LastIndexByte(said, '>')+1])
}

// Collect packs what is loose and drops what nothing has reached for two weeks.
func (r Repo) Collect(ctx context.Context) error {
	_, err := r.run(ctx, call{args: []string{"gc", "--quiet", "--prune=2.weeks.ago"}})
	return err
}

// Check reads every object and fails when one is damaged or missing.
func (r Repo) Check(ctx context.Context) error {
	_, err := r.run(ctx, call{args: []string{"fsck", "--no-progress", "--no-dangling"}})
	return err
}

// Objects is the folder of the repository's objects.
func (r Repo) Objects() string { return filepath.Join(r.shared(), "objects") }
