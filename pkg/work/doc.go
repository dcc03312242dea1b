// Package work is the domain of backburner: workstreams with their tasks,
// plans, evidence and checkpoints, the board they stand on, and every rule that
// decides what happens to them next. It is pure: no input or output, no clock
// (time comes in as a value), no goroutines; its only imports are of the
// standard library.
//
// A workstream changes its status only through [Workstream.Move], and only
// along this table; nothing else is legal:
//
//	from                             on                                   to
//	new                              admitted                             intake
//	intake                           discovery off, proposal approved     planning
//	intake, planning                 proposal or plan needs approval      awaiting_approval
//	awaiting_approval                approved                             planning, building
//	awaiting_approval, building, qa  approved text edited, plan rejected  planning
//	intake, planning, building, qa   the agent asks                       awaiting_input
//	awaiting_input                   answered                             the phase it was in
//	planning                         plan accepted, no approval needed    building
//	building                         last increment built, fast green     qa
//	qa                               full green and published             ready_to_merge
//	ready_to_merge                   changes requested; evidence stale    building; qa
//	any open                         a reason to stop                     blocked
//	blocked                          recovery rule, cause gone, retry     the phase, or the rule's
//	intake, planning, building, qa   a cap reached                        paused_budget
//	paused_budget                    new window, or a person              the phase it was in
//	ready_to_merge                   landed                               merged
//	any open                         rounds exhausted                     failed
//	any open                         cancelled, closed                    closed
//	failed, closed                   reopened, retry                      the phase it was in
//
// A task likewise changes only through [Task.Move]:
//
//	pending   dispatched                          running
//	pending   refused before dispatch             failed
//	pending   no longer wanted                    cancelled
//	running   its result is accepted              completed
//	running   its result is not                   failed
//	running   cut, or held by the world           pending
//	running   its workstream was cancelled        cancelled
//	failed    another attempt                     pending
package work
