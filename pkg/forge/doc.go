// Package forge holds the small types that every place where people talk about
// the work has in common: a spec found there, an entry of a thread, a review
// bundle, and how a plan reads. It must not talk to any forge itself, and holds
// no state.
package forge
