package agent

import (
	"fmt"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// Pool chooses among the configured agents.
type Pool struct {
	agents map[string]*Agent
	order  []string // as configured
	roles  map[work.Role][]string
	absent map[string]string // why an agent cannot be started, by name
}

// NewPool makes a pool of agents, in order of preference, with the preferences of single roles. A role that is not named may use every
// agent. An error names a role's agent that does not exist.
func NewPool(agents []*Agent, roles map[work.Role][]string) (*Pool, error) {
	p := &Pool{agents: make(map[string]*Agent, len(agents)), roles: roles}
	for _, a := range agents {
		p.agents[a.Name()] = a
		p.order = append(p.order, a.Name())
	}
	for role, names := range roles {
		for _, name := range names {
			if p.agents[name] == nil {
				return nil, fmt.Errorf("role %s: there is no agent %q; there are %s", role, name, strings.Join(p.order, ", "))
			}
		}
	}
	return p, nil
}

// Without takes an agent out of the choice and says why: it cannot be started here and now.
func (p *Pool) Without(name, why string) {
	if p.absent == nil {
		p.absent = make(map[string]string)
	}
	p.absent[name] = why
}

// Agent is the agent of that name; nil when there is none.
func (p *Pool) Agent(name string) *Agent { return p.agents[name] }

// Names are the agents that a role may use, in order of preference.
func (p *Pool) Names(role work.Role) []string {
	if names := p.roles[role]; len(names) > 0 {
		return names
	}
	return p.order
}

// Reasons why no agent was chosen.
const (
	WhyNoAgent = "no_agent" // none is configured for the role
	WhyNoSlot  = "no_slot"  // all that may run are busy
	WhyParked  = "parked"   // all are parked, for reasons that were not kept
)

// Choice is the agent for a task, or why there is none now.
type Choice struct {
	Agent *Agent
	// Why is empty when there is an agent; else [WhyNoAgent], [WhyNoSlot], what the agent that is free first is parked
	// for ("quota", "auth"), or why the first one cannot be started.
	Why string
	// Until is when the first parked agent returns; zero unless all that can be started are parked.
	Until time.Time
}

// Pick chooses an agent for a role: the one whose session could be gone on with, when it is one of the role's and can take the task;
// else the first of the role's that is neither parked nor busy. busy counts the runs that go on, by agent.
func (p *Pool) Pick(role work.Role, prefer string, busy map[string]int, states *work.AgentStates, now time.Time) Choice {
	var free []*Agent
	var parked, absent Choice
	full := false
	for _, name := range p.Names(role) {
		a := p.agents[name]
		state := stateOf(states, name)
		switch {
		case p.absent[name] != "":
			if absent.Why == "" {
				absent.Why = p.absent[name]
			}
		case now.Before(state.ParkedUntil):
			if parked.Until.IsZero() || state.ParkedUntil.Before(parked.Until) {
				parked = Choice{Why: parkedFor(state), Until: state.ParkedUntil}
			}
		case busy[name] >= a.Slots():
			full = true
		case name == prefer:
			return Choice{Agent: a}
		default:
			free = append(free, a)
		}
	}
	switch {
	case len(free) > 0:
		return Choice{Agent: free[0]}
	case full:
		return Choice{Why: WhyNoSlot}
	case parked.Why != "":
		return parked
	case absent.Why != "":
		return absent
	}
	return Choice{Why: WhyNoAgent}
}

func stateOf(states *work.AgentStates, name string) work.AgentState {
	if states == nil {
		return work.AgentState{}
	}
	return states.Agents[name]
}

func parkedFor(s work.AgentState) string {
	if s.Reason == "" {
		return WhyParked
	}
	return s.Reason
}
