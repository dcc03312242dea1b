// Package export makes one file of a state and the work that goes with it, and a
// state of such a file.
//
// The file is a tar archive, compressed with gzip:
//
//	backburner-export.json  the manifest: what follows, and which references the stores have
//	state/<name>            the files of the state folder, but for the lease
//	stores/<n>.bundle       git bundles: what a repository's base has not
//
// The repositories themselves are not in it: where it is imported they are cloned
// as usual, and a store is made from them.
//
// What it reads is taken for a stranger's. Names are only taken where a state has
// files of that name, links and devices are refused, and so is whatever is larger,
// or less, than the manifest says. Nothing is in place before all of it was read
// and checked.
//
// Whoever writes holds the lease. The package knows no command line.
package export
