package proc

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// waitAll makes wait4 report every kind of child, also one that was cloned to tell its parent nothing.
const waitAll = unix.WALL

// tick is the unit of processor times in /proc: USER_HZ, 100 on everything that Go runs on.
const tick = time.Second / 100

func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

func pidNamespace() string {
	name, _ := os.Readlink("/proc/self/ns/pid")
	return name
}

// processes lists all processes that can be seen, zombies included.
func processes() ([]process, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	list := make([]process, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := readProcess(pid); ok {
			list = append(list, p)
		}
	}
	return list, nil
}

func readProcess(pid int) (process, bool) {
	// Three system calls, where os.ReadFile makes eight: this is done for every process of the machine.
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return process{}, false
	}
	defer unix.Close(fd)
	var stat [2048]byte // some 20 numbers and a short name
	n, err := unix.Read(fd, stat[:])
	if err != nil {
		return process{}, false
	}
	return parseStat(pid, stat[:n])
}

// parseStat reads /proc/PID/stat. The name, in parentheses, may hold anything, so counting starts behind it.
func parseStat(pid int, stat []byte) (process, bool) {
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return process{}, false
	}
	const state, parent, session, userTime, childSystemTime, startTime = 0, 1, 3, 11, 14, 19
	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) <= startTime {
		return process{}, false
	}
	number := func(field int) uint64 {
		n, _ := strconv.ParseUint(fields[field], 10, 64)
		return n
	}
	p := process{
		pid:     pid,
		name:    string(stat[open+1 : end]),
		parent:  int(number(parent)),
		session: int(number(session)),
		start:   number(startTime),
		zombie:  strings.ContainsAny(fields[state], "ZX"),
	}
	for field := userTime; field <= childSystemTime; field++ {
		p.cpu += time.Duration(number(field)) * tick
	}
	return p, true
}

// carries reports whether a process was started with that entry in its environment.
func carries(pid int, entry string) bool {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for candidate := range bytes.SplitSeq(environ, []byte{0}) {
		if string(candidate) == entry {
			return true
		}
	}
	return false
}

// signalExactly compares the start time while it holds the process by a descriptor, which never comes to mean another one.
func signalExactly(i Identity, sig os.Signal) error {
	number, ok := sig.(syscall.Signal)
	if !ok {
		return errors.ErrUnsupported
	}
	fd, err := unix.PidfdOpen(i.PID, 0)
	switch {
	case errors.Is(err, unix.ESRCH):
		return os.ErrProcessDone
	case err == nil:
		defer unix.Close(fd)
	}
	if !i.Alive() {
		return os.ErrProcessDone
	}
	if err == nil {
		err = unix.PidfdSendSignal(fd, number, nil, 0)
	}
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // an old kernel, or a filter on system calls
		err = unix.Kill(i.PID, number)
	}
	if errors.Is(err, unix.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// awaitExit returns when a child has exited, and leaves it to be reaped.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// becomeReaper makes this process the parent of every descendant whose own parent dies.
func becomeReaper() error {
	return os.NewSyscallError("prctl(PR_SET_CHILD_SUBREAPER)", unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
}

// jobAttributes start the job in a group of its own, so that a signal to "my group" stays within it. If the supervisor dies nobody
// enforces limits any more, so the job dies with it.
func jobAttributes(group *cgroup) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if group != nil {
		attributes.UseCgroupFD, attributes.CgroupFD = true, group.fd
	}
	return attributes
}

// commandAttributes have a command asked to end when this process dies, so that git takes its locks away and does not go on changing what the
// next run works with. The kernel does it at the death of the thread that started it: Go keeps its threads.
func commandAttributes(lasting bool) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setsid: true}
	if !lasting {
		attributes.Pdeathsig = syscall.SIGTERM
	}
	return attributes
}

// redirect makes descriptor to a second name of from.
func redirect(from, to int) error {
	return os.NewSyscallError("dup3", unix.Dup3(from, to, 0))
}
