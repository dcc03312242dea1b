package atomicfile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameExclusive gives the file from the name to, unless that is taken. The
// rename is one step, so a crash leaves either name and never both, and it
// works where there are no hard links; a network file system may not know it.
func renameExclusive(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return linkExclusive(from, to)
	}
	return err
}
