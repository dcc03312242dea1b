package work

import "time"

// Class is why an execution failed. Every failed execution has exactly one.
type Class string

// The classes of failure.
const (
	ClassPreDispatch      Class = "pre_dispatch"
	ClassGate             Class = "gate"
	ClassHandover         Class = "handover"
	ClassMCP              Class = "mcp"
	ClassQuota            Class = "quota"
	ClassAuth             Class = "auth"
	ClassPermissionDenied Class = "permission_denied"
	ClassNoWork           Class = "no_work"
	ClassTimeout          Class = "timeout"
	ClassStalled          Class = "stalled"
	ClassKilled           Class = "killed"
	ClassOutputInvalid    Class = "output_invalid"
	ClassTransient        Class = "transient"
	ClassOrdinary         Class = "ordinary"
	// ClassInterrupted is a run that backburner itself cut: a signal, the
	// tick's deadline, a tick that died. It costs nothing.
	ClassInterrupted Class = "interrupted"
)

// Classes lists every class.
var Classes = []Class{ClassPreDispatch, ClassGate, ClassHandover, ClassMCP, ClassQuota, ClassAuth,
	ClassPermissionDenied, ClassNoWork, ClassTimeout, ClassStalled, ClassKilled, ClassOutputInvalid,
	ClassTransient, ClassOrdinary, ClassInterrupted}

// Verdict is what becomes of a task after a failure.
type Verdict struct {
	Again   bool          // pending once more
	Charged bool          // an attempt is used up
	Wait    time.Duration // before it may run again; 0: in the same tick, or when what holds it ends
	Hold    string        // what holds it back; "": nothing
	Park    bool          // the agent is parked, not the task
	Stop    string        // reason code the workstream is blocked with, when not again
}

// Limits are the caps on trying again, from the configuration.
type Limits struct {
	Attempts       int // executions of one task that may fail
	GateRetries    int
	RepairRounds   int
	EscalateAfter  int // ticks
	ReviewRounds   int
	ConflictRounds int
}

const (
	backoffFirst = time.Minute
	backoffCap   = time.Hour
)

// Judge decides what becomes of a task that failed with a class. attempts
// counts the failures charged before this one.
func Judge(kind TaskKind, class Class, attempts int, l Limits) Verdict {
	switch class {
	case ClassInterrupted:
		return Verdict{Again: true}
	case ClassQuota, ClassAuth:
		// The agent, not the work, is at fault: others may take the task.
		return Verdict{Again: true, Park: true}
	case ClassMCP:
		return Verdict{Again: true, Hold: "mcp"}
	case ClassTransient, ClassTimeout, ClassStalled, ClassKilled, ClassOrdinary:
		if attempts+1 < l.Attempts {
			return Verdict{Again: true, Charged: true, Hold: "backoff", Wait: Backoff(attempts)}
		}
	case ClassOutputInvalid:
		return Verdict{Charged: true, Stop: "output_invalid"}
	case ClassNoWork:
		return Verdict{Charged: true, Stop: "no_progress"}
	}
	// Also what the same run would only meet again: a denied permission, a
	// failure before dispatch, a hand-over, a gate.
	return Verdict{Charged: true, Stop: "attempts_exhausted:" + string(kind)}
}

// Backoff doubles from one minute and is capped at an hour. Jitter is the
// caller's: see [Jitter].
func Backoff(attempts int) time.Duration {
	d := backoffFirst
	for range attempts {
		if d *= 2; d >= backoffCap {
			return backoffCap
		}
	}
	return d
}

// Jitter spreads a wait over 80 to 120 % of itself, always the same for the
// same seed, so that the stored time does not depend on who computes it.
func Jitter(d time.Duration, seed string) time.Duration {
	var h uint32 = 2166136261
	for i := range len(seed) {
		h = (h ^ uint32(seed[i])) * 16777619
	}
	return d*8/10 + time.Duration(h%400)*d/1000
}
