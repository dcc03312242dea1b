package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const cgroupPrefix = "backburner-"

// cgroup is a control group (version 2) made for one job: whatever its processes do, they stay in it, and one write ends them all at
// once. Where none can be made (no rights, read-only, an old kernel) it is nil, and all its methods do nothing.
type cgroup struct {
	path string
	fd   int
}

// cgroupPath is where the group of a job would be made: below that of this process. Empty where there is none.
func cgroupPath(execution string) string {
	parent := ownCgroup()
	if parent == "" {
		return ""
	}
	return filepath.Join(parent, cgroupPrefix+execution)
}

// newCgroup makes the group of a job at that path, or returns nil. A group that is there already is somebody else's.
func newCgroup(path, execution string) *cgroup {
	if path == "" || os.Mkdir(path, 0o755) != nil {
		return nil
	}
	g := openCgroup(path, execution)
	if g == nil {
		_ = unix.Rmdir(path)
	}
	return g
}

// openCgroup opens a group made earlier; nil when it is gone, or path is not that of a group of this execution: what a file
// says must not end other people's processes.
func openCgroup(path, execution string) *cgroup {
	if filepath.Base(path) != cgroupPrefix+execution {
		return nil
	}
	var fs unix.Statfs_t
	if unix.Statfs(path, &fs) != nil || fs.Type != unix.CGROUP2_SUPER_MAGIC {
		return nil
	}
	if unix.Access(filepath.Join(path, "cgroup.kill"), unix.W_OK) != nil { // Linux before 5.14
		return nil
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	return &cgroup{path: path, fd: fd}
}

func (g *cgroup) kill() {
	if g != nil {
		_ = os.WriteFile(filepath.Join(g.path, "cgroup.kill"), []byte("1"), 0)
	}
}

func (g *cgroup) populated() bool {
	if g == nil {
		return false
	}
	events, err := os.ReadFile(filepath.Join(g.path, "cgroup.events"))
	return err == nil && bytes.Contains(events, []byte("populated 1"))
}

// members are the ids of the processes in the group itself, not of those in groups that the job made below it.
func (g *cgroup) members() []int {
	if g == nil {
		return nil
	}
	list, _ := os.ReadFile(filepath.Join(g.path, "cgroup.procs"))
	var pids []int
	for line := range strings.Lines(string(list)) {
		if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// cpu is the processor time of all that ever ran in the group.
func (g *cgroup) cpu() (time.Duration, bool) {
	if g == nil {
		return 0, false
	}
	stat, err := os.ReadFile(filepath.Join(g.path, "cpu.stat"))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(stat)) {
		if value, ok := strings.CutPrefix(line, "usage_usec "); ok {
			used, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			return time.Duration(used) * time.Microsecond, err == nil
		}
	}
	return 0, false
}

// remove takes the group away, with groups that the job made below it. It must be empty of processes.
func (g *cgroup) remove() {
	if g == nil {
		return
	}
	_ = unix.Close(g.fd)
	removeGroups(g.path)
}

func removeGroups(path string) {
	if unix.Rmdir(path) == nil {
		return
	}
	entries, _ := os.ReadDir(path)
	for _, entry := range entries {
		if entry.IsDir() {
			removeGroups(filepath.Join(path, entry.Name()))
		}
	}
	_ = unix.Rmdir(path)
}

// ownCgroup is the directory of the version 2 group of this process, or empty.
func ownCgroup() string {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	return cgroupDir(string(groups), string(mounts))
}

// cgroupDir finds the directory from /proc/self/cgroup and /proc/self/mountinfo: the path in the first is below
// the root of the mount in the second, which in a container need not be "/".
func cgroupDir(groups, mounts string) string {
	var own string
	for line := range strings.Lines(groups) {
		if path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			own = path
		}
	}
	if own == "" || strings.HasPrefix(own, "/..") { // of a namespace that this process is not in
		return ""
	}
	for line := range strings.Lines(mounts) {
		before, after, ok := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if !ok || !strings.HasPrefix(after, "cgroup2 ") || len(fields) < 5 {
			continue
		}
		root, mount := fields[3], fields[4]
		below, err := filepath.Rel(root, own)
		if err == nil && below != ".." && !strings.HasPrefix(below, "../") {
			return filepath.Join(mount, below)
		}
	}
	return ""
}
