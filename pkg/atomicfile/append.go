package atomicfile

import (
	"bytes"
	"errors"
	"os"
)

// Append adds line, with or without its newline, to the end of path as one
// write, so lines of several writers do not mix; the file is made (0644 less
// the umask) when it is not there. A last line that a crash or a full disk cut
// short is ended first, so it spoils only itself. A line another process is
// just writing may look cut short too: readers skip the empty lines that come
// of it. Not durable.
func Append(path string, line []byte) error {
	if err := appendLine(path, bytes.TrimSuffix(line, []byte("\n"))); err != nil {
		return fail("append to", path, err)
	}
	return nil
}

func appendLine(path string, line []byte) error {
	if bytes.IndexByte(line, '\n') >= 0 {
		return errors.New("a line must not have a newline within")
	}
	f, info, err := openRegular(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	whole := make([]byte, 0, len(line)+2)
	if torn, err := endsTorn(f, info.Size()); err != nil {
		return errors.Join(err, f.Close())
	} else if torn {
		whole = append(whole, '\n')
	}
	whole = append(append(whole, line...), '\n')
	_, err = f.Write(whole)
	return errors.Join(err, f.Close())
}

// endsTorn tells whether the file's last byte, at size-1, is no newline.
func endsTorn(f *os.File, size int64) (bool, error) {
	if size == 0 {
		return false, nil
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], size-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}
