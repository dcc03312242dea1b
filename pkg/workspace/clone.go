package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/backburner-cli/backburner/pkg/git"
)

// clone is a workspace's own repository, which an agent may have changed in any way. It is read and written as plain files, below the workspace's
// folder and nowhere else, wherever links in it lead. git is never run on it.
type clone struct {
	root *os.Root
	dir  string
}

func openClone(dir string) (*clone, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &RejectedError{dir, "it is not a folder"}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &clone{root, dir}, nil
}

func (c *clone) close() { c.root.Close() }

// objects is where its own objects are.
func (c *clone) objects() string { return filepath.Join(c.dir, ".git", "objects") }

// largestFile bounds what is read of one of its files.
const largestFile = 64 << 20

// gitFiles shows the plain files and folders of its .git. Links, pipes and devices are not there.
type gitFiles struct{ root *os.Root }

func (c *clone) files() gitFiles { return gitFiles{c.root} }

// Open implements fs.FS.
func (g gitFiles) Open(name string) (fs.File, error) {
	full := path.Join(".git", name)
	info, err := g.root.Lstat(full)
	if errors.Is(err, fs.ErrPermission) {
		return nil, err
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if info.IsDir() {
		return g.root.Open(full)
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return g.root.OpenFile(full, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
}

// ReadFile implements fs.ReadFileFS; a file larger than any git writes is an error.
func (g gitFiles) ReadFile(name string) ([]byte, error) {
	file, err := g.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, largestFile+1))
	if err == nil && len(content) > largestFile {
		err = &fs.PathError{Op: "read", Path: name, Err: errors.New("too large")}
	}
	return content, err
}

func (g gitFiles) has(name string) bool {
	_, err := g.root.Lstat(path.Join(".git", name))
	return err == nil
}

// lend makes its objects fit to be read by git: they borrow from the pool and nowhere else, and there is nothing among them at which
// git would wait for ever.
func (c *clone) lend(pool string) error {
	if err := c.place("objects/info/alternates", []byte(pool+"\n")); err != nil {
		return err
	}
	return fs.WalkDir(c.root.FS(), ".git/objects", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Type().IsRegular() {
			return err
		}
		return c.root.Remove(name)
	})
}

// found is what a workspace's own repository says.
type found struct {
	damage    string // why it is no repository; then the rest is empty
	branch    string // full name; "" when HEAD is detached
	head      string // commit; "" when the branch has none
	operation string // what git is in the middle of: merge, rebase, ...
	merging   string // the other commit of a merge
}

// operations are the files that show what git is in the middle of.
var operations = []struct{ file, name string }{
	{"rebase-merge", "rebase"}, {"rebase-apply/applying", "am"}, {"rebase-apply", "rebase"}, {"MERGE_HEAD", "merge"},
	{"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"}, {"BISECT_LOG", "bisect"},
}

// look reads HEAD, its branch, and what is going on.
func (c *clone) look() found {
	info, err := c.root.Lstat(".git")
	if err != nil {
		return found{damage: ".git is gone"}
	}
	if !info.IsDir() {
		return found{damage: ".git was replaced by something that is not a folder"}
	}
	files := c.files()
	branch, head, err := git.HeadBranch(files)
	if err == nil && branch != "" {
		head, err = git.ReadRef(files, branch)
	}
	if err != nil {
		return found{damage: err.Error()}
	}
	if info, err := c.root.Lstat(".git/objects"); err != nil || !info.IsDir() {
		return found{damage: "its objects are gone"}
	}
	f := found{branch: branch, head: head}
	for _, op := range operations {
		if files.has(op.file) {
			f.operation = op.name
			break
		}
	}
	if f.operation == "merge" {
		content, _ := files.ReadFile("MERGE_HEAD")
		if id := strings.TrimSpace(string(content)); git.IsObjectID(id) {
			f.merging = id
		}
	}
	return f
}

// layout is what a workspace's own repository is made to say.
type layout struct {
	branch  string // full name
	head    string
	base    string // full name of the tracking branch of the base, and its commit
	baseID  string
	pool    string
	author  git.Identity
	indexOf string // file whose content becomes its index; "": leave the index
}

// config is its configuration. It has no remote: there is nothing an agent could push to.
func (l layout) config() []byte {
	var b bytes.Buffer
	version := 0
	if len(l.head) == 64 {
		version = 1
	}
	fmt.Fprintf(&b, "[core]\n\trepositoryformatversion = %d\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n", version)
	if version == 1 {
		b.WriteString("[extensions]\n\tobjectformat = sha256\n")
	}
	b.WriteString("[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[commit]\n\tgpgsign = false\n")
	fmt.Fprintf(&b, "[user]\n\tname = %s\n\temail = %s\n", quoteConfig(l.author.Name), quoteConfig(l.author.Email))
	return b.Bytes()
}

