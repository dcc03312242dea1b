// Package gate runs the commands that must pass, and says what they said. Each
// step runs under a supervisor of its own, in a folder of its own within the
// execution's:
//
//	steps.json         what each step did
//	01-vet/log         what the first step wrote, both streams as they came
//	02-test/log        the second
//	02-test.2/log      the second, tried again
//
// Gates run the work's own code: their commands get the environment, the limits
// and the wrapper that the caller chose, nothing to read, and no terminal.
//
// A gate is green when every one of its commands ran and ended with 0. What
// else makes it red, it being run on the wrong commit or changing what it
// judges, is for the caller to see, who knows git. The package keeps no
// evidence and does not decide what becomes of the work.
package gate
