package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/backburner-cli/backburner/pkg/forge"
	"github.com/backburner-cli/backburner/pkg/work"
)

// settleTime is the age from which a file's time of change can be trusted: a
// second write within the clock tick of the first leaves it as it was.
const settleTime = 2 * time.Second

// Specs reads the spec files <specsDir>/<id>.md of a repository's working
// folder. known says by path, relative to the repository and with forward
// slashes, what was considered before: a file of that size and time is neither
// read nor returned, nor is its problem told again. So the caller remembers
// Size, ModTime and Hash of what is found, and Size and ModTime of a problem. A
// spec that was only touched is found with the hash it had.
//
// Both lists are sorted by path. A folder that is not there has no specs; one
// that cannot be listed is a problem itself. The only error is that of ctx.
func Specs(ctx context.Context, repoPath, specsDir string, known map[string]work.SpecFile) (found []forge.Spec, problems []forge.Problem, err error) {
	root, entries, err := openFolder(repoPath, specsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, ctx.Err()
	}
	if err != nil {
		return nil, folderProblem(repoPath, specsDir, err, known), ctx.Err()
	}
	defer root.Close()
	for _, entry := range entries {
		name := entry.Name()
		id, isSpec := strings.CutSuffix(name, ".md")
		if !isSpec || strings.HasPrefix(name, ".") { // editors keep their own files under hidden names
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, fmt.Errorf("read specs: %w", err)
		}
		file := candidate{name: name, id: id, path: path.Join(filepath.ToSlash(specsDir), remembered(name))}
		spec, err := file.read(root, known)
		var problem forge.Problem
		switch {
		case errors.As(err, &problem):
			problems = append(problems, problem)
		case err == nil && spec != nil:
			found = append(found, *spec)
		}
	}
	return found, problems, nil
}

// openFolder opens and lists the folder of specs, in the order of names; a link
// that leads out of the repository is not followed.
func openFolder(repoPath, specsDir string) (*os.Root, []fs.DirEntry, error) {
	repo, err := os.OpenRoot(repoPath)
	if err != nil {
		return nil, nil, err
	}
	defer repo.Close()
	root, err := repo.OpenRoot(specsDir)
	if err != nil {
		return nil, nil, err
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, nil, errors.Join(err, root.Close())
	}
	return root, entries, nil
}

// folderProblem is what is wrong with the folder of specs, unless that is known.
func folderProblem(repoPath, specsDir string, err error, known map[string]work.SpecFile) []forge.Problem {
	c := candidate{path: filepath.ToSlash(specsDir)}
	p := forge.Problem{Path: c.path}
	p.What, p.Next = explain(err)
	switch {
	case escapes(err):
		p.What, p.Next = "is a link that leads out of the repository", "make it a folder of the repository"
	case errors.Is(err, syscall.ENOTDIR):
		p.What, p.Next = "is not a folder", "make it one, or remove it"
	}
	if info, err := os.Lstat(filepath.Join(repoPath, specsDir)); err == nil {
		if c.knownAs(info, known) {
			return nil
		}
		p.Size, p.ModTime = info.Size(), info.ModTime().UTC()
	}
	return []forge.Problem{p}
}

// remembered is a name as it comes back from state: JSON has no bytes that are not UTF-8.
func remembered(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	quoted := strconv.Quote(name)
	return quoted[1 : len(quoted)-1]
}

// candidate is a file with the name of a spec.
type candidate struct {
	name string // in its folder
	id   string
	path string // in the repository
}

// read returns nil and no error for a file that is known already, or gone. Any
// other error is a forge.Problem.
func (c candidate) read(root *os.Root, known map[string]work.SpecFile) (*forge.Spec, error) {
	before, err := root.Stat(c.name) // through links; one that leads out of the folder is an error
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := root.Lstat(c.name); err != nil {
			return nil, nil // removed since the folder was listed
		}
		return nil, c.linkProblem(root, known, forge.Problem{Path: c.path, What: "is a link to nothing", Next: "put the file itself there"})
	case err != nil:
		return nil, c.linkProblem(root, known, c.unreadable(err))
	}
	if c.knownAs(before, known) {
		return nil, nil
	}
	if why := work.BadID(c.id); why != "" { // said before the content, as no content cures it
		_, err := forge.ReadSpec(c.id, c.path, nil)
		return nil, stamp(err, before)
	}
	data, err := readRegular(root.OpenFile, c.name)
	if err != nil {
		return nil, stamp(c.unreadable(err), before)
	}
	if int64(len(data)) != before.Size() {
		return nil, nil // somebody is writing it; the next tick finds it whole
	}
	spec, err := forge.ReadSpec(c.id, c.path, data)
	if err != nil {
		return nil, stamp(err, before)
	}
	spec.Size = before.Size()
	spec.ModTime = settled(before, time.Now())
	return &spec, nil
}

