// Package local is the forge without a network: spec files in a repository's
// working folder are what is asked for, a Markdown file beside the state is the
// thread of a workstream, and a folder is its review bundle.
//
// It reads a working folder and writes only into the folder of a workstream
// that it is given. What it reads is data from outside: a file that cannot be
// worked from is a forge.Problem of that file, and never stops the others. It
// runs nothing, not even git, and decides nothing about the work.
package local
