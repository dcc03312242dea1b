package cmd

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/backburner-cli/backburner/pkg/config"
	"github.com/backburner-cli/backburner/pkg/lease"
	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/work"
)

// The checks of what ticks left, and of the machine.

// problemsShown is how many problems of the state are listed one by one.
const problemsShown = 10

// findingStatus is what doctor makes of a problem of the state.
var findingStatus = map[store.Severity]string{store.Note: fine, store.Warn: warn, store.Fail: fail}

func checkState(_ context.Context, cfg *config.Config) []finding {
	dir := cfg.State.Dir
	if _, err := openStore(cfg, true, nil); err != nil {
		return []finding{{"state", fail, err.Error(), "use the newest backburner, or name another folder with --state"}}
	}
	if at := nearest(dir); unix.Access(at, unix.W_OK) != nil {
		return []finding{{"state", fail, at + " cannot be written to", "change its owner, or name another folder with --state"}}
	}
	if !exists(dir) {
		return []finding{{"state", fine, dir + " is not there yet; the first tick makes it", ""}}
	}
	problems := store.Verify(dir)
	var found []finding
	for _, p := range problems[:min(len(problems), problemsShown)] {
		found = append(found, finding{"state", findingStatus[p.Severity], p.Path + ": " + p.Detail, p.Next})
	}
	if more := len(problems) - len(found); more > 0 {
		found = append(found, finding{"state", warn, fmt.Sprintf("%d more like these", more), "mend those first"})
	}
	if len(found) == 0 {
		found = []finding{{"state", fine, dir, ""}}
	}
	return found
}

