package proc

import (
	"os/exec"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	const tail = " 5 6 7 0 -1 4194560 100 200 0 0 11 12 13 14 20 0 1 0 98765 1000 200 18446744073709551615"
	tests := map[string]struct {
		stat string
		want process
		ok   bool
	}{
		"plain":       {"42 (sleep) S" + tail, process{42, "sleep", 5, 7, 98765, false, 500 * time.Millisecond}, true},
		"zombie":      {"42 (sleep) Z" + tail, process{42, "sleep", 5, 7, 98765, true, 500 * time.Millisecond}, true},
		"dead":        {"42 (sleep) X" + tail, process{42, "sleep", 5, 7, 98765, true, 500 * time.Millisecond}, true},
		"evil name":   {"42 (a) Z 1 (b) S" + tail, process{42, "a) Z 1 (b", 5, 7, 98765, false, 500 * time.Millisecond}, true},
		"line break":  {"42 (a\nb) S" + tail, process{42, "a\nb", 5, 7, 98765, false, 500 * time.Millisecond}, true},
		"empty":       {"", process{}, false},
		"no name":     {"42 S" + tail, process{}, false},
		"cut short":   {"42 (sleep) S 5 6 7", process{}, false},
		"reversed ()": {"42 )x( S" + tail, process{}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := parseStat(42, []byte(test.stat))
			if got != test.want || ok != test.ok {
				t.Errorf("got %+v, %v", got, ok)
			}
		})
	}
}

func TestCgroupDir(t *testing.T) {
	const (
		pure   = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
		hybrid = "30 23 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n" +
			"31 23 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
		container = "29 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
	)
	tests := map[string]struct{ groups, mounts, want string }{
		"pure":                      {"0::/user.slice/a.scope\n", pure, "/sys/fs/cgroup/user.slice/a.scope"},
		"root":                      {"0::/\n", pure, "/sys/fs/cgroup"},
		"hybrid":                    {"8:pids:/x\n1:name=systemd:/y\n0::/z\n", hybrid, "/sys/fs/cgroup/unified/z"},
		"container":                 {"0::/docker/abc/d\n", container, "/sys/fs/cgroup/d"},
		"container, not below":      {"0::/docker/abcd\n", container, ""},
		"container, outside":        {"0::/../x\n", container, ""},
		"outside the namespace":     {"0::/../x\n", pure, ""},
		"only version 1":            {"8:pids:/x\n", hybrid, ""},
		"not mounted":               {"0::/\n", "30 23 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n", ""},
		"nothing to read":           {"", "", ""},
		"a short line in mountinfo": {"0::/\n", "1 2 - cgroup2 x\n" + pure, "/sys/fs/cgroup"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := cgroupDir(test.groups, test.mounts); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestOpenCgroupIsWary(t *testing.T) {
	for _, path := range []string{"", "/", "/sys/fs/cgroup", "/sys/fs/cgroup/other", t.TempDir() + "/backburner-x", "/tmp/backburner-x"} {
		if g := openCgroup(path, "x"); g != nil {
			t.Errorf("%s was opened", path)
		}
	}
}

// A command that outlived its killed caller would go on changing what the next caller works with.
func TestRunEndsWithItsCaller(t *testing.T) {
	for verb, lasts := range map[string]bool{"run": false, "run-lasting": true} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			job := shell(t, "")
			caller := exec.Command(self(t)[0], verb, `trap 'echo 1 > asked; exit' TERM
				echo $$ > pid
				until [ -e go ]; do sleep 0.01; done
				echo 1 > lasted`)
			caller.Dir = job.Dir
			if err := caller.Start(); err != nil {
				t.Fatal(err)
			}
			pid := pidIn(t, job, "pid")
			kill(t, caller)
			if !lasts {
				pidIn(t, job, "asked")
			}
			write(t, job.Dir+"/go", "")
			eventually(t, "its end", func() bool {
				p, ok := readProcess(pid)
				return !ok || p.zombie
			})
			if exists(job.Dir, "lasted") != lasts {
				t.Errorf("it lasted: %v", !lasts)
			}
		})
	}
}
