package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ready is what a supervisor says on its standard output once it has recorded who it is.
const ready = "ready\n"

// Supervise runs the job of a directory to its end and writes exit.json there. It is the whole life of a process that [Start] started
// with the job's environment: it waits for all children it gets, closes the descriptors it inherited, and takes the signals. SIGTERM and
// SIGINT cancel the job; SIGHUP means nothing to it. An error means that there is no exit.json.
func Supervise(dir string) error {
	runtime.LockOSThread() // the job dies with the thread that started it
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	job, found, err := readJSON[Job](dir, jobFile)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("no job in %s", dir)
	}
	if state, _, err := Adopt(dir); err != nil || state != Gone {
		return errors.Join(err, fmt.Errorf("the job in %s is %s", dir, state))
	}
	job.Env = os.Environ()
	closeInherited()
	if err := becomeReaper(); err != nil {
		return err
	}
	s := &supervisor{dir: dir, job: job, cancel: make(chan os.Signal, 1), survivors: map[Identity]bool{}}
	signal.Notify(s.cancel, syscall.SIGTERM, syscall.SIGINT)
	// Caught and dropped rather than ignored: what is ignored stays ignored in the job.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGPIPE)

	exit := Exit{Code: -1, Reason: ReasonCancelled}
	if err := s.announce(); err != nil {
		exit.Error = fmt.Sprintf("not started: %v", err)
	} else {
		exit = s.run()
	}
	exit.StartedAt, exit.EndedAt = s.record.StartedAt, time.Now().UTC()
	return writeJSON(dir, exitFile, exit, true)
}

// supervisor is the state of one Supervise.
type supervisor struct {
	dir    string
	job    Job
	record record
	out    streams
	group  *cgroup
	cancel chan os.Signal

	removed   int64      // bytes of output that were cut away
	children  chan child // closed when there is none left
	childless bool
	status    *syscall.WaitStatus // of the job, once it is gone
	survivors map[Identity]bool
	hurried   time.Time // when somebody asked for a quick end
}

// child is one that has ended.
type child struct {
	pid    int
	status syscall.WaitStatus
}

// announce records who supervises, and only then tells the one who waits in Start. If that one is gone already, it has recorded
// nothing of this job, and a later one may have found that it never started: so it must not start.
func (s *supervisor) announce() error {
	s.record = record{Execution: s.job.Execution, Supervisor: Self(), StartedAt: time.Now().UTC()}
	s.record.Cgroup = cgroupPath(s.job.Execution) // before it is made, so that End finds it whatever happens
	err := writeJSON(s.dir, supervisorFile, s.record, false)
	if err == nil {
		_, err = os.Stdout.WriteString(ready)
	}
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil // a pipe that nobody reads is as good
	}
	defer null.Close()
	_ = redirect(int(null.Fd()), int(os.Stdout.Fd()))
	return nil
}

// run starts the job, watches it, and ends all that is left of it.
func (s *supervisor) run() Exit {
	defer func() { s.group.remove() }()
	var err error
	if s.out, err = openStreams(s.dir, s.job); err != nil {
		exit := Exit{Code: -1, Reason: ReasonLost, Error: err.Error()} // no fault of the job's
		if errors.Is(err, fs.ErrNotExist) {
			exit.Reason = ReasonStartFailed // it names a file that is not there
		}
		return exit
	}
	if err := s.start(); err != nil {
		s.out.close()
		return Exit{Code: -1, Reason: ReasonStartFailed, Error: err.Error()}
	}
	defer s.out.close()
	exit := Exit{Code: -1, Reason: s.watch()}
	grace, force := s.job.grace(), forceLimit
	switch exit.Reason {
	case ReasonExited:
		grace = min(grace, quickGrace)
		s.pause(firstLook) // mostly it was alone: then that is known at once
	case ReasonCancelled:
		grace, force = min(grace, quickGrace), quickForce
	}
	err = hunt{find: s.find, pause: s.pause, hurry: s.hurry, group: s.group}.run(grace, force)
	if err = errors.Join(err, s.cut()); err != nil {
		exit.Error = err.Error()
	}
	if exit.Reason == ReasonExited && s.removed > 0 {
		exit.Reason = ReasonOutputLimit // it was quicker than the watch
	}
	exit.OutputBytes = s.out.sizes().total + s.removed
	exit.CPU = s.cpu()
	exit.Survivors = len(s.survivors)
	if s.status != nil {
		exit.Code, exit.Signal = s.status.ExitStatus(), signalName(*s.status)
	}
	return exit
}

// cut keeps the output within its limit: also while processes that were asked to end go on writing.
func (s *supervisor) cut() error {
	removed, err := s.out.cut(s.job.MaxOutput)
	s.removed += removed
	return err
}

