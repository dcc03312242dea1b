//go:build linux && (amd64 || arm64)

package cmd

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/backburner-cli/backburner/pkg/proc"
)

// A tracer watches every change that a program and all that it starts make to
// files, and does something at one of them: before the call is executed it
// ends the whole tree, or the program alone, or makes the call fail. Changes are
// counted over the whole tree, by one counter, in the order in which the kernel
// reports them.

// interference is what a tracer does at the change it waits for.
type interference int

const (
	watchOnly interference = iota
	killTree               // as when the power is cut
	killTick               // as when somebody kills the process: git, supervisors and agents live on
	failCall               // of the program itself; others are neither counted nor touched
	failChild              // of its git and its supervisors; others, its agents and gates among them, likewise
)

// trial is one traced run.
type trial struct {
	do    interference
	at    int    // the change at which it is done, counted from 1
	to    string // or else: the first change to a file whose name matches this pattern
	kind  string // or else: the change of this kind, of which there were so many before
	nth   int
	errno syscall.Errno // with which a call fails
}

// change is one that a traced process is about to make.
type change struct {
	name   string // of the system call
	path   string // the file, where it is known
	own    bool   // by the program itself
	by     string // the program file that makes it
	agents bool   // by an agent or a gate, or what these started
	nth    int    // how many of its kind were before it
	// Of a run that is only watched:
	group int  // the process, of a child
	alone bool // nothing else that was traced was alive
	void  bool // nothing was changed: the call failed, or made durable what is there
}

// counts reports whether a change is one that an interference may be done at.
func (c change) counts(do interference) bool {
	switch do {
	case failCall:
		return c.own
	case failChild:
		return !c.own && (c.by == "backburner" || strings.HasPrefix(c.by, "git") && !c.agents)
	}
	return true
}

func (c change) String() string {
	who := "child " + c.by
	if c.own {
		who = "tick"
	}
	return who + ": " + c.name + " " + c.path
}

// traced is a run and how it went. Its fields may be read when ended is closed,
// changes and err when gone is.
type traced struct {
	trial
	changes []change
	met     map[string]int // by kind
	hit     string         // the change at which it interfered; "" when there were not so many
	status  syscall.WaitStatus
	err     error         // the tracer failed
	ended   chan struct{} // the program is no more
	gone    chan struct{} // nor is anything that it started
}

// exitCode is that of the program, -1 when a signal ended it.
func (t *traced) exitCode() int { return t.status.ExitStatus() }

// tracedArg0 is the name under which this test binary puts a filter on itself
// and becomes the program to trace.
const tracedArg0 = "backburner-traced"

func init() {
	if filepath.Base(os.Args[0]) == tracedArg0 {
		err := becomeTraced(os.Args[1], append([]string{filepath.Base(os.Args[1])}, os.Args[2:]...))
		fmt.Fprintln(os.Stderr, "trace:", err)
		os.Exit(125)
	}
}

// becomeTraced makes the kernel report the calls that change files to the
// tracer, and becomes the program.
func becomeTraced(program string, args []string) error {
	runtime.LockOSThread()
	filter := reportChanges()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0); err != nil {
		return err
	}
	return unix.Exec(program, args, os.Environ())
}

// reportChanges is the filter. Of the calls that open files only those count
// that may make or empty one.
func reportChanges() []unix.SockFilter {
	const numberAt, flagsAt = 0, 16 + 2*8 // of struct seccomp_data
	report := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_TRACE}
	pass := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	unless := func(number uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: number, Jf: skip}
	}
	filter := []unix.SockFilter{
		load(numberAt), unless(unix.SYS_OPENAT, 4),
		load(flagsAt), {Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: unix.O_CREAT | unix.O_TRUNC, Jf: 1}, report, pass,
	}
	for number := range changing {
		if number != unix.SYS_OPENAT {
			filter = append(filter, unless(uint32(number), 1), report)
		}
	}
	return append(filter, pass)
}

// shape says where in the arguments of a call its file is.
type shape struct {
	name string
	path int // index of the path; -1 is none
	fd   int // index of the descriptor of what is changed; -1 is none
}

