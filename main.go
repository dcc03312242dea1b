// Backburner lets coding agents work through issues and specs without anybody
// watching. It is run from cron, from a scheduled workflow, or by hand: each
//
//	backburner tick
//
// loads the board, makes one pass over everything that is open, saves, and
// exits. Nothing runs between ticks, and a tick that is killed costs nothing:
// the next one goes on.
//
// Everything else serves the tick. `backburner init` writes a configuration,
// `backburner add FILE` asks for work, `backburner status` says what is going
// on and why not more, `backburner demo` shows all of it in a throw-away
// repository. `backburner help` lists the commands.
package main

import (
	"os"

	"github.com/backburner-cli/backburner/cmd"
)

func main() { os.Exit(cmd.Main(os.Args)) }
