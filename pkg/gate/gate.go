package gate

import (
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// Gate is a named list of commands that must pass.
type Gate struct {
	Name     string
	Steps    []Step
	Timeout  time.Duration // of all steps together; 0 is none
	Coverage []Coverage    // judged when all steps have passed
}

// Step is one command of a gate.
type Step struct {
	Name       string        // "" is the command's
	Run        []string      // program and arguments; no shell reads them
	Timeout    time.Duration // of one try; 0 is none
	Retries    int           // times a failed try is repeated
	RetryCodes []int         // exit codes that are repeated; none: all but 0
	Dir        string        // where it runs, relative to the workspace and within it
	Env        []string      // NAME passes a variable through, NAME=value sets it
	Group      string        // neighbours of one group run at once; "" runs alone
}

// Call is one run of a gate.
type Call struct {
	Gate      Gate
	Execution string // id; the ids of the steps' processes begin with it
	Dir       string // folder of the execution, which exists
	Workspace string // checkout the commands run in
}

// The reasons for which a gate is not green.
const (
	StepFailed  = "step_failed"  // exit code other than 0
	Timeout     = "timeout"      // of a step, or of the gate
	NotFound    = "not_found"    // the program is not there
	StartFailed = "start_failed" // it is there and cannot be run
	Killed      = "killed"       // ended by a signal that was not ours
	OutputLimit = "output_limit"
	BadDir      = "bad_dir"    // a step's folder is not there, or not in the workspace
	NoCommand   = "no_command" // nothing was run, so nothing was shown
	LowCoverage = "low_coverage"
	NoCoverage  = "no_coverage" // a report is missing or cannot be read
	Interrupted = "interrupted" // the context ended
	NotRun      = "not_run"     // the machine failed, not the work
)

// Outcome is how a run ended.
type Outcome struct {
	Green  bool
	Reason string // one of the reasons; "" when green
	// Detail is for people: which step, how it ended, the last lines of its log.
	// Of a green gate it says what was flaky, if anything.
	Detail string
	Steps  []work.StepResult // those that were begun, in the order of the gate
	// Class is ClassGate when the work is at fault, ClassInterrupted when the run was
	// cut, ClassTransient when the machine failed; "" when green.
	Class work.Class
}

// classes are the reasons that say nothing about the work.
var classes = map[string]work.Class{Interrupted: work.ClassInterrupted, NotRun: work.ClassTransient}

func red(reason, detail string) Outcome {
	class, ok := classes[reason]
	if !ok {
		class = work.ClassGate
	}
	return Outcome{Reason: reason, Detail: detail, Class: class}
}