// changing are the calls that change files.
var changing = joined(olderCalls, map[uint64]shape{
	unix.SYS_OPENAT: {"openat", 1, -1}, unix.SYS_MKDIRAT: {"mkdirat", 1, -1}, unix.SYS_UNLINKAT: {"unlinkat", 1, -1},
	unix.SYS_RENAMEAT: {"renameat", 3, -1}, unix.SYS_RENAMEAT2: {"renameat2", 3, -1}, unix.SYS_LINKAT: {"linkat", 3, -1},
	unix.SYS_SYMLINKAT: {"symlinkat", 2, -1}, unix.SYS_FCHMODAT: {"fchmodat", 1, -1}, unix.SYS_UTIMENSAT: {"utimensat", 1, -1},
	unix.SYS_TRUNCATE: {"truncate", 0, -1},
	unix.SYS_WRITE:    {"write", -1, 0}, unix.SYS_PWRITE64: {"pwrite", -1, 0}, unix.SYS_WRITEV: {"writev", -1, 0},
	unix.SYS_COPY_FILE_RANGE: {"copy_file_range", -1, 2}, unix.SYS_SENDFILE: {"sendfile", -1, 0},
	unix.SYS_FSYNC: {"fsync", -1, 0}, unix.SYS_FDATASYNC: {"fdatasync", -1, 0}, unix.SYS_FTRUNCATE: {"ftruncate", -1, 0},
	unix.SYS_FALLOCATE: {"fallocate", -1, 0}, unix.SYS_FCHMOD: {"fchmod", -1, 0},
})

func joined(older, all map[uint64]shape) map[uint64]shape {
	maps.Copy(all, older)
	return all
}

// trace starts a program under a tracer. Its output goes to the file out.
func trace(t trial, argv []string, dir string, env []string, out *os.File) *traced {
	run := &traced{trial: t, met: make(map[string]int), ended: make(chan struct{}), gone: make(chan struct{})}
	go onThreadOfItsOwn(func() {
		defer close(run.gone)
		defer run.end()
		run.err = run.follow(argv, dir, env, out)
	})
	return run
}

// onThreadOfItsOwn runs f on a thread that is nobody's parent: the tracer waits
// for all children of its thread, and would take those of others. What is
// traced dies with the thread.
func onThreadOfItsOwn(f func()) {
	runtime.LockOSThread()
	children, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/children", unix.Gettid()))
	if err != nil || len(bytes.TrimSpace(children)) == 0 {
		f()
		return
	}
	other := make(chan struct{})
	go func() {
		defer close(other)
		onThreadOfItsOwn(f)
	}()
	<-other
	runtime.UnlockOSThread()
}

func (t *traced) end() {
	select {
	case <-t.ended:
	default:
		close(t.ended)
	}
}

// follow starts the program and answers what the kernel reports until no
// process is left.
func (t *traced) follow(argv []string, dir string, env []string, out *os.File) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	root, err := syscall.ForkExec(self, append([]string{tracedArg0}, argv...), &syscall.ProcAttr{
		Dir: dir, Env: env, Files: []uintptr{^uintptr(0), out.Fd(), out.Fd()}, Sys: &syscall.SysProcAttr{Ptrace: true, Setsid: true},
	})
	if err != nil {
		return err
	}
	var status syscall.WaitStatus
	if _, err := wait(root, &status); err != nil {
		return err
	}
	const options = unix.PTRACE_O_EXITKILL | unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK |
		unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACESYSGOOD
	if err := syscall.PtraceSetOptions(root, options); err != nil {
		return err
	}
	tree := tree{root: root, own: map[int]bool{root: true}, begun: map[int]int{}}
	_ = syscall.PtraceCont(root, 0)
	for {
		pid, err := wait(-1, &status)
		if err == syscall.ECHILD {
			return nil
		}
		if err != nil {
			return err
		}
		if status.Stopped() {
			t.answer(&tree, pid, status)
			continue
		}
		delete(tree.own, pid)
		if pid == root {
			t.status = status
			t.end()
		}
	}
}

// wait is wait4 for what this thread traces.
func wait(pid int, status *syscall.WaitStatus) (int, error) {
	for {
		got, err := syscall.Wait4(pid, status, unix.WALL|unix.WNOTHREAD, nil)
		if err != syscall.EINTR {
			return got, err
		}
	}
}

// tree is what is traced.
type tree struct {
	root  int
	own   map[int]bool // every thread that is alive; true: of the program itself
	begun map[int]int  // the change that a thread is making, of a run that is only watched
	dead  bool         // all of it was killed
}

// alone reports whether nothing is alive but the program.
func (t *tree) alone() bool {
	for _, own := range t.own {
		if !own {
			return false
		}
	}
	return true
}

