package work_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// arrows are the changes of status that are legal, by where they start. They
// are written down here a second time: a change to the table has to be meant.
var arrows = map[work.Status][]work.Status{
	work.New:              {work.Intake, work.Blocked, work.Failed, work.Closed},
	work.Intake:           {work.Planning, work.AwaitingApproval, work.AwaitingInput, work.PausedBudget, work.Blocked, work.Failed, work.Closed},
	work.Planning:         {work.AwaitingApproval, work.AwaitingInput, work.Building, work.PausedBudget, work.Blocked, work.Failed, work.Closed},
	work.AwaitingApproval: {work.Planning, work.Building, work.Blocked, work.Failed, work.Closed},
	work.AwaitingInput:    {work.Intake, work.Planning, work.Building, work.QA, work.Blocked, work.Failed, work.Closed},
	work.Building:         {work.Planning, work.AwaitingInput, work.QA, work.PausedBudget, work.Blocked, work.Failed, work.Closed},
	work.QA:               {work.Planning, work.AwaitingInput, work.ReadyToMerge, work.PausedBudget, work.Blocked, work.Failed, work.Closed},
	work.ReadyToMerge:     {work.Building, work.QA, work.Merged, work.Blocked, work.Failed, work.Closed},
	work.Merged:           {},
	work.Blocked: {work.New, work.Intake, work.Planning, work.AwaitingApproval, work.Building, work.QA, work.ReadyToMerge,
		work.Failed, work.Closed},
	work.PausedBudget: {work.Intake, work.Planning, work.Building, work.QA, work.Blocked, work.Failed, work.Closed},
	work.Failed:       {work.New, work.Intake, work.Planning, work.AwaitingApproval, work.Building, work.QA, work.ReadyToMerge},
	work.Closed:       {work.New, work.Intake, work.Planning, work.AwaitingApproval, work.Building, work.QA, work.ReadyToMerge},
}

func TestEveryChangeOfStatus(t *testing.T) {
	if len(arrows) != len(work.Statuses) {
		t.Fatalf("%d statuses in the test, %d in the code", len(arrows), len(work.Statuses))
	}
	later := noon.Add(time.Hour)
	for _, from := range work.Statuses {
		for _, to := range append(slices.Clone(work.Statuses), "nonsense") {
			w := stream(from)
			before := *w
			err := w.Move(to, work.Reason{Code: "why", Detail: "because"}, later)
			if slices.Contains(arrows[from], to) {
				if err != nil || w.Status != to || w.Reason != "why" || w.Detail != "because" || !w.ChangedAt.Equal(later) {
					t.Errorf("%s to %s: %v; %s %s %s %s", from, to, err, w.Status, w.Reason, w.Detail, w.ChangedAt)
				}
				continue
			}
			var illegal *work.TransitionError
			if !errors.As(err, &illegal) || illegal.From != string(from) || illegal.To != string(to) || illegal.What != "workstream login" {
				t.Errorf("%s to %s: %v", from, to, err)
			}
			if w.Status != before.Status || w.Phase != before.Phase || w.Reason != before.Reason || !w.ChangedAt.Equal(before.ChangedAt) {
				t.Errorf("%s to %s was refused and changed the workstream", from, to)
			}
		}
	}
}

