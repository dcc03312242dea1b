package proc

import (
	"errors"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// On macOS there is no reaper of descendants, no control group and no look into the environment of others. A job's processes are those
// with an unbroken chain of parents, and those in the session of the supervisor: one that makes a session of its own and
// outlives its parent is not found.

const waitAll = 0

// zombieState is SZOMB of <sys/proc.h>.
const zombieState = 5

func bootID() string {
	id, _ := unix.Sysctl("kern.bootsessionuuid")
	return id
}

func pidNamespace() string { return "" }

func processes() ([]process, error) {
	infos, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, os.NewSyscallError("sysctl kern.proc.all", err)
	}
	list := make([]process, 0, len(infos))
	for i := range infos {
		list = append(list, describe(&infos[i]))
	}
	return list, nil
}

func readProcess(pid int) (process, bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return process{}, false
	}
	return describe(info), true
}

func describe(info *unix.KinfoProc) process {
	pid := int(info.Proc.P_pid)
	session, _ := unix.Getsid(pid)
	return process{
		pid:     pid,
		name:    unix.ByteSliceToString(info.Proc.P_comm[:]),
		parent:  int(info.Eproc.Ppid),
		session: session,
		start:   uint64(time.Unix(info.Proc.P_starttime.Unix()).UnixMicro()),
		zombie:  info.Proc.P_stat == zombieState,
		cpu:     time.Duration(info.Proc.P_uticks+info.Proc.P_sticks) * time.Second / 100,
	}
}

func carries(int, string) bool { return false }

func signalExactly(i Identity, sig os.Signal) error {
	number, ok := sig.(syscall.Signal)
	if !ok {
		return errors.ErrUnsupported
	}
	if !i.Alive() {
		return os.ErrProcessDone
	}
	err := unix.Kill(i.PID, number)
	if errors.Is(err, unix.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// awaitExit returns when a child has exited, and leaves it to be reaped. The values are those of <sys/wait.h>.
func awaitExit(pid int) {
	const byPID, exited, noWait = 1, 0x4, 0x20
	var info [16]uint64 // at least as large as siginfo_t
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(pid), uintptr(unsafe.Pointer(&info)), exited|noWait, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

func becomeReaper() error { return nil }

func jobAttributes(*cgroup) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

func commandAttributes(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true}
}

func redirect(from, to int) error {
	return os.NewSyscallError("dup2", unix.Dup2(from, to))
}