func (s *supervisor) start() error {
	if _, err := os.Stat(s.job.Dir); err != nil { // the kernel would blame the program
		return err
	}
	path, err := lookIn(s.job.Args[0], s.job.Dir, s.job.Env)
	if err != nil {
		return err
	}
	s.group = newCgroup(s.record.Cgroup, s.job.Execution)
	attributes := &os.ProcAttr{
		Dir: s.job.Dir, Env: s.job.environment(),
		Files: []*os.File{s.out.stdin, s.out.stdout, s.out.stderr},
		Sys:   jobAttributes(s.group),
	}
	process, err := os.StartProcess(path, s.job.Args, attributes)
	if err != nil && s.group != nil { // perhaps only because of the group
		s.group.remove()
		s.group = nil
		attributes.Sys = jobAttributes(nil)
		process, err = os.StartProcess(path, s.job.Args, attributes)
	}
	if err != nil {
		return err
	}
	if s.group == nil {
		s.record.Cgroup = ""
	}
	s.record.Job, _ = identify(process.Pid)
	s.record.Job.PID = process.Pid
	_ = process.Release() // it is waited for below, with all others
	s.children = make(chan child)
	go reap(s.children)
	// Without this record the job runs all the same; only End has one trace less to follow.
	_ = writeJSON(s.dir, supervisorFile, s.record, false)
	return nil
}

// reap waits for every child there is: the job, and the orphans that come to this process. That there is none left proves, where orphans
// come to their reaper, that no descendant is.
func reap(children chan<- child) {
	defer close(children)
	for {
		var c child
		var err error
		c.pid, err = syscall.Wait4(-1, &c.status, waitAll, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return
		}
		children <- c
	}
}

// watch returns when the job is gone, or has to go.
func (s *supervisor) watch() Reason {
	now := time.Now()
	limits := newLimits(s.job, now)
	timer := time.NewTimer(limits.wait(now, sizes{}))
	defer timer.Stop()
	for {
		select {
		case c, ok := <-s.children:
			s.note(c, ok)
			if s.status != nil || s.childless {
				return ReasonExited
			}
		case <-s.cancel:
			return ReasonCancelled
		case now = <-timer.C:
			seen := s.out.sizes()
			if reason := limits.judge(now, seen, s.cpu); reason != "" {
				return reason
			}
			timer.Reset(limits.wait(now, seen))
		}
	}
}

func (s *supervisor) note(c child, ok bool) {
	switch {
	case !ok:
		s.childless = true
	case c.pid == s.record.Job.PID:
		s.status = &c.status
	}
}

// find lists all that belongs to the job and is alive. Nothing can come any more once there is no child left.
func (s *supervisor) find() ([]process, bool, error) {
	_ = s.cut()
	table, err := processes()
	if err != nil {
		return nil, false, err
	}
	self := s.record.Supervisor
	alive := living(descendants(table, self.PID), carriers(table, s.job.Execution, self.Start))
	if s.status != nil {
		for _, p := range alive {
			s.survivors[p.identity()] = true
		}
	}
	return alive, len(alive) == 0 && s.childless, nil
}

// pause returns at once when there is no child left, which is what everybody hopes for.
func (s *supervisor) pause(d time.Duration) {
	if s.childless {
		time.Sleep(d)
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case c, ok := <-s.children:
			s.note(c, ok)
			if !ok {
				return
			}
		case <-timer.C:
			return
		}
	}
}

// hurry shortens the grace of a job that is being ended already when somebody comes to wait for it.
func (s *supervisor) hurry() bool {
	select {
	case <-s.cancel:
		if s.hurried.IsZero() {
			s.hurried = time.Now()
		}
	default:
	}
	return !s.hurried.IsZero() && time.Since(s.hurried) >= quickGrace
}

// cpu is the processor time of the job and its descendants so far: of the group if there is one, else of those that were waited for and
// of those that still run.
func (s *supervisor) cpu() time.Duration {
	if used, ok := s.group.cpu(); ok {
		return used
	}
	var usage syscall.Rusage
	_ = syscall.Getrusage(unix.RUSAGE_CHILDREN, &usage)
	used := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	if s.childless {
		return used
	}
	table, _ := processes()
	for _, p := range descendants(table, s.record.Supervisor.PID) {
		used += p.cpu
	}
	return used
}

// closeInherited closes what this process was given beside its standard files: a supervisor that outlives its starter must not
// hold a pipe that somebody reads to its end. All that Go itself opens is marked to be closed on exec; what is not so marked
// came from outside.
func closeInherited() {
	entries, _ := os.ReadDir("/dev/fd")
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= 2 {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
}
