package prompt

import "github.com/backburner-cli/backburner/pkg/work"

// examples are answers as they should look: each fits the schema of its kind, and is accepted by [work.Result.Problems].
var examples = map[work.TaskKind]string{
	work.AnalyzeIssue:  `{"status": "done", "summary": "**Problem** ...\n\n**Options** ...\n\n**Recommendation** ...", "questions": [], "memory": ""}`,
	work.MakePlan:      planExample,
	work.BreakDownPlan: planExample,
	work.Implement:     writeExample,
	work.Assess:        `{"status": "done", "summary": "The parser is in place and tested.", "questions": [], "memory": "", "assessment": {"continue": true, "reason": "Every criterion of the increment is met."}}`,
	work.Verify:        writeExample,
	work.ReviewPR: `{"status": "done", "summary": "One defect in the retry loop.", "questions": [], "memory": "",
 "review": {"verdict": "request_changes", "body": "The retry loop never gives up.",
  "comments": [{"path": "internal/retry.go", "line": 41, "body": "err is shadowed here, so the loop never sees it."}]}}`,
	work.AddressReview: writeExample,
	work.Respond:       `{"status": "done", "summary": "The answer, as Markdown.", "questions": [], "memory": ""}`,
	work.Reconcile:     writeExample,
	work.PreparePR:     writeExample,
	Prioritize:         `{"status": "done", "summary": "The fix first, since two others wait for it.", "questions": [], "memory": "", "order": ["fix-login", "add-export"]}`,
}

const planExample = `{"status": "done", "summary": "Adds --json to the list command.", "questions": [], "memory": "",
 "plan": {"summary": "The list command gets a --json flag; the table stays the default.", "base": "",
  "files": {"create": ["cmd/list_json.go"], "modify": ["cmd/list.go"], "delete": []},
  "allowed_areas": ["cmd/**", "docs/**"], "forbidden_areas": [], "contracts": {"openapi": "none", "events": "none", "db": "none"},
  "acceptance_criteria": ["list --json prints one JSON array", "the output without --json is unchanged"],
  "risks": [], "gate_profile": "",
  "increments": [{"title": "The flag and its output", "files": ["cmd/list.go", "cmd/list_json.go"], "acceptance_criteria": ["list --json prints one JSON array"]}],
  "questions": []}}`

const writeExample = `{"status": "done", "summary": "The list command has a --json flag, with tests.", "questions": [],
 "commit_message": "cmd: add --json to list\n\nScripts had to parse the table.", "memory": "make test takes 20 s; go test ./cmd is enough for this."}`