func quoteConfig(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// foreign are the files that no workspace has when it is made, and that would change what git does in it.
var foreign = []string{
	"hooks", "commondir", "gitdir", "config.worktree", "shallow", "info/attributes", "info/grafts", "info/sparse-checkout",
	"objects/info/http-alternates",
}

// arrange makes the workspace's own repository say what l says, whatever is there, and writes only what differs.
func (c *clone) arrange(l layout) error {
	if err := c.folder(".git"); err != nil {
		return err
	}
	for _, name := range foreign {
		if c.files().has(name) {
			if err := c.root.RemoveAll(path.Join(".git", name)); err != nil {
				return err
			}
		}
	}
	files := []struct {
		name    string
		content []byte
	}{
		{"config", l.config()},
		{"objects/info/alternates", []byte(l.pool + "\n")},
		{l.branch, []byte(l.head + "\n")},
		{l.base, []byte(l.baseID + "\n")},
		{"HEAD", []byte("ref: " + l.branch + "\n")},
	}
	if l.indexOf != "" {
		index, err := os.ReadFile(l.indexOf)
		if err != nil {
			return err
		}
		files = append(files, struct {
			name    string
			content []byte
		}{"index", index})
	}
	for _, f := range files {
		if strings.TrimSpace(string(f.content)) == "" {
			continue
		}
		if err := c.place(f.name, f.content); err != nil {
			return fmt.Errorf("write .git/%s of the workspace: %w", f.name, err)
		}
	}
	return c.folder(".git/refs/heads")
}

// settle removes what git leaves of an operation in progress, and locks. That nobody is at work in it is for the caller to see to.
func (c *clone) settle() error {
	left := []string{
		"MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "MERGE_AUTOSTASH", "AUTO_MERGE", "SQUASH_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD",
		"BISECT_LOG", "BISECT_START", "BISECT_TERMS", "BISECT_NAMES", "BISECT_EXPECTED_REV", "rebase-merge", "rebase-apply", "sequencer",
	}
	for _, name := range append(left, c.locks()...) {
		if err := c.root.RemoveAll(path.Join(".git", name)); err != nil {
			return err
		}
	}
	return nil
}

// locks lists the locks in its own repository: of its index, HEAD, configuration and references.
func (c *clone) locks() (found []string) {
	files := c.files()
	entries, _ := fs.ReadDir(files, ".")
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".lock") {
			found = append(found, entry.Name())
		}
	}
	_ = fs.WalkDir(files, "refs", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(name, ".lock") {
			found = append(found, name)
		}
		return nil
	})
	return found
}

// youngLock is how long a lock may be held by a program that does not call itself git. Where processes cannot be looked at, heldLock is how
// long it is taken for that of a person at work there. An agent's own processes end before backburner looks.
const (
	youngLock = 10 * time.Second
	heldLock  = 15 * time.Minute
)

// held says which lock somebody may hold; "" when none is there, or their holders are dead.
func (c *clone) held(now time.Time) string {
	for _, name := range c.locks() {
		info, err := c.root.Lstat(path.Join(".git", name))
		if err != nil {
			continue
		}
		age := now.Sub(info.ModTime())
		busy, known := git.AtWork(c.dir)
		if age < youngLock || busy || !known && age < heldLock {
			return name
		}
	}
	return ""
}

// folder makes the folder name and those on the way, in place of anything that is not one.
func (c *clone) folder(name string) error {
	at := ""
	for part := range strings.SplitSeq(name, "/") {
		at = path.Join(at, part)
		info, err := c.root.Lstat(at)
		if err == nil && info.IsDir() {
			continue
		}
		if err == nil {
			if err := c.root.Remove(at); err != nil {
				return err
			}
		}
		if err := c.root.Mkdir(at, 0o777); err != nil {
			return err
		}
	}
	return nil
}

// place makes the file name below .git have content.
func (c *clone) place(name string, content []byte) error {
	if have, err := c.files().ReadFile(name); err == nil && bytes.Equal(have, content) {
		return nil
	}
	full := path.Join(".git", name)
	if err := c.folder(path.Dir(full)); err != nil {
		return err
	}
	if info, err := c.root.Lstat(full); err == nil && info.IsDir() {
		if err := c.root.RemoveAll(full); err != nil {
			return err
		}
	}
	tmp := full + ".backburner"
	if err := c.root.RemoveAll(tmp); err != nil {
		return err
	}
	// A name that exists is refused, and with it a link in its place.
	file, err := c.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return c.root.Rename(tmp, full)
}
