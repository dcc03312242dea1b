package budget_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/budget"
)

func workstream(c budget.Cap) budget.Caps { return budget.Caps{Workstream: c, AlertPercent: 80} }

func TestCheck(t *testing.T) {
	ten := workstream(budget.Cap{USD: 10})
	tests := []struct {
		name   string
		caps   budget.Caps
		spent  budget.Spent
		over   string
		detail string // part of it
		alerts string // names, joined by commas
	}{
		{"no caps, much spent", budget.Caps{AlertPercent: 80}, budget.Spent{Workstream: budget.Used{USD: 1e9, Tokens: 1e15, Sessions: 1e6}}, "", "", ""},
		{"nothing spent", ten, budget.Spent{}, "", "", ""},
		{"below the alert", ten, budget.Spent{Workstream: budget.Used{USD: 7.99}}, "", "", ""},
		{"at the alert", ten, budget.Spent{Workstream: budget.Used{USD: 8}}, "", "", "workstream_usd"},
		{"just below the cap", ten, budget.Spent{Workstream: budget.Used{USD: 9.99}}, "", "", "workstream_usd"},
		{"exactly at the cap", ten, budget.Spent{Workstream: budget.Used{USD: 10}}, "workstream_usd", "$10.00 of $10.00 used up (workstream_usd)", ""},
		{"over the cap", ten, budget.Spent{Workstream: budget.Used{USD: 11.5}}, "workstream_usd", "$11.50 of $10.00", ""},
		{"a sum of decimal fractions", workstream(budget.Cap{USD: 1}), budget.Spent{Workstream: budget.Used{USD: sum(0.1, 10)}}, "workstream_usd", "", ""},
		{"unknown cost is no money", ten, budget.Spent{Workstream: budget.Used{UnknownCost: 50}}, "", "", ""},
		{"unknown cost is told", ten, budget.Spent{Workstream: budget.Used{USD: 10, UnknownCost: 2}}, "workstream_usd", "and 2 runs of unknown cost", ""},
		{"unknown cost is bounded by tokens", workstream(budget.Cap{USD: 10, Tokens: 1000}),
			budget.Spent{Workstream: budget.Used{UnknownCost: 1, Tokens: 1000}}, "workstream_tokens", "1000 tokens of 1000 tokens", ""},
		{"unknown cost is bounded by sessions", workstream(budget.Cap{USD: 10, Sessions: 3}),
			budget.Spent{Workstream: budget.Used{UnknownCost: 3, Sessions: 3}}, "workstream_sessions", "3 agent runs", ""},
		{"time", workstream(budget.Cap{Time: time.Hour}), budget.Spent{Workstream: budget.Used{Time: 90 * time.Minute}}, "workstream_time", "1h30m0s of 1h0m0s", ""},
		{"task", budget.Caps{Task: budget.Cap{USD: 5}}, budget.Spent{Task: budget.Used{USD: 5}}, "task_usd", "", ""},
		{"tick", budget.Caps{Tick: budget.Cap{USD: 5}}, budget.Spent{Tick: budget.Used{USD: 5}}, "tick_usd", "", ""},
		{"day", budget.Caps{Day: budget.Cap{Sessions: 5}}, budget.Spent{Day: budget.Used{Sessions: 5}}, "day_sessions", "", ""},
		{"what only a person lifts is named first",
			budget.Caps{Workstream: budget.Cap{USD: 1}, Tick: budget.Cap{USD: 1}, Day: budget.Cap{USD: 1}},
			budget.Spent{Workstream: budget.Used{USD: 2}, Tick: budget.Used{USD: 2}, Day: budget.Used{USD: 2}}, "workstream_usd", "", ""},
		{"several alerts", budget.Caps{Workstream: budget.Cap{USD: 10}, Day: budget.Cap{Tokens: 100}, AlertPercent: 50},
			budget.Spent{Workstream: budget.Used{USD: 6}, Day: budget.Used{Tokens: 50}}, "", "", "workstream_usd,day_tokens"},
		{"alerts switched off", budget.Caps{Workstream: budget.Cap{USD: 10}}, budget.Spent{Workstream: budget.Used{USD: 9.9}}, "", "", ""},
		{"spent is no number", ten, budget.Spent{Workstream: budget.Used{USD: math.NaN()}}, "workstream_usd", "not an amount", ""},
		{"spent is negative", ten, budget.Spent{Workstream: budget.Used{USD: -3}}, "workstream_usd", "not an amount", ""},
		{"cap is no number", workstream(budget.Cap{USD: math.NaN()}), budget.Spent{}, "workstream_usd", "not an amount", ""},
		{"cap is negative", workstream(budget.Cap{Sessions: -1}), budget.Spent{}, "workstream_sessions", "not an amount", ""},
		{"cap is infinite", workstream(budget.Cap{USD: math.Inf(1)}), budget.Spent{}, "workstream_usd", "not an amount", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := budget.Check(tt.caps, tt.spent)
			if v.Over != tt.over {
				t.Fatalf("over %q, want %q (%s)", v.Over, tt.over, v.Detail)
			}
			if (v.Detail == "") != (tt.over == "") || !strings.Contains(v.Detail, tt.detail) {
				t.Errorf("detail %q, want one with %q", v.Detail, tt.detail)
			}
			if tt.over != "" && !strings.HasPrefix(v.Over, v.Scope+"_") {
				t.Errorf("scope %q of %q", v.Scope, v.Over)
			}
			var alerts []string
			for _, a := range v.Alerts {
				alerts = append(alerts, a.Cap)
			}
			if got := strings.Join(alerts, ","); got != tt.alerts {
				t.Errorf("alerts %q, want %q", got, tt.alerts)
			}
		})
	}
}

