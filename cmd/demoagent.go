package cmd

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/backburner-cli/backburner/pkg/store"
	"github.com/backburner-cli/backburner/pkg/work"
)

// demoAgentCommand is the scripted agent of the demo: a custom agent like any
// other, which reads its task from the environment and writes its result to a
// file. It asks before it plans, and forgets the changelog at first.
func demoAgentCommand() *cli.Command {
	return &cli.Command{
		Name: "demo-agent", Hidden: true, Usage: "the scripted agent of the demo",
		Action: func(*cli.Context) error {
			var packet struct {
				Answers []struct{ Answer string } `json:"answers"`
				Gate    *struct{}                 `json:"gate"`
			}
			data, err := os.ReadFile(os.Getenv("BACKBURNER_PACKET_FILE"))
			if err != nil {
				return fmt.Errorf("the demo's agent is run by the demo: %w", err)
			}
			if err := json.Unmarshal(data, &packet); err != nil {
				return err
			}
			answer := ""
			if len(packet.Answers) > 0 {
				answer = packet.Answers[0].Answer
			}
			result, err := demoTurn(work.TaskKind(os.Getenv("BACKBURNER_TASK_KIND")), answer, packet.Gate != nil)
			if err != nil {
				return err
			}
			cost := 0.01
			result.Usage = work.Usage{InputTokens: 1200, OutputTokens: 150, CostUSD: &cost}
			text, err := json.Marshal(result)
			if err != nil {
				return err
			}
			return os.WriteFile(os.Getenv("BACKBURNER_RESULT_FILE"), text, 0o644)
		},
	}
}

// demoTurn does one task in the current folder, the workspace.
func demoTurn(kind work.TaskKind, answer string, repair bool) (work.Result, error) {
	done := work.Result{Status: work.ResultDone}
	switch {
	case kind == work.MakePlan && answer == "":
		return work.Result{Status: work.ResultNeedsInput, Questions: []string{"Whom should it greet?"}}, nil
	case kind == work.MakePlan:
		done.Plan = &work.Plan{
			Summary:            "Add greeting.txt, which greets as answered: " + answer,
			Files:              work.PlanFiles{Create: []string{"greeting.txt"}, Modify: []string{"CHANGELOG.md"}},
			AcceptanceCriteria: []string{"greeting.txt says Hello", "CHANGELOG.md mentions it"},
		}
		return done, nil
	case kind == work.Implement && !repair:
		done.Summary, done.CommitMessage = "Added the greeting.", "Greet the world"
		return done, os.WriteFile("greeting.txt", []byte("Hello, world!\n"), 0o644)
	case kind == work.Implement:
		done.Summary, done.CommitMessage = "Added the missing note.", "Note the greeting in the changelog"
		old, err := os.ReadFile("CHANGELOG.md")
		if err != nil {
			return done, err
		}
		return done, os.WriteFile("CHANGELOG.md", append(old, "- It can greet.\n"...), 0o644)
	}
	done.Summary = "Everything asked for is there."
	return done, nil
}

// demoState reads the demo's piece of work from its state.
func demoState(dir string) (*work.Workstream, error) {
	st, err := store.Open(filepath.Join(dir, ".backburner", "state"), store.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	w, _, err := st.Workstream("greet")
	return w, err
}
