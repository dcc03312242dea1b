package cmd

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// olderCalls change files as well, on machines that have them.
var olderCalls = map[uint64]shape{
	unix.SYS_MKDIR: {"mkdir", 0, -1}, unix.SYS_RMDIR: {"rmdir", 0, -1}, unix.SYS_UNLINK: {"unlink", 0, -1},
	unix.SYS_RENAME: {"rename", 1, -1}, unix.SYS_LINK: {"link", 1, -1}, unix.SYS_SYMLINK: {"symlink", 1, -1},
	unix.SYS_CHMOD: {"chmod", 0, -1}, unix.SYS_CREAT: {"creat", 0, -1},
}

// refuseCall makes the call that a stopped process is about to make fail.
func refuseCall(pid int, errno syscall.Errno) error {
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(pid, &regs); err != nil {
		return err
	}
	regs.Orig_rax = ^uint64(0) // no call at all
	regs.Rax = uint64(-int64(errno))
	return syscall.PtraceSetRegs(pid, &regs)
}
