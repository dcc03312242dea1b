// Package store keeps the board: workstreams, requests, executions and what is
// remembered between ticks, as JSON files in one folder.
//
//	meta.json                   schema version, created by
//	workstreams/<id>.json       one open workstream
//	workstreams/<id>/           its memory.md, and what the local forge keeps
//	archive/<yyyy-mm>/<id>.json closed ones, with their folder beside them; never read by a tick
//	executions/<id>/            execution.json and the artifacts of one run
//	requests/<id>.json          inbox; decided ones are moved to requests/done/
//	repositories/<id>.json      what is remembered of a repository
//	agents.json, spending.json  parking and failures per agent; what was spent
//	ticks/<yyyy-mm-dd>.jsonl    one line per tick
//	quarantine/                 files that could not be read, moved out of the way
//	expiry/                     which executions ended when, and how large they are
//	migrated/                   the files as they were before a migration
//
// What the package promises:
//
//   - One workstream, one file, one rename: there is no state in which half of a
//     save happened. A save costs two fsyncs and does not grow with the number
//     of workstreams; saving what is there already writes nothing.
//   - A writer that holds an old version of a workstream is refused
//     ([ConflictError]), also when its file vanished or appeared meanwhile.
//   - Fields this program does not know survive load and save, at any depth.
//   - A file that cannot be used is set aside and reported ([Quarantined]);
//     everything else goes on. Files that are not ours are left alone.
//   - Where a workstream's file is decides whether it is open; its folder
//     follows, and a crash between the two is put right later.
//   - Requests may be submitted by any process at any time; everything else is
//     for the one process that holds the lease ([Options.Check]).
//
// Names from outside become paths only after they were checked. The package
// decides nothing about the work, holds no lease, logs nothing, and must not
// read archive or executions in a tick's ordinary course: see [Store.Expire].
package store
