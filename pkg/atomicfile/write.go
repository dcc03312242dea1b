package atomicfile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// syncs counts the fsync calls of this process.
var syncs atomic.Int64

// Syncs is how many times this process has called fsync through this package:
// what saving costs is mostly this number.
func Syncs() int64 { return syncs.Load() }

// Write puts data into path, durably, in place of what is there. A new file
// gets the permissions perm less the umask, whatever the old one had.
func Write(path string, data []byte, perm fs.FileMode) error {
	if err := write(path, data, perm, durable, replace); err != nil {
		return fail("write", path, err)
	}
	return nil
}

// WriteRelaxed is Write without fsync: as atomic for readers, and some five
// times cheaper, for what may be lost in a power loss because the next run
// makes it anew.
func WriteRelaxed(path string, data []byte, perm fs.FileMode) error {
	if err := write(path, data, perm, relaxed, replace); err != nil {
		return fail("write", path, err)
	}
	return nil
}

// Create is Write for a path that must be free. It returns an error that is
// fs.ErrExist, and changes nothing, when anything has that name, were it only a
// dangling link.
func Create(path string, data []byte, perm fs.FileMode) error {
	if err := write(path, data, perm, durable, renameExclusive); err != nil {
		return fail("create", path, err)
	}
	return nil
}

// WriteAll puts files into a folder in which nobody looks yet, by name, durably:
// one fsync for each, and one for the folder.
func WriteAll(dir string, files map[string][]byte, perm fs.FileMode) error {
	for name, data := range files {
		path := filepath.Join(dir, name)
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if err == nil {
			err = fill(f, data, durable)
		}
		if err != nil {
			return fail("write", path, err)
		}
	}
	if err := syncDir(dir); err != nil {
		return fail("write", dir, err)
	}
	return nil
}

type durability bool

const (
	durable durability = true
	relaxed durability = false
)

// write is the protocol all writers share: a temporary file in the same folder
// (a rename is atomic only within one file system), content, fsync, the name,
// fsync of the folder.
func write(path string, data []byte, perm fs.FileMode, d durability, place func(from, to string) error) (err error) {
	f, err := createTemporary(path, perm)
	if err != nil {
		return err
	}
	placed := false
	defer func() {
		if !placed {
			_ = os.Remove(f.Name()) // the first error is the one worth telling
		}
	}()
	if err := fill(f, data, d); err != nil {
		return err
	}
	if err := place(f.Name(), path); err != nil {
		return err
	}
	placed = true
	if d == durable {
		return syncDir(filepath.Dir(path))
	}
	return nil
}

// fill writes data and closes f in every case.
func fill(f *os.File, data []byte, d durability) error {
	_, err := f.Write(data)
	if err == nil && d == durable {
		syncs.Add(1)
		err = f.Sync()
	}
	// Close reports what a network file system could not write back.
	return errors.Join(err, f.Close())
}

// replace gives the file from the name to, in place of what is there. It
// corrects one answer of os.Rename, which calls a folder in a file's way "file
// exists": callers would take that for the answer of Create.
func replace(from, to string) error {
	err := os.Rename(from, to)
	if errors.Is(err, fs.ErrExist) && isDir(to) && !isDir(from) {
		return syscall.EISDIR
	}
	return err
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// temporaryMark is between the name of a file and the random part in the name
// of a temporary file made for it.
const temporaryMark = ".tmp-"

// maxName is the longest file name, in bytes, that common file systems take.
const maxName = 255

// createTemporary makes an empty file beside path that nobody else has.
func createTemporary(path string, perm fs.FileMode) (*os.File, error) {
	dir, base := filepath.Split(path)
	for try := 0; ; try++ {
		random := strconv.FormatUint(rand.Uint64(), 36)
		name := "." + base + temporaryMark + random
		if len(name) > maxName { // keep a long name usable as a target
			name = "." + base[:len(base)-(len(name)-maxName)] + temporaryMark + random
		}
		f, err := os.OpenFile(dir+name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrExist) && try < 100 {
			continue
		}
		return f, err
	}
}

// IsTemporary tells whether name, without its folder, is one that Write and
// Create give to temporary files, and for which file (whose name is cut when
// it was very long). Whoever lists a folder leaves such names out.
func IsTemporary(name string) (base string, ok bool) {
	rest, hidden := strings.CutPrefix(name, ".")
	i := strings.LastIndex(rest, temporaryMark)
	if !hidden || i <= 0 {
		return "", false
	}
	if _, err := strconv.ParseUint(rest[i+len(temporaryMark):], 36, 64); err != nil {
		return "", false
	}
	return rest[:i], true
}
