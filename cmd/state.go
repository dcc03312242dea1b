package cmd

import "github.com/urfave/cli/v2"

func stateCommand() *cli.Command {
	return group("state", "check the state, carry it elsewhere, make room",
		`The state folder has everything that backburner knows of the work. The work itself,
as far as it is not published, is in git stores below the workspace root.

Examples:
   backburner state verify
   backburner state export backup.tar.gz
   backburner state import backup.tar.gz
   backburner state gc --dry-run`,
		stateVerifyCommand(), stateExportCommand(), stateImportCommand(), stateGCCommand(),
	)
}
