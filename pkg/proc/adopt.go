package proc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// State is what a later process finds of a job.
type State string

// The states.
const (
	Finished State = "finished" // there is an exit.json
	Running  State = "running"  // its supervisor is alive
	Gone     State = "gone"     // it never started, or its supervisor is dead and left no exit.json
)

const (
	// politeLimit is how long a supervisor may take to cancel its job before it is ended itself.
	politeLimit = quickGrace + quickForce + 300*time.Millisecond
	// lostGrace is what processes without a supervisor are granted.
	lostGrace = time.Second
	deathLook = 10 * time.Millisecond
)

// Adopt tells what became of the job of a directory, whoever started it. Exit is set for Finished only. It ends nothing; after Gone, [End]
// does. As long as the supervisor is alive nobody else's word counts: a job may write an exit.json itself, and go on.
func Adopt(dir string) (State, Exit, error) {
	r, found, err := readJSON[record](dir, supervisorFile)
	if err != nil {
		return "", Exit{}, err
	}
	if found && r.Supervisor.Alive() {
		return Running, Exit{}, nil
	}
	exit, found, err := readJSON[Exit](dir, exitFile)
	if err != nil || found {
		return Finished, exit, err
	}
	return Gone, Exit{}, nil
}

// End ends the job of a directory, whoever started it, and tells how it ended: a job that has finished is left as it is; a running one is
// cancelled by its supervisor, or without it when that takes more than three seconds or ctx ends; what a dead
// supervisor left behind is found and ended. Then there is an exit.json. End may be repeated. An error means that
// processes of the job resist, or that its files cannot be read or written.
func End(ctx context.Context, dir string) (Exit, error) {
	state, exit, err := Adopt(dir)
	if err != nil || state == Finished {
		return exit, err
	}
	reason := ReasonLost
	if state == Running {
		reason = ReasonCancelled
	}
	w, err := newWreck(dir)
	if err != nil {
		return Exit{}, err
	}
	defer w.group.remove()
	if state == Running {
		_ = w.record.Supervisor.signal(syscall.SIGTERM)
		_ = w.record.Supervisor.signal(syscall.SIGCONT) // a stopped process cannot hear
		if w.supervisorGone(ctx, politeLimit) {
			if state, exit, err := Adopt(dir); err != nil || state == Finished {
				return exit, err
			}
		}
		w.remember() // while the chain of parents is whole
		_ = w.record.Supervisor.signal(syscall.SIGKILL)
		w.supervisorGone(context.WithoutCancel(ctx), quickForce)
		if state, exit, err := Adopt(dir); err != nil || state == Finished {
			return exit, err
		}
	}
	return w.clear(ctx, reason)
}

// wreck is a job whose supervisor is dead, or will be.
type wreck struct {
	dir    string
	job    Job
	record record
	group  *cgroup
	known  map[Identity]bool // processes that were found to belong to the job
}

func newWreck(dir string) (*wreck, error) {
	w := &wreck{dir: dir, known: map[Identity]bool{}}
	var err error
	if w.job, _, err = readJSON[Job](dir, jobFile); err != nil {
		return nil, err
	}
	if w.record, _, err = readJSON[record](dir, supervisorFile); err != nil {
		return nil, err
	}
	if w.job.Execution == "" {
		w.job.Execution = w.record.Execution
	}
	w.group = openCgroup(w.record.Cgroup, w.job.Execution)
	if w.record.Job.PID > 0 {
		w.known[w.record.Job] = true
	}
	return w, nil
}

// supervisorGone waits until the supervisor is dead, at most so long and not beyond the end of ctx.
func (w *wreck) supervisorGone(ctx context.Context, limit time.Duration) bool {
	over := after(limit)
	for w.record.Supervisor.Alive() {
		if over() || ctx.Err() != nil {
			return false
		}
		time.Sleep(deathLook)
	}
	return true
}

// remember takes down which processes belong to the job now, before parents die and their children become anybody's.
func (w *wreck) remember() {
	table, err := processes()
	if err != nil {
		return
	}
	for _, p := range descendants(table, w.record.Supervisor.PID) {
		w.known[p.identity()] = true
	}
}

// clear ends all that is left and writes exit.json.
func (w *wreck) clear(ctx context.Context, reason Reason) (Exit, error) {
	h := hunt{
		find:  w.find,
		pause: time.Sleep,
		hurry: func() bool { return ctx.Err() != nil },
		group: w.group,
	}
	grace := lostGrace
	if reason == ReasonCancelled { // they had theirs
		grace = 0
	}
	before := len(w.known)
	if err := h.run(grace, quickForce); err != nil {
		return Exit{}, fmt.Errorf("end %s: %w", w.job.Execution, err)
	}
	why := "the supervisor was killed"
	if said := logged(w.dir); said != "" {
		why = "the supervisor ended without a result: " + said
	}
	exit := Exit{
		Code: -1, Reason: reason, Error: why,
		StartedAt: w.record.StartedAt, EndedAt: time.Now().UTC(), Survivors: len(w.known) - before,
	}
	exit.CPU, _ = w.group.cpu()
	out := reopenOutputs(w.dir, w.job)
	defer out.close()
	removed, err := out.cut(w.job.MaxOutput)
	if err != nil {
		return Exit{}, fmt.Errorf("end %s: %w", w.job.Execution, err)
	}
	exit.OutputBytes = out.sizes().total + removed
	w.sweep()
	return exit, writeJSON(w.dir, exitFile, exit, true)
}

// sweep takes away the half-written files of a supervisor that was killed.
func (w *wreck) sweep() {
	entries, _ := os.ReadDir(w.dir)
	for _, entry := range entries {
		for _, name := range []string{jobFile, supervisorFile, exitFile} {
			if strings.HasPrefix(entry.Name(), temporaryPrefix(name)) {
				_ = os.Remove(filepath.Join(w.dir, entry.Name()))
			}
		}
	}
}

// find lists what is left: what was known to belong to the job, what is in its group or carries its marker, and all that these have
// started.
func (w *wreck) find() ([]process, bool, error) {
	if w.record.Supervisor.PID > 0 && w.record.Supervisor.BootID != host().BootID {
		return nil, true, nil // all died with that boot
	}
	table, err := processes()
	if err != nil {
		return nil, false, err
	}
	var found []process
	if w.job.Execution != "" {
		found = carriers(table, w.job.Execution, w.record.Supervisor.Start)
	}
	members := w.group.members()
	for _, p := range table {
		if w.known[p.identity()] || slices.Contains(members, p.pid) {
			found = append(found, p)
		}
	}
	var roots []int
	for _, p := range found {
		roots = append(roots, p.pid)
	}
	alive := living(found, descendants(table, roots...))
	for _, p := range alive {
		w.known[p.identity()] = true
	}
	return alive, len(alive) == 0 && !w.group.populated(), nil
}
