package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"syscall"
)

// Read returns the content of path, which is at most limit bytes long, else the
// error is ErrTooLarge. Whatever is not a regular file, a symbolic link
// included, is ErrNotRegular: it is never waited for and nothing is read.
func Read(path string, limit int64) ([]byte, error) {
	f, info, err := openRegular(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, fail("read", path, err)
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, fail("read", path, tooLarge(info.Size(), limit))
	}
	// One byte more than is allowed tells a file that grew from one that fits.
	limit = min(limit, math.MaxInt64-1)
	buf := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := buf.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, fail("read", path, err)
	}
	if int64(buf.Len()) > limit {
		return nil, fail("read", path, tooLarge(int64(buf.Len()), limit))
	}
	return buf.Bytes(), nil
}

func tooLarge(size, limit int64) error {
	return fmt.Errorf("%w: %d bytes or more, at most %d are read", ErrTooLarge, size, limit)
}

// openRegular opens path without following a link as its last part and without
// waiting for anybody (a pipe's other end, a terminal), and refuses everything
// but a regular file.
func openRegular(path string, flag int, perm fs.FileMode) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, perm)
	switch {
	case errors.Is(err, syscall.ENXIO): // a socket, or a pipe nobody reads
		return nil, nil, ErrNotRegular
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.EISDIR):
		if info, statErr := os.Lstat(path); statErr == nil && !info.Mode().IsRegular() {
			return nil, nil, ErrNotRegular
		}
		return nil, nil, err
	case err != nil:
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}
