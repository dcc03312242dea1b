// Package proc owns child processes: it is the only package that starts any.
//
// There are two ways to start one. [Run] is for short, bounded commands (git, a version probe): the caller waits, and gets
// the output in memory. [Start] is for jobs that may take an hour and start whole trees of processes of their own (an agent, a step of a
// gate): the job runs under a supervisor, a second process of this program, that enforces its limits, ends every
// descendant and writes down how it went. Everything about such a job is in one directory:
//
//	job.json         what to run, written by Start (never its environment, which may hold secrets)
//	supervisor.json  who supervises it, written before the job starts, and again with the job's own identity
//	supervisor.log   what the supervisor had to say, usually nothing
//	exit.json        how it ended, written when no process of it is left; its presence means "finished"
//
// The supervisor does not depend on the process that started it: when that one is killed, the job goes on to its end, and
// [Adopt] tells a later process what became of it. [End] ends what is still there.
//
// How "every descendant" is found: the supervisor is the reaper of its descendants (a process whose parent died becomes its
// child, however often it forked and whatever session it made), so that "no child left" proves that nothing is left;
// a control group is used in addition where one can be made; and all processes of a job carry the variable
// BACKBURNER_EXECUTION, by which they are found when the supervisor itself was killed. A process is signalled only after its
// start time was compared, through a process descriptor where the kernel has them: an id that was given to another process
// is left alone.
//
// The package knows nothing of agents, gates or state. It must not import other packages of this program, must not log, and must not
// judge what an exit code means.
package proc
