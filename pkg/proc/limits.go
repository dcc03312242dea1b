package proc

import "time"

const (
	defaultGrace = 5 * time.Second
	// quickGrace is the most that is granted when somebody waits for the end, or the job itself is already gone.
	quickGrace = 1500 * time.Millisecond
	// forceLimit is how long killed processes may take to disappear before the supervisor gives up and says so.
	forceLimit = 10 * time.Second
	// quickForce is the same when somebody waits.
	quickForce = time.Second

	// perByte is how long a job is believed to need at least for a byte of output: it decides how soon to look again.
	perByte      = time.Nanosecond
	shortestWait = 10 * time.Millisecond
	longestWait  = 250 * time.Millisecond

	// idleSamples is how often within Job.Idle a sign of life is looked for.
	idleSamples = 10
	// idleShare is the part of Job.Idle (1/50) that processor time must add up to since the last sign of life to be one
	// itself. A program that hangs in a loop of timers and retries stays below it.
	idleShare = 50
)

// limits decides when a job has to be ended. It is told what was seen and when, and looks at nothing itself.
type limits struct {
	deadline  time.Time     // zero: none
	idle      time.Duration // 0: none
	maxOutput int64         // for each file; 0: none

	active  time.Time     // last sign of life
	cpu     time.Duration // used until then
	output  int64         // bytes at the last look
	sampled time.Time     // when the processor time was last read
}

func newLimits(job Job, start time.Time) *limits {
	l := &limits{idle: job.Idle, maxOutput: job.MaxOutput, active: start, sampled: start}
	if job.Timeout > 0 {
		l.deadline = start.Add(job.Timeout)
	}
	return l
}

// judge says why the job has to end now, or nothing. cpu is the processor time so far; it is asked only when it matters, for it may
// be dear to find out.
func (l *limits) judge(now time.Time, seen sizes, cpu func() time.Duration) Reason {
	switch {
	case l.maxOutput > 0 && seen.largest > l.maxOutput:
		return ReasonOutputLimit
	case !l.deadline.IsZero() && !now.Before(l.deadline):
		return ReasonTimeout
	case l.idle > 0 && !l.alive(now, seen, cpu):
		return ReasonIdle
	}
	return ""
}

func (l *limits) alive(now time.Time, seen sizes, cpu func() time.Duration) bool {
	if seen.total != l.output {
		l.output, l.active = seen.total, now
	}
	if now.Sub(l.sampled) >= l.sampling() {
		l.sampled = now
		used := cpu()
		if used-l.cpu >= l.idle/idleShare {
			l.active = now
		}
		if l.active.Equal(now) || used < l.cpu {
			l.cpu = used
		}
	}
	return now.Sub(l.active) < l.idle
}

func (l *limits) sampling() time.Duration { return max(l.idle/idleSamples, shortestWait) }

// wait is how long nothing needs to be looked at.
func (l *limits) wait(now time.Time, seen sizes) time.Duration {
	wait := time.Hour
	if !l.deadline.IsZero() {
		wait = min(wait, l.deadline.Sub(now))
	}
	if l.idle > 0 {
		wait = min(wait, l.sampling())
	}
	if l.maxOutput > 0 {
		room := time.Duration(l.maxOutput-seen.largest) * perByte
		wait = min(wait, max(shortestWait, min(room, longestWait)))
	}
	return max(wait, time.Millisecond)
}