func TestTransitionErrorSaysWhatItIsAbout(t *testing.T) {
	err := stream(work.Merged).Move(work.Building, work.Reason{}, noon)
	if got, want := err.Error(), "workstream login: no transition from merged to building"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPackageCommentPrintsTheTable reads the table of the package comment and
// compares it with what Move does.
func TestPackageCommentPrintsTheTable(t *testing.T) {
	printed := make(map[[2]work.Status]bool)
	note := func(from, to work.Status) { printed[[2]work.Status{from, to}] = from != to }
	rows := commentRows(t, "from ")
	for _, row := range rows {
		for _, from := range statusesOf(t, row[0]) {
			for _, to := range statusesOf(t, row[2]) {
				note(from, to)
			}
		}
	}
	for _, row := range rows {
		if !strings.HasPrefix(row[2], "the phase") {
			continue
		}
		for _, from := range statusesOf(t, row[0]) {
			for _, phase := range work.Statuses { // it was in what can lead here
				if printed[[2]work.Status{phase, from}] && !phase.Interrupts() {
					note(from, phase)
				}
			}
		}
	}
	for _, from := range work.Statuses {
		for _, to := range work.Statuses {
			w := stream(from)
			if legal, says := w.Move(to, work.Reason{}, noon) == nil, printed[[2]work.Status{from, to}]; legal != says {
				t.Errorf("%s to %s: legal %v, printed %v", from, to, legal, says)
			}
		}
	}
}

// commentRows are the rows of the tables in the package comment, split at runs
// of blanks: those up to the first without a tab after the row that begins so,
// or after the line that holds it.
func commentRows(t *testing.T, after string) [][]string {
	t.Helper()
	data, err := os.ReadFile("doc.go")
	must(t, err)
	var rows [][]string
	in := false
	for line := range strings.Lines(string(data)) {
		text, isRow := strings.CutPrefix(strings.TrimRight(line, "\n"), "//\t")
		switch {
		case !in && strings.Contains(line, after):
			in = true
		case in && isRow:
			var cells []string
			for cell := range strings.SplitSeq(text, "  ") {
				if cell = strings.TrimSpace(cell); cell != "" {
					cells = append(cells, cell)
				}
			}
			if len(cells) != 3 {
				t.Fatalf("a row of the package comment has %d columns: %q", len(cells), text)
			}
			rows = append(rows, cells)
		case in && len(rows) > 0:
			return rows
		}
	}
	if len(rows) == 0 {
		t.Fatalf("the package comment has no table after %q", after)
	}
	return rows
}

// statusesOf reads a cell of the printed table; what depends on the past is
// left out.
func statusesOf(t *testing.T, cell string) []work.Status {
	t.Helper()
	if strings.HasPrefix(cell, "the phase") {
		return nil
	}
	if cell == "any open" {
		return []work.Status{work.New, work.Intake, work.Planning, work.AwaitingApproval, work.AwaitingInput, work.Building, work.QA,
			work.ReadyToMerge, work.Blocked, work.PausedBudget}
	}
	var all []work.Status
	for part := range strings.FieldsFuncSeq(cell, func(r rune) bool { return r == ',' || r == ';' }) {
		s := work.Status(strings.TrimSpace(part))
		if !slices.Contains(work.Statuses, s) {
			t.Fatalf("the package comment speaks of %q", s)
		}
		all = append(all, s)
	}
	return all
}

func TestMoveRemembersThePhase(t *testing.T) {
	type step struct {
		to    work.Status
		phase work.Status
	}
	for _, c := range []struct {
		name  string
		from  work.Status
		steps []step
	}{
		{"asked and answered", work.Planning, []step{{work.AwaitingInput, work.Planning}, {work.Planning, ""}}},
		{"blocked while it waits for an answer", work.QA, []step{{work.AwaitingInput, work.QA}, {work.Blocked, work.QA}, {work.QA, ""}}},
		{"blocked, failed, retried", work.Building, []step{{work.Blocked, work.Building}, {work.Failed, work.Building}, {work.Building, ""}}},
		{"paused and closed", work.Intake, []step{{work.PausedBudget, work.Intake}, {work.Closed, work.Intake}, {work.Intake, ""}}},
		{"closed in the queue", work.New, []step{{work.Closed, work.New}, {work.New, ""}, {work.Intake, ""}}},
		{"closed while it waits for approval", work.AwaitingApproval, []step{{work.Closed, work.AwaitingApproval}, {work.AwaitingApproval, ""}}},
		{"a rule sends it elsewhere", work.Building, []step{{work.Blocked, work.Building}, {work.QA, ""}, {work.Blocked, work.QA}}},
		{"merged: nothing resumes", work.ReadyToMerge, []step{{work.Merged, ""}}},
		{"approval is no interruption", work.Planning, []step{{work.AwaitingApproval, ""}, {work.Building, ""}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := stream(c.from)
			for _, s := range c.steps {
				must(t, w.Move(s.to, work.Reason{}, noon))
				if w.Phase != s.phase {
					t.Fatalf("%s with phase %q, want %q", s.to, w.Phase, s.phase)
				}
				if want := s.phase; want != "" && w.Resume() != want {
					t.Fatalf("%s resumes %s, want %s", s.to, w.Resume(), want)
				}
			}
		})
	}
	if got := (&work.Workstream{Status: work.Blocked}).Resume(); got != work.New {
		t.Errorf("without a phase it resumes %s", got)
	}
}

func TestWhatStatusesAre(t *testing.T) {
	for _, c := range []struct {
		status                           work.Status
		active, open, terminal, remember bool
	}{
		{work.New, false, true, false, false},
		{work.Intake, true, true, false, false},
		{work.Planning, true, true, false, false},
		{work.AwaitingApproval, false, true, false, false},
		{work.AwaitingInput, false, true, false, true},
		{work.Building, true, true, false, false},
		{work.QA, true, true, false, false},
		{work.ReadyToMerge, false, true, true, false},
		{work.Merged, false, false, true, false},
		{work.Blocked, false, true, false, true},
		{work.PausedBudget, false, true, true, true},
		{work.Failed, false, false, true, true},
		{work.Closed, false, false, true, true},
	} {
		s := c.status
		if s.Active() != c.active || s.Open() != c.open || s.Terminal() != c.terminal || s.Interrupts() != c.remember {
			t.Errorf("%s: active %v, open %v, terminal %v, interrupts %v", s, s.Active(), s.Open(), s.Terminal(), s.Interrupts())
		}
	}
}
