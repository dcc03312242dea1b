package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
)

// ignored keeps what is made under the root out of git, and nothing else: specs, which people commit, may be beside it.
const ignored = "/.gitignore\n/" + rootMark + "\n/aside/\n/pools/\n/stores/\n/tmp/\n/workspaces/\n"

// setUpRoot makes the root, and makes it the state's. A zero owner only looks, and takes it as it is.
func setUpRoot(given string, owner Owner) (string, error) {
	abs, err := filepath.Abs(given)
	if err != nil {
		return "", err
	}
	if strings.ContainsAny(abs, "\n\"") {
		return "", &RejectedError{abs, "git cannot borrow objects from a path with a quote or a line break: set [workspace] root to another folder"}
	}
	if err := os.MkdirAll(abs, 0o777); err != nil {
		return "", fmt.Errorf("workspace root: %w", err)
	}
	root, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("workspace root: %w", err)
	}
	if err := claim(root, owner); err != nil {
		return "", err
	}
	ignore := filepath.Join(root, ".gitignore")
	if _, err := os.Lstat(ignore); errors.Is(err, fs.ErrNotExist) {
		if err := atomicfile.WriteRelaxed(ignore, []byte(ignored), 0o666); err != nil {
			return "", err
		}
	}
	return root, nil
}

// Owner is the state that the folders below a root belong to.
type Owner struct {
	State string    `json:"state,omitempty"` // its folder, absolute
	Made  time.Time `json:"made,omitzero"`   // when that state was made, which it keeps when its folder is moved
}

// mark is the content of the root's mark.
type mark struct {
	About string `json:"about"`
	Owner
}

const (
	// rootMark is a file that says that the folders below a root are backburner's, to make and to remove, and whose they are.
	rootMark = ".backburner-root"
	about    = "The folders here are backburner's: it makes and removes them as it needs."
	elsewise = "set [workspace] root to a folder of its own"
)

// claim makes sure that the root is backburner's own, and the owner's: what is below it is removed when it is no longer needed, so nothing of
// anybody else may be there under the same names.
func claim(root string, owner Owner) error {
	alone, err := os.Open(root)
	if err != nil {
		return err
	}
	defer alone.Close()
	if err := lockFolder(alone); err != nil {
		return fmt.Errorf("lock %s: %w", root, err)
	}
	path := filepath.Join(root, rootMark)
	content, err := atomicfile.Read(path, 1<<16)
	if errors.Is(err, fs.ErrNotExist) {
		err = unused(root)
	}
	if err != nil {
		return err
	}
	var found mark
	_ = json.Unmarshal(content, &found) // one that says nothing belongs to no state yet
	if content != nil && (owner == (Owner{}) || owner.State == found.State && owner.Made.Equal(found.Made)) {
		return nil
	}
	if err := owner.mayTake(path, found.Owner); err != nil {
		return err
	}
	made, err := json.MarshalIndent(mark{about, owner}, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteRelaxed(path, append(made, '\n'), 0o666)
}

// lockFolder locks a folder until it is closed. Others of ours hold the lock for as long as it takes to write a small file.
func lockFolder(f *os.File) error {
	const patience, pause = 3 * time.Second, 10 * time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return err
		case waited >= patience:
			return fmt.Errorf("another process holds it (fuser -v '%s' names it): end that, or try again later", f.Name())
		}
		time.Sleep(pause)
	}
}

// unused fails unless backburner may make its folders in the root.
func unused(root string) error {
	if _, err := os.Lstat(filepath.Join(root, ".git")); err == nil || filepath.Dir(root) == root {
		return &RejectedError{root, "it is no folder for workspaces alone: " + elsewise}
	}
	if slices.Contains(strings.Split(root, string(filepath.Separator)), ".git") {
		return &RejectedError{root, "it lies within a repository's own folder: " + elsewise}
	}
	for _, name := range []string{"aside", "pools", "stores", "tmp", "workspaces"} {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
			return &RejectedError{filepath.Join(root, name), "it is there already and was not made by backburner: " + elsewise}
		}
	}
	return nil
}

// mayTake fails when the root whose mark is at path belongs to another state. A state that was moved is the same one, and so is what was made anew
// in its place; a copy of it, with the original still there, is another.
func (o Owner) mayTake(path string, before Owner) error {
	if before.State == "" || before.State == o.State {
		return nil
	}
	_, err := os.Stat(filepath.Join(before.State, "meta.json"))
	there := err == nil
	if before.Made.Equal(o.Made) && !there {
		return nil
	}
	now := "is there no more"
	if there {
		now = "is still there"
	}
	return &RejectedError{filepath.Dir(path), fmt.Sprintf(
		"its workspaces belong to the state in %s, which %s: %s, or, when the state in %s is to take that one's place, run : > '%s'",
		before.State, now, elsewise, o.State, strings.ReplaceAll(path, "'", `'\''`))}
}
