package proc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	jobFile        = "job.json"
	supervisorFile = "supervisor.json"
	exitFile       = "exit.json"
	logFile        = "supervisor.log"

	largestJSON = 4 << 20 // bytes; arguments of a job are the most that is in one
)

// Job is what a supervisor runs. Paths are absolute, or relative to the directory of the job.
type Job struct {
	// Execution is the id by which all processes of the job are marked: letters, digits, "-", "_" and ".". No two jobs of a machine may
	// have the same; see [Mark].
	Execution string `json:"execution"`
	// Args are the program and its arguments. A name without a slash is looked up in the PATH of Env, a relative path from Dir.
	Args []string `json:"args"`
	// Dir is the working directory of the job.
	Dir string `json:"dir"`
	// Env is its complete environment; the marker is added. It is handed over from process to process and never written down.
	Env []string `json:"-"`
	// Stdin is read from this file; empty is nothing to read.
	Stdin string `json:"stdin,omitempty"`
	// Stdout and Stderr are the files that its output is appended to, and may be the same; empty throws it away.
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
	// Timeout is the limit in wall-clock time; 0 is none.
	Timeout time.Duration `json:"timeout_ns,omitempty"`
	// Idle is how long the job may neither write output nor, with all its descendants, use processor time worth mentioning; 0 is
	// no limit.
	Idle time.Duration `json:"idle_ns,omitempty"`
	// Grace is how long its processes may take to end when asked, before they are forced; 0 is five seconds.
	Grace time.Duration `json:"grace_ns,omitempty"`
	// MaxOutput is how many bytes each of Stdout and Stderr may hold; 0 is no limit.
	MaxOutput int64 `json:"max_output,omitempty"`
}

// Reason says why a job ended.
type Reason string

// The reasons.
const (
	ReasonExited      Reason = "exited"       // by itself, with a code or by a signal that was not ours
	ReasonTimeout     Reason = "timeout"      // Job.Timeout was over
	ReasonIdle        Reason = "idle"         // no sign of life for Job.Idle
	ReasonOutputLimit Reason = "output_limit" // a file grew beyond Job.MaxOutput; it was cut to that
	ReasonCancelled   Reason = "cancelled"    // somebody asked for its end
	ReasonStartFailed Reason = "start_failed" // it never ran; Exit.Error says why
	ReasonLost        Reason = "lost"         // its supervisor died before it could tell, or had no place for its output
)

// Exit is how a job ended.
type Exit struct {
	// Code is the exit code of the job; -1 when a signal ended it, it never ran, or nobody knows.
	Code int `json:"code"`
	// Signal is the name of the signal that ended it ("SIGTERM"), or empty.
	Signal string `json:"signal,omitempty"`
	Reason Reason `json:"reason"`
	// Error is what went wrong around the job: it could not be started, processes could not be ended.
	Error     string    `json:"error,omitempty"`
	StartedAt time.Time `json:"started_at"`
	// EndedAt is when the last of its processes was gone.
	EndedAt time.Time `json:"ended_at"`
	// CPU is the processor time of the job and its descendants, as far as it is known.
	CPU time.Duration `json:"cpu_ns"`
	// Survivors counts the processes that were still there, and were ended, after the job itself was gone.
	Survivors int `json:"survivors,omitempty"`
	// OutputBytes is how much was written to Stdout and Stderr, before they were cut.
	OutputBytes int64 `json:"output_bytes"`
}

// record is the content of supervisor.json.
type record struct {
	Execution  string    `json:"execution"`
	Supervisor Identity  `json:"supervisor"`
	Job        Identity  `json:"job"` // zero until the job has started
	Cgroup     string    `json:"cgroup,omitempty"`
	StartedAt  time.Time `json:"started_at"`
}

func (j Job) validate() error {
	switch {
	case !validExecution(j.Execution):
		return fmt.Errorf("job: execution id %q is not of letters, digits, '-', '_' and '.'", j.Execution)
	case len(j.Args) == 0:
		return errors.New("job: no program")
	case j.Dir == "":
		return errors.New("job: no working directory")
	}
	return nil
}

// validExecution keeps an id out of trouble as a value in an environment and as the name of a directory.
func validExecution(id string) bool {
	bad := func(r rune) bool {
		return !strings.ContainsRune("-_.", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	return id != "" && len(id) <= 200 && strings.Trim(id, ".") != "" && !strings.ContainsFunc(id, bad)
}

// environment is that of the job, with its marker in place of one that it may have inherited.
func (j Job) environment() []string {
	env := make([]string, 0, len(j.Env)+1)
	for _, entry := range j.Env {
		if !strings.HasPrefix(entry, Marker+"=") {
			env = append(env, entry)
		}
	}
	return append(env, Marker+"="+j.Execution)
}

func (j Job) grace() time.Duration {
	if j.Grace <= 0 {
		return defaultGrace
	}
	return j.Grace
}

// readJSON reads dir/name; found is false when there is no such file. A file that was torn by a power cut reads as not
// found too: whatever it spoke of is gone with the power. So does what the job put in its place: a pipe, a link, a folder, a file without end.
func readJSON[T any](dir, name string) (value T, found bool, err error) {
	file, err := os.OpenFile(filepath.Join(dir, name), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENXIO) {
		return value, false, nil
	}
	if err != nil {
		return value, false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > largestJSON {
		return value, false, err
	}
	content, err := io.ReadAll(io.LimitReader(file, largestJSON))
	if err != nil {
		return value, false, err
	}
	if json.Unmarshal(content, &value) != nil {
		var zero T
		return zero, false, nil
	}
	return value, true, nil
}

// writeJSON puts v into dir/name in one step: a reader sees the old content or the new. With durable, the new content survives a power
// cut once writeJSON has returned.
func writeJSON(dir, name string, v any, durable bool) error {
	content, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, temporaryPrefix(name)+"*")
	if err != nil {
		return err
	}
	_, err = file.Write(append(content, '\n'))
	if err == nil && durable {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = replace(file.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return err
	}
	if durable {
		return syncDir(dir)
	}
	return nil
}

// replace renames a file, also where the job has put a folder.
func replace(from, to string) error {
	err := os.Rename(from, to)
	if info, there := os.Lstat(to); err == nil || there != nil || !info.IsDir() {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// temporaryPrefix is how the names begin under which a file is written before it gets its own.
func temporaryPrefix(name string) string { return "." + name + "." }

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