// answer lets a stopped process go on, or not.
func (t *traced) answer(tree *tree, pid int, status syscall.WaitStatus) {
	_, known := tree.own[pid]
	if !known {
		_, err := os.Stat(fmt.Sprintf("/proc/%d/task/%d", tree.root, pid))
		tree.own[pid] = err == nil
	}
	if tree.dead {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	signal := 0
	switch event := status.TrapCause(); {
	case event == unix.PTRACE_EVENT_SECCOMP:
		if t.consider(tree, pid) {
			_ = syscall.PtraceSyscall(pid, 0) // what comes of it is of interest
			return
		}
	case event > 0: // something was started; it reports itself
	case !known && status.StopSignal() == syscall.SIGSTOP: // its beginning
	case status.StopSignal() == syscall.SIGTRAP|0x80: // the end of a call
		t.conclude(tree, pid)
	default:
		signal = int(status.StopSignal())
	}
	_ = syscall.PtraceCont(pid, signal) // it may be dead by now
}

// consider counts the change that a process is about to make, and interferes
// when it is the one. It reports whether the end of the call is to be looked at.
func (t *traced) consider(tree *tree, pid int) bool {
	call, ok := callOf(pid)
	if !ok || tree.dead {
		return false
	}
	c, ok := changeOf(pid, call, tree.own[pid])
	if !ok || !c.counts(t.do) {
		return false
	}
	if t.do == watchOnly {
		c.group, c.alone, c.void = groupOf(pid), tree.alone(), true // until it is over
		tree.begun[pid] = len(t.changes)
	}
	c.nth = t.met[c.kind()]
	t.met[c.kind()]++
	t.changes = append(t.changes, c)
	if t.do == watchOnly || t.hit != "" || !t.meant(c, len(t.changes)-1) {
		return t.do == watchOnly
	}
	t.hit = c.String()
	switch t.do {
	case killTree:
		tree.dead = true
		for other := range tree.own {
			_ = syscall.Kill(other, syscall.SIGKILL)
		}
	case killTick:
		_ = syscall.Kill(tree.root, syscall.SIGKILL)
	case failCall, failChild:
		if err := refuseCall(pid, t.errno); err != nil {
			t.hit += ": " + err.Error()
		}
	}
	return false
}

// meant reports whether a change, the one at that index, is the one to interfere at.
func (t *traced) meant(c change, at int) bool {
	if t.kind != "" {
		return t.kind == c.kind() && t.nth == c.nth
	}
	named, _ := filepath.Match(t.to, filepath.Base(c.path))
	return named || at+1 == t.at
}

// conclude notes what came of a change.
func (t *traced) conclude(tree *tree, pid int) {
	if at, ok := tree.begun[pid]; ok {
		c := &t.changes[at]
		c.void = strings.HasSuffix(c.name, "sync") || callFailed(pid)
		delete(tree.begun, pid)
	}
}

// call is a system call: its number and arguments.
type call struct {
	number uint64
	args   [6]uint64
}

// groupOf is the process that a thread is of.
func groupOf(pid int) (group int) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if _, found, ok := bytes.Cut(status, []byte("\nTgid:")); ok {
		_, _ = fmt.Sscan(string(found), &group)
	}
	return group
}

// callInfo is struct ptrace_syscall_info.
type callInfo struct {
	op       uint8
	_        [3]uint8
	_        uint32
	_, _     uint64
	number   uint64 // at the end of a call: what it returned
	args     [6]uint64
	_, spare uint32
}

const callEnds, callFiltered = 2, 3 // values of op

func infoOf(pid int) (info callInfo, op uint8) {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(pid), unsafe.Sizeof(info),
		uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 {
		return info, 0
	}
	return info, info.op
}

// callOf asks the kernel which call a process is about to make.
func callOf(pid int) (call, bool) {
	info, op := infoOf(pid)
	return call{info.number, info.args}, op == callFiltered
}

// callFailed asks the kernel whether the call that a process has made failed.
func callFailed(pid int) bool {
	info, op := infoOf(pid)
	return op == callEnds && int64(info.number) < 0
}

// changeOf describes a call; ok is false when what it writes to is no file.
func changeOf(pid int, call call, own bool) (c change, ok bool) {
	shape := changing[call.number]
	program, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	c = change{name: shape.name, own: own, by: filepath.Base(program)}
	if !own {
		environment, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		c.agents = bytes.Contains(environment, []byte(proc.Marker+"="))
	}
	if shape.fd >= 0 {
		link := fmt.Sprintf("/proc/%d/fd/%d", pid, int32(call.args[shape.fd]))
		info, err := os.Stat(link)
		c.path, _ = os.Readlink(link)
		return c, err == nil && strings.HasPrefix(c.path, "/") && (info.Mode().IsRegular() || info.IsDir())
	}
	c.path = textAt(pid, uintptr(call.args[shape.path]))
	return c, c.path != os.DevNull
}

// textAt reads a string of a process.
func textAt(pid int, at uintptr) string {
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return ""
	}
	defer memory.Close()
	var text []byte
	for chunk := make([]byte, 256); len(text) < unix.PathMax; {
		n, err := memory.ReadAt(chunk[:256-(int(at)+len(text))%256], int64(at)+int64(len(text)))
		text = append(text, chunk[:n]...)
		if end := bytes.IndexByte(text, 0); end >= 0 {
			return string(text[:end])
		}
		if err != nil {
			break
		}
	}
	return string(text)
}
