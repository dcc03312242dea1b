package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotFound is wrapped by the [StartError] of a program that is not there.
var ErrNotFound = errors.New("program not found")

// StartError says that a program could not be started at all.
type StartError struct {
	Name     string // the program as it was asked for
	Searched string // the PATH that was searched; empty when Name is a path
	Err      error
}

func (e *StartError) Error() string {
	if e.Searched == "" {
		return fmt.Sprintf("start %s: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("start %s: %v (searched PATH=%s)", e.Name, e.Err, e.Searched)
}

func (e *StartError) Unwrap() error { return e.Err }

// LookPath finds the program name in the directories of pathEnv, a list like that of PATH. A name with a slash is only
// checked. Relative entries of pathEnv are passed over: they would find what a workspace contains. The error is a
// *[StartError], which says what was searched.
func LookPath(name, pathEnv string) (string, error) {
	if name == "" {
		return "", &StartError{Name: `""`, Err: ErrNotFound}
	}
	if strings.ContainsRune(name, filepath.Separator) {
		if err := executable(name); err != nil {
			return "", &StartError{Name: name, Err: err}
		}
		return name, nil
	}
	found := ErrNotFound
	for _, dir := range filepath.SplitList(pathEnv) {
		if !filepath.IsAbs(dir) {
			continue
		}
		candidate := filepath.Join(dir, name)
		err := executable(candidate)
		if err == nil {
			return candidate, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			found = fmt.Errorf("%s: %w", candidate, fs.ErrPermission)
		}
	}
	return "", &StartError{Name: name, Searched: pathEnv, Err: found}
}

// lookIn is LookPath for a child that will run in dir with the environment env: a relative path is one below dir.
func lookIn(name, dir string, env []string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		if err := executable(filepath.Join(dir, name)); err != nil {
			return "", &StartError{Name: name, Err: err}
		}
		return name, nil
	}
	return LookPath(name, valueOf(env, "PATH"))
}

func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNotFound
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("is a directory")
	case info.Mode()&0o111 == 0:
		return fs.ErrPermission
	}
	return nil
}

// valueOf is the value of a variable in an environment; of several the last one counts, as it does for a child.
func valueOf(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if key, value, ok := strings.Cut(env[i], "="); ok && key == name {
			return value
		}
	}
	return ""
}
