package cmd

import "golang.org/x/sys/unix"

// networkDisks are the kinds of file system that lie elsewhere, by statfs(2).
var networkDisks = map[uint32]string{
	unix.NFS_SUPER_MAGIC: "nfs", unix.SMB_SUPER_MAGIC: "smb", unix.SMB2_SUPER_MAGIC: "smb", unix.CIFS_SUPER_MAGIC: "cifs",
	unix.AFS_SUPER_MAGIC: "afs", unix.CEPH_SUPER_MAGIC: "ceph", unix.V9FS_MAGIC: "9p", unix.CODA_SUPER_MAGIC: "coda",
}

// networkDisk is the kind of network file system that dir is on; "" when it is on none that is known.
func networkDisk(dir string) string {
	var disk unix.Statfs_t
	if unix.Statfs(dir, &disk) != nil {
		return ""
	}
	return networkDisks[uint32(disk.Type)]
}
