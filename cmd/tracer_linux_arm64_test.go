package cmd

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// olderCalls are those that this machine does without.
var olderCalls map[uint64]shape

// refuseCall makes the call that a stopped process is about to make fail.
func refuseCall(pid int, errno syscall.Errno) error {
	const general, systemCall = 1, 0x404 // NT_PRSTATUS, NT_ARM_SYSTEM_CALL
	var regs unix.PtraceRegsArm64
	if err := unix.PtraceGetRegSetArm64(pid, general, &regs); err != nil {
		return err
	}
	regs.Regs[0] = uint64(-int64(errno))
	if err := unix.PtraceSetRegSetArm64(pid, general, &regs); err != nil {
		return err
	}
	none := int32(-1)
	vector := unix.Iovec{Base: (*byte)(unsafe.Pointer(&none)), Len: 4}
	_, _, failed := syscall.RawSyscall6(syscall.SYS_PTRACE, unix.PTRACE_SETREGSET, uintptr(pid), systemCall,
		uintptr(unsafe.Pointer(&vector)), 0, 0)
	if failed != 0 {
		return failed
	}
	return nil
}
