// Package github is the forge where people talk about the work on GitHub, or on
// a GitHub Enterprise Server: issues, pull requests, comments, reviews, labels.
//
// It owns the requests to GitHub's two interfaces and the words in which GitHub
// answers. Everything is a call that is done when it returns: nothing runs
// between calls, and nothing waits longer than some seconds. A limit that takes
// longer to pass is an *Error with the time until which nothing should be asked.
//
// Reading comes in three steps. Probe says for up to 50 repositories with one
// request which of them moved, Details reads what moved in one of them, and Open
// reads where threads stand that are of interest whether they moved or not.
// Events and the functions beside it then decide on values only: they turn what
// was read into what people ask for. Reading is at least once, and each event
// has an identity of its own, so that a repeat is recognised.
//
// Writing is by intent (Comment, Pull, Review, Merge), and each of these finds
// what an earlier call did, also one whose answer was lost: by ids that the
// caller remembers, and by a hidden marker in what was written. A marker counts
// only in text whose author is the account that the token belongs to.
//
// The package must not decide what becomes of the work, keep files, or read
// text from outside as anything but data.
package github
