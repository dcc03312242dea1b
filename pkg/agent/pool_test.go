package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

func testPool(t *testing.T) *Pool {
	t.Helper()
	var agents []*Agent
	for _, c := range []Config{{Name: "a", Preset: "claude"}, {Name: "b", Preset: "codex", Slots: 2}, {Name: "c", Preset: "gemini"}} {
		a, err := New(c, nil)
		if err != nil {
			t.Fatal(err)
		}
		agents = append(agents, a)
	}
	p, err := NewPool(agents, map[work.Role][]string{work.Builder: {"b", "a"}, work.Planner: {"a"}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPick(t *testing.T) {
	now := sampled
	parked := func(reason string, d time.Duration) work.AgentState {
		return work.AgentState{ParkedUntil: now.Add(d), Reason: reason}
	}
	for _, test := range []struct {
		name   string
		role   work.Role
		prefer string
		busy   map[string]int
		parked map[string]work.AgentState
		want   string // agent, or why and until
	}{
		{"the first", work.Builder, "", nil, nil, "b"},
		{"in the configuration's order", work.QAEngineer, "", nil, nil, "a"},
		{"the one of the session", work.Builder, "a", nil, nil, "a"},
		{"not one of another role", work.Planner, "b", nil, nil, "a"},
		{"one that is not there any more", work.Builder, "z", nil, nil, "b"},
		{"a second slot", work.Builder, "", map[string]int{"b": 1}, nil, "b"},
		{"the next when busy", work.Builder, "", map[string]int{"b": 2}, nil, "a"},
		{"the next when the session's is busy", work.Builder, "a", map[string]int{"a": 1}, nil, "b"},
		{"the next when parked", work.Builder, "", nil, map[string]work.AgentState{"b": parked("quota", time.Hour)}, "a"},
		{"the next when the session's is parked", work.Builder, "a", nil, map[string]work.AgentState{"a": parked("auth", time.Hour)}, "b"},
		{"parked until now", work.Builder, "", nil, map[string]work.AgentState{"b": parked("quota", 0)}, "b"},
		{"no slot", work.Builder, "a", map[string]int{"a": 1, "b": 2}, nil, "no_slot"},
		{"no slot beside a parked one", work.Builder, "", map[string]int{"b": 2}, map[string]work.AgentState{"a": parked("quota", time.Hour)}, "no_slot"},
		{"all parked: the first to return", work.Builder, "", nil, map[string]work.AgentState{"a": parked("auth", time.Hour), "b": parked("quota", 2*time.Hour)}, "auth 1h0m0s"},
		{"parked and busy", work.Planner, "", map[string]int{"a": 1}, map[string]work.AgentState{"a": parked("quota", time.Hour)}, "quota 1h0m0s"},
		{"parked for no known reason", work.Planner, "", nil, map[string]work.AgentState{"a": parked("", time.Hour)}, "parked 1h0m0s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := testPool(t).Pick(test.role, test.prefer, test.busy, &work.AgentStates{Agents: test.parked}, now)
			got := c.Why
			if c.Agent != nil {
				got += c.Agent.Name()
			}
			if !c.Until.IsZero() {
				got += " " + c.Until.Sub(now).String()
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestPoolWithoutAgents(t *testing.T) {
	p, err := NewPool(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c := p.Pick(work.Builder, "", nil, nil, sampled); c.Agent != nil || c.Why != WhyNoAgent {
		t.Errorf("%+v", c)
	}
	if _, err := NewPool(nil, map[work.Role][]string{work.QAEngineer: {"ghost"}}); err == nil || !strings.Contains(err.Error(), `no agent "ghost"`) {
		t.Errorf("%v", err)
	}
	if p := testPool(t); p.Agent("b").Name() != "b" || p.Agent("z") != nil {
		t.Error("Agent")
	}
}
