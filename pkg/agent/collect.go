package agent

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
	"github.com/backburner-cli/backburner/pkg/work"
)

// colours are the sequences by which programs colour what they say.
var colours = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;:?]*[A-Za-z]") })

// Collect says how a run ended, from its folder alone; it changes nothing. Of c it needs Dir, Task, Session and Previous.
func (a *Agent) Collect(c Call, exit proc.Exit) Outcome {
	r := a.report(c, exit)
	result, problem := a.answer(c, r)
	if a.preset.contract {
		if r.session = result.SessionID; len(r.session) > maxSession || r.session != work.Printable(r.session) {
			r.session = "" // it could not be handed on as a variable
		}
		r.tokens = tokens{input: result.Usage.InputTokens, output: result.Usage.OutputTokens, cost: result.Usage.CostUSD}
	}
	result.SessionID, result.Usage = "", work.Usage{}
	if r.failed != nil { // the last words are the error's
		result = work.Result{}
	}
	out := Outcome{Result: result, Session: r.session, SessionLost: r.lost, Denials: r.denials, Capped: r.capped, Exit: exit}
	a.count(&out, c, r)
	j := judgement{agent: a, call: c, report: r, exit: exit, problem: problem}
	out.Class, out.Detail, out.ResetAt = j.judge()
	out.Detail = work.Clip(work.Printable(colours().ReplaceAllString(out.Detail, "")), 500)
	return out
}

func (a *Agent) report(c Call, exit proc.Exit) report {
	stderr := readTail(c.path(stderrFile), maxTail)
	stdout, err := open(c.path(stdoutFile))
	if err != nil { // nothing was said
		return a.preset.read(bytes.NewReader(nil), stderr, exit)
	}
	defer stdout.Close()
	r := a.preset.read(stdout, stderr, exit)
	if a.preset.measure != nil {
		r.tokens = a.preset.measure(c)
	}
	return r
}

// count works out what the run consumed, and its session up to now.
func (a *Agent) count(out *Outcome, c Call, r report) {
	out.Usage = r.tokens.usage(a.config.Price)
	stated := r.tokens != tokens{}
	if !stated {
		out.Usage.CostUSD = nil
	}
	if out.Exit.Reason == proc.ReasonStartFailed {
		out.Usage.CostUSD = new(float64) // nothing ran
	}
	out.Totals = out.Usage
	if c.Session == "" || r.session != "" && r.session != c.Session {
		return
	}
	switch {
	case !stated:
		out.Totals = c.Previous
	case a.preset.cumulative:
		out.Usage = minus(out.Totals, c.Previous)
	default:
		out.Totals = plus(c.Previous, out.Usage)
	}
}

// judgement is everything that the class of a run depends on.
type judgement struct {
	agent   *Agent
	call    Call
	report  report
	exit    proc.Exit
	problem string // why the answer cannot be accepted
}

// judge is the class of the run, "" when it was fine, what to say about it, and when a quota is free again.
func (j judgement) judge() (class work.Class, detail string, reset time.Time) {
	r := j.report
	switch {
	case j.exit.Reason == proc.ReasonCancelled:
		return work.ClassInterrupted, "it was ended before it had finished", reset
	case j.exit.Reason == proc.ReasonLost:
		return work.ClassInterrupted, cmp.Or(j.exit.Error, "its supervisor was killed"), reset
	case j.exit.Reason == proc.ReasonStartFailed:
		return work.ClassOrdinary, j.exit.Error, reset
	case r.failed != nil:
		return r.failed.class, r.failed.message, r.failed.resetAt
	case r.lost:
		return work.ClassInterrupted, "its session " + j.call.Session + " cannot be gone on with; the next run begins a new one", reset
	case !r.ended && r.retrying != nil:
		return r.retrying.class, r.retrying.message, r.retrying.resetAt
	case !r.ended && len(r.denials) > 0 && j.exit.Reason == proc.ReasonExited: // a refusal ends some runs
		return work.ClassPermissionDenied, j.refused(), reset
	case !r.ended:
		class, detail = j.unfinished()
		return class, detail, reset
	case j.exit.Reason == proc.ReasonExited && (j.exit.Code != 0 || j.exit.Signal != ""):
		return work.ClassOrdinary, "it said that it had finished, and then failed: " + j.ending(), reset
	case len(r.denials) > 0 && (j.call.Task.Writes() || j.problem != ""):
		return work.ClassPermissionDenied, j.refused(), reset
	case j.problem != "":
		return work.ClassOutputInvalid, j.problem, reset
	}
	return "", "", reset
}

func (j judgement) refused() string {
	return "refused: " + strings.Join(first(j.report.denials, 5), "; ")
}

// unfinished is the class of a run that ended before the agent said so.
func (j judgement) unfinished() (work.Class, string) {
	switch j.exit.Reason {
	case proc.ReasonTimeout:
		limit := j.agent.config.Timeout
		if cut := j.call.Timeout; cut > 0 && (limit == 0 || cut < limit) {
			return work.ClassInterrupted, fmt.Sprintf("the tick's deadline cut it after %s", cut.Round(time.Second))
		}
		if ran := j.exit.EndedAt.Sub(j.exit.StartedAt); limit > 0 && ran < limit {
			return work.ClassInterrupted, fmt.Sprintf("a tick's deadline cut it after %s", ran.Round(time.Second))
		}
		return work.ClassTimeout, fmt.Sprintf("it had not finished after %s", limit)
	case proc.ReasonIdle:
		return work.ClassStalled, fmt.Sprintf("it did nothing for %s", j.agent.config.Idle)
	case proc.ReasonOutputLimit:
		return work.ClassKilled, fmt.Sprintf("it wrote more than %d MB of output", j.agent.config.MaxOutput>>20)
	}
	if j.exit.Signal != "" || j.exit.Code == 129 || j.exit.Code == 137 || j.exit.Code == 143 {
		return work.ClassKilled, j.ending()
	}
	if j.exit.Code != 0 {
		return work.ClassOrdinary, j.ending()
	}
	return work.ClassOutputInvalid, "it ended without a result"
}

// ending says how the process ended, with the last thing it had to say.
func (j judgement) ending() string {
	how := fmt.Sprintf("exit code %d", j.exit.Code)
	if j.exit.Signal != "" {
		how = "killed by " + j.exit.Signal
	}
	if said := lastLine(work.Redact(string(readTail(j.call.path(stderrFile), 64<<10)))); said != "" {
		return how + ": " + said
	}
	return how
}
