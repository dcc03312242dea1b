package agent

import (
	"io"

	"github.com/backburner-cli/backburner/pkg/proc"
)

// custom is any command that keeps the contract: it is run in the workspace with the prompt as standard input and
//
//	BACKBURNER_TASK_ID, BACKBURNER_TASK_KIND, BACKBURNER_ROLE, BACKBURNER_WORKSTREAM
//	BACKBURNER_PROMPT_FILE, BACKBURNER_PACKET_FILE, BACKBURNER_RESULT_FILE
//	BACKBURNER_SESSION_ID, when there is a session to go on with
//	BACKBURNER_MCP_CONFIG, when there are MCP servers for it
//
// It exits 0 when it finished its turn, and may write the result file.
var custom = preset{
	contract: true,
	resumes:  true,
	tools:    true,
	invoke:   invokeCustom,
	read:     readCustom,
}

func invokeCustom(a *Agent, c Call) (invocation, error) {
	env := []string{
		"BACKBURNER_TASK_ID=" + c.TaskID,
		"BACKBURNER_TASK_KIND=" + string(c.Task),
		"BACKBURNER_ROLE=" + string(c.role()),
		"BACKBURNER_WORKSTREAM=" + c.Workstream,
		"BACKBURNER_PROMPT_FILE=" + c.path(promptFile),
		"BACKBURNER_PACKET_FILE=" + c.path(packetFile),
		"BACKBURNER_RESULT_FILE=" + c.path(resultFile),
	}
	if c.Session != "" {
		env = append(env, "BACKBURNER_SESSION_ID="+c.Session)
	}
	if len(c.Tools) > 0 {
		if err := writeTools(c); err != nil {
			return invocation{}, err
		}
		env = append(env, "BACKBURNER_MCP_CONFIG="+c.path(toolsFile))
	}
	return invocation{args: a.config.Args, env: env}, nil
}

// readCustom believes the exit code: nothing else of its output has a form.
func readCustom(_ io.Reader, _ []byte, exit proc.Exit) report {
	return report{ended: exit.Reason == proc.ReasonExited && exit.Code == 0}
}
