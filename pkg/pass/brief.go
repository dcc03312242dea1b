package pass

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/backburner-cli/backburner/pkg/gate"
	"github.com/backburner-cli/backburner/pkg/prompt"
	"github.com/backburner-cli/backburner/pkg/work"
)

const (
	logTail    = 32 << 10 // bytes of a red gate's log
	threadTail = 16 << 10 // bytes of what was said on the thread
)

// brief is what an agent is told about its task.
func (r *runs) brief(w *work.Workstream, t *work.Task) (text, packet []byte, err error) {
	memory, err := r.store.Memory(w.ID)
	if err != nil {
		return nil, nil, err
	}
	repo := r.repositories[w.Repository]
	p := prompt.Packet{
		Task:       prompt.Task{ID: t.ID, Words: t.Context.Words, Attempt: t.Attempts + 1},
		Workstream: prompt.Workstream{ID: w.ID, Title: w.Title, Branch: w.Branch},
		Repository: prompt.Repository{Name: repo.ID, Base: repo.Base, Commit: w.Base},
		Spec:       prompt.Spec{Source: w.Spec.Source, Body: w.Spec.Body, Hash: w.Spec.Hash},
		Plan:       w.Plan, Revision: w.Revision, PlanFile: w.Filed.Path, Exclusions: w.Exclusions,
		Protected: repo.Policy.ProtectedPaths, GateCommands: commands(repo.Gates), Memory: memory,
	}
	if w.Plan != nil && t.Context.Increment < len(w.Plan.Increments) {
		p.Increment = &prompt.Increment{Number: t.Context.Increment + 1, Of: w.Plan.Steps(), Increment: w.Plan.Increments[t.Context.Increment]}
	}
	for _, q := range w.Questions {
		if !q.AnsweredAt.IsZero() {
			p.Answers = append(p.Answers, prompt.Answer{Question: q.Text, Answer: q.Answer, By: q.AnsweredBy})
		}
	}
	if e, ok := w.Evidence[t.Context.Gate]; ok && t.Context.Gate != "" {
		log, err := gate.Tail(r.store.ExecutionDir(t.Context.GateLog), logTail)
		if err != nil {
			log = "(its log cannot be read: " + err.Error() + ")"
		}
		p.Gate = &prompt.Gate{Name: e.Gate, Reason: e.Reason + ": " + e.Detail, Log: log}
	}
	if w.Conflict != nil && t.Kind == work.Reconcile {
		p.Conflict = &prompt.Conflict{Ours: w.Conflict.Ours, Base: w.Conflict.Base, Files: w.Conflict.Files}
	}
	if w.Thread != nil {
		said, err := r.forge.Thread(r.store.Folder(w.ID), threadTail)
		if err != nil {
			return nil, nil, err
		}
		if said != "" {
			p.Thread = []prompt.Remark{{Author: "thread", Body: said}}
		}
	}
	if w.Kind == work.KindPullRequest {
		p.Spec = prompt.Spec{} // nobody here asked for what it does
	}
	if t.Kind == work.ReviewPR && w.Thread != nil && w.Thread.Pull != nil {
		p.PullRequest = &prompt.PullRequest{Number: w.Thread.Pull.Number, Title: w.Title, Author: written(w.Thread), Body: w.Spec.Body, Head: w.Head, Base: w.Base}
	}
	return prompt.Build(t.Kind, p)
}

// written is who answers for the text of somebody's pull request.
func written(t *work.Thread) string {
	who := cmp.Or(t.Author, "an account that is gone")
	if t.Editor != "" {
		who += ", changed last by " + t.Editor
	}
	return who
}

// commands are the gates' steps as people would type them.
func commands(gates map[string]gate.Gate) []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		for _, step := range gates[name].Steps {
			lines = append(lines, name+": "+strings.Join(step.Run, " "))
		}
	}
	return lines
}
