package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// ReadRef reads what the reference name of a private repository names, without a process. It is "" when there is no such reference.
func (r Repo) ReadRef(name string) (string, error) {
	if err := CheckRef(name); err != nil {
		return "", err
	}
	return ReadRef(os.DirFS(r.shared()), name)
}

// ReadRef reads what the reference name names in a repository whose own folder is dir; "" when there is no such reference. It reads the files
// format of references, loose and packed, and follows symbolic references a few steps. Nothing but what a well-formed repository contains
// is believed.
func ReadRef(dir fs.FS, name string) (string, error) {
	for range 5 {
		content, err := readFile(dir, name)
		if errors.Is(err, fs.ErrNotExist) || isFolder(dir, name) {
			return packedRef(dir, name)
		}
		if err != nil {
			return "", fmt.Errorf("read reference %s: %w", name, err)
		}
		line := strings.TrimSpace(string(content))
		if IsObjectID(line) {
			return line, nil
		}
		target, symbolic := strings.CutPrefix(line, "ref:")
		target = strings.TrimSpace(target)
		if !symbolic || CheckRef(target) != nil {
			return "", fmt.Errorf("read reference %s: it names no object", name)
		}
		name = target
	}
	return "", fmt.Errorf("read reference %s: too many symbolic references", name)
}

// readFile reads a file of a repository. Opening anything else, a pipe that an agent left there above all, could take for ever.
func readFile(dir fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(dir, name)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = &fs.PathError{Op: "read", Path: name, Err: errors.New("not a regular file: move it away")}
	}
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(dir, name)
}

// readPath is readFile of a path.
func readPath(path string) ([]byte, error) {
	return readFile(os.DirFS(filepath.Dir(path)), filepath.Base(path))
}

func isFolder(dir fs.FS, name string) bool {
	info, err := fs.Stat(dir, name)
	return err == nil && info.IsDir()
}

func packedRef(dir fs.FS, name string) (string, error) {
	all, err := packedRefs(dir)
	return all[name], err
}

func packedRefs(dir fs.FS) (map[string]string, error) {
	content, err := readFile(dir, "packed-refs")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read packed references: %w", err)
	}
	refs := map[string]string{}
	for line := range strings.Lines(string(content)) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if IsObjectID(id) && CheckRef(name) == nil {
			refs[name] = id
		}
	}
	return refs, nil
}

// AllRefs reads every reference below prefix (which ends in a slash) in a repository whose own folder is dir, by full name -> object
// id. References that cannot be read are left out.
func AllRefs(dir fs.FS, prefix string) (map[string]string, error) {
	packed, err := packedRefs(dir)
	if err != nil {
		return nil, err
	}
	refs := map[string]string{}
	for name, id := range packed {
		if strings.HasPrefix(name, prefix) {
			refs[name] = id
		}
	}
	err = fs.WalkDir(dir, path.Clean(prefix), func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || CheckRef(name) != nil {
			return nil
		}
		if id, err := ReadRef(dir, name); err == nil && id != "" {
			refs[name] = id
		}
		return nil
	})
	return refs, err
}

// HeadBranch is the branch (full name) that the working tree whose repository folder is dir is on; "" when HEAD is detached, which the second
// value then names.
func HeadBranch(dir fs.FS) (branch, detached string, err error) {
	content, err := readFile(dir, "HEAD")
	if err != nil {
		return "", "", fmt.Errorf("read HEAD: %w", err)
	}
	line := strings.TrimSpace(string(content))
	if IsObjectID(line) {
		return "", line, nil
	}
	target, ok := strings.CutPrefix(line, "ref:")
	target = strings.TrimSpace(target)
	if err := CheckRef(target); !ok || err != nil {
		return "", "", fmt.Errorf("read HEAD: %q is neither a branch nor a commit", line)
	}
	return target, "", nil
}
