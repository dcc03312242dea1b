package config

import "time"

// Budget caps spending. 0 (or 0s) means no limit; money is in US dollars, times
// are wall clock of agents.
type Budget struct {
	TaskUSD            float64       `toml:"task_usd" default:"5" min:"0" doc:"US dollars a task may cost"`
	TaskTokens         int           `toml:"task_tokens" default:"0" min:"0" doc:"tokens a task may use"`
	TaskSessions       int           `toml:"task_sessions" default:"0" min:"0" doc:"agent runs of a task"`
	TaskTime           time.Duration `toml:"task_time" default:"0s" min:"0s" doc:"agent time of a task"`
	WorkstreamUSD      float64       `toml:"workstream_usd" default:"20" min:"0" doc:"US dollars a workstream may cost in its life"`
	WorkstreamTokens   int           `toml:"workstream_tokens" default:"0" min:"0" doc:"tokens of a workstream"`
	WorkstreamSessions int           `toml:"workstream_sessions" default:"20" min:"0" doc:"agent runs of a workstream"`
	WorkstreamTime     time.Duration `toml:"workstream_time" default:"0s" min:"0s" doc:"agent time of a workstream"`
	TickUSD            float64       `toml:"tick_usd" default:"0" min:"0" doc:"US dollars one tick may cost"`
	TickTokens         int           `toml:"tick_tokens" default:"0" min:"0" doc:"tokens of one tick"`
	TickSessions       int           `toml:"tick_sessions" default:"0" min:"0" doc:"agent runs of one tick"`
	TickTime           time.Duration `toml:"tick_time" default:"0s" min:"0s" doc:"agent time of one tick, all agents together"`
	DayUSD             float64       `toml:"day_usd" default:"50" min:"0" doc:"US dollars a day may cost"`
	DayTokens          int           `toml:"day_tokens" default:"0" min:"0" doc:"tokens of a day"`
	DaySessions        int           `toml:"day_sessions" default:"0" min:"0" doc:"agent runs of a day"`
	DayTime            time.Duration `toml:"day_time" default:"0s" min:"0s" doc:"agent time of a day, all agents together"`
	AlertPercent       int           `toml:"alert_percent" default:"80" min:"0" max:"100" doc:"share of a cap at which to warn; 0 never"`
	Hours              Hours         `toml:"hours" example:"\"Mon-Fri 20:00-07:00 Europe/Berlin\"" doc:"when agents may start; several windows are separated by ;"`
	Freeze             []Freeze      `toml:"freeze" example:"[\"2026-12-20/2027-01-03 Europe/Berlin\"]" doc:"days on which none starts"`
}
