package cmd

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/work"
)

// demoAgentCommand is the scripted agent of the demo: a custom agent like any
// other, which reads its task from the environment and from the packet, works
// in the folder it is run in, and writes its result to a file.
func demoAgentCommand() *cli.Command {
	return &cli.Command{
		Name: "demo-agent", Hidden: true, Usage: "the scripted agent of the demo",
		Action: func(*cli.Context) error {
			task, err := readDemoTask()
			if err != nil {
				return fmt.Errorf("the demo's agent is run by the demo: %w", err)
			}
			result, err := task.turn()
			if err != nil {
				return err
			}
			free := 0.0
			result.Usage = work.Usage{CostUSD: &free}
			text, err := json.Marshal(result)
			if err != nil {
				return err
			}
			return os.WriteFile(os.Getenv("BACKBURNER_RESULT_FILE"), text, 0o644)
		},
	}
}

// demoTask is what the demo's agent needs of its task.
type demoTask struct {
	kind   work.TaskKind
	answer string // to its question; "" when it has not been asked yet
	repair bool   // a gate is red
}

func readDemoTask() (demoTask, error) {
	var packet struct {
		Answers []struct{ Answer string } `json:"answers"`
		Gate    *struct{}                 `json:"gate"`
	}
	data, err := os.ReadFile(os.Getenv("BACKBURNER_PACKET_FILE"))
	if err != nil {
		return demoTask{}, err
	}
	if err := json.Unmarshal(data, &packet); err != nil {
		return demoTask{}, err
	}
	t := demoTask{kind: work.TaskKind(os.Getenv("BACKBURNER_TASK_KIND")), repair: packet.Gate != nil}
	if len(packet.Answers) > 0 {
		t.answer = packet.Answers[0].Answer
	}
	return t, nil
}

// turn asks before it plans, and is careless when it first builds.
func (t demoTask) turn() (work.Result, error) {
	done := work.Result{Status: work.ResultDone}
	switch {
	case t.kind == work.MakePlan && t.answer == "":
		return work.Result{Status: work.ResultNeedsInput, Questions: []string{"Whom should it greet?"}}, nil
	case t.kind == work.MakePlan:
		done.Plan = &work.Plan{
			Summary:            "Add a file that greets " + t.answer + ".",
			Files:              work.PlanFiles{Create: []string{"greeting.txt"}, Modify: []string{"CHANGELOG.md"}},
			AcceptanceCriteria: []string{"greeting.txt greets " + t.answer, "CHANGELOG.md mentions it"},
		}
		return done, nil
	case t.kind == work.Implement && !t.repair:
		done.CommitMessage = "Greet " + t.answer
		if err := os.WriteFile("greeting.txt", []byte("Hello, "+t.answer+"! \n"), 0o644); err != nil {
			return done, err
		}
		old, err := os.ReadFile("CHANGELOG.md")
		if err != nil {
			return done, err
		}
		return done, os.WriteFile("CHANGELOG.md", append(old, "- It can greet.\n"...), 0o644)
	case t.kind == work.Implement:
		done.CommitMessage = "Remove a blank at the end of a line"
		return done, os.WriteFile("greeting.txt", []byte("Hello, "+t.answer+"!\n"), 0o644)
	}
	done.Summary = "Everything asked for is there."
	return done, nil
}
