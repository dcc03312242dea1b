package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ErrNotRegular is what reading or appending to a symbolic link, folder, pipe,
// socket or device ends in: such a name was put there by somebody else, and
// opening it could hang or act on another file.
var ErrNotRegular = errors.New("not a regular file")

// ErrTooLarge is what reading a file above the caller's cap ends in.
var ErrTooLarge = errors.New("file is too large")

// failure is an error of this package. Advice is a property of the type and
// not of the text, so however often it is wrapped it is said once.
type failure struct {
	op   string
	path string
	err  error // an errno wherever there is one
}

// fail makes a failure of err, nil of nil. What the os package says about its
// own operation on the temporary name is dropped. Only exported functions call
// it, and none of them calls another.
func fail(op, path string, err error) error {
	if err == nil {
		return nil
	}
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	var callErr *os.SyscallError
	switch {
	case errors.As(err, &pathErr):
		err = pathErr.Err
	case errors.As(err, &linkErr):
		err = linkErr.Err
	case errors.As(err, &callErr):
		err = callErr.Err
	}
	return &failure{op: op, path: path, err: err}
}

// Failure names what failed at path, with what a person can do about err; nil of nil. It is for file operations that this package does not do.
func Failure(op, path string, err error) error { return fail(op, path, err) }

func (f *failure) Error() string {
	text := f.op + " " + f.path + ": " + f.err.Error()
	if todo := advice(f.err); todo != "" {
		text += " (" + todo + ")"
	}
	return text
}

func (f *failure) Unwrap() error { return f.err }

// advice is what a person can do about err; empty when the error says it all.
func advice(err error) string {
	for _, a := range advices {
		if errors.Is(err, a.on) {
			return a.todo
		}
	}
	return ""
}

// advices is a list and not a map because errno values match several targets:
// the first one that fits is the most precise one.
var advices = []struct {
	on   error
	todo string
}{
	{syscall.ENOSPC, "free space on that file system, then run again"},
	{syscall.EDQUOT, "free space or raise the disk quota, then run again"},
	{syscall.EFBIG, "raise the file size limit, see ulimit -f, then run again"},
	{syscall.EROFS, "mount it writable or choose another folder"},
	{syscall.EMFILE, "raise the limit of open files, see ulimit -n, then run again"},
	{syscall.ENFILE, "the machine has too many open files; close some, then run again"},
	{syscall.EIO, "check the disk, then run again"},
	{syscall.ENOTDIR, "a file is where a folder is needed; move it away"},
	{syscall.EISDIR, "a folder is where a file is needed; move it away"},
	{ErrNotRegular, "move it away, then run again"},
	{fs.ErrPermission, "check who owns it and its permissions"},
}
