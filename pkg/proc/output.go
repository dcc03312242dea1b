package proc

import (
	"os"
	"path/filepath"
	"syscall"
)

// sizes is what the output files of a job hold.
type sizes struct {
	total   int64
	largest int64
}

// streams are the standard files of a job.
type streams struct {
	stdin, stdout, stderr *os.File
}

// openStreams opens what the job names, relative to dir. Output is appended, so that cutting a file never leaves a hole in it.
func openStreams(dir string, job Job) (s streams, err error) {
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.stdin, err = os.Open(locate(dir, job.Stdin)); err != nil {
		return s, err
	}
	const flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if s.stdout, err = os.OpenFile(locate(dir, job.Stdout), flags, 0o600); err != nil {
		return s, err
	}
	if job.Stderr == job.Stdout {
		s.stderr = s.stdout
		return s, nil
	}
	s.stderr, err = os.OpenFile(locate(dir, job.Stderr), flags, 0o600)
	return s, err
}

// reopenOutputs opens what a job has written to, as far as it is there and still what it was.
func reopenOutputs(dir string, job Job) (s streams) {
	const flags = os.O_WRONLY | os.O_APPEND | syscall.O_NOFOLLOW | syscall.O_NONBLOCK // it may be a pipe now
	s.stdout, _ = os.OpenFile(locate(dir, job.Stdout), flags, 0)
	if job.Stderr == job.Stdout {
		s.stderr = s.stdout
	} else {
		s.stderr, _ = os.OpenFile(locate(dir, job.Stderr), flags, 0)
	}
	return s
}

func locate(dir, path string) string {
	switch {
	case path == "":
		return os.DevNull
	case filepath.IsAbs(path):
		return path
	}
	return filepath.Join(dir, path)
}

// outputs are the distinct files that the job writes to.
func (s streams) outputs() []*os.File {
	if s.stderr == s.stdout {
		return []*os.File{s.stdout}
	}
	return []*os.File{s.stdout, s.stderr}
}

func (s streams) sizes() sizes {
	var seen sizes
	for _, file := range s.outputs() {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			seen.total += info.Size()
			seen.largest = max(seen.largest, info.Size())
		}
	}
	return seen
}

// cut takes away what the files hold beyond limit, and says how much that was; a limit of 0 is none.
func (s streams) cut(limit int64) (removed int64, err error) {
	if limit <= 0 {
		return 0, nil
	}
	for _, file := range s.outputs() {
		info, err := file.Stat()
		if err != nil || !info.Mode().IsRegular() || info.Size() <= limit {
			continue
		}
		if err := file.Truncate(limit); err != nil {
			return removed, err
		}
		removed += info.Size() - limit
	}
	return removed, nil
}

func (s streams) close() {
	for _, file := range []*os.File{s.stdin, s.stdout, s.stderr} {
		if file != nil {
			_ = file.Close()
		}
	}
}
