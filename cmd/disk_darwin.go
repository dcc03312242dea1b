package cmd

import (
	"slices"

	"golang.org/x/sys/unix"
)

// networkDisk is the kind of network file system that dir is on; "" when it is on none that is known.
func networkDisk(dir string) string {
	var disk unix.Statfs_t
	if unix.Statfs(dir, &disk) != nil {
		return ""
	}
	kind := unix.ByteSliceToString(disk.Fstypename[:])
	if slices.Contains([]string{"nfs", "smbfs", "afpfs", "webdav", "ftp"}, kind) {
		return kind
	}
	return ""
}