func sum(v float64, times int) float64 {
	total := 0.0
	for range times {
		total += v
	}
	return total
}

func TestAlertDetail(t *testing.T) {
	v := budget.Check(workstream(budget.Cap{USD: 20}), budget.Spent{Workstream: budget.Used{USD: 16.4, UnknownCost: 1}})
	want := "$16.40 of $20.00 used, 82 % (workstream_usd), and 1 run of unknown cost"
	if len(v.Alerts) != 1 || v.Alerts[0].Detail != want {
		t.Errorf("alerts %+v, want %q", v.Alerts, want)
	}
}

func TestLeft(t *testing.T) {
	tests := []struct {
		name   string
		caps   budget.Caps
		spent  budget.Spent
		left   float64
		capped bool
	}{
		{"nothing capped", budget.Caps{}, budget.Spent{Day: budget.Used{USD: 3}}, 0, false},
		{"tokens are no money", budget.Caps{Day: budget.Cap{Tokens: 5}}, budget.Spent{}, 0, false},
		{"the tightest wins", budget.Caps{Task: budget.Cap{USD: 5}, Day: budget.Cap{USD: 50}}, budget.Spent{Day: budget.Used{USD: 48}}, 2, true},
		{"never below nothing", budget.Caps{Task: budget.Cap{USD: 5}}, budget.Spent{Task: budget.Used{USD: 7}}, 0, true},
		{"wrong books", budget.Caps{Task: budget.Cap{USD: 5}}, budget.Spent{Task: budget.Used{USD: math.NaN()}}, 0, true},
	}
	for _, tt := range tests {
		if left, capped := budget.Left(tt.caps, tt.spent); left != tt.left || capped != tt.capped {
			t.Errorf("%s: %v %v, want %v %v", tt.name, left, capped, tt.left, tt.capped)
		}
	}
}

func TestValidate(t *testing.T) {
	good := budget.Caps{Task: budget.Cap{USD: 5}, Day: budget.Cap{Time: time.Hour}, AlertPercent: 100}
	if err := good.Validate(); err != nil {
		t.Errorf("good caps: %v", err)
	}
	bad := budget.Caps{
		Task: budget.Cap{USD: -1}, Workstream: budget.Cap{USD: math.NaN()}, Tick: budget.Cap{Tokens: -5},
		Day: budget.Cap{Time: -time.Second}, AlertPercent: 101,
	}
	err := bad.Validate()
	if err == nil {
		t.Fatal("bad caps are accepted")
	}
	for _, want := range []string{"task_usd", "workstream_usd", "tick_tokens", "day_time", "alert_percent"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}

func TestCountable(t *testing.T) {
	for usd, want := range map[float64]bool{0: true, 1.5: true, -0.01: false, math.NaN(): false, math.Inf(1): false, math.Inf(-1): false} {
		if budget.Countable(usd) != want {
			t.Errorf("Countable(%v) is %v", usd, !want)
		}
	}
}