// settled is the time of change to remember: none while the file is so young
// that another write could go unnoticed, so that it is read once more.
func settled(info fs.FileInfo, now time.Time) time.Time {
	if now.Sub(info.ModTime()) < settleTime {
		return time.Time{}
	}
	return info.ModTime().UTC()
}

// knownAs reports whether a file in this state was considered before.
func (c candidate) knownAs(info fs.FileInfo, known map[string]work.SpecFile) bool {
	k, ok := known[c.path]
	return ok && k.Size == info.Size() && k.ModTime.Equal(info.ModTime())
}

// linkProblem is the problem of a link that leads to no file here; what is
// remembered of it is the link's own state.
func (c candidate) linkProblem(root *os.Root, known map[string]work.SpecFile, p error) error {
	info, err := root.Lstat(c.name)
	if err == nil && c.knownAs(info, known) {
		return nil
	}
	return stamp(p, info)
}

// unreadable says what is wrong with a file that could not be opened or read.
func (c candidate) unreadable(err error) error {
	what, next := explain(err)
	return forge.Problem{Path: c.path, What: what, Next: next}
}

// stamp notes the state of the file that a problem is about.
func stamp(err error, info fs.FileInfo) error {
	var problem forge.Problem
	if info == nil || !errors.As(err, &problem) {
		return err
	}
	problem.Size, problem.ModTime = info.Size(), info.ModTime().UTC()
	return problem
}

var (
	errNotRegular = errors.New("is not a regular file")
	errTooLong    = errors.New("is too long")
)

// explain puts into words why a file could not be read, and what to do.
func explain(err error) (what, next string) {
	switch {
	case errors.Is(err, errTooLong):
		return forge.TooLong(), "shorten it, or put the details into files of the repository and name them"
	case errors.Is(err, errNotRegular), errors.Is(err, syscall.ENXIO): // a socket
		return "is not a regular file", "put a text file there; a pipe can be given to `backburner add -`"
	case errors.Is(err, fs.ErrPermission):
		return "cannot be read (permission denied)", "make it readable for the user that runs backburner"
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist", "check the path"
	case errors.Is(err, syscall.ELOOP):
		return "is a link to itself", "put the file itself there"
	case escapes(err):
		return "is a link that leads out of the folder of specs", "put the file itself there, or use `backburner add FILE`"
	}
	return fmt.Sprintf("cannot be read (%v)", err), "check the file and the disk"
}

// escapes reports whether os.Root refused a link for leading out of its folder;
// it has no error value for that.
func escapes(err error) bool { return strings.Contains(err.Error(), "escapes from parent") }

// readRegular reads a file of at most work.MaxSpec bytes. It never waits: a
// pipe is opened without blocking and then refused.
func readRegular(open func(name string, flag int, perm fs.FileMode) (*os.File, error), name string) ([]byte, error) {
	f, err := open(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotRegular
	case info.Size() > work.MaxSpec:
		return nil, errTooLong
	}
	data, err := io.ReadAll(io.LimitReader(f, work.MaxSpec+1))
	if err == nil && len(data) > work.MaxSpec {
		err = errTooLong
	}
	return data, err
}

// Read reads one file that a person named, by the same rules; links are
// followed, as the person chose them. The workstream is named after the file,
// without its extension. The error is a forge.Problem.
func Read(file string) (forge.Spec, error) {
	name := filepath.Base(file)
	return ReadAs(strings.TrimSuffix(name, filepath.Ext(name)), file)
}

// ReadAs is [Read] for a workstream that gets the name id, whatever the file is
// called.
func ReadAs(id, file string) (forge.Spec, error) {
	c := candidate{id: id, path: file}
	info, err := os.Stat(file)
	if err != nil {
		return forge.Spec{}, c.unreadable(err)
	}
	data, err := readRegular(os.OpenFile, file)
	if err != nil {
		return forge.Spec{}, c.unreadable(err)
	}
	spec, err := forge.ReadSpec(id, file, data)
	if err != nil {
		return forge.Spec{}, err
	}
	spec.Size, spec.ModTime = info.Size(), info.ModTime().UTC()
	return spec, nil
}
