package local

import "golang.org/x/sys/unix"

// exchange swaps the names of two folders in one step.
func exchange(x, y string) error {
	return unix.Renameat2(unix.AT_FDCWD, x, unix.AT_FDCWD, y, unix.RENAME_EXCHANGE)
}
