package agent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"syscall"
)

const (
	maxLine   = 16 << 20 // of stdout; longer lines are passed over
	maxResult = 4 << 20  // of a result file
	maxTail   = 64 << 10 // of stderr
)

// eachLine calls f with every line of r, without its end. A line longer than limit is passed over. The line is valid until f
// returns.
func eachLine(r io.Reader, limit int, f func(line []byte)) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var long []byte
	tooLong := false
	for {
		part, err := in.ReadSlice('\n')
		full := errors.Is(err, bufio.ErrBufferFull)
		switch {
		case tooLong || len(long)+len(part) > limit:
			tooLong = true
		case full || len(long) > 0:
			long = append(long, part...)
		default:
			if line := bytes.TrimSpace(part); len(line) > 0 {
				f(line)
			}
		}
		if full {
			continue
		}
		if line := bytes.TrimSpace(long); len(line) > 0 && !tooLong {
			f(line)
		}
		long, tooLong = long[:0], false
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// eachEvent decodes every line that is a JSON object, and every object of a line that is an array of them. Fields of another type
// than expected are left alone: command lines change between versions, and the rest of such an event still counts.
func eachEvent[T any](r io.Reader, f func(T)) {
	one := func(raw []byte) {
		var event T
		err := json.Unmarshal(raw, &event)
		var mistyped *json.UnmarshalTypeError
		if err == nil || errors.As(err, &mistyped) {
			f(event)
		}
	}
	_ = eachLine(r, maxLine, func(line []byte) {
		switch line[0] {
		case '{':
			one(line)
		case '[':
			var all []json.RawMessage
			if json.Unmarshal(line, &all) == nil {
				for _, raw := range all {
					one(raw)
				}
			}
		}
	})
}

var errNotRegular = errors.New("not a regular file")

// open opens a file that an agent could have replaced: a link, a device or a pipe is refused.
func open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENXIO) { // a link, a socket
		return nil, &os.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// readTail reads at most the last limit bytes of a file; a file that cannot be read is empty.
func readTail(path string, limit int64) []byte {
	f, err := open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > limit {
		_, _ = f.Seek(-limit, io.SeekEnd)
	}
	content, _ := io.ReadAll(io.LimitReader(f, limit))
	return content
}