// nearest is the folder itself, or the first above it that is there.
func nearest(dir string) string {
	for !exists(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	return dir
}

func checkLease(_ context.Context, cfg *config.Config) []finding {
	now := time.Now()
	h, alive, err := lease.Peek(cfg.State.Dir, now)
	switch {
	case err != nil:
		return []finding{{"lease", warn, err.Error(), "nothing; the next tick sets it aside"}}
	case h == nil:
		return []finding{{"lease", fine, "no tick is running", ""}}
	case !alive:
		return []finding{{"lease", warn, "left by " + h.String() + ", which is dead", "nothing; the next tick goes on where it stopped"}}
	case now.After(h.ExpiresAt):
		return []finding{{"lease", warn, fmt.Sprintf("%s has it and did not renew it for %s", h, ago(now, h.RenewedAt)),
			fmt.Sprintf("it may be suspended: kill -CONT %d lets it go on, kill %d ends it", h.PID, h.PID)}}
	}
	return []finding{{"lease", fine, fmt.Sprintf("%s runs since %s", h, ago(now, h.AcquiredAt)), ""}}
}

// checkPauses finds what keeps agents from starting although all else is well.
func checkPauses(ctx context.Context, cfg *config.Config) []finding {
	st, err := openStore(cfg, true, nil)
	if err != nil {
		return nil // told by the check of the state
	}
	board, _, err := st.Load(ctx)
	if err != nil {
		return []finding{{"pauses", warn, err.Error(), "make the state readable"}}
	}
	now := time.Now()
	var found []finding
	if h := board.Agents.Hold; h != nil {
		found = append(found, finding{"pauses", warn, work.Printable(strings.TrimSuffix("everything is held by "+h.By+": "+h.Reason, ": ")), "backburner resume --all"})
	}
	for _, name := range slices.Sorted(maps.Keys(board.Agents.Agents)) {
		if state := board.Agents.Agents[name]; now.Before(state.ParkedUntil) {
			fix := "nothing; it is used again then"
			if state.Reason == string(work.ClassAuth) {
				fix = "log in, or give it its key; it is tried again then"
			}
			found = append(found, finding{"pauses", warn, fmt.Sprintf("agent %s is parked (%s) for another %s", name, state.Reason, roughly(state.ParkedUntil.Sub(now))), fix})
		}
	}
	if !cfg.Budget.Hours.Open(now) {
		found = append(found, finding{"pauses", warn, "agents start again in " + roughly(cfg.Budget.Hours.Next(now).Sub(now)), "nothing; these are the hours of [budget]"})
	}
	if len(found) == 0 {
		found = []finding{{"pauses", fine, "none", ""}}
	}
	return found
}

const (
	tickMemory = 15 * 24 * time.Hour // how far back from the last one ticks are compared
	soonEnough = time.Hour           // a pause as short as this is never remarkable
)

// checkLastTick notices that nothing has run for longer than usual.
func checkLastTick(_ context.Context, cfg *config.Config) []finding {
	st, err := openStore(cfg, true, nil)
	if err != nil {
		return nil // told by the check of the state
	}
	last, err := st.LastTick()
	if err != nil {
		return []finding{{"last tick", warn, err.Error(), "make the folder ticks readable"}}
	}
	if last == nil {
		return []finding{{"last tick", fine, "there was none yet; backburner tick makes one", ""}}
	}
	now := time.Now()
	said := ago(now, last.EndedAt) + " ago, " + last.Outcome
	if last.Error != "" {
		return []finding{{"last tick", warn, said + ": " + last.Error, "run backburner tick --verbose by hand"}}
	}
	ticks, err := st.Ticks(last.StartedAt.Add(-tickMemory))
	if err != nil {
		return []finding{{"last tick", warn, err.Error(), "make the folder ticks readable"}}
	}
	starts := make([]time.Time, len(ticks))
	for i, t := range ticks {
		starts[i] = t.StartedAt
	}
	usual, known := usualPause(starts)
	_, running, _ := lease.Peek(cfg.State.Dir, now)
	if known && !running && now.Sub(last.EndedAt) > max(2*usual, soonEnough) {
		return []finding{{"last tick", warn, fmt.Sprintf("%s; usually at most %s pass. Has cron stopped?", said, roughly(usual)),
			"crontab -l shows what is scheduled, backburner doctor --cron whether it can work"}}
	}
	return []finding{{"last tick", fine, said, ""}}
}

// usualPause is the longest pause between ticks but one: nights and weekends are
// usual, a single holiday is not. Of fewer than four ticks nothing is known.
func usualPause(starts []time.Time) (time.Duration, bool) {
	if len(starts) < 4 {
		return 0, false
	}
	slices.SortFunc(starts, time.Time.Compare)
	pauses := make([]time.Duration, 0, len(starts)-1)
	for i := range len(starts) - 1 {
		pauses = append(pauses, starts[i+1].Sub(starts[i]))
	}
	slices.Sort(pauses)
	return pauses[len(pauses)-2], true
}

func ago(now, then time.Time) string { return roughly(now.Sub(then)) }

// roughly is a duration for people, to the minute.
func roughly(d time.Duration) string {
	minutes := int(d.Round(time.Minute) / time.Minute)
	switch {
	case d < time.Minute:
		return "less than a minute"
	case d > 48*time.Hour:
		return fmt.Sprintf("%d days", minutes/60/24)
	case minutes < 60:
		return fmt.Sprintf("%dm", minutes)
	case minutes%60 == 0:
		return fmt.Sprintf("%dh", minutes/60)
	}
	return fmt.Sprintf("%dh%dm", minutes/60, minutes%60)
}

// checkTimeZone says by which clock days are counted; cron may have another.
func checkTimeZone(context.Context, *config.Config) []finding {
	name := strings.TrimPrefix(os.Getenv("TZ"), ":")
	_, err := time.LoadLocation(name)
	if filepath.IsAbs(name) {
		_, err = os.Stat(name)
	}
	if err != nil {
		return []finding{{"time zone", warn, fmt.Sprintf("TZ is %q, which is none that is known here; UTC is used", work.Printable(name)),
			"set TZ to a name such as Europe/Berlin, or install tzdata"}}
	}
	return []finding{{"time zone", fine, time.Now().Format("MST (-07:00)") + "; the days of [budget] begin at its midnight", ""}}
}

const (
	littleSpace = 1 << 30  // bytes
	noSpace     = 64 << 20 // bytes
)

func checkDisk(_ context.Context, cfg *config.Config) []finding {
	var found []finding
	seen := make(map[string]bool)
	for _, dir := range []string{cfg.State.Dir, cfg.Workspace.Root} {
		at := nearest(dir)
		var disk unix.Statfs_t
		if err := unix.Statfs(at, &disk); err != nil {
			found = append(found, finding{"disk", warn, at + ": " + err.Error(), "look whether the file system is mounted"})
			continue
		}
		if key := fmt.Sprint(disk.Fsid); !seen[key] {
			seen[key] = true
			found = append(found, space(at, uint64(disk.Bavail)*uint64(disk.Bsize)))
		}
	}
	return found
}

// space judges the bytes that are free where dir is.
func space(dir string, free uint64) finding {
	f := finding{"disk", fine, fmt.Sprintf("%.1f GiB free at %s", float64(free)/(1<<30), dir), ""}
	switch {
	case free < noSpace:
		f.Status, f.Fix = fail, "make room: workspaces and state cannot be written"
	case free < littleSpace:
		f.Status, f.Fix = warn, "make room, or move [workspace] root to another disk"
	}
	return f
}

// checkIsolation says plainly what agents can reach.
func checkIsolation(_ context.Context, cfg *config.Config) []finding {
	who := whoami()
	var bare []string
	for _, name := range cfg.AgentNames() {
		if len(cfg.Agents[name].Wrap) == 0 {
			bare = append(bare, name)
		}
	}
	found := []finding{{"isolation", fine, "every agent runs under its wrap; a workspace alone is no sandbox", ""}}
	switch {
	case len(cfg.AgentNames()) == 0:
		found[0] = finding{"isolation", fine, "there is no agent to isolate yet; a workspace alone is no sandbox", ""}
	case len(bare) > 0:
		detail := fmt.Sprintf("a workspace is no sandbox: %s can read and change whatever %s can, and so do gates, which run what was built",
			strings.Join(bare, ", "), who)
		if os.Geteuid() == 0 {
			detail += "; that is everything on this machine"
		}
		found[0] = finding{"isolation", warn, detail, "set wrap in [agent.NAME] (bwrap, docker, ...), or run backburner as a user of its own"}
	}
	how := "by their parents and a mark in their environment"
	if ownControlGroup() {
		how = "by a control group"
	}
	return append(found, finding{"processes", fine, "what agents leave running is found and ended " + how, ""})
}

// ownControlGroup reports whether a control group can be made for a job, where
// they are usually mounted.
func ownControlGroup() bool {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return false // not Linux, or no /proc
	}
	_, path, ok := strings.Cut("\n"+string(groups), "\n0::")
	path, _, _ = strings.Cut(path, "\n")
	return ok && unix.Access(filepath.Join("/sys/fs/cgroup", path), unix.W_OK|unix.X_OK) == nil
}
