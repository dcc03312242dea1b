// Package git is the one way in which backburner calls git. Its methods are named for what they are meant to do; every one of them
// goes through the same hardened call.
//
// A [Repo] is addressed by explicit paths, never by discovery, and what a repository's own configuration says about programs to
// run is overridden: hooks, fsmonitor, editor, pager, external diff and textconv drivers, signing, dangerous transports. The
// environment is cleaned of every inherited GIT_* variable that could point git elsewhere; nothing is ever asked on a terminal.
// Overriding cannot be complete (a filter has any name its configuration gives it), so a repository that others may write to must
// never be a Repo: see [Repo.Borrowing] and [Repo.WithWorkTree] for how work is taken from one without that.
//
// Names that come from outside are data. Methods take full reference names and object ids, both of which are checked and can not be
// taken for an option.
//
// A call that fails because a lock is held is repeated for about a second. After that a lock in a repository that only backburner uses, which
// did not change in the meantime, is one that a killed process left: it is taken away, unless a git is seen at work in
// the working tree, which is then waited for. A lock of anybody else is theirs.
//
// The package owns no state, knows nothing of workspaces or stores, and must not log.
package git
