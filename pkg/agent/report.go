package agent

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

// report is what a command line said about its run, in terms that all of them share.
type report struct {
	session    string
	final      string          // the last message
	structured json.RawMessage // the answer, where the command line was held to a schema
	ended      bool            // it said that the run is over
	failed     *failure        // it said that the run failed
	retrying   *failure        // trouble it was trying to get over when its output stopped
	tokens     tokens
	denials    []string
	capped     string
	lost       bool // the session cannot be gone on with
}

// failure is an error that a command line stated.
type failure struct {
	class   work.Class
	message string
	resetAt time.Time
}

// tokens are what a run consumed; input includes what was read from a cache.
type tokens struct {
	input, cached, output int64
	cost                  *float64 // in US dollars; nil: not stated
}

// maxTokens is more than any run consumes; what is more is not believed, and sums stay numbers.
const maxTokens = 1e12

func (t tokens) usage(p *Price) work.Usage {
	for _, n := range []*int64{&t.input, &t.cached, &t.output} {
		if *n < 0 || *n > maxTokens {
			*n = 0
		}
	}
	t.cached = min(t.cached, t.input)
	u := work.Usage{InputTokens: t.input, OutputTokens: t.output, CostUSD: t.cost}
	if !work.Believable(u.CostUSD) {
		u.CostUSD = nil
	}
	if u.CostUSD == nil && p != nil {
		cached := p.CacheRead
		if cached == 0 {
			cached = p.Input
		}
		cost := (float64(t.input-t.cached)*p.Input + float64(t.cached)*cached + float64(t.output)*p.Output) / 1e6
		u.CostUSD = &cost
	}
	return u
}

// classOf is the class of a failure with an HTTP status; 0 is a status nobody stated.
func classOf(status int) work.Class {
	switch {
	case status == 401 || status == 403:
		return work.ClassAuth
	case status == 402 || status == 429:
		return work.ClassQuota
	case status == 408 || status >= 500:
		return work.ClassTransient
	}
	return work.ClassOrdinary
}

// plus is the sum of what two runs of a session consumed; a cost that is not known for one is known for none.
func plus(a, b work.Usage) work.Usage {
	sum := work.Usage{InputTokens: a.InputTokens + b.InputTokens, OutputTokens: a.OutputTokens + b.OutputTokens}
	switch {
	case a == work.Usage{}:
		sum.CostUSD = b.CostUSD
	case a.CostUSD != nil && b.CostUSD != nil:
		cost := *a.CostUSD + *b.CostUSD
		sum.CostUSD = &cost
	}
	return sum
}

// minus is what was consumed between two states of a session's totals. Totals that went down are those of a new session.
func minus(total, before work.Usage) work.Usage {
	if total.InputTokens < before.InputTokens || total.OutputTokens < before.OutputTokens {
		return total
	}
	rest := work.Usage{InputTokens: total.InputTokens - before.InputTokens, OutputTokens: total.OutputTokens - before.OutputTokens}
	switch {
	case before == work.Usage{}:
		rest.CostUSD = total.CostUSD
	case total.CostUSD != nil && before.CostUSD != nil:
		cost := max(*total.CostUSD-*before.CostUSD, 0)
		rest.CostUSD = &cost
	}
	return rest
}

// denial names a tool and the beginning of what it was to do.
func denial(tool string, input json.RawMessage) string {
	tool = work.Printable(tool)
	if len(input) == 0 || string(input) == "null" || string(input) == "{}" {
		return work.Clip(tool, 200)
	}
	return work.Clip(fmt.Sprintf("%s %s", tool, work.Printable(string(input))), 200)
}
