// Package prompt turns what is known of a task into the two files an agent gets: the prompt it reads, and the packet, the same facts as
// JSON for programs. It also owns the JSON schema of the answer.
//
// Text from outside (a spec, a thread, a log) is data: it is stripped of what a person does not see, cut to a size,
// and put between delimiters that it cannot contain. Nothing that an agent is told comes from anywhere but the templates, the
// configuration's own instructions and those marked blocks.
//
// The package is pure: it reads no files but its own templates, knows no clock and no agent, and decides nothing about tasks.
package prompt
